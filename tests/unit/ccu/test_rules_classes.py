"""Rules over classes that the annotation lacks: norms one by one, and all of a submission."""

from __future__ import annotations

import re
from pathlib import Path

from hlteval import score, validate
from hlteval.representation import Corpus
from hlteval.results.verdict import Verdict
from tests.unit.ccu.ccu_rules import AUDIO, TEXT, codes, context, corpus, found, instance

SCORES = Path(__file__).parents[3] / "fixtures/scores"
REFERENCE, SYSTEM = str(SCORES / "ccu/reference"), SCORES / "ccu-nd/system"


def annotation(*norms: str, listed: tuple[str, ...] = ()) -> Corpus:
    """An annotation with an instance of each norm, and a list of some."""
    rows = [instance(AUDIO, 2 * at, 2 * at + 1, norm) for at, norm in enumerate(norms)]
    documents = [
        {"row": row, "name": name, "modality": "audio", "length": 90.0}
        for row, name in enumerate((AUDIO, TEXT))
    ]
    entities = [{"row": row, "entity": name, "label": "known"} for row, name in enumerate(listed)]
    return corpus("instances", rows).replace(documents=documents, entities=entities)


def system(*norms: str) -> Corpus:
    return corpus("instances", [instance(AUDIO, at, at + 1, norm) for at, norm in enumerate(norms)])


def test_a_norm_that_the_annotation_lacks_is_reported_once_with_its_rows():
    looked_at = context("nd", system("103x", "101", "103x"), annotation("101", "103", "noann"))
    assert codes(looked_at) == {"CCU503": 1, "CCU513": 1}
    (row,) = found(looked_at, "CCU513")
    assert (row["record"], row["given"], row["count"]) == (2, "103x", 2)
    assert row["hint"] == "did you mean 103?"


def test_a_norm_that_is_listed_without_an_instance_is_known():
    assert codes(context("nd", system("102"), annotation("101", listed=("102",)))) == {}
    # An index alone has no norms to compare with.
    assert codes(context("nd", system("102"), annotation())) == {}


def test_a_mapped_norm_is_known():
    mapping = corpus("mappings", [{"doc": None, "label": "501", "target": "101"}])
    reference = annotation("101", "102")
    assert codes(context("nd", system("501"), reference, {"mapping": mapping})) == {}
    looked_at = context("nd", system("501", "502"), reference, {"mapping": mapping})
    assert codes(looked_at) == {"CCU513": 1}


def test_nothing_in_common_is_one_finding():
    looked_at = context("nd", system("501", "502"), annotation("101", "102"))
    assert codes(looked_at) == {"CCU513": 2, "CCU514": 1}
    (row,) = found(looked_at, "CCU514")
    assert (row["what"], row["reference"], row["given"]) == ("norm", "101, 102", "501, 502")
    assert codes(context("nd", system(), annotation("101"))) == {}


def renamed(folder: Path) -> str:
    """The submission with names of its own for all norms."""
    folder.mkdir()
    for file in SYSTEM.iterdir():
        text = re.sub("^(M[0-9]+)\t1", r"\1\t5", file.read_text("utf-8"), flags=re.MULTILINE)
        (folder / file.name).write_text(text, "utf-8")
    return str(folder)


def test_a_submission_without_a_norm_in_common_has_its_number_and_a_note(tmp_path: Path):
    own = renamed(tmp_path / "own")
    verdict: Verdict = validate("ccu-nd", own, against=REFERENCE)
    assert verdict.passed
    # It comes first.
    assert verdict.findings[0].code == "CCU514"
    assert {item.severity.value for item in verdict.findings if item.code == "CCU513"} == {
        "warning"
    }
    result = score("ccu-nd", REFERENCE, own)
    assert result.metrics["map"] == 0
    (note,) = (note for note in result.notes if "(CCU514)" in note)
    assert note.startswith("submission: no norm in common: the annotation has 101, 102, 103")
    assert "map its norms to hidden ones" in note
    assert not [note for note in score("ccu-nd", REFERENCE, str(SYSTEM)).notes if "CCU514" in note]
