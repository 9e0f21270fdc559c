"""Sessions of editors over damaged files: `python -m fuzz.sessions`.

Each input is a damaged fixture. The language server opens it, changes it at random ranges, and is
asked for everything that it can do, at findings and at random places; files disappear meanwhile.
A session fails on an error, a range outside its text, another text than that of the editor, or
anything written to the disk.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import os
import sys
import tempfile
import time
import traceback
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

from fuzz.editor import Editor, edited
from fuzz.mutations import STRANGE, mutate
from fuzz.subjects import CONTEXTS, FIXTURES, Context, Use, readers, seeds, uses
from fuzz.trial import write_files
from hlteval.lsp.documents import key
from hlteval.tasks import task_names

REQUESTS = ("hover", "definition", "references", "documentHighlight")
_TEXTS = [item.decode("utf-8", "surrogatepass") for item in STRANGE if item[:1] < b"\x80"]
_TEXTS += ["\U0001f600", "e\u0301", "\u2028", "\r", "\r\n", "\n", "", "\ud800", "x" * 5000]


class Result(NamedTuple):
    """What a session did.

    Attributes:
        diagnostics: how many were shown.
        requests: how many were answered.
        failure: why it failed; empty if it did not.
    """

    diagnostics: int
    requests: int
    failure: str = ""


def settings(draw: Random, use: Use | None) -> dict[str, Any]:
    """What the editor says of a document."""
    chance = draw.random()
    if use is None or chance < 0.1:
        return {}
    if chance < 0.15:
        strange: list[dict[str, Any]] = [
            {"task": 3}, {"task": "hub5"}, {"select": ["XYZ"]}, {"encoding": "latin-1"},
            {"task": draw.choice(list(task_names()))}, {"against": "/nowhere"},
            {"docs": 1, "x": {}},
        ]  # fmt: skip
        return draw.choice(strange)
    context = CONTEXTS.get(use.task, Context(""))
    options = {name: str(FIXTURES / value) for name, value in context.options.items()}
    given: dict[str, Any] = {"task": use.task, "options": options}
    return given | ({"against": str(FIXTURES / context.against)} if context.against else {})


async def session(reader: str, number: int, folder: Path) -> Result:
    """A session over one damaged input.

    Args:
        reader: the format.
        number: seed of everything that is random.
        folder: an empty folder for its files.
    """
    draw = Random(f"session {reader} {number}")
    (subject,) = mutate(seeds(reader), draw, alone=True)[:1]
    path = write_files(subject, folder)
    found = [use for use in uses(reader) if use.role == "submission"]
    given = settings(draw, draw.choice(found) if found else None)
    lazily = draw.random() < 0.5
    resolve = {"resolveSupport": {"properties": ["edit"]}} if lazily else {}
    async with Editor({"textDocument": {"codeAction": resolve}}, given) as editor:
        trial = _Trial(editor, draw, path)
        await trial.run()
        for error in editor.worker.errors:
            raise error
        assert not editor.messages, editor.messages
        notes = [item["message"] for each in editor.published for item in each["diagnostics"]]
        assert not [note for note in notes if "internal error" in note], notes
    return Result(len(notes), trial.requests)


class _Trial:
    """One session.

    Attributes:
        texts: what the editor has, by URI.
        requests: how many were answered.
    """

    def __init__(self, editor: Editor, draw: Random, path: Path) -> None:
        self.editor, self.draw, self.path = editor, draw, path
        self.texts: dict[str, str] = {}
        self.requests = 0

    async def run(self) -> None:
        for file in self._files():
            await self._open(file)
        for version in range(2, 2 + self.draw.randrange(3)):
            for uri in list(self.texts):
                await self._change(uri, version)
        for uri in list(self.texts):
            await self._ask(uri)
            await self._fix(uri, 9)
        await self._leave()

    def _files(self) -> list[Path]:
        """A few files of the input; or one that is not there."""
        files = [self.path] if self.path.is_file() else [*self.path.rglob("*")]
        files = sorted(file for file in files if file.is_file())
        return self.draw.sample(files, min(2, len(files))) or [self.path]

    async def _open(self, file: Path) -> None:
        uri = file.as_uri() if self.draw.random() < 0.95 else "untitled:Untitled%201"
        data = file.read_bytes() if file.is_file() else b"x"
        self.texts[uri] = data.decode("utf-8", "replace")
        await self.editor.open(uri, self.texts[uri])
        self._check(uri)

    def _position(self, text: str) -> dict[str, int]:
        """A position, most often inside the text."""
        lines = text.count("\n") + text.count("\r")
        line = self.draw.randrange(lines + 2) if self.draw.random() < 0.98 else 2**31 - 1
        return {"line": line, "character": self.draw.choice((0, 1, 7, 30, 400, 2**31 - 1))}

    def _range(self, text: str) -> dict[str, Any]:
        start, end = self._position(text), self._position(text)
        if self.draw.random() < 0.7:
            end = {**start, "character": min(start["character"] + 3, 2**31 - 1)}
        if (start["line"], start["character"]) > (end["line"], end["character"]):
            start, end = end, start
        return {"start": start, "end": end}

    async def _change(self, uri: str, version: int) -> None:
        changes = []
        for _ in range(self.draw.randrange(1, 4)):
            text, put = self.texts[uri], self.draw.choice(_TEXTS)
            place = self._range(text)
            self.texts[uri] = _joined(edited(text, [{"range": place, "newText": put}]))
            changes.append((place, put))
        await self.editor.change(uri, version, *changes)
        document = self.editor.server.session.documents[key(uri)]
        assert document.text.content == self.texts[uri], uri
        self._check(uri)

    def _check(self, uri: str) -> None:
        """Check that everything shown is inside of its text."""
        text = self.texts[uri]
        lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
        for item in self.editor.shown.get(uri, []):
            for side in ("start", "end"):
                place = item["range"][side]
                assert place["line"] < len(lines), item
                width = len(lines[place["line"]].encode("utf-16-le", "surrogatepass")) // 2
                assert place["character"] <= width, item

    async def _ask(self, uri: str) -> None:
        found = [item for item in self.editor.shown.get(uri, []) if "code" in item][:3]
        places = [item["range"]["start"] for item in found]
        for place in [*places, self._position(self.texts[uri])]:
            for feature in REQUESTS:
                more = {"context": {"includeDeclaration": True}} if feature == "references" else {}
                answer = await self.editor.ask(feature, uri, **place, **more)
                assert answer or feature != "hover" or place not in places
                self.requests += 1

    async def _fix(self, uri: str, version: int) -> None:
        """Make the first quick fix that there is."""
        found = self.editor.shown.get(uri, [])[:3]
        for place in [*(item["range"] for item in found), self._range(self.texts[uri])]:
            actions = await self.editor.fixes(uri, place)
            self.requests += 1
            for offered in actions[:1]:
                action = offered
                if "edit" not in offered:
                    action = await self.editor.request("codeAction/resolve", offered)
                if edits := action.get("edit", {}).get("changes", {}).get(uri):
                    text = edited(self.texts[uri], edits)
                    self.texts[uri] = text
                    await self.editor.change(uri, version, text)
                    self._check(uri)
                    return

    async def _leave(self) -> None:
        """Save and close; some files are gone then."""
        for uri in list(self.texts):
            if self.draw.random() < 0.3 and self.path.is_file():
                self.path.unlink()
            identifier = {"textDocument": {"uri": uri}}
            if self.draw.random() < 0.5:
                await self.editor.notify("textDocument/didSave", identifier)
            await self.editor.notify("textDocument/didClose", identifier)
        assert not any(self.editor.shown.values()), self.editor.shown


def _joined(text: str) -> str:
    """A text in which halves of a character next to each other are one, as in UTF-16."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "surrogatepass")


