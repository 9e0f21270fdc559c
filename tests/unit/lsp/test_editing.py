"""What an editor shows while files are made: settings, unsaved text, and hostile input."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from fuzz.editor import Editor, at
from hlteval.lsp.actions import escape

EDL = "R\tm{n}\tOsh\td1:3-5\tNIL1\t{type}\tNAM\t1.0\n"
GOOD = EDL.format(n=1, type="GPE")
WRONG = EDL.format(n=1, type="CITY")
CLOSE = "textDocument/didClose"


def codes(found: list[dict[str, Any]]) -> list[str]:
    return [item.get("code", "") for item in found]


def editing(body: Callable[[Editor], Awaitable[None]], **arguments: Any) -> Editor:
    """An editor after a session; nothing went wrong in the program."""

    async def session() -> Editor:
        async with Editor(**arguments) as editor:
            await body(editor)
        return editor

    editor = asyncio.run(session())
    assert not editor.worker.errors
    assert not editor.messages
    return editor


def saved(path: Path, text: str | bytes) -> str:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path.as_uri()


@pytest.fixture
def reference(tmp_path: Path) -> Path:
    saved(tmp_path / "reference/d.txt", "abc def")
    saved(tmp_path / "reference/d.a1", "T1\tGene 0 3\tabc\nT2\tGene 4 7\tdef\n")
    saved(tmp_path / "hlteval.toml", 'task = "seedev-full"\nagainst = "reference"\n')
    return tmp_path / "reference"


def test_unsaved_text_counts(tmp_path: Path) -> None:
    address = saved(tmp_path / "run.tab", GOOD)

    async def body(editor: Editor) -> None:
        assert codes(await editor.open(address, WRONG)) == ["EDL309"]
        assert codes(await editor.change(address, 2, (at(0, 21, 25), "GPE"))) == []
        assert codes(await editor.change(address, 3, WRONG)) == ["EDL309"]

    editing(body)
    assert (tmp_path / "run.tab").read_text() == GOOD


def test_only_what_changed_is_published(tmp_path: Path, reference: Path) -> None:
    first = saved(tmp_path / "run/d.a2", "E1\tBinding X:T9\n")
    other = saved(tmp_path / "run/e.a2", "")
    saved(reference / "e.txt", "")
    saved(reference / "e.a1", "")

    async def body(editor: Editor) -> None:
        assert codes(await editor.open(first, "E1\tBinding X:T9\n"))
        await editor.open(other, "x\n")
        assert codes(editor.shown[other])
        before = len(editor.published)
        await editor.change(other, 2, "")
        assert [item["uri"] for item in editor.published[before:]] == [other]

    editing(body)


@pytest.mark.usefixtures("reference")
def test_findings_of_the_other_files_of_a_submission_are_shown(tmp_path: Path) -> None:
    shown = saved(tmp_path / "run/notes.txt", "x")
    address = saved(tmp_path / "run/d.a2", "")

    async def body(editor: Editor) -> None:
        await editor.open(address, "")
        assert codes(editor.shown[shown]) == ["SEE404"]
        await editor.notify(CLOSE, {"textDocument": {"uri": address}})
        assert editor.shown[shown] == []

    editing(body)


def test_a_reference_is_checked_as_one(reference: Path) -> None:
    address = (reference / "d.a1").as_uri()

    async def body(editor: Editor) -> None:
        found = await editor.open(address, "T1\tGene 0 99\tabc\n")
        assert "STD202" in codes(found)
        assert found[0]["message"].startswith("reference: ")

    editing(body)


def test_text_of_a_reference_that_is_open_counts_for_submissions(
    tmp_path: Path, reference: Path
) -> None:
    address = saved(tmp_path / "run/d.a2", "")
    text = "E1\tBinding Functional_Molecule:T1 Molecule:T3\n"

    async def body(editor: Editor) -> None:
        assert "STD302" in codes(await editor.open(address, text))
        await editor.open((reference / "d.a1").as_uri(), "T1\tGene 0 3\tabc\nT3\tGene 4 7\tdef\n")
        assert "STD302" not in codes(editor.shown[address])

    editing(body)


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        ({}, "may belong to seedev-binary, seedev-full"),
        ({"task": "seedev-full"}, "needs the documents of the task"),
        ({"task": "seedev-ful"}, "did you mean seedev-full"),
        ({"task": "seedev-full", "against": "none"}, "none"),
        ({"task": 3}, "settings of the editor"),
        ({"tasks": "x"}, "settings of the editor"),
        ({"task": "seedev-full", "select": ["XYZ"]}, "XYZ"),
        ({"task": "seedev-full", "encoding": "utf-9"}, "utf-9"),
        ([], "may belong to"),
    ],
)
def test_why_nothing_is_validated_is_shown(tmp_path: Path, settings: Any, expected: str) -> None:
    address = saved(tmp_path / "run/d.a2", "E1\tBinding X:T1\n")

    async def body(editor: Editor) -> None:
        (note,) = await editor.open(address, "E1\tBinding X:T1\n")
        assert expected in note["message"]
        assert note["severity"] == 3
        assert not await editor.ask("hover", address, 0, 0)

    editing(body, settings=settings, root=tmp_path.as_uri())


def test_the_command_line_overrides_the_editor_and_the_editor_the_file(tmp_path: Path) -> None:
    saved(tmp_path / "hlteval.toml", 'task = "hub4"\nignore = ["EDL"]\n')
    address = saved(tmp_path / "run.tab", WRONG)

    async def body(editor: Editor) -> None:
        assert codes(await editor.open(address, WRONG)) == ["EDL309"]

    editing(body, settings={"task": "hub4"}, given={"task": "lorehlt-edl"})
    editing(body, settings={"task": "lorehlt-edl"})


def test_settings_can_be_asked_for_and_can_change(tmp_path: Path) -> None:
    address = saved(tmp_path / "run.tab", WRONG)

    async def body(editor: Editor) -> None:
        assert codes(await editor.open(address, WRONG)) == []
        settings = {"hlteval": {"severity": {"EDL309": "info"}}}
        await editor.notify("workspace/didChangeConfiguration", {"settings": settings})
        assert [item["severity"] for item in editor.shown[address]] == [3]

    asked = {"workspace": {"configuration": True}}
    editing(body, capabilities=asked, configuration={"ignore": ["EDL309"]})


def test_a_file_of_defaults_with_errors_is_shown(tmp_path: Path) -> None:
    config = saved(tmp_path / "hlteval.toml", 'tsk = "lorehlt-edl"\n')
    address = saved(tmp_path / "run.tab", WRONG)

    async def body(editor: Editor) -> None:
        (note,) = await editor.open(address, WRONG)
        assert "hlteval.toml has errors" in note["message"]
        assert codes(editor.shown[config]) == ["CFG102"]
        found = await editor.open(config, 'task = "lorehlt-edl"\n')
        assert codes(found) == []

    editing(body)


def test_a_file_of_defaults_that_is_written_counts_at_once(tmp_path: Path) -> None:
    address = saved(tmp_path / "run.tab", "x")
    config = saved(tmp_path / "hlteval.toml", "")

    async def body(editor: Editor) -> None:
        assert codes(await editor.open(address, "x")) == [""]
        await editor.open(config, 'task = "lorehlt-edl"\n')
        assert codes(editor.shown[address]) == ["EDL201"]

    editing(body)


@pytest.mark.usefixtures("reference")
def test_what_is_inside_of_another_submission_is_validated_as_both(tmp_path: Path) -> None:
    outer = saved(tmp_path / "run/d.a2", "")
    inner = saved(tmp_path / "run/x/d.a2", "E1\tx\n")

    async def body(editor: Editor) -> None:
        await editor.open(outer, "")
        before = codes(await editor.open(inner, "E1\tx\n"))
        assert "SEE405" in before
        after = await editor.change(inner, 2, "")
        assert "SEE405" in codes(after)
        assert len(after) < len(before)

    editing(body)


def test_a_file_beside_submissions_is_left_alone(tmp_path: Path) -> None:
    address = saved(tmp_path / "README.md", "# Runs\n")

    async def body(editor: Editor) -> None:
        assert await editor.open(address, "# Runs\n") == []

    editing(body, given={"task": "lorehlt-edl"})


def test_a_buffer_without_a_file_is_validated() -> None:
    async def body(editor: Editor) -> None:
        assert codes(await editor.open("untitled:Untitled-1", WRONG)) == ["EDL309"]

    editing(body)


@pytest.mark.usefixtures("reference")
def test_a_file_that_is_removed_meanwhile_is_its_buffer(tmp_path: Path) -> None:
    path = tmp_path / "run/d.a2"
    address = saved(path, "")

    async def body(editor: Editor) -> None:
        await editor.open(address, "")
        path.unlink()
        path.parent.rmdir()
        assert "STD302" in codes(await editor.change(address, 2, "E1\tBinding X:T9\n"))

    editing(body)


@pytest.mark.parametrize("data", [b"\xff\xfe\x00", b"\x00" * 100, b"PK\x03\x04\xff", b"a\xe9\n"])
def test_bytes_that_are_no_text_are_judged_as_on_the_disk(tmp_path: Path, data: bytes) -> None:
    address = saved(tmp_path / "run.tab", data)

    async def body(editor: Editor) -> None:
        found = await editor.open(address, data.decode("utf-8", "replace"))
        assert codes(found)[0].startswith("SRC20")

    editing(body, given={"task": "lorehlt-edl"})


@pytest.mark.parametrize("shown", ["\ufeff" + WRONG, WRONG])
def test_a_byte_order_mark_counts_whether_the_editor_shows_it_or_not(
    tmp_path: Path, shown: str
) -> None:
    address = saved(tmp_path / "run.tab", "\ufeff" + WRONG)

    async def body(editor: Editor) -> None:
        assert codes(await editor.open(address, shown)) == ["SRC202", "EDL309"]
        found = await editor.change(address, 2, (at(0, 0), ""))
        assert codes(found) == ["SRC202", "EDL309"]
        assert found[1]["range"]["start"]["character"] == shown.index("CITY")

    editing(body)


@pytest.mark.parametrize("shown", [WRONG.replace("\n", "\r\n"), WRONG])
def test_line_ends_count_whether_the_editor_shows_them_or_not(tmp_path: Path, shown: str) -> None:
    address = saved(tmp_path / "run.tab", WRONG.replace("\n", "\r\n"))

    async def body(editor: Editor) -> None:
        assert "EDL104" in codes(await editor.open(address, shown))
        assert "EDL104" in codes(await editor.change(address, 2, (at(0, 0), "")))

    editing(body)


def test_the_ranges_are_in_the_units_that_the_client_prefers(tmp_path: Path) -> None:
    line = WRONG.replace("Osh", "\U0001f600東")
    address = saved(tmp_path / "run.tab", line)
    found = []

    async def body(editor: Editor) -> None:
        (item,) = [x for x in await editor.open(address, line) if x["code"] == "EDL309"]
        found.append((editor.abilities["positionEncoding"], item["range"]["start"]["character"]))

    for encodings in (["utf-32"], ["utf-8", "utf-16"], ["utf-7"], None):
        general = {"positionEncodings": encodings} if encodings else {}
        editing(body, capabilities={"general": general})
    start = line.index("CITY")
    in_utf_16 = ("utf-16", start + 1)
    assert found == [("utf-32", start), ("utf-8", start + 5), in_utf_16, in_utf_16]


def test_hover_explains_what_is_under_the_cursor(tmp_path: Path) -> None:
    address = saved(tmp_path / "run.tab", WRONG)

    async def body(editor: Editor) -> None:
        (item,) = await editor.open(address, WRONG)
        assert item["codeDescription"]["href"] == "https://example.org/codes/edl309/"
        answer = await editor.ask("hover", address, 0, WRONG.index("CITY") + 1)
        text = answer["contents"]["value"]
        assert answer["contents"]["kind"] == "markdown"
        assert answer["range"] == item["range"]
        for part in ("**EDL309**", "unknown entity type CITY", "**Why**", "**Rule**", "```text"):
            assert part in text
        assert await editor.ask("hover", address, 0, 0) is None
        assert await editor.ask("hover", "file:///nowhere", 0, 0) is None

    editing(body, settings={"docs": "https://example.org"})


def test_hover_is_plain_for_editors_without_markdown(tmp_path: Path) -> None:
    address = saved(tmp_path / "run.tab", WRONG)
    plain = {"textDocument": {"hover": {"contentFormat": ["plaintext"]}}}

    async def body(editor: Editor) -> None:
        await editor.open(address, WRONG)
        answer = await editor.ask("hover", address, 0, WRONG.index("CITY"))
        assert answer["contents"]["kind"] == "plaintext"
        assert "**" not in answer["contents"]["value"]

    editing(body, capabilities=plain)


def test_data_cannot_write_markdown() -> None:
    assert escape("[a](http://x) <img>\x1b") == r"\[a\]\(http://x\) \<img\>\x1b".replace(
        r"\x1b", "\\" * 2 + "x1b"
    )


@pytest.mark.usefixtures("reference")
def test_a_folder_of_many_files_with_findings_is_bounded(tmp_path: Path) -> None:
    for number in range(700):
        saved(tmp_path / f"run/{number}.txt", "")
    address = saved(tmp_path / "run/d.a2", "")

    async def body(editor: Editor) -> None:
        await editor.open(address, "")
        assert 400 < sum(map(bool, editor.shown.values())) <= 502
        await editor.notify(CLOSE, {"textDocument": {"uri": address}})
        assert not any(editor.shown.values())

    editing(body)


def test_messages_about_documents_that_are_not_open_mean_nothing() -> None:
    async def body(editor: Editor) -> None:
        address = "file:///nowhere/a.tab"
        await editor.change(address, 2, "x")
        for method in (CLOSE, "textDocument/didSave"):
            await editor.notify(method, {"textDocument": {"uri": address}})
        for feature in ("definition", "documentHighlight"):
            assert await editor.ask(feature, address, 0, 0) is None
        assert await editor.fixes(address, at(0, 0)) == []
        assert not any(editor.shown.values())

    editing(body)
