"""How fast `hlteval lsp` answers while a large file is made: `python -m benchmarks editor`.

An EDL table is opened and changed in its middle, over standard input and output. Seconds are wall
time, in which the machine may do other things; those of the worker include its start. A request
that follows a change is answered when the change was taken.
"""

from __future__ import annotations

import argparse
import asyncio
import sys
import tempfile
import time
from functools import partial
from pathlib import Path

from lsprotocol import types
from pygls.lsp.client import LanguageClient

ROW = "R\tm{n}\tOsh\td{d}:{n}-{e}\tNIL{c}\tGPE\tNAM\t1.0\n"


def table(size: int) -> str:
    """A table of at least so many bytes, with an unknown type in its last row."""
    rows, length, n = [], 0, 0
    while length < size:
        row = ROW.format(n=n, e=n + 2, d=n // 1000, c=n % 5000)
        rows.append(row)
        length, n = length + len(row), n + 1
    return "".join(rows).removesuffix(rows[-1]) + rows[-1].replace("GPE", "CITY")


async def measure(size: int) -> list[tuple[str, float]]:
    """The seconds of each step."""
    client, shown = (
        LanguageClient("benchmark", "1"),
        asyncio.Queue[types.PublishDiagnosticsParams](),
    )
    client.feature(types.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS)(partial(shown.put_nowait))
    found: list[tuple[str, float]] = []
    with tempfile.TemporaryDirectory() as folder:
        uri = Path(folder, "run.tab").as_uri()
        await client.start_io(sys.executable, "-m", "hlteval", "lsp", "lorehlt-edl", cwd=folder)
        await client.initialize_async(types.InitializeParams(types.ClientCapabilities()))
        client.initialized(types.InitializedParams())
        text = table(size)
        document = types.TextDocumentIdentifier(uri)
        begin = time.perf_counter()
        item = types.TextDocumentItem(uri, "edl", 1, text)
        client.text_document_did_open(types.DidOpenTextDocumentParams(item))
        hover = types.HoverParams(document, types.Position(0, 0))
        await client.text_document_hover_async(hover)
        found.append(("open: text taken", time.perf_counter() - begin))
        assert (await shown.get()).diagnostics
        found.append(("open: findings shown", time.perf_counter() - begin))
        middle, waits = text.count("\n") // 2, []
        for version in range(2, 22):
            begin = time.perf_counter()
            place = types.Position(middle, 3 + version % 2)
            change = types.TextDocumentContentChangePartial(types.Range(place, place), "1")
            named = types.VersionedTextDocumentIdentifier(version, uri)
            client.text_document_did_change(types.DidChangeTextDocumentParams(named, [change]))
            await client.text_document_hover_async(hover)
            waits.append(time.perf_counter() - begin)
        found.append(("change: text taken, median of 20", sorted(waits)[10]))
        found.append(("change: text taken, longest of 20", max(waits)))
        begin, worst = time.perf_counter(), 0.0
        while shown.empty():
            asked = time.perf_counter()
            await client.text_document_hover_async(hover)
            worst = max(worst, time.perf_counter() - asked)
            await asyncio.sleep(0.02)
        found.append(("hover while it is validated, longest", worst))
        found.append(("last change: findings shown", time.perf_counter() - begin))
        await client.shutdown_async(None)
        client.exit(None)
        await client.stop()
    return found


def main(arguments: list[str]) -> None:
    """Measure, and print a table in Markdown."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--size", type=float, default=10, help="MB of the file (default 10)")
    size = parser.parse_args(arguments).size
    print(f"| step, with a file of {size:g} MB | seconds |\n|---|---|")
    for name, seconds in asyncio.run(measure(int(size * 1e6))):
        print(f"| {name} | {seconds:.3f} |", flush=True)
