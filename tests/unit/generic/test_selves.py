"""Every valid file is right beside itself, by the measures of all units that its format has."""

from __future__ import annotations

from pathlib import Path

import pytest

from hlteval import convert, score, validate
from hlteval.converters import known, load
from hlteval.results.scores import Scores
from hlteval.workflows.convert.conversion import NotConverted
from hlteval.workflows.run.batches import NothingGiven
from hlteval.workflows.run.verdicts import Refused

FIXTURES = Path(__file__).parents[3] / "fixtures"
UNITS = ("mentions", "relations", "events", "labels", "links", "segments", "coreference")
FILES = sorted(FIXTURES.glob("*/valid/*"))
RATES = {"precision", "recall", "f1", "accuracy"}


def scores(unit: str, path: str) -> Scores | None:
    """The scores of a file beside itself; None if the unit has no such format, or no such data."""
    try:
        return score(unit, path, path)
    except (NothingGiven, Refused):
        return None


@pytest.mark.parametrize("path", FILES, ids=lambda path: "-".join(path.parts[-3::2]))
def test_nothing_is_wrong_beside_itself(path: Path) -> None:
    for found in filter(None, (scores(unit, str(path)) for unit in UNITS)):
        metrics = found.metrics.items()
        rates = {value for name, value in metrics if name.rpartition(".")[2] in RATES}
        assert rates <= {1.0, None}, found


def test_enough_is_read() -> None:
    units = [unit for unit in UNITS for path in FILES if scores(unit, str(path))]
    assert {*units} == {*UNITS}


TEXT = "Ann met Bob \U0001f95b at Acme in Osh.\nEve left.\n"
LINES = [
    *(f"T{at}\t{label} {start} {end}\t{TEXT[start:end]}" for at, label, start, end in (
        (1, "Person", 0, 3), (2, "Person", 8, 11), (3, "Org", 17, 21), (4, "Place", 25, 28),
        (5, "Person", 30, 33),
    )),
    *(f"N{at}\tReference T{at} KB:Q{at}" for at in range(1, 6)),
    "R1\tMet Arg1:T1 Arg2:T2", "R2\tIn Arg1:T3 Arg2:T4", "",
]  # fmt: skip
WRITTEN = [name for name in known() if load(name).write and "mentions" in load(name).tables]
#: Formats in which all of it is right.
CERTAIN = {"brat", "bioc-xml", "bioc-json", "cas-xmi", "webanno-tsv", "gate-xml", "jsonl"}
PRIMARY = {"mentions": "micro.f1", "relations": "micro.f1", "links": "strong_link_match.fscore"}


@pytest.mark.parametrize("name", WRITTEN)
def test_what_is_converted_is_right_beside_the_original_or_says_why(
    name: str, tmp_path: Path
) -> None:
    folder, form = tmp_path / "brat", load(name)
    folder.mkdir()
    (folder / "d1.txt").write_text(TEXT, "utf-8")
    (folder / "d1.ann").write_text("\n".join(LINES), "utf-8")
    suffix = form.suffixes[0] if form.layout == "single_file" else ""
    output = str(tmp_path / f"out{suffix}")
    try:
        convert(str(folder), output, to_format=name)
    except NotConverted:
        return
    right = set[str]()
    for unit, primary in PRIMARY.items():
        try:
            found = score(unit, str(folder), output)
        except (NothingGiven, Refused):
            continue
        findings = validate(unit, output, against=str(folder)).findings
        assert found.metrics[primary] == 1 or {each.severity for each in findings} & {"error"}
        right |= {unit} if found.metrics[primary] == 1 else set()
    assert right == {*PRIMARY} or name not in CERTAIN
