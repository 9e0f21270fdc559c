"""An editor shows the findings of `hlteval validate`, for every fixture of every task.

Where a finding can be corrected, its quick fix does.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Iterator
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

import pytest

from fuzz.editor import Editor, edited
from fuzz.subjects import CONTEXTS, FIXTURES, Context, Seed, readers, seeds, uses
from hlteval.findings import SUBMISSION, Finding, Span, catalogue
from hlteval.reports.terminal import visible
from hlteval.tasks import load
from hlteval.workflows.run.verdicts import submissions
from tests.effort import share, thorough, tries
from tests.runs import validate

pytestmark = pytest.mark.long("an editor opens each fixture of a format")

SEVERITIES = {"error": 1, "warning": 2, "info": 3}
ARCHIVES = (".zip", ".tgz", ".gz")
SAVED = {"corpus"}
"""What no editor opens."""
FIXED = {
    "standoff": {"SEE104", "STD101"},
    "speech-sf-json": {"SFJ204", "SFJ206", "SFJ208", "JSN104", "JSN107"},
    "lorehlt-sf-json": {"LSF204", "LSF206"},
    "edl-tab": {
        *("EDL103", "EDL104", "EDL211", "EDL213", "EDL216", "EDL307", "EDL315"),
        *("TAB101", "TAB102", "TAB105", "TAB106", "TAB107", "TAB108", "TAB109", "TAB111"),
    },
    "neleval": {"NEL101", "TAB102"},
    "hub4": {"HUB232", "HUB305"},
    "ccu-reference": {"CCR106", "TAB103"},
    "ccu-submission": {"CCS106", "CCS111", "TAB102", "TAB103"},
    "ccu-ta2": {"TAB103", "TAB104"},
}
"""The codes with quick fixes, by format; without hidden files, which an editor does not remove."""
READERS = [
    name
    for name in readers()
    if name not in SAVED and any(use.role == "submission" for use in uses(name))
]


MAIN = {
    "standoff": "seedev-full",
    "ccu-submission": "ccu-nd",
    "edl-tab": "lorehlt-edl",
    "neleval": "lorehlt-edl",
}
"""The task that most fixtures of a format are made for, if several tasks have it."""
LAZY = {"textDocument": {"codeAction": {"resolveSupport": {"properties": ["edit"]}}}}
"""An editor that asks for the edit of the fix that it makes."""


def cases(reader: str) -> Iterator[tuple[str, Seed]]:
    """The tasks and submissions of a format; every sixth one also with another task in turn."""
    tasks = sorted({use.task for use in uses(reader) if use.role == "submission"})
    every = seeds(reader)
    for number, seed in enumerate(share(every, 4 if len(every) > 12 else 2)):
        if not next(iter(seed.files)).endswith(ARCHIVES):  # no editor opens them
            chosen = {MAIN.get(reader, tasks[0])}
            if number % 6 == 0:
                chosen.add(tasks[number // 6 % len(tasks)])
            yield from ((task, seed) for task in sorted(chosen))


def written(seed: Seed, folder: Path) -> Path:
    """The submission in a folder of its own."""
    for name, content in seed.files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    return folder / next(iter(seed.files)) if seed.single else folder


def settings(task: str) -> dict[str, Any]:
    """What a task needs, as the editor says it."""
    context = CONTEXTS.get(task, Context(""))
    options = {name: str(FIXTURES / value) for name, value in context.options.items()}
    against = {"against": str(FIXTURES / context.against)} if context.against else {}
    return {"task": task, **against, **({"options": options} if options else {})}


def expected(found: Finding, opened: Path) -> tuple[Any, ...]:
    """A finding as the editor has it, with its position found one character after the other."""
    path = Path(found.file) if found.file and Path(found.file).is_file() else opened
    place = (0, 0)
    if found.span and str(path) == found.file:
        place = position(path.read_bytes().decode("utf-8", "replace"), found.span)
    whose = "" if found.side == SUBMISSION else f"{found.side}: "
    message = f"{whose}{visible(found.message)}"
    return (str(path), found.code, SEVERITIES[found.severity], message, *place)


def position(text: str, span: Span) -> tuple[int, int]:
    """The line and the column in UTF-16 of the start of a span, both 0-based."""
    begin = 0
    for _ in range(span.line - 1):
        begin = text.index("\n", begin) + 1
    mark = span.line == 1 and text.startswith("\ufeff")
    wanted = begin + span.column - 1 + mark
    lines = text[:wanted].replace("\r\n", "\n").replace("\r", "\n").split("\n")
    if text[:wanted].endswith("\r") and text[wanted : wanted + 1] == "\n":  # inside of CR LF
        lines = text[: wanted - 1].replace("\r\n", "\n").replace("\r", "\n").split("\n")
    return len(lines) - 1, len(lines[-1].encode("utf-16-le")) // 2


def seen(editor: Editor) -> Counter[tuple[Any, ...]]:
    """What the editor shows."""
    return Counter(
        (
            unquote(urlsplit(uri).path),
            item["code"],
            item["severity"],
            item["message"].partition("\nhelp: ")[0],
            item["range"]["start"]["line"],
            item["range"]["start"]["character"],
        )
        for uri, diagnostics in editor.shown.items()
        for item in diagnostics
    )


def first_file(task: str, path: Path) -> Path:
    """The first file of a submission that a system makes."""
    files = [path] if path.is_file() else sorted(file for file in path.rglob("*") if file.is_file())
    files = [file for file in files if file.suffix != ".conf"]  # a configuration is not submitted
    suffixes = tuple(load(task).submission_suffixes)
    return next((item for item in files if item.name.endswith(suffixes)), files[0])


async def compared(reader: str, folder: Path) -> tuple[int, set[str]]:
    """Compare what an editor shows of each submission; the findings, and the codes with fixes."""
    shown, fixed, tried = 0, set[str](), Counter[str]()
    async with AsyncExitStack() as stack:
        editors: dict[str, Editor] = {}
        for number, (task, seed) in enumerate(cases(reader)):
            given = settings(task)
            if task not in editors:
                editors[task] = await stack.enter_async_context(Editor(LAZY, given))
            file = first_file(task, written(seed, folder / f"{number}"))
            shown += await compare(editors[task], task, file, given)
            fixed |= await fix(editors[task], file, tried)
            await close(editors[task], file)
            assert not seen(editors[task])
    return shown, fixed


async def compare(editor: Editor, task: str, file: Path, given: dict[str, Any]) -> int:
    (unit,) = submissions(task, [str(file)])
    unit_results = validate(task, unit, against=given.get("against"), options=given.get("options"))
    await editor.open(file.as_uri(), file.read_bytes().decode("utf-8", "replace"))
    assert seen(editor) == Counter(expected(item, file) for item in unit_results.findings), file
    return len(unit_results.findings)


async def fix(editor: Editor, opened: Path, tried: Counter[str]) -> set[str]:
    """Make each quick fix of each document by itself; the codes of those that there are.

    Of a code that many fixtures have, the fixes of some are enough.
    """
    fixed = set[str]()
    for address, found in list(editor.shown.items()):
        fixable = [item for item in found if catalogue()[item["code"]].fixer][:3]
        fixable = [item for item in fixable if tried[item["code"]] < tries(12)]
        tried.update(item["code"] for item in fixable)
        path = Path(unquote(urlsplit(address).path))
        text = path.read_bytes().decode("utf-8", "replace") if fixable else ""
        if fixable and "\ufffd" not in text:
            if path != opened:
                await editor.open(address, text)
            for number, item in enumerate(fixable):
                if number:
                    await editor.change(address, 3, text)
                fixed |= await fix_one(editor, address, text, item)
            if path != opened:
                await close(editor, path)
    return fixed


async def fix_one(editor: Editor, address: str, text: str, item: dict[str, Any]) -> set[str]:
    """Make a quick fix; its code, if there is one."""
    for offered in await editor.fixes(address, item["range"], ["quickfix"]):
        action = await editor.request("codeAction/resolve", offered)
        if item in action["diagnostics"] and "edit" in action:
            left = await editor.change(address, 2, edited(text, action["edit"]["changes"][address]))
            assert place(item) not in map(place, left), (address, item, left)
            return {item["code"]}
    return set()


def place(item: dict[str, Any]) -> tuple[str, int]:
    """The code and the line of what is shown."""
    return item["code"], item["range"]["start"]["line"]


async def close(editor: Editor, file: Path) -> None:
    await editor.notify("textDocument/didClose", {"textDocument": {"uri": file.as_uri()}})
    assert not editor.messages
    assert not editor.worker.errors


@pytest.mark.sampled(12)
@pytest.mark.parametrize("reader", READERS)
def test_an_editor_shows_and_fixes_the_findings_of_validate(reader: str, tmp_path: Path) -> None:
    shown, fixed = asyncio.run(compared(reader, tmp_path))
    assert shown
    assert fixed <= FIXED.get(reader, set())
    assert not thorough() or fixed == FIXED.get(reader, set())
