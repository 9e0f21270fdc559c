"""The scores of Bacteria Biotope, by hand, on the fixtures and on small corpora.

In the ontology of the fixtures, OBT:000003 is a OBT:000002, which is a OBT:000001. So
s(3) = {3: 1, 2: 0.65, 1: 0.4225} and s(2) = {2: 1, 1: 0.65}, and their similarity is
(0.65 + 1 + 0.4225 + 0.65) / (2.0725 + 1.65) = 2.7225 / 3.7225.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl
import pytest

import hlteval
from hlteval.scoring.biotope.official import SoftwareOntology, shared_in_passing, software_jaccard
from hlteval.scoring.ontologies import Ontology, jaccard
from hlteval.scoring.pairings import with_outcomes

FIXTURES = Path(__file__).parents[3] / "fixtures"
ONTOLOGY = str(FIXTURES / "bb19-norm/valid/ontology.tab")
NEAR = 2.7225 / 3.7225
#: The share of "raw milk" that "milk" has.
HALF = 4 / 8


def metrics(task: str, *, profile: str = "plan", **options: str) -> dict[str, Any]:
    valid = FIXTURES / task / "valid"
    sides = (str(valid / "reference"), str(valid / "submission"))
    return dict(hlteval.score(task, *sides, profile=profile, options=options).metrics)


def written(folder: Path, files: dict[str, str]) -> str:
    folder.mkdir(exist_ok=True)
    for name, text in files.items():
        (folder / name).write_text(text.replace("|", "\t"))
    return str(folder)


@pytest.mark.parametrize("profile", ["plan", "official"])
def test_referents_of_given_entities(profile: str) -> None:
    """Five right, one habitat whose parent is given, one wrong taxon."""
    found = metrics("bb19-norm", profile=profile, ontology=ONTOLOGY)
    assert found["matches"] == pytest.approx(5 + NEAR)
    assert found["precision"] == pytest.approx((5 + NEAR) / 7)
    assert found["references"] == 7
    assert metrics("bb19-norm", profile=profile)["matches"] == 5


def test_entities_count_as_much_as_their_characters_and_referents() -> None:
    """The wrong taxon is no pair: an insertion and a deletion."""
    plan = metrics("bb19-norm-ner", ontology=ONTOLOGY)
    assert plan["matches"] == pytest.approx(5 + HALF * NEAR)
    assert plan["substitutions"] == pytest.approx(1 - HALF * NEAR)
    assert (plan["insertions"], plan["deletions"]) == (1, 1)
    assert plan["ser"] == pytest.approx((3 - HALF * NEAR) / 7)
    official = metrics("bb19-norm-ner", profile="official", ontology=ONTOLOGY)
    assert official["ser"] == pytest.approx(2 / 7)
    assert official["matches"] == pytest.approx(plan["matches"])


@pytest.mark.parametrize("profile", ["plan", "official"])
def test_a_relation_of_equivalent_entities_counts_once(profile: str) -> None:
    """The system has both of T2 and T5, equivalent, for one relation, and lacks another."""
    found = metrics("bb19-rel", profile=profile)
    assert (found["references"], found["matches"]) == (5, 4)
    assert (found["predictions"], found["insertions"], found["deletions"]) == (4, 0, 1)
    assert found["f1"] == pytest.approx(8 / 9)


def test_arguments_of_relations_count_as_much_as_their_characters() -> None:
    found = metrics("bb19-rel-ner")
    assert found["matches"] == pytest.approx(3 + HALF)
    assert found["ser"] == pytest.approx((HALF + 1) / 5)


@pytest.mark.parametrize("profile", ["plan", "official"])
@pytest.mark.parametrize("task", ["bb19-kb", "bb19-kb-ner"])
def test_a_knowledge_base_is_scored_by_its_facts(task: str, profile: str) -> None:
    """Of (1358, 3), (1358, 5), (1358, 7) and (1642, 8), the system has for the first (1358, 2).

    (1360, 7) goes nowhere.
    """
    found = metrics(task, profile=profile, ontology=ONTOLOGY)
    assert found["mean-references"] == pytest.approx((NEAR + 1 + 0 + 1) / 4)
    assert (found["predictions"], found["deletions"], found["references"]) == (4, 1, 4)


def test_tasks_of_2016() -> None:
    assert metrics("bb16-cat", ontology=ONTOLOGY)["precision"] == pytest.approx((4 + NEAR) / 6)
    assert metrics("bb16-event")["f1"] == 1.0


def test_lists_and_tables_add_scorings(tmp_path: Path) -> None:
    """With 2 as 3 the habitat is right; of the habitats in the list, only one counts."""
    human, new = tmp_path / "human.tab", tmp_path / "new.list"
    human.write_text("OBT:000002\tOBT:000003\n")
    new.write_text("OBT:000005\n")
    valid = FIXTURES / "bb16-cat/valid"
    result = hlteval.score(
        "bb16-cat",
        str(valid / "reference"),
        str(valid / "submission"),
        options={"ontology": ONTOLOGY, "human": str(human), "new": str(new)},
    )
    found = {row[1]: row[3] for row in result.tables["scorings"].rows()}
    assert found["Habitats only"] == pytest.approx((2 + NEAR) / 3)
    assert found["Habitats only (cap to human)"] == 1.0
    assert found["Habitats only (new in dev)"] == 1.0
    assert "Habitats only (food only)" not in found


def test_a_form_counts_once_with_its_referents(tmp_path: Path) -> None:
    """Of "milk" and "milk" of the same referent the first counts, across documents as well."""
    given = {f"d{n}.txt": "milk milk\n" for n in (1, 2)}
    given |= {f"d{n}.a1": "T1|Habitat 0 4|milk\nT2|Habitat 5 9|milk\n" for n in (1, 2)}
    line = "N{0}|OntoBiotope Annotation:T{0} Referent:{1}\n"
    right = line.format(1, "A") + line.format(2, "A")
    reference = written(tmp_path / "r", given | {"d1.a2": right, "d2.a2": right})
    wrong = line.format(1, "A") + line.format(2, "B")
    system = written(
        tmp_path / "s", {"d1.a2": wrong, "d2.a2": line.format(1, "B") + line.format(2, "B")}
    )
    result = hlteval.score("bb19-norm", reference, system)
    found = {row[1]: row[3] for row in result.tables["scorings"].rows()}
    assert found["Main scoring"] == 1 / 4
    assert found["Habitats (only unique form-normalization)"] == 1.0


def test_relations_inside_sentences(tmp_path: Path) -> None:
    text = "lactis lives. In milk of cows.\n"
    spans = "T1|Microorganism 0 6|lactis\nT2|Habitat 17 21|milk\nT3|Habitat 7 12|lives\n"
    relations = "".join(f"R{n}|Lives_In Microorganism:T1 Location:T{n}\n" for n in (2, 3))
    files = {"d.txt": text, "d.a1": spans, "d.a2": relations}
    reference, system = written(tmp_path / "r", files), written(tmp_path / "s", {"d.a2": relations})
    sentences = tmp_path / "sentences.tsv"
    sentences.write_text("d\t0\t13\nd\t14\t30\n")
    result = hlteval.score("bb19-rel", reference, system, options={"sentences": str(sentences)})
    found = {tuple(row[1:3]): row[3] for row in result.tables["scorings"].rows()}
    assert found["Lives_In", "Predictions"] == 2
    assert found["Lives_In (inside sentences)", "Predictions"] == 1


def test_the_software_strikes_predictions_by_identifier(tmp_path: Path) -> None:
    """R1 has forms, since T1 and T4 are equivalent: a wrong prediction called R1 does not count."""
    spans = "T1|Microorganism 0 1|a\nT2|Habitat 2 3|b\nT3|Habitat 4 5|c\nT4|Microorganism 6 7|d\n"
    gold = "R1|Lives_In Microorganism:T1 Location:T2\n*|Equiv T1 T4\n"
    reference = written(tmp_path / "r", {"d.txt": "a b c d\n", "d.a1": spans, "d.a2": gold})
    wrong = "R1|Lives_In Microorganism:T1 Location:T3\nR2|Lives_In Microorganism:T4 Location:T2\n"
    system = written(tmp_path / "s", {"d.a2": wrong})
    predicted = {
        profile: hlteval.score("bb19-rel", reference, system, profile=profile).metrics[
            "predictions"
        ]
        for profile in ("plan", "official")
    }
    assert predicted == {"plan": 2, "official": 1}


def test_what_the_software_computes_otherwise() -> None:
    right, wrong = frozenset({"1"}), frozenset({"1", "2"})
    assert jaccard(right, wrong) == 1 / 2
    assert software_jaccard(right, wrong) == 1.0
    assert jaccard(wrong, right) == 1 / 2
    assert software_jaccard(wrong, right) == 1 / 3
    assert Ontology().of_sets(frozenset(), frozenset()) == 0
    assert str(SoftwareOntology().of_sets(frozenset(), frozenset())) == "nan"
    ours = [{"start": 0, "end": 4}, {"start": 8, "end": 12}]
    assert shared_in_passing(ours, [{"start": 2, "end": 10}]) == 4


def test_the_alignment_says_what_became_of_each_item() -> None:
    valid = FIXTURES / "bb19-norm-ner/valid"
    result = hlteval.score(
        "bb19-norm-ner",
        str(valid / "reference"),
        str(valid / "submission"),
        options={"ontology": ONTOLOGY},
    )
    outcomes = result.tables["alignment"]["outcome"].value_counts().rows()
    assert dict(outcomes) == {"correct": 5, "partly correct": 1, "missing": 1, "extra": 1}


def test_the_signature_has_the_content_of_the_ontology(tmp_path: Path) -> None:
    valid = FIXTURES / "bb19-norm/valid"
    other = tmp_path / "ontology.tab"
    other.write_text(f"{Path(ONTOLOGY).read_text()}OBT:000009\tOBT:000001\n")
    signatures = {
        hlteval.score(
            "bb19-norm",
            str(valid / "reference"),
            str(valid / "submission"),
            options={"ontology": path},
        ).signature
        for path in (ONTOLOGY, str(other))
    }
    assert len(signatures) == 2


def test_equal_but_for_the_last_digit_is_correct() -> None:
    rows = {"reference": ["a", "b"], "predicted": ["a", "c"], "similarity": [1 - 2**-52, 0.999]}
    shown = with_outcomes(pl.DataFrame(rows))
    assert shown["outcome"].to_list() == ["correct", "partly correct"]
    assert shown["similarity"].to_list() == [1.0, 0.999]
