"""Links that count as much as their identifiers are similar: by hand, by force, and as declared.

In the ontology of three nodes, 3 is a kind of 2, and 2 of 1. With the weight 0.65 of a step, s(3) =
{3: 1, 2: 0.65, 1: 0.4225} and s(2) = {2: 1, 1: 0.65}; 3 and 2 have the similarity
(0.65 + 1 + 0.4225 + 0.65) / (2.0725 + 1.65) = 2.7225 / 3.7225.
"""

from __future__ import annotations

from itertools import permutations, zip_longest
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from typer.testing import CliRunner

import hlteval
from hlteval.cli.app import app
from hlteval.representation import Corpus
from hlteval.scoring.biotope.annotations import ReferentOntology
from hlteval.scoring.biotope.official import SoftwareOntology
from hlteval.scoring.edl.credit import IdentifierWeights
from hlteval.scoring.edl.measures import measures
from hlteval.scoring.edl.metric import LinkMatch, Options
from hlteval.scoring.ontologies import Ontology, jaccard
from hlteval.tasks import load
from hlteval.workflows.platforms import task_files
from tests.effort import tries

NEAR = 2.7225 / 3.7225
ONTOLOGY = "3\t2\n2\t1\n"
#: Documents by name: the type of each mention, its first offset, and its identifiers.
Mentions = dict[str, list[tuple[str, int, list[str]]]]
REFERENCE: Mentions = {
    "d1": [("A", 0, ["3"]), ("A", 5, ["3", "1"]), ("B", 10, []), ("B", 15, ["1"])],
    "d2": [("A", 0, ["9"]), ("B", 5, ["8"])],
}
SYSTEM: Mentions = {
    "d1": [("A", 0, ["2"]), ("A", 5, ["3"]), ("B", 10, []), ("A", 15, ["1"])],
    "d2": [("A", 0, ["9"]), ("B", 5, ["7"]), ("B", 10, ["2"])],
}
#: 3 and 1 of the reference, 3 of the system: 1 for each 3, and for 1 its similarity to 3,
#: (0.4225 + 1) / (2.0725 + 1); of three.
TWO = (2 + 1.4225 / 3.0725) / 3