def tree(folder: Path) -> dict[str, bytes]:
    """The files below a folder with their content."""
    return {str(path): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@contextlib.contextmanager
def watched() -> Iterator[Path]:
    """A folder for inputs, beside empty ones in which programs usually write.

    Raises:
        AssertionError: if anything was written.
    """
    before, directory = dict(os.environ), Path.cwd()
    with tempfile.TemporaryDirectory(prefix="fuzz-") as name:
        root = Path(name)
        for part in ("in", "home", "tmp", "cwd"):
            (root / part).mkdir()
        os.environ |= {"HOME": f"{root}/home", "XDG_CACHE_HOME": f"{root}/home/.cache"}
        tempfile.tempdir = f"{root}/tmp"
        os.chdir(root / "cwd")
        try:
            yield root / "in"
            written = [path for part in ("home", "tmp", "cwd") for path in tree(root / part)]
            assert not written, written
        finally:
            os.chdir(directory)
            tempfile.tempdir = None
            os.environ.clear()
            os.environ |= before


def trial(reader: str, number: int, folder: Path) -> Result:
    """A session, and whether it failed."""
    try:
        return asyncio.run(session(reader, number, folder / "x"))
    except (KeyboardInterrupt, SystemExit):
        raise
    except BaseException:
        return Result(0, 0, traceback.format_exc())


def main() -> None:
    """Run sessions, each format in turn, and print how many there were."""
    parser = argparse.ArgumentParser(description="Sessions of editors over damaged files.")
    parser.add_argument("formats", nargs="*", help="formats (default: all that are read)")
    parser.add_argument("--inputs", type=int, default=10_000, help="number of damaged files")
    parser.add_argument("--first", type=int, default=0, help="number of the first one")
    given = parser.parse_args()
    names = given.formats or [name for name in readers() if name != "corpus"]
    for name in names:
        seeds(name), uses(name)
    start, results = time.process_time(), []
    with watched() as folder:
        for number in range(given.first, given.first + given.inputs):
            reader = names[number % len(names)]
            results.append(result := trial(reader, number, folder))
            if result.failure:
                print(f"{reader} {number}\n{result.failure}", flush=True)
            if (number + 1) % 500 == 0:
                print(f"{number + 1} inputs, {time.process_time() - start:.0f} s", flush=True)
    failed = sum(bool(result.failure) for result in results)
    shown, asked = sum(r.diagnostics for r in results), sum(r.requests for r in results)
    print(f"{len(results):,} inputs: {shown:,} diagnostics, {asked:,} requests, {failed} failures")
    sys.exit(bool(failed))


if __name__ == "__main__":
    main()
