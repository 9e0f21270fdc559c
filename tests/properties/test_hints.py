"""A hint never repeats what is already there: nobody could follow it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from fuzz.subjects import CONTEXTS, FIXTURES, Context, Seed, readers, seeds, uses
from hlteval.findings import Finding, catalogue
from tests.runs import validate

_HINT = re.compile(r"^(?:did you mean|use|write) (?:offset |length )?(?P<value>[^?;,]+)")
READERS = [name for name in readers() if any(use.role == "submission" for use in uses(name))]


def cases(reader: str) -> Iterator[tuple[str, Seed]]:
    tasks = sorted({use.task for use in uses(reader) if use.role == "submission"})
    for number, seed in enumerate(seeds(reader)):
        entry = catalogue().get(next(iter(seed.files)).partition("-")[0]) if seed.single else None
        if entry is None or "{" in entry.help:  # what is the same for all values repeats none
            yield tasks[number % len(tasks)], seed


def findings(task: str, seed: Seed, folder: Path) -> tuple[Finding, ...]:
    """The findings of a fixture, in the context that its task needs."""
    for name, content in seed.files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    context = CONTEXTS.get(task, Context(""))
    given: dict[str, Any] = {}
    if context.against:
        given["against"] = str(FIXTURES / context.against)
    if context.options:
        given["options"] = {name: str(FIXTURES / value) for name, value in context.options.items()}
    path = folder / next(iter(seed.files)) if seed.single else folder
    return validate(task, str(path), **given).findings


def marked(finding: Finding) -> str:
    """What a finding marks; empty where that is not in a text file."""
    span, path = finding.span, Path(finding.file or "")
    if span is None or not path.is_file():
        return ""
    lines = path.read_bytes().decode("utf-8", "replace").removeprefix("\ufeff").split("\n")
    return (
        lines[span.line - 1][span.column - 1 : span.end_column - 1]
        if span.line <= len(lines)
        else ""
    )


@pytest.mark.sampled(24)
@pytest.mark.parametrize("reader", READERS)
def test_a_hint_never_repeats_the_value_that_is_there(reader: str, tmp_path: Path) -> None:
    repeated = []
    for number, (task, seed) in enumerate(cases(reader)):
        for finding in findings(task, seed, tmp_path / f"{number}"):
            hint = _HINT.match(finding.help or "")
            if hint and hint["value"].strip() == marked(finding).strip("\"' "):
                repeated.append((finding.code, hint[0], finding.file))
    assert repeated == []
