"""Links from an identifier to what it names, and back."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from fuzz.editor import Editor
from hlteval.lsp.actions import KINDS
from hlteval.representation import TABLES

DEMO = Path(__file__).parents[3] / "hlteval" / "demo"
SEEDEV = {"task": "seedev-full", "against": str(DEMO / "reference")}


def position(text: str, part: str, nth: int = 0) -> tuple[int, int]:
    """The place of a part of an ASCII text."""
    at = -1
    for _ in range(nth + 1):
        at = text.index(part, at + 1)
    return text.count("\n", 0, at), at - text.rfind("\n", 0, at) - 1


async def asked(path: Path, settings: Any, part: str, nth: int = 0) -> dict[str, list[str]]:
    """What the definition and the references of a part of a file are, as `file:line:text`."""
    text = path.read_text("utf-8")
    line, character = position(text, part, nth)
    more = {"references": {"context": {"includeDeclaration": False}}}
    async with Editor(settings=settings) as editor:
        await editor.open(path.as_uri(), text)
        answers = {
            feature: await editor.ask(
                feature, path.as_uri(), line, character, **more.get(feature, {})
            )
            for feature in ("definition", "references", "documentHighlight")
        }
    assert not editor.worker.errors
    highlights = [{**item, "uri": path.as_uri()} for item in answers["documentHighlight"] or []]
    answers["documentHighlight"] = highlights
    return {name: [shown(item) for item in found or []] for name, found in answers.items()}


def shown(location: dict[str, Any]) -> str:
    path = Path(location["uri"].removeprefix("file://"))
    text = path.read_text("utf-8")
    start, end = location["range"]["start"], location["range"]["end"]
    assert start["line"] == end["line"]
    marked = text.split("\n")[start["line"]][start["character"] : end["character"]]
    return f"{path.name}:{start['line'] + 1}:{marked}"


@pytest.mark.parametrize(
    ("file", "settings", "part", "definition", "references"),
    [
        ("system/demo-1.a2", SEEDEV, "T1 ", ["demo-1.a1:1:T1"], None),
        ("system/demo-1.a2", SEEDEV, "E2\t", ["demo-1.a2:2:E2"], []),
        ("templettes/reference.tpl", {}, "CONTEST-B1-", None, None),
        ("templettes/reference.tpl", {}, "\n", [], []),
    ],
)
def test_an_argument_leads_to_its_mention(
    file: str, settings: Any, part: str, definition: list[str] | None, references: Any
) -> None:
    found = asyncio.run(asked(DEMO / file, settings, part))
    if definition is not None:
        assert found["definition"] == definition
    else:
        assert found["definition"]
    if references is not None:
        assert found["references"] == references
    assert set(found["documentHighlight"]) >= {
        item for item in found["references"] if item.startswith(Path(file).name)
    }


def test_a_mention_leads_to_its_arguments_and_an_entity_to_its_mentions(tmp_path: Path) -> None:
    rows = "".join(f"R\tm{n}\tOsh\td1:{n}-{n}\tNIL{n % 2}\tGPE\tNAM\t1.0\n" for n in range(4))
    path = tmp_path / "run.tab"
    path.write_text(rows)
    found = asyncio.run(asked(path, {}, "NIL1", 1))
    assert found["definition"] == ["run.tab:2:NIL1"]
    assert found["references"] == ["run.tab:2:NIL1", "run.tab:4:NIL1"]


def test_links_follow_the_text_of_the_editor(tmp_path: Path) -> None:
    path = tmp_path / "d.a2"
    text = "E1\tBinding X:E2\nE2\tBinding X:E1\n"
    path.write_text("")

    async def body() -> list[Any]:
        async with Editor(settings=SEEDEV) as editor:
            await editor.open(path.as_uri(), text)
            place = {"start": {"line": 0, "character": 0}, "end": {"line": 0, "character": 0}}
            await editor.change(path.as_uri(), 2, (place, "\n"))
            found: list[Any] = await editor.ask("definition", path.as_uri(), 1, 14)
            return found

    (only,) = asyncio.run(body())
    assert only["range"]["start"] == {"line": 2, "character": 0}


def test_every_column_of_identifiers_is_declared() -> None:
    for names in KINDS.values():
        for column in (*names.defined, *names.mentioned):
            table, _, name = column.partition(".")
            assert name in TABLES[table].schema
