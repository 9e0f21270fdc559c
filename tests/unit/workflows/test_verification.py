"""Verification: every part that differs is found, and nothing else."""

from __future__ import annotations

import json
from math import nextafter
from pathlib import Path
from typing import Any

import pytest

from hlteval.results.verdict import Signature, Verification, WrongSignature
from hlteval.tasks.task import WrongOption
from hlteval.workflows.run.request import Intervals
from hlteval.workflows.verification import read_claim, verify
from tests.runs import compare, score

DEMO = Path(__file__).parents[3] / "hlteval" / "demo"
REFERENCE, SYSTEM = (str(DEMO / "entities" / f"{side}.tab") for side in ("reference", "system"))
SETS = tuple(str(DEMO / "comparison" / f"{name}.tpl") for name in ("reference", "bold"))
COMMON: dict[str, Any] = {"profile": "plan", "lenient": True, "encoding": "latin-1"}
DRAWS = {"bootstrap": 20, "confidence": 0.9, "seed": 3}


@pytest.fixture(scope="module")
def options(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """Files that are read as a corpus and as a table, and values."""
    folder = tmp_path_factory.mktemp("options")
    (folder / "zones").write_text("ENG_1\t0\t1\n", "utf-8")
    lines = Path(REFERENCE).read_text("utf-8").splitlines()
    names = {line.split("\t")[3].partition(":")[0] for line in lines}
    (folder / "names").write_text("".join(f"{name}\n" for name in sorted(names)), "utf-8")
    files = {"documents": str(folder / "names"), "exclude": str(folder / "zones")}
    return {"by": "type", "measure": "muc strong_mention_match", **files}


@pytest.fixture(scope="module")
def signed(options: dict[str, str]) -> Signature:
    """A signature with every kind of part."""
    scores = score(
        "lorehlt-edl", REFERENCE, SYSTEM, options=options, intervals=Intervals(20, 0.9, 3), **COMMON
    )
    return Signature.parse(scores.signature)


def own(options: dict[str, str]) -> dict[str, Any]:
    return {"task": "lorehlt-edl", "options": options, **COMMON, **DRAWS}


def differing(found: Verification) -> list[str]:
    return [part.name for part in found.differing]


def test_with_everything_given_every_part_is_the_same(
    signed: Signature, options: dict[str, str]
) -> None:
    found = verify(str(signed), REFERENCE, SYSTEM, **own(options))
    assert [(part.name, part.outcome) for part in found.parts] == [
        (name, "not checked" if name == "jackknife" else "same") for name, _ in signed.parts
    ]
    assert found.agrees
    assert found.numbers == ()


PARTS = (
    *("hlteval", "task", "profile", "reference", "system", "by", "measure", "documents", "exclude"),
    *("encoding", "lenient", "bootstrap", "confidence", "seed"),
)


def test_the_parts_are_all_that_a_signature_has(signed: Signature) -> None:
    assert {name for name, _ in signed.parts} - {"jackknife"} == set(PARTS)


@pytest.mark.parametrize("name", PARTS)
def test_a_part_that_was_changed_or_removed_is_the_one_that_differs(
    name: str, signed: Signature, options: dict[str, str]
) -> None:
    changed = Signature(tuple((n, "x" if n == name else v) for n, v in signed.parts))
    found = verify(str(changed), REFERENCE, SYSTEM, **own(options))
    assert differing(found) == [name]
    (part,) = found.differing
    assert (part.expected, part.found) == ("x", dict(signed.parts)[name])
    if name not in {"hlteval", "bootstrap"}:  # the first begins every signature; see jackknife
        removed = Signature(tuple(part for part in signed.parts if part[0] != name))
        found = verify(str(removed), REFERENCE, SYSTEM, **own(options))
        assert [(part.name, part.expected) for part in found.differing] == [(name, None)]


def test_what_nobody_gives_is_not_checked(signed: Signature) -> None:
    found = verify(str(signed), REFERENCE, SYSTEM)
    assert found.agrees
    unchecked = {part.name: part.reason for part in found.parts if part.outcome == "not checked"}
    assert unchecked.keys() - {"jackknife"} == set(PARTS) - {"hlteval", "reference", "system"}
    assert unchecked["documents"] == "use --documents FILE to check it"
    assert unchecked["by"] == "taken from the signature; use --by to compare yours"


def test_a_part_that_nobody_knows_differs(signed: Signature) -> None:
    found = verify(f"{signed}|colour:red", REFERENCE, SYSTEM)
    assert differing(found) == ["colour"]


def test_options_that_the_signature_lacks_differ() -> None:
    signature = score("lorehlt-edl", REFERENCE, SYSTEM).signature
    found = verify(signature, REFERENCE, SYSTEM, options={"by": "type"}, encoding="utf-8")
    assert [(part.name, part.expected, part.found) for part in found.differing] == [
        ("by", None, "type")
    ]


@pytest.fixture
def written(tmp_path: Path) -> Path:
    """Scores as JSON."""
    scores = score("hub4", *SETS, options={"beta": "2"}, intervals=Intervals(20, 0.95, 1))
    path = tmp_path / "scores.json"
    path.write_text(json.dumps(scores.to_dict()), "utf-8")
    return path


def test_numbers_are_computed_again(written: Path) -> None:
    found = verify(str(written), *SETS)
    assert found.agrees
    assert {part.outcome for part in found.numbers} == {"same"}
    scores = json.loads(written.read_text("utf-8"))
    assert len(found.numbers) == len(scores["metrics"]) + 2 * len(scores["intervals"])
    assert len(scores["intervals"]) > 1


@pytest.mark.parametrize("place", ["metrics", "intervals"])
def test_a_number_that_differs_in_its_last_digit_is_found(written: Path, place: str) -> None:
    scores = json.loads(written.read_text("utf-8"))
    name, value = next(
        (n, v) for n, v in scores[place].items() if v not in (None, 0) and v != [0, 0]
    )
    nudged = (
        nextafter(value, 2 * value)
        if place == "metrics"
        else [value[0], nextafter(value[1], 2 * value[1])]
    )
    scores[place][name] = nudged
    written.write_text(json.dumps(scores), "utf-8")
    found = verify(str(written.parent), *SETS)
    assert differing(found) == [name if place == "metrics" else f"{name} (high)"]


def test_numbers_are_not_compared_where_data_or_settings_differ(written: Path) -> None:
    for arguments in (SETS[:1] * 2, SETS[1:] * 2):
        found = verify(str(written), *arguments)
        assert [part.outcome for part in found.numbers] == ["not checked"]
        assert found.numbers[0].reason.endswith(" differs")


def test_numbers_of_what_is_refused_differ(tmp_path: Path) -> None:
    standoff = Path(__file__).parents[3] / "fixtures"
    reference = str(standoff / "standoff" / "valid" / "full")
    system = str(standoff / "seedev" / "invalid" / "SEE205-entity-type")
    scores = score("seedev-full", reference, system, lenient=True)
    written = json.dumps(scores.to_dict()).replace("lenient:yes", "lenient:no")
    (tmp_path / "scores.json").write_text(written, "utf-8")
    found = verify(str(tmp_path), reference, system)
    assert differing(found) == ["numbers"]
    assert "SEE205" in found.differing[0].reason


def test_the_signature_of_a_comparison_has_several_systems() -> None:
    reference = str(DEMO / "comparison" / "reference.tpl")
    systems = [str(DEMO / "comparison" / f"{name}.tpl") for name in ("bold", "careful")]
    signature = compare("hub4", reference, systems, intervals=Intervals(10)).signature
    assert verify(signature, reference, systems).agrees
    assert differing(verify(signature, reference, systems[::-1])) == ["system", "system"]
    assert differing(verify(signature, reference, systems[0])) == ["system"]


@pytest.mark.parametrize(
    "text",
    ["# Scores\n\nI got `{}` today\n", "% {}\n\\begin{{tabular}}\n", "f1 0.5\n{}\n", "  {}\r\n"],
)
def test_a_report_contains_its_signature(text: str, signed: Signature, tmp_path: Path) -> None:
    (tmp_path / "report").write_text(text.format(signed), "utf-8")
    claim = read_claim(str(tmp_path / "report"))
    assert (claim.signature, claim.numbers) == (signed, None)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("no signature here", "contains no signature"),
        ('{"metrics": {}}', "is not the JSON of scores"),
        ('{"signature": "hlteval:1", "metrics": [1]}', "is not the JSON of scores"),
        ('{"signature": 3}', "is not the JSON of scores"),
        ("{", "is not the JSON of scores"),
    ],
)
def test_a_file_without_a_signature_is_an_error_of_usage(
    content: str, message: str, tmp_path: Path
) -> None:
    (tmp_path / "report").write_text(content, "utf-8")
    with pytest.raises(WrongSignature, match=message):
        verify(str(tmp_path / "report"), REFERENCE, SYSTEM)


@pytest.mark.parametrize(
    ("signature", "message"),
    [
        ("hlteval:0.1.0|task:lorehlt-edk", "unknown task lorehlt-edk; did you mean lorehlt-edl"),
        ("hlteval:0.1.0|profile:plan", "names no task"),
        ("x" * 5000, "neither a signature"),
        ("nowhere.json", "neither a signature"),
        ("", "neither a signature"),
    ],
)
def test_what_is_no_signature_is_an_error_of_usage(signature: str, message: str) -> None:
    with pytest.raises(WrongOption, match=message):
        verify(signature, REFERENCE, SYSTEM)


def test_resamples_do_not_matter_where_nothing_was_resampled() -> None:
    """Measures whose counts do not add have the jackknife."""
    given = {"options": {"measure": "muc"}}
    signature = score("lorehlt-edl", REFERENCE, SYSTEM, intervals=Intervals(20), **given).signature
    assert "|jackknife:" in signature
    only = signature.replace("|bootstrap:20", "")
    assert verify(only, REFERENCE, SYSTEM, bootstrap=50, confidence=0.95, **given).agrees
    assert differing(verify(signature, REFERENCE, SYSTEM, bootstrap=50)) == ["bootstrap"]
