"""Numbers of a whole file in another notation: one finding with the cause, and the same counts."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path

import msgspec
import pytest

from hlteval import Verdict, validate
from hlteval.findings import Findings
from hlteval.reports.findings import render
from hlteval.reports.terminal import render_text


def edl(written: Sequence[str]) -> str:
    return "".join(
        f"R\tm{at}\tOsh\tENG_D1:{9 * at}-{9 * at + 2}\tNIL1\tGPE\tNAM\t{number}\n"
        for at, number in enumerate(written)
    )


def speech(written: Sequence[str]) -> str:
    frames = ({"DocumentID": f"D{at}", "Type": "Shelter"} for at in range(len(written)))
    parts = [
        json.dumps(frame)[:-1] + f', "TypeConfidence": {number}}}'
        for frame, number in zip(frames, written, strict=True)
    ]
    return f"[{', '.join(parts)}]"


def lorehlt(written: Sequence[str]) -> str:
    frame = '{"DocumentID": "D%d", "Type": "terrorism", "Place_KB_ID": "", "Status": "current", '
    frame += '"Confidence": %s, "Urgent": true, "SEC": []}'
    return f"[{', '.join(frame % item for item in enumerate(written))}]"


FORMATS: dict[str, tuple[str, str, Callable[[Sequence[str]], str]]] = {
    "EDL314": ("lorehlt-edl", "x.tab", edl),
    "EDL313": ("lorehlt-edl", "x.tab", edl),
    "SFJ205": ("speech-sf", "x.json", speech),
    "LSF205": ("lorehlt-sf", "x.json", lorehlt),
}


def judged(code: str, written: Sequence[str], folder: Path, most: int = 1000) -> Verdict:
    task, name, content = FORMATS[code]
    path = folder / name
    path.write_text(content(written), "utf-8")
    verdict = validate(task, str(path), max_per_code=most)
    own = Findings(found for found in verdict.findings if found.code == code)
    return msgspec.structs.replace(verdict, findings=own)


@pytest.mark.parametrize(
    ("code", "written", "looks"),
    [
        ("SFJ205", ["85", "7.5", "100", "40"], "percentages, such as 85"),
        ("LSF205", ["85", "7.5", "100", "40"], "percentages, such as 85"),
    ],
)
@pytest.mark.parametrize("most", [1000, 2])
def test_numbers_of_a_whole_file_are_one_finding(
    code: str, written: Sequence[str], looks: str, most: int, tmp_path: Path
) -> None:
    written = [*written[:3] * 4, *written[3:]]
    every = judged(code, written, tmp_path, most=0)
    verdict = judged(code, written, tmp_path, most)
    (only,) = verdict.findings
    count = len(every.findings)
    assert only.message.startswith(f"{count} of 13 confidences appear to ")
    assert only.message.endswith(looks)
    assert "by 100" in str(only.help)
    assert (only.file, only.span, only.excerpt) == (
        every.findings[0].file, every.findings[0].span, every.findings[0].excerpt,
    )  # fmt: skip
    assert (verdict.counts, verdict.passed) == (every.counts, every.passed)
    assert only.blocking is every.findings[0].blocking
    shown = render_text(render(verdict, "text"))
    assert only.message in shown
    assert "not shown" not in shown


@pytest.mark.parametrize(
    "written",
    [["85", "7.5"], ["85", "7.5", "40", "0.5", "0.6"], ["850", "7.5", "40", "-3"]],
    ids=["few", "among others", "not percentages"],
)
@pytest.mark.parametrize("code", ["EDL314", "SFJ205"])
def test_other_numbers_are_reported_one_by_one(
    code: str, written: Sequence[str], tmp_path: Path
) -> None:
    verdict = judged(code, written, tmp_path)
    assert len(verdict.findings) == sum(not 0 < float(number) <= 1 for number in written)


@pytest.mark.parametrize(
    ("written", "code", "example"),
    [
        (["85", "7.5", "100", "40"], "TAB107", "85"),
        (["85%", "7.5 %", "100%", "3%"], "TAB107", "85%"),
        (["0,85", "0,1", "1,0", "0,5"], "TAB106", "0,85"),
    ],
)
@pytest.mark.parametrize("most", [1000, 2])
def test_numbers_of_all_rows_of_a_table_are_one_finding(
    written: Sequence[str], code: str, example: str, most: int, tmp_path: Path
) -> None:
    path = tmp_path / "x.tab"
    path.write_text(edl(written * 4), "utf-8")
    (only,) = validate("lorehlt-edl", str(path), max_per_code=most).findings
    assert only.code == code
    assert only.message.endswith(f"in 16 of 16 rows, such as {example}")


def test_a_number_of_another_kind_among_percentages_has_its_own_finding(tmp_path: Path) -> None:
    (tmp_path / "x.tab").write_text(edl(["40"] * 19 + ["-3"]), "utf-8")
    found = validate("lorehlt-edl", str(tmp_path / "x.tab")).findings
    percentages = "confidence (field 8) appears to be a percentage in 19 of 20 rows, such as 40"
    assert [item.message for item in found] == [
        percentages,
        "the confidence -3 must be above 0.0 and at most 1.0",
    ]
