"""Findings as people see them: snapshots, and carets that stand under what they mean."""
# ruff: noqa: RUF001 - characters that look alike are what is tried here

from __future__ import annotations

import re
from io import StringIO
from pathlib import Path

import polars as pl
import pytest
from rich.cells import cell_len
from rich.console import Console

from hlteval.findings import Finding, Severity, Span, excerpt
from hlteval.reports.findings import render
from hlteval.reports.scores import pivot_scorings
from hlteval.results.verdict import Verdict

GOLDEN = Path(__file__).parents[2] / "golden" / "findings"
ASTRONAUT, FAMILY = "\U0001f469\u200d\U0001f680", "\U0001f468\u200d\U0001f469\u200d\U0001f467"


def found(line: str, marked: str, number: int = 1, **given: object) -> Finding:
    """A finding that marks the first occurrence of a stretch in a line; `|` is an empty place."""
    begin = line.index(marked)
    line, end = (line.replace("|", "", 1), begin) if marked == "|" else (line, begin + len(marked))
    span = Span(number, begin + 1, end + 1)
    return problem(span=span, excerpt=excerpt(line, span), **given)


def problem(code: str = "TST101", severity: str = "error", **given: object) -> Finding:
    values = {"name": "a-test", "blocking": False, "message": "this is wrong", "file": "d1.a2"}
    return Finding(code=code, severity=Severity(severity), **(values | given))


def shown(*findings: Finding, width: int = 100, most: int = 20, passed: bool = False) -> str:
    stream = StringIO()
    console = Console(file=stream, width=width, color_system=None)
    verdict = Verdict("seedev-binary", "plan", passed, findings)
    console.print(render(verdict, "text", most), soft_wrap=True)
    return stream.getvalue()