@pytest.fixture(name="folder")
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Make a folder with both sides, and the ontology, in which the test runs."""
    for side, documents in (("reference", REFERENCE), ("system", SYSTEM)):
        (tmp_path / side).mkdir()
        for name, mentions in documents.items():
            lines, number = [], 0
            for at, (label, start, own) in enumerate(mentions):
                lines.append(f"T{at}\t{label} {start} {start + 4}\tword\n")
                for identifier in own:
                    number += 1
                    lines.append(f"N{number}\tReference T{at} KB:{identifier}\tword\n")
            (tmp_path / side / f"{name}.ann").write_text("".join(lines), "utf-8")
            (tmp_path / side / f"{name}.txt").write_text("word " * 4 + "\n", "utf-8")
    (tmp_path / "onto.tsv").write_text(ONTOLOGY, "utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def declare(credit: str, more: str = "") -> str:
    """Write a declaration, and return its path."""
    Path("x.task.toml").write_text(
        f'[task]\nunit = "links"\n{more}\n[match]\ncredit = "{credit}"\n', "utf-8"
    )
    return "x.task.toml"


def run(credit: str, more: str = "", **options: Any) -> hlteval.Scores:
    return hlteval.score(declare(credit, more), "reference", "system", **options)


@pytest.mark.parametrize(
    ("credit", "link", "typed"),
    [
        ("full", (1 + 1 + 1) / 5, (1 + 1) / 5),
        ("jaccard", (0 + 1 / 2 + 1 + 1) / 5, (0 + 1 / 2 + 1) / 5),
        ("wang:onto.tsv", (NEAR + TWO + 1 + 1) / 5, (NEAR + TWO + 1) / 5),
        ("wang:onto.tsv:0.65", (NEAR + TWO + 1 + 1) / 5, (NEAR + TWO + 1) / 5),
    ],
)
@pytest.mark.usefixtures("folder")
def test_values_by_hand(credit: str, link: float, typed: float) -> None:
    found = run(credit).metrics
    # five links of the reference; six of the system
    assert found["strong_link_match.recall"] == pytest.approx(link)
    assert found["strong_link_match.precision"] == pytest.approx(link * 5 / 6)
    assert found["strong_link_match.fscore"] == pytest.approx(2 * link * 5 / 11)
    assert found["strong_typed_link_match.rtp"] == pytest.approx(typed * 5)
    assert found["strong_all_match.rtp"] == pytest.approx(link * 5 + 1)
    assert found["strong_typed_all_match.rtp"] == pytest.approx(typed * 5 + 1)
    # what does not compare links of spans is as ever
    plain = run("full").metrics
    for name in ("strong_nil_match", "strong_mention_match", "entity_match", "b_cubed", "muc"):
        assert found[f"{name}.fscore"] == plain[f"{name}.fscore"]


@pytest.mark.usefixtures("folder")
def test_the_command_line_shows_values_and_signs_the_file() -> None:
    task = declare("wang:onto.tsv:0.65")
    done = CliRunner().invoke(app, ["score", task, "-r", "reference", "-s", "system"])
    assert done.exit_code == 0, done.output
    value = 2 * (NEAR + TWO + 2) / 11
    assert f"strong_link_match.fscore  {value:.4f}  (primary)" in done.output
    assert "|step_weight:0.65|" in done.output
    assert "|ontology:" in done.output
    assert CliRunner().invoke(app, ["tasks", "--check", task]).exit_code == 0


@pytest.mark.usefixtures("folder")
def test_the_software_has_no_credit_but_what_is_declared_counts() -> None:
    task = 'preset = "neleval"'
    plain = run("full", task, profile="official").metrics
    assert plain["strong_link_match.rtp"] == 2  # candidates are one identifier, 3|1
    found = run("wang:onto.tsv", task, profile="official")
    assert found.metrics["strong_link_match.rtp"] == pytest.approx(NEAR + TWO + 2)
    assert "preset:neleval+credit=wang" in found.signature


@pytest.mark.usefixtures("folder")
def test_means_of_documents_and_the_weight_of_a_step() -> None:
    near = (0.5 + 1 + 0.25 + 0.5) / (1.75 + 1.5)  # s(3) = {1, 1/2, 1/4}, s(2) = {1, 1/2}
    two = (2 + 1.25 / 2.75) / 3
    found = run("wang:onto.tsv:0.5").metrics
    assert found["strong_link_match.rtp"] == pytest.approx(near + two + 1 + 1)
    by_document = ((near + two + 1) / 3 + 1 / 2) / 2
    name = "strong_link_match;docid=<macro>.recall"
    assert found[name] == pytest.approx(by_document)


@pytest.mark.usefixtures("folder")
def test_scores_by_type_and_document() -> None:
    more = '[scores]\nmeasures = ["strong_link_match"]\nby = ["label"]'
    rows = run("wang:onto.tsv", more).tables["groups"]
    counts = dict(rows.select("group", "rtp").iter_rows())
    assert counts == pytest.approx({"A": NEAR + TWO + 1, "B": 0})  # another type in d1


@pytest.mark.usefixtures("folder")
def test_the_alignment_has_the_credit_of_pairs() -> None:
    rows = run("wang:onto.tsv").tables["alignment"]
    outcomes = rows.select("status", "credit", "reference_entity", "system_entity").rows()
    assert outcomes[1][2:] == ("1, 3", "3")
    assert [status for status, *_ in outcomes] == [
        *("wrong", "wrong", "correct", "wrong"),
        *("correct", "wrong", "extra"),
    ]
    assert [credit for _, credit, *_ in outcomes] == pytest.approx([NEAR, TWO, 1, 1, 1, 0, 0])
    assert "credit" not in run("full").tables["alignment"].columns


@pytest.mark.usefixtures("folder")
def test_identifiers_that_the_ontology_lacks_are_counted_by_side() -> None:
    (note,) = run("wang:onto.tsv").notes
    assert note == (
        "identifiers that the ontology does not have: 2 of the reference, 2 of the system; they "
        "are similar to nothing but themselves"
    )
    assert not run("jaccard").notes


@pytest.mark.usefixtures("folder")
def test_systems_are_compared_by_credit() -> None:
    found = hlteval.compare(declare("wang:onto.tsv"), "reference", ["system", "reference"])
    values = {each.name: each.value for each in found.systems}  # fscore, of 5 and 6 links
    assert values == pytest.approx({"system": 2 * (NEAR + TWO + 2) / 11, "reference": 1})


@pytest.mark.usefixtures("folder")
def test_the_ontology_travels_and_is_signed() -> None:
    task = declare("wang:onto.tsv")
    assert {*task_files(load(task))} == {"x.task.toml", "onto.tsv"}
    first = run("wang:onto.tsv").signature
    Path("onto.tsv").write_text(ONTOLOGY + "1\t0\n", "utf-8")
    assert run("wang:onto.tsv").signature != first


@pytest.mark.usefixtures("folder")
def test_an_ontology_with_a_cycle_is_refused() -> None:
    Path("onto.tsv").write_text("3\t2\n2\t3\n", "utf-8")
    with pytest.raises(hlteval.Refused) as caught:
        run("wang:onto.tsv")
    assert [(item.code, item.side) for item in caught.value.verdict.findings] == [
        ("OPT115", "--ontology")
    ]


@pytest.mark.usefixtures("folder")
def test_without_the_file_the_declaration_is_wrong() -> None:
    with pytest.raises(ValueError, match=r"no such file: none\.tsv"):
        run("wang:none.tsv")


@pytest.mark.usefixtures("folder")
def test_the_option_of_the_built_in_task_is_the_same() -> None:
    own = hlteval.score("links", "reference", "system", options={"ontology": "onto.tsv"}).metrics
    assert own == run("wang:onto.tsv").metrics
    half = {"ontology": "onto.tsv", "step_weight": 0.5}
    own = hlteval.score("links", "reference", "system", options=half).metrics
    assert own == run("wang:onto.tsv:0.5").metrics
    with pytest.raises(ValueError, match="step_weight needs ontology"):
        hlteval.score("links", "reference", "system", options={"step_weight": 0.5})
    with pytest.raises(ValueError, match="between 0 and 1, not 2"):
        hlteval.score("links", "reference", "system", options=half | {"step_weight": 2})
    with pytest.raises(ValueError, match="ontology has no effect"):
        run("jaccard", options={"ontology": "onto.tsv"})


# Any mentions, by force.

PARENTS = {"b": ["a"], "c": ["a"], "d": ["b", "c"], "e": ["d"], "f": [], "a": []}
SETS = st.frozensets(st.sampled_from("abcdefx"), min_size=0, max_size=3)
SIDE = st.lists(st.tuples(st.integers(0, 1), st.sampled_from("AB"), SETS), max_size=5)


def corpus(mentions: list[tuple[int, str, frozenset[str]]]) -> Corpus:
    """Mentions of a document with their identifiers."""
    rows, links = [], []
    for row, (start, label, own) in enumerate(mentions):
        first, *others = [*sorted(own), *([] if own else ["NIL"])]
        place = {"row": row, "document": 0, "origin": 0, "record": row, "mention": f"m{row}"}
        rows.append(place | {"label": label, "start": start, "end": start + 3, "entity": first})
        links += [
            {"row": 9 * row + rank, "document": 0, "origin": 0, "record": row}
            | {"mention_row": row, "entity": other, "rank": rank}
            for rank, other in enumerate(others, 2)
        ]
    return Corpus(documents=[{"row": 0, "name": "d"}], mentions=rows, links=links)


def total(reference: Any, system: Any, similarity: Any, key: Any) -> float:
    """The greatest total of one-to-one pairs of equal keys, each of distinct mentions."""
    ours, theirs = ([*{(key(m), m[2]) for m in side if m[2]}] for side in (reference, system))
    if len(ours) > len(theirs):
        return total(system, reference, lambda a, b: similarity(b, a), key)
    pairs = (zip_longest(ours, chosen) for chosen in permutations(theirs, len(ours)))
    return max(sum(similarity(a[1], b[1]) for a, b in each if a[0] == b[0]) for each in pairs)


@given(SIDE, SIDE, st.sampled_from(["jaccard", "wang"]))
@settings(max_examples=tries(30), deadline=None)
def test_pairs_have_the_greatest_total(reference: Any, system: Any, credit: Any) -> None:
    ontology = Ontology(PARENTS)
    similarity = ontology.of_sets if credit == "wang" else jaccard
    options = Options(measures(["strong_link_match", "strong_typed_link_match"]))
    weights = IdentifierWeights(ontology if credit == "wang" else None)
    for sides in ((reference, system), (reference[::-1], system[::-1])):
        metric = LinkMatch("plan", options, ranked=False, links=weights)
        counts = metric.total([metric.statistics(*map(corpus, sides))[0]])
        values, _ = metric.score(counts)
        sums = metric.document_sums(counts, ["d"])
        assert sums is not None
        of_documents = metric.values_of(sums)
        assert all(of_documents[name][0] == values[name] for name in values if name[-2:] == "tp")
        for name, key in (
            ("strong_link_match", lambda m: m[0]),
            ("strong_typed_link_match", lambda m: m[:2]),
        ):
            right = values[f"{name}.rtp"]
            assert right == pytest.approx(total(*sides, similarity, key), abs=1e-8)
            assert right is not None
            assert (right * 2**32).is_integer()  # exact, so that sums know no order


KNOWN = st.frozensets(st.sampled_from("abcdef"), min_size=1, max_size=4)


@given(KNOWN, KNOWN, st.floats(0.01, 0.99))
@settings(max_examples=tries(100), deadline=None)
def test_the_similarity_is_that_of_bacteria_biotope(ours: Any, theirs: Any, weight: float) -> None:
    own = Ontology(PARENTS, weight)
    assert own.of_sets(ours, theirs) == ReferentOntology(PARENTS, weight).of_sets(ours, theirs)
    software = SoftwareOntology(PARENTS, weight)
    assert own.of_sets(ours, theirs) == pytest.approx(software.of_sets(ours, theirs))
    assert own.of_sets(ours, theirs) == pytest.approx(own.of_sets(theirs, ours))


def test_the_example_of_the_docs() -> None:
    ontology = Ontology({"3": ["2"], "2": ["1"], "1": []})
    assert ontology.similarity("3", "2") == pytest.approx(NEAR)
    assert ontology.similarity("1", "2") == pytest.approx(1.65 / 2.65)
    both = ontology.of_sets(frozenset("31"), frozenset("2"))
    assert both == pytest.approx((2 * NEAR + 1.65 / 2.65) / 3)
    assert round(both, 4) == 0.6951


def test_an_unknown_identifier_is_similar_to_itself_only() -> None:
    assert Ontology(PARENTS).similarity("x", "x") == 1
    assert Ontology(PARENTS).similarity("x", "a") == 0
    assert ReferentOntology(PARENTS).similarity("x", "x") == 0


@pytest.mark.parametrize(("mentions", "right", "noted"), [(20, 19.5, False), (21, 20, True)])
def test_a_span_of_very_many_links_has_no_credit(
    mentions: int, right: float, noted: bool, folder: Path
) -> None:
    """All links are equal, but for the last: 0 | 1 is half of 0 in `jaccard`."""
    for side, last in (("many", ["0", "1"]), ("own", ["0"])):
        (folder / side).mkdir()
        (folder / side / "d.txt").write_text("word\n")
        sets = [*([str(number)] for number in range(2, mentions + 1)), last]
        lines = [f"T{at}\tA 0 4\tword\n" for at in range(mentions)]
        pairs = [(at, identifier) for at, own in enumerate(sets) for identifier in own]
        lines += [f"N{n}\tReference T{at} KB:{name}\tword\n" for n, (at, name) in enumerate(pairs)]
        (folder / side / "d.ann").write_text("".join(lines))
    scores = hlteval.score(declare("jaccard"), "many", "own")
    assert scores.metrics["strong_link_match.fscore"] == pytest.approx(right / mentions)
    assert any("1 span has more than 20 links" in note for note in scores.notes) == noted
    credit = scores.tables["alignment"]["credit"]
    assert credit.sum() == pytest.approx(right)


@pytest.mark.parametrize(
    ("types", "extra", "crowded"),
    [("A" * 21, [], True), ("AB" * 10 + "A", [], True), ("A" * 20, ["0", ""], False)],
)
def test_the_most_links_of_a_span_are_counted_alike_everywhere(
    types: str, extra: list[str], crowded: bool
) -> None:
    """Different sets of identifiers count, whatever the types; equal ones and NIL do not.

    The last link is 0 and y beside 0 and x, of which a third is right where credit is given.
    """
    sides = []
    for last in "xy":
        sets = [*([str(at)] for at in range(len(types) - 1)), ["0", last]]
        rows = [(0, label, frozenset(own)) for label, own in zip(types, sets, strict=True)]
        rows += [(0, "A", frozenset([own] if own else [])) for own in extra]
        sides.append(corpus(rows))
    names = ["strong_link_match", "strong_typed_link_match"]
    metric = LinkMatch("plan", Options(measures(names)), ranked=False, links=IdentifierWeights())
    counts, aligned = metric.statistics(*sides)
    total = metric.total([counts])
    values, right = metric.score(total)[0], len(types) - 1 + (0 if crowded else 1 / 3)
    for name in names:
        assert values[f"{name}.ptp"] == pytest.approx(right)
    assert aligned is not None
    linked = aligned.filter(~pl.col("reference_entity").str.starts_with("NIL"))
    assert linked["credit"].sum() == pytest.approx(right + extra.count("0"))
    assert any("1 span has more than 20 links" in note for note in metric.notes(total)) == crowded
