"""Corrected copies: what is not corrected, and what is withdrawn."""

from __future__ import annotations

from pathlib import Path

import pytest

from hlteval.converters import load
from hlteval.findings import Finding, Span, finding
from hlteval.findings.fixers import FIXERS
from hlteval.sources import open_source
from hlteval.workflows.fixing import UNSURE, Corrector, FixedFiles
from tests.runs import open_submission

FULL = Path(__file__).parents[3] / "fixtures" / "standoff" / "valid" / "full"


def test_line_ends_are_left_where_offsets_count_them() -> None:
    def chosen(_: object) -> list[Finding]:
        return [finding("EDL104", file="x", count=1)]

    reasons = []
    for task, path in (("seedev-full", FULL), ("lorehlt-edl", FULL / "seed-1.a2")):
        opened = open_submission(task, str(path))
        files = FixedFiles(opened.system, opened.format)
        reasons += [item.reason for item in Corrector(opened, chosen).rest(files)]
    assert reasons == ["the offsets of annotations would shift", UNSURE]


def line_fix(name: str, line: str, wrong: Finding) -> tuple[str, ...] | None:
    fixer = FIXERS[name].line
    assert fixer is not None
    return fixer(line, wrong)


@pytest.mark.parametrize(
    ("line", "help_", "fixed"),
    [
        ("binding", "did you mean Binding?", "Binding"),
        ("bindin", "did you mean Binding?", None),
        ("Binding", "did you mean Binding?", None),
        ("agent", "use Agent or AGENT", None),
        ("agent", "use Agent_2", None),
        ("agent", "use Agent, Process", "Agent"),
        ('"water supply"', "did you mean Water Supply?", '"Water Supply"'),
    ],
)
def test_only_case_is_corrected_and_only_where_one_name_is_meant(
    line: str, help_: str, fixed: str | None
) -> None:
    span = Span(1, 1, len(line) + 1)
    wrong = finding("SEE101", span=span, label=line, hint=help_)
    assert line_fix("spelling", line, wrong) == ((fixed,) if fixed else None)


@pytest.mark.parametrize(
    ("line", "column", "fixed"),
    [
        ("E1 Binding", 3, "E1\tBinding"),
        ("E1    Binding", 3, "E1\tBinding"),
        ("E1 \tBinding", 3, None),
        ("E1Binding", 3, None),
        ("E1", 3, None),
    ],
)
def test_a_tab_replaces_spaces_only(line: str, column: int, fixed: str | None) -> None:
    wrong = finding("STD101", span=Span(1, column, column + 1))
    assert line_fix("tab", line, wrong) == ((fixed,) if fixed else None)


def test_what_is_withdrawn_is_as_before(tmp_path: Path) -> None:
    file = tmp_path / "x.tab"
    file.write_bytes(b"a b\r\n\r\nc\td\n")
    files = FixedFiles(open_source(str(file)), load("edl-tab"))
    too_few = finding("EDL201", file=str(file), span=Span(1, 1, 4), wanted=8, given=1, hint="")
    empty = finding("EDL103", file=str(file), span=Span(2, 1, 1))
    assert files.apply([too_few, empty])
    assert files.result().members[0].fetch() == b"a\tb\r\nc\td\n"
    assert [fix.line for fix in files.fixes()] == [1, 2]
    assert files.withdraw([(str(file), 1)])
    assert files.result().members[0].fetch() == b"a b\r\nc\td\n"
    assert not files.apply([too_few])
    assert not files.withdraw([(str(file), 1)])


def test_a_file_in_another_encoding_is_left(tmp_path: Path) -> None:
    file = tmp_path / "x.tab"
    file.write_bytes(b"\xe9 b\n")
    files = FixedFiles(open_source(str(file)), load("edl-tab"))
    wrong = finding("EDL201", file=str(file), span=Span(1, 1, 4), wanted=8, given=1, hint="")
    assert not files.apply([wrong])
    assert files.result().members[0].fetch() == b"\xe9 b\n"