CASES = {
    "design": [
        found(
            "SYS\tENT7\t東京\tDOC_01:40-36\tNIL12\tPER\tNAM\t1.0",
            "DOC_01:40-36",
            code="TST204",
            file="runs/sys1.tab",
            message="mention ends before it starts",
            help="offsets are inclusive and 0-based; did you mean DOC_01:36-40?",
            clause="LoReHLT 2019 plan, 17.4, field 4",
        )
    ],
    "cjk": [
        found("T1\tGene 0 2\t東京都の遺伝子", "京都", 9),
        found("T1\tGene 0 2\t한국어 ｗｉｄｅ\u3000全角", "全角", 10),
    ],
    "emoji": [
        found(f"a {ASTRONAUT} b {FAMILY} c", "c"),
        found(f"a {ASTRONAUT} b {FAMILY} c", FAMILY, 2),
        found(f"a {ASTRONAUT} b", "\U0001f680", 3),
        found("I \u2764\ufe0f U", "U", 4),
        found("\U0001f44d\U0001f3fd up", "up", 5),
        found("\U0001f1eb\U0001f1f7 flag", "flag", 6),
        found("joiner after a letter: a\u200db", "b", 7),
    ],
    "combining": [
        found("cafe\u0301 nai\u0308ve x", "x"),
        found("cafe\u0301 nai\u0308ve x", "\u0308", 2),
        found("\u0301 has no base", "\u0301", 3),
        found("a\t\u0301\u0302 behind a tab", "behind", 4),
        found("किताब หนังสือ x", "x", 5),
        found("Z" + "\u0300\u0316" * 30 + " x", "x", 6),
    ],
    "right-to-left": [
        found("T1\tGene 0 4\tשלום עולם", "עולם"),
        found("אבג\t12:34\tدهو", "12:34", 2),
        found("T1\tمرحبا بالعالم", "بال", 3),
        found("می\u200cروم x", "x", 4),
        found("شما", "شما", 5, file="שלום", message="شما is unknown", help="write שלום"),
    ],
    "tabs": [found("T1\t\tGene 0 4\tthe", "\t"), found("\tx", "x", 2), found("a\t→", "→", 3)],
    "megabyte": [
        found("x" * 500_000 + "東京" + "y" * 500_000, "東京"),
        found("x" * 500_000 + "東" * 500_000, "東" * 500_000, 2),
        found("z" + "x" * 1_000_000, "z", 3),
        found("x" * 1_000_000 + "|", "|", 4),
        found("\x1b" * 1_000_000 + "|", "|", 5),
    ],
    "markup": [
        found(
            "T1\t[bold]Gene[/bold] :smile: [link=http://x]0[/] 4",
            "Gene",
            message="[red]unknown[/red] [/] type :warning:",
            file="[i]d1[/i].a2",
            help="write [bold]",
            clause="[1] section [2]",
        )
    ],
    "control": [
        found("a\x1b[2J\x1b]0;title\x07b", "b"),
        found("a\u202eesrever\u202c\u2066\u2069\u200e\u200f b", "b", 2),
        found("a\u2028b\u2029c\x85d\x0be\x0cf\x00g\x7fh", "h", 3),
        found("a\ufeffb\u200bc\u00add\u00a0e\u2003f", "f", 4),
        found("T1\tGene 0 4\tthe\r", "\r", 5),
        found("a\U000e0041b\ue000c\ud800d", "d", 6),
        problem(
            message="\x1b[31mred\nsecond\u202e",
            file="d\x1b[2J\r.a2",
            help="\x07\t",
            record="E1\x9b",
            clause="\u2029",
        ),
    ],
    "line-end": [
        found("T1\tGene 0|", "|"),
        found("|", "|", 2),
        found("|T1", "|", 3),
        found("東|京", "|", 4),
        problem(span=Span(5, 9, 12), excerpt=excerpt("short", Span(5, 9, 12))),
        problem(span=Span(6, 4, 99), excerpt=excerpt("short", Span(6, 4, 99))),
        problem(span=Span(7, 1, 3)),
    ],
    "places": [
        problem(
            "TST301", "warning", file=None, message="nothing predicted", help="check the folder"
        ),
        problem("TST302", "info", message="an empty file"),
        problem("TST303", blocking=True, record="E12", message="a record", clause="plan, 3"),
        found("T1\tx", "x", 1234, code="TST101", help="the margin is wide", clause="plan, 4"),
        found("T1\tx", "x", 2, code="TST101", file="d2.a2", severity="warning"),
        found("T1\tx", "x", 1, code="TST303", file="d2.a2"),
    ],
    "limits": [
        *(found(f"T{n}\tx", "x", n, code="TST101", severity="warning") for n in range(1, 1251)),
        *(found(f"T{n}\ty", "y", n, code="TST102") for n in (1300, 1301)),
        *(found("z", "z", 2000 + n, code=f"TST{200 + n % 5}", severity="info") for n in range(25)),
        *(problem(file=None, message=f"missing: d{n}", code="TST103") for n in range(7)),
        *(found(f"T{n}\tx", "x", n, code="TST101", file="d2.a2") for n in range(1, 6)),
    ],
    "nothing": [],
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_snapshot(name, golden):
    most = 20 if name == "limits" else 0
    golden(GOLDEN / f"{name}.txt", shown(*CASES[name], most=most, passed=not CASES[name]))


def test_a_narrow_terminal_gets_shorter_excerpts(golden):
    findings = [*CASES["design"], *CASES["cjk"], *CASES["emoji"], *CASES["megabyte"]]
    output = shown(*findings, width=40, most=0)
    golden(GOLDEN / "narrow.txt", output)
    excerpts = re.findall(r"^ *[0-9]+ \|.*$", output, re.MULTILINE)
    assert len(excerpts) == len(findings)
    assert max(map(cell_len, excerpts)) <= 40


def carets(output: str) -> list[tuple[str, int, int]]:
    """Each excerpt with the column and the width of its carets, in cells."""
    found = re.findall(r"^( *[0-9]+ \|.*)\n( +\| *)(\^+)$", output, re.MULTILINE)
    return [(line, len(before), len(marks)) for line, before, marks in found]


@pytest.mark.parametrize(
    ("line", "marked"),
    [
        ("T1\t東京 [bold] x", "京 [bold]"),
        (f"{ASTRONAUT}{FAMILY}東 e\u0301 x!", "x!"),
        ("नमस्ते सभी", "सभी"),
        ("ﷺ ﬁ ｶﾞ カ\u3099 x!", "x!"),
        ("\u1100\u1161\u11a8 한 x!", "x!"),
        ("אבג\t12:34\tدهو", "12:34"),
        ("אבג 12:34 دهو x!", "x!"),
    ],
)
def test_carets_stand_under_what_they_mark(line, marked):
    [(excerpt_line, column, width)] = carets(shown(found(line, marked)))
    at = excerpt_line.index(marked)
    assert column == cell_len(excerpt_line[:at])
    assert width == cell_len(marked)


def test_what_is_counted_is_everything():
    output = shown(*CASES["limits"])
    blocks = re.findall(r"^(?:error|warning|info)\[(TST...)\]: ", output, re.MULTILINE)
    assert [blocks.count(f"TST{n}") for n in (101, 102, 103)] == [10, 2, 5]
    assert "… 1,245 more TST101 in this file\n" in output
    assert "… 2 more TST103 for the submission\n" in output
    assert re.search(r"^TST101  error +5 +5 ", output, re.MULTILINE)
    assert re.search(r"^TST101  warning +1,250 +5 ", output, re.MULTILINE)
    assert "\n1,259 of 1,289 findings not shown; use --max-findings 0 to show all\n" in output
    assert output.endswith(
        "fail: 14 errors, 1,250 warnings, 25 info in 2 files (seedev-binary, profile plan)\n"
    )


@pytest.mark.parametrize(("most", "expected"), [(0, 1250), (20, 5), (100, 25), (1, 1), (3, 1)])
def test_the_limit_can_be_set(most, expected):
    findings = [finding for finding in CASES["limits"] if finding.code == "TST101"][:1250]
    output = shown(*findings, most=most)
    assert output.count("warning[TST101]") == expected
    assert ("more TST101" in output) == (expected < 1250)


def test_the_worst_are_shown_where_not_all_can_be():
    mild = [problem(f"TST{n}", "info", span=Span(n, 1, 1)) for n in range(100, 140)]
    output = shown(*mild, problem("TST999", span=Span(9999, 1, 1)))
    assert "error[TST999]" in output
    assert output.count("\ninfo[") + output.startswith("info[") == 19


def test_errors_of_all_files_come_before_warnings_of_any():
    files = [f"d{number}.a2" for number in range(3)]
    findings = [
        problem("TST101", kind, file=file) for file in files for kind in ("warning", "error")
    ]
    heads = re.findall(
        r"^(error|warning)|--> (.*)$", shown(*findings, problem(severity="info")), re.M
    )
    assert [word for word, _ in heads if word] == ["error"] * 3 + ["warning"] * 3
    assert [file for _, file in heads if file][:6] == [*files, *files]


def test_the_whole_run_has_a_limit_too():
    findings = [
        problem(f"TST{code}", file=f"d{n:03}") for n in range(200) for code in range(101, 110)
    ]
    last = problem("TST999", "info", file="z")
    output = shown(*findings, last)
    heads = re.findall(r"^\w+\[(TST...)\]: ", output, re.MULTILINE)
    assert len(heads) == 5 * 20
    assert max(map(heads.count, heads)) <= 20
    assert set(heads) == {finding.code for finding in (*findings, last)}
    assert "\n1,701 of 1,801 findings not shown; use --max-findings 0 to show all\n" in output
    assert shown(*findings, most=0).count("\nerror[") == 1799
    assert "not shown" not in shown(*findings, most=0)


def test_sentences_are_wrapped_at_words_in_a_terminal_only():
    path = "a-folder/of-a-very-long-name/with-another-very-long-name/d1.a2"
    sentence = "words that go on and on " * 6 + path
    finding = problem(message=sentence, help=sentence, clause=sentence, file=path)
    stream = StringIO()
    console = Console(file=stream, width=60, color_system=None, force_terminal=True)
    console.print(render(Verdict("t", "plan", False, (finding,))), soft_wrap=True)
    lines = stream.getvalue().splitlines()
    assert all(len(line) <= 60 or path in line for line in lines)
    assert " ".join(" ".join(lines).split()).count(sentence) == 3
    assert [line for line in lines if line.startswith("  = help: words")]
    assert sum(line.startswith("          words") or line == " " * 10 + path for line in lines) >= 2
    assert f"error[TST101]: {sentence}\n" in shown(finding, width=60)


def test_the_order_does_not_depend_on_the_order_given():
    findings = [finding for case in CASES.values() for finding in case]
    assert shown(*findings) == shown(*reversed(findings))


def test_colours_are_styles_and_no_part_of_the_text():
    stream = StringIO()
    verdict = Verdict("t", "plan", False, tuple(CASES["design"]))
    console = Console(file=stream, force_terminal=True, color_system="standard", width=100)
    console.print(render(verdict), soft_wrap=True)
    coloured = stream.getvalue()
    assert "\x1b[1;31merror[TST204]\x1b[0m" in coloured
    plain = re.sub(r"\x1b\[[0-9;]*m", "", coloured)
    assert plain == shown(*CASES["design"]).replace("seedev-binary", "t")


def test_findings_without_a_task_have_no_verdict():
    stream = StringIO()
    verdict = Verdict("", "", True, tuple(CASES["design"]))
    Console(file=stream, width=100).print(render(verdict), soft_wrap=True)
    assert stream.getvalue().endswith("\n1 error in 1 file\n")


def test_scorings_without_a_measure_have_an_empty_cell():
    rows = [("A", "one", "F1", 0.5), ("A", "two", "F1", 0.25), ("A", "two", "N", 3.0)]
    names = ["evaluation", "scoring", "measure", "value"]
    frame = pl.DataFrame(rows, schema=names, orient="row")
    assert list(pivot_scorings(frame)) == [
        ("A", ["F1", "N"], [("one", [0.5, None]), ("two", [0.25, 3.0])])
    ]
