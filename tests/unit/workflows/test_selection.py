"""Findings by code: which count, and how much."""

from __future__ import annotations

import pytest

from hlteval.findings import Finding, Severity
from hlteval.workflows.run.request import Selection, UnknownCode


def problem(code: str) -> Finding:
    return Finding(
        code=code, name="n", severity=Severity.ERROR, blocking=True, message="this is wrong"
    )


FOUND = [problem("STD101"), problem("STD302"), problem("SEE301")]


@pytest.mark.parametrize(
    ("select", "ignore", "kept"),
    [
        ([], [], ["STD101", "STD302", "SEE301"]),
        (["STD"], [], ["STD101", "STD302"]),
        (["std302, SEE"], [], ["STD302", "SEE301"]),
        (["STD101", "SEE301"], [], ["STD101", "SEE301"]),
        ([], ["STD"], ["SEE301"]),
        (["STD"], ["STD1"], ["STD302"]),
    ],
)
def test_codes_are_chosen_by_how_they_begin(
    select: list[str], ignore: list[str], kept: list[str]
) -> None:
    chosen = Selection.parse(select, ignore, [])
    assert [finding.code for finding in chosen.of(FOUND)] == kept


def test_the_longest_beginning_gives_the_severity() -> None:
    chosen = Selection.parse([], [], ["STD=warning", "STD302=info"])
    assert [finding.severity.value for finding in chosen.of(FOUND)] == ["warning", "info", "error"]


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ((["XXX"], [], []), "no code starts with XXX"),
        (([], ["STD9999"], []), "no code starts with STD9999"),
        (([], [], ["STD101"]), "invalid severity STD101"),
        (([], [], ["STD101=fatal"]), "invalid severity STD101=fatal"),
        (([], [], ["Q=info"]), "no code starts with Q"),
    ],
)
def test_what_is_no_code_is_an_error_of_usage(
    given: tuple[list[str], list[str], list[str]], told: str
) -> None:
    with pytest.raises(UnknownCode, match=told):
        Selection.parse(*given)
