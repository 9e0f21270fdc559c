"""Files with very many problems: the first of each code are explained, all are counted."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from hlteval.converters.situations.frame_files import Violation
from hlteval.converters.situations.lorehlt.items import LorehltSchema
from hlteval.findings import Finding, Findings, Problem, Span, finding, part, summary
from hlteval.findings.cascades import cascades
from hlteval.reports.findings import FORMATS, text
from hlteval.reports.terminal import results, write
from hlteval.results.verdict import Verdict
from tests.runs import fix, validate

HEADER = '{"format":"hlteval-corpus","version":1}\n'
ROW = "R\tm{}\tname\tD:5-9\tX\tCITY\tNAM\t2.0\n"
WRONG_NEED = '{"DocumentID": 1, "Type": "food", "Status": "x", "SEC": [{"Sentiment": 0}]}'
WRONG_ISSUE = '{"Type": "terrorism", "Resolution": "x", "Confidence": 2, "Urgent": "no"}'
FILES = {
    "lorehlt-edl": ("x.tab", ["x\n" * 9, "\n" * 9 + "y\n", "".join(map(ROW.format, range(9)))]),
    "speech-sf": (
        "x.json",
        [
            f"[{','.join(['{}'] * 9)}]",
            f"[{','.join(['1'] * 9)}]",
            "[" + ",".join(['{"DocumentID": 1}'] * 9) + "]",
        ],
    ),
    "lorehlt-sf": ("x.json", [f"[{','.join(['{}', '1', WRONG_NEED, WRONG_ISSUE] * 5)}]"]),
    "ltf": (
        "x.ltf.xml",
        [f"<LCTL_TEXT><DOC id='d'><TEXT>{'<SEG/><x/>' * 9}</TEXT></DOC></LCTL_TEXT>"],
    ),
    "hub4": (
        "x.tpl",
        ["<TEMPLATE-D-1> :=\n" + "x\n" * 9, "<TEMPLATE-D-1> :=\n" + "    EVENT <\n" * 9],
    ),
}
CASES = [
    (task, profile, name, content)
    for task, (name, contents) in FILES.items()
    for content in contents
    for profile in (["plan"] if task in {"ltf", "hub4"} else ["plan", "official"])
]
SAVED = [HEADER + "x\n" * 9, HEADER + '{"table":"documents","row":1}\n' * 9]


def both(task: str, path: Path, **arguments: object) -> tuple[Verdict, Verdict]:
    """The verdict with all findings explained, and with two of each code."""
    every, bounded = (
        validate(task, str(path), max_per_code=most, **arguments)  # type: ignore[arg-type]
        for most in (0, 2)
    )
    return every, bounded


def hold(every: Verdict, bounded: Verdict) -> None:
    """The counts, the verdict and the first findings are the same."""
    assert bounded.counts == every.counts
    assert (bounded.outcome, bounded.worst) == (every.outcome, every.worst)
    explained = [found for found in bounded.findings if not found.further]
    assert set(explained) <= set(every.findings)
    assert all(found.count == 1 for found in every.findings)
    assert sum(found.count for found in bounded.findings) == len(every.findings)


@pytest.mark.parametrize(("task", "profile", "name", "content"), CASES, ids=range(len(CASES)))
def test_counts_and_verdict_do_not_depend_on_the_maximum(
    task: str, profile: str, name: str, content: str, tmp_path: Path
):
    path = tmp_path / name
    path.write_text(content, newline="")
    every, bounded = both(task, path, profile=profile)
    hold(every, bounded)
    assert any(found.further for found in bounded.findings)


def test_frames_that_are_only_counted_are_not_explained(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    path, seen = tmp_path / "x.json", list[object]()
    path.write_text(f"[{','.join([WRONG_NEED] * 9)}]")
    violations = LorehltSchema.violations

    def explained(self: LorehltSchema, value: object) -> list[Violation]:
        seen.append(value)
        return violations(self, value)

    monkeypatch.setattr(LorehltSchema, "violations", explained)
    validate("lorehlt-sf", str(path), max_per_code=2)
    assert 0 < len(seen) < 9


@pytest.mark.parametrize("content", SAVED, ids=range(len(SAVED)))
def test_saved_corpora_have_the_same_bounds(content: str, tmp_path: Path):
    path = tmp_path / "x.jsonl"
    path.write_text(content)
    every, bounded = both("ltf", path)
    hold(every, bounded)
    assert any(found.further for found in bounded.findings)


@pytest.mark.parametrize("profile", ["plan", "official"])
def test_records_of_standoff_that_cannot_be_read(tmp_path: Path, profile: str):
    """References to them stay left out, and the software crashes on the same lines."""
    lines = [f"E{number}\tBinding Agent=T1\n" for number in range(9)]
    lines += [f"M{number}\tNegation E{number}\n" for number in range(9)]
    (tmp_path / "d.txt").write_text("abc")
    (tmp_path / "d.a1").write_text("T1\tGene 0 1\ta\n")
    (tmp_path / "d.a2").write_text("".join(lines))
    hold(*both("seedev-full", tmp_path, profile=profile))


def test_several_processes_find_the_same(tmp_path: Path):
    for name in "ab":
        (tmp_path / f"{name}.ltf.xml").write_text(FILES["ltf"][1][0])
    one, two = (
        validate("ltf", str(tmp_path), max_per_code=2, batch=1, jobs=jobs) for jobs in (1, 2)
    )
    assert one == two


def test_everything_is_fixed(tmp_path: Path):
    path, out = tmp_path / "x.tab", tmp_path / "out.tab"
    good = "R\tm{}\tname\tD:{}-{}\tX\tGPE\tNAM\t1.0\t\n"
    path.write_text("".join(good.format(n, 9 * n, 9 * n + 3) for n in range(9)))
    copy = fix("lorehlt-edl", str(path), str(out), max_per_code=2)
    assert sum(item.count for item in copy.fixes if item.code == "EDL211") == 9


@pytest.fixture
def some() -> Verdict:
    """Two findings, of which the second stands for 41."""
    first, second = (
        Problem("SNT101", line, 0, 1, {"given": "x"}).in_line("s.tsv", "x") for line in (1, 2)
    )
    return Verdict("hub4", "plan", False, Findings([first, summary(second, range(2, 43))]))


def test_all_formats_have_the_number(some: Verdict):
    assert some.by_code == {"SNT101": 42}
    assert [item.get("count", 1) for item in some.to_dict()["findings"]] == [1, 41]
    assert some.findings.to_frame()["count"].to_list() == [1, 41]
    for form in ("concise", "json", "jsonl", "sarif", "github", "junit"):
        assert "41 more: " in str(FORMATS[form](some)), form
    log = json.loads(str(FORMATS["sarif"](some)))
    assert log["runs"][0]["results"][1]["occurrenceCount"] == 41


def test_text_counts_what_is_not_explained(some: Verdict, capsys: pytest.CaptureFixture[str]):
    write(results(), text(some))
    shown = capsys.readouterr().out
    assert "41 more SNT101 in this file" in shown
    assert "41 of 42 findings not shown; use --max-per-code 0" in shown


def test_cascades_divide_what_stands_for_several():
    role = finding(
        "SEE201", role="agent", hint="", file="d.a2", span=Span(3, 4, 9), record="E1", label="X"
    )
    missing = finding(
        "SEE203", roles="Agent", file="d.a2", span=Span(2, 1, 2), record="E1", label="X"
    )
    kept = cascades([role, summary(missing, [2, 3, 4])], {}).kept
    assert [found.further.places for found in kept if found.further] == [(2, 4)]


def test_a_part_keeps_what_it_is_looked_up_by():
    found: Finding = finding("STD302", target="T1", document="d", suggestion="", file="d.a2")
    rest = part(summary(found, [1, 2, 3], ["T1", "T2", "T3"]), [2])
    assert rest.further is not None
    assert (rest.further.places, rest.further.names) == ((3,), ("T3",))
