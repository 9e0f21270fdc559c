"""Scoring of HUB-4 templettes: the specification's own examples, options, and files they name."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

from hlteval.results.scores import Scores
from hlteval.scoring.hub4.instance_sets import MODES
from hlteval.scoring.hub4.metric import greedy_losses
from hlteval.scoring.hub4.normalizer import TextNormalizer
from hlteval.tasks import load
from hlteval.tasks.options import metric_options
from hlteval.tasks.task import WrongOption
from hlteval.workflows.run.verdicts import Refused
from tests.runs import score, validate

REFERENCE_HEADERS = """\
<TEMPLATE-VOA19980126.2100.1446-1> :=
<BREAD-VOA19980126.2100.1446-1> :=
<CIRCUS-VOA19980126.2100.1446-1> :=
<CIRCUS-VOA19980126.2100.1446-2> :=
<TEMPLATE-VOA19980302.1600.0096-1> :=
<TEMPLATE-VOA19980111.2300.0414-1> :=
<BREAD-VOA19980111.2300.0414-1> :=
<BREAD-VOA19980111.2300.0414-2> :=
<CIRCUS-VOA19980111.2300.0414-1> :=
"""
SYSTEM_HEADERS = """\
<TEMPLATE-VOA19980126.2100.1446-1> :=
<BREAD-VOA19980126.2100.1446-1> :=
<BREAD-VOA19980126.2100.1446-2> :=
<CIRCUS-VOA19980126.2100.1446-2> :=
<TEMPLATE-VOA19980302.1600.0096-1> :=
<CIRCUS-VOA19980302.1600.0096-1> :=
<TEMPLATE-VOA19980111.2300.0414-1> :=
<CIRCUS-VOA19980111.2300.0414-1> :=
<CIRCUS-VOA19980111.2300.0414-2> :=
<CIRCUS-VOA19980111.2300.0414-3> :=
"""


@pytest.fixture
def scored(tmp_path):
    """Scores of two template sets, given as text; options that are texts become files."""

    def run(reference: str, system: str, files: dict[str, str] | None = None, **options) -> Scores:
        paths = {"reference": reference, "system": system, **(files or {})}
        for name, text in paths.items():
            (tmp_path / name).write_text(text, "utf-8")
        named = {name: str(tmp_path / name) for name in files or {}}
        return score(
            "hub4",
            str(tmp_path / "reference"),
            str(tmp_path / "system"),
            options={**named, **options},
            lenient=True,
        )

    return run


def level(scores: Scores, name: str, *columns: str) -> list[tuple]:
    """Some columns of the mapping at a level, in the last mode."""
    rows = scores.tables["mapping"].filter(pl.col("level") == name, pl.col("mode") == "both")
    return rows.select(columns).rows()


def test_instance_sets_are_mapped_as_the_specification_prints(scored):
    scores = scored(REFERENCE_HEADERS, SYSTEM_HEADERS)
    names = ("VOA19980126.2100.1446", "VOA19980302.1600.0096", "VOA19980111.2300.0414")
    assert level(scores, "set", "reference", "system") == [(name, name) for name in names]


def test_extents_are_renumbered_as_the_specification_prints(scored):
    texts = {
        "corpus": "<DOC><DOCNO>1</DOCNO> The h- heart of General Motors </DOC>\n",
        "hyp_corpus": "<DOC><DOCNO>1</DOCNO> A part of General Motors </DOC>\n",
    }
    ends = [text.index("Motors") + 6 for text in texts.values()]
    sides = [f'<B-1-1> :=\n ORG: "General Motors" ##{end - 14}#{end}#\n' for end in ends]
    scores = scored(*sides, files=texts)
    found = level(scores, "fill", "compared", "compared_system")
    assert found == [('"general motors" ##4#5#',) * 2]
    assert scores.metrics["both.f"] == 1


def one(*slots: str, number: int = 1, kind: str = "B") -> str:
    return "\n".join([f"<{kind}-d-{number}> :=", *slots, ""])


def test_types_in_a_circle_are_mapped_by_their_other_slots(scored):
    """A and B point to each other: the pointers count only when both are mapped."""
    reference = one('X: "a" ##0#1#', "TO: <B-d-1>", kind="A") + one('Y: "b" ##2#3#', "TO: <A-d-1>")
    system = one('X: "a" ##0#1#', "TO: <B-d-1>", kind="A") + one('Y: "b" ##2#3#', "TO: <A-d-1>")
    scores = scored(reference, system, pointers="A.TO,B.TO")
    assert (scores.metrics["both.cor"], scores.metrics["both.f"]) == (6, 1)


def test_an_order_of_types_leaves_out_what_points_to_later_ones(scored):
    reference = (
        one("TO: <B-d-1>", number=1, kind="A")
        + one("TO: <B-d-2>", number=2, kind="A")
        + one('Y: "b" ##2#3#')
        + one('Y: "c" ##4#5#', number=2)
    )
    system = (
        one("TO: <B-d-2>", number=1, kind="A")
        + one("TO: <B-d-1>", number=2, kind="A")
        + one('Y: "b" ##2#3#')
        + one('Y: "c" ##4#5#', number=2)
    )
    bottom_up = scored(reference, system, pointers="A.TO")
    assert bottom_up.metrics["both.cor"] == 6
    top_down = scored(reference, system, pointers="A.TO", type_order="A,B")
    assert (top_down.metrics["both.cor"], top_down.metrics["both.inc"]) == (4, 2)


def test_beta_weighs_recall_in_the_report_and_changes_no_mapping(scored):
    reference, system = one('X: "a" ##0#1#', 'Y: "b" ##2#3#'), one('X: "a" ##0#1#')
    even, recall = scored(reference, system), scored(reference, system, beta="2")
    assert even.metrics["both.f"] == pytest.approx(2 / 3)
    assert recall.metrics["both.f"] == pytest.approx(5 * 0.5 / (4 + 0.5))
    assert recall.metrics["both.cor"] == even.metrics["both.cor"]


def test_slots_of_one_type_can_be_left_out(scored):
    reference = one('X: "a" ##0#1#') + one('X: "b" ##2#3#', kind="C")
    scores = scored(reference, one('X: "a" ##0#1#'), unscored="C.X")
    assert scores.metrics["both.f"] == 1


def test_options_may_stand_in_a_file(scored, tmp_path):
    (tmp_path / "options.toml").write_text('premodifiers = ["the"]\nmode = "content"\n', "utf-8")
    reference, system = one('X: "the cup" ##0#7#'), one('X: "cup" ##4#7#')
    assert scored(reference, system, premodifiers="none").metrics["content.cor"] == 0
    assert scored(reference, system).metrics["content.cor"] == 1
    scores = scored(reference, system, options=str(tmp_path / "options.toml"))
    assert scores.metrics["content.cor"] == 1
    assert scores.metrics["both.f"] is None


def test_premodifiers_can_be_taken_from_all_places(scored):
    reference, system = one('X: "storm and flood" ##0#15#'), one('X: "storm flood" ##0#15#')
    assert scored(reference, system, premodifiers="and").metrics["content.cor"] == 0
    everywhere = scored(reference, system, premodifiers="and", premodifiers_anywhere="yes")
    assert everywhere.metrics["content.cor"] == 1


def test_texts_without_documents_are_aligned_as_one(scored):
    corpus = "<DOC><DOCNO>u1</DOCNO> storm over Rome </DOC>\n<DOC><DOCNO>u2</DOCNO> a fox </DOC>\n"
    heard = "<TIME 1> u1 storm over roam u2 a box"
    rome, storm = corpus.index("Rome"), corpus.index("storm")
    fox = corpus.index("fox") - corpus.index("<DOC><DOCNO>u2")
    reference = (
        f'<B-u1-1> :=\n X: "storm" ##{storm}#{storm + 5}#\n Y: "Rome" ##{rome}#{rome + 4}#\n'
        f'<B-u2-1> :=\n X: "fox" ##{fox}#{fox + 3}#\n'
    )
    system = (
        f'<B-s1-1> :=\n X: "storm" ##{heard.index("storm")}#{heard.index("storm") + 5}#\n'
        f' Y: "roam" ##{heard.index("roam")}#{heard.index("roam") + 4}#\n'
        f'<B-s2-1> :=\n X: "box" ##{heard.index("box")}#{heard.index("box") + 3}#\n'
    )
    files = {"corpus": corpus, "hyp_corpus": heard}
    scores = scored(reference, system, files=files, unsegmented="yes")
    assert level(scores, "set", "reference", "system") == [("u1", "s1"), ("u2", "s2")]
    assert (scores.metrics["content.cor"], scores.metrics["extent.cor"]) == (1, 3)


def test_a_lexicon_pairs_words_that_sound_alike(scored):
    texts = {
        "corpus": "<DOC><DOCNO>1</DOCNO> call Yeltsin's doctor </DOC>\n",
        "hyp_corpus": "<DOC><DOCNO>1</DOCNO> call in yells doctor </DOC>\n",
        "lexicon": ";;; phones\nYELTSIN'S  Y EH1 L T S IH0 N Z\n"
        "YELLS  Y EH1 L Z\nIN  IH0 N\nIN(2) AH N\n",
    }
    at, other = texts["corpus"].index("Yelt"), texts["hyp_corpus"].index("yells")
    sides = one(f'X: "Yeltsin\'s" ##{at}#{at + 9}#'), one(f'X: "yells" ##{other}#{other + 5}#')
    sides = [side.replace("-d-", "-1-") for side in sides]
    scores = scored(*sides, files=texts)
    assert scores.metrics["extent.cor"] == 1
    assert level(scores, "fill", "compared_system") == [('"yells" ##2#2#',)]


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"align": "yes"}, "--corpus"),
        ({"unsegmented": "yes"}, "--corpus"),
        ({"beta": "none"}, "--beta"),
        ({"beta": "-1"}, "--beta"),
        ({"align_costs": "phones", "corpus": "{corpus}", "hyp_corpus": "{corpus}"}, "--lexicon"),
        ({"align": "yes", "corpus": "{corpus}"}, "--hyp-corpus"),
    ],
)
def test_options_that_do_not_go_together_are_told(tmp_path, options, told):
    paths = {"corpus": str(tmp_path / "corpus")}
    Path(paths["corpus"]).write_text("<DOC><DOCNO>1</DOCNO> a </DOC>\n", "utf-8")
    given = {name: value.format(**paths) for name, value in options.items()}
    with pytest.raises(WrongOption, match=told):
        load("hub4").scorer("plan", metric_options(load("hub4"), given))


@pytest.mark.parametrize(
    ("option", "data", "code"),
    [
        ("corpus", b"<DOC>\n", "SGM102"),
        ("hyp_corpus", b"<DOC>\n", "SGM102"),
        ("lexicon", b"<DOC>\n", "OPT108"),
        ("glm", b";;\n* nonsense\n", "GLM102"),
        ("lexicon", b"\xff\xfe\xff", "SRC201"),
    ],
)
def test_a_file_of_an_option_that_cannot_be_read_blocks_under_its_name(
    tmp_path, option, data, code
):
    files = {
        "corpus": "<DOC><DOCNO>d</DOCNO> a </DOC>\n",
        "hyp_corpus": "<DOC><DOCNO>d</DOCNO> b </DOC>\n",
        "set": one(),
    }
    for name, text in files.items():
        (tmp_path / name).write_text(text, "utf-8")
    (tmp_path / option).write_bytes(data)
    given = {name: str(tmp_path / name) for name in {"corpus", "hyp_corpus", option}}
    with pytest.raises(Refused) as refused:
        score("hub4", str(tmp_path / "set"), str(tmp_path / "set"), options=given)
    side = f"--{option.replace('_', '-')}"
    assert (code, side) in [(item.code, item.side) for item in refused.value.blocking]


def test_nothing_at_all_scores_null(scored):
    metrics = scored(one(), one()).metrics
    assert (metrics["both.pos"], metrics["both.f"], metrics["both.rec"]) == (0, None, None)


def test_there_is_no_official_profile(tmp_path):
    (tmp_path / "x").write_text(one(), "utf-8")
    with pytest.raises(WrongOption, match="official"):
        score("hub4", str(tmp_path / "x"), str(tmp_path / "x"), profile="official")


def test_what_is_whited_out_is_as_the_specification_prints():
    written = "Anchorage,... <ANNOTATION>  (voice-over)  </ANNOTATION> ...Alaska"
    wording = TextNormalizer(whiteout=".,", nonextractable=("ANNOTATION",))
    assert wording.normalize(written) == ("Anchorage Alaska", "Anchorage Alaska", 0, False)


def test_single_fills_are_not_split(scored):
    """The content of one alternative and the extent of another are not both correct."""
    reference = one('DATE: "thirsty" ##10#20#', '/ "thursday" ##99#109#')
    scores = scored(reference, one('DATE: "thirsty" ##99#109#'))
    assert (scores.metrics["content.cor"], scores.metrics["extent.cor"]) == (1, 1)
    assert (scores.metrics["both.cor"], scores.metrics["both.inc"]) == (1, 1)


def test_losses_stand_in_the_order_of_sets_and_types() -> None:
    """In tables that people compare, rows are never in the order of a hash table."""
    sets = 60
    scored = pl.DataFrame(
        {
            "set": [number for number in range(sets) for _ in range(3)],
            "type": ["A", "B", "B"] * sets,
            "rank": [0] * (3 * sets),
            "reference": [1, 2, 3] * sets,
            "system": [1, 2, 2] * sets,
            "cor": [2, 1, 5] * sets,
        }
    ).sample(fraction=1, shuffle=True, seed=1)
    taken = scored.filter(pl.col("reference") < 3)
    found = greedy_losses(scored, taken)
    assert found.select("set", "type").rows() == [(n, t) for n in range(sets) for t in "AB"]
    assert found.select("greedy", "best").rows() == [(2, 2), (1, 5)] * sets


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    ("reference", "system", "points"),
    [
        ("the [And] One ##0#11#4#7#", "And One ##4#11#", (1, 1)),
        ("the [And] One ##0#11#4#7#", "the And One ##0#11#", (1, 1)),
        ("the [And] One ##0#11#4#7#", "One ##8#11#", (0, 0)),
        ("the [cup] ##0#7#4#7#", "the cup ##0#7#", (1, 1)),
        ("[the] ##0#3#0#3#", "the ##0#3#", (1, 1)),
        ("cup ##4#7#", "the cup ##0#7#", (1, 1)),
        ("a [the the] Z ##0#11#2#9#", "the the ##2#9#", (1, 1)),
    ],
)
@pytest.mark.parametrize("noisy", ["", "yes"])
def test_a_removal_empties_no_minimal_string(scored, reference, system, points, noisy):
    """Premodifiers of which a minimal string consists are part of what is asked for."""
    scores = scored(one(f"X: {reference}"), one(f"X: {system}"), noisy=noisy)
    assert (scores.metrics["content.cor"], scores.metrics["extent.cor"]) == points


def test_the_top_type_has_another_name(scored, tmp_path):
    reference = one("EVENT: <B-d-1>", kind="STORY") + one('X: "a" ##0#1#')
    system = one("EVENT: <B-d-1>", kind="STORY") + one('X: "z" ##5#6#')
    (tmp_path / "set").write_text(reference, "utf-8")
    path = str(tmp_path / "set")
    codes = [item.code for item in validate("hub4", path).findings]
    assert codes == ["HUB203"]
    assert validate("hub4", path, options={"top": "STORY"}).findings == ()
    tied = scored(reference, system, zero_f="skip", top="STORY")
    assert tied.metrics["content.inc"] == 1
    assert scored(reference, system, zero_f="skip").metrics["content.inc"] == 0


def test_each_mode_has_its_listing_and_its_errors(scored):
    reference = one('X: "a" ##0#1#', 'Y: "b" ##2#3#')
    files = scored(reference, one('X: "a" ##5#6#', 'Y: "b" ##2#3#')).files
    names = [f"mapping.{mode}.{kind}.txt" for mode in MODES for kind in ("side-by-side", "errors")]
    assert [name for name in files if name.startswith("mapping")] == names
    assert files["mapping.content.errors.txt"].count("\n") == 1
    assert 'X: "a" ##0#1# | "a" ##5#6#' in files["mapping.extent.errors.txt"]
    assert "Y:" not in files["mapping.both.errors.txt"]
    assert "Y:" in files["mapping.both.side-by-side.txt"]
