"""Places so far that windows could not be counted are refused where they are read."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest

from hlteval import Refused, read, score
from hlteval.converters.ccu.tables import PLACE

SCORES = Path(__file__).parents[3] / "fixtures/scores"


@pytest.mark.parametrize("cell", ["0", "-3.5", ".5", "1e+05", "12e3", "9.5e014", "12.3e-4"])
def test_usual_places_are_accepted(cell: str) -> None:

    assert re.fullmatch(PLACE, cell)


@pytest.mark.parametrize("task", ["vd", "nd"])
@pytest.mark.parametrize("cell", ["1e99", "1" + "0" * 15])
def test_a_length_that_no_stream_has_is_an_error(task: str, cell: str, tmp_path: Path) -> None:
    folder = tmp_path / "reference"
    shutil.copytree(SCORES / "ccu/reference", folder)
    info = folder / "docs/file_info.tab"
    first, second, *rest = info.read_text("utf-8").splitlines()
    at = first.split("\t").index("length")
    cells = second.split("\t")
    cells[at] = cell
    info.write_text("\n".join([first, "\t".join(cells), *rest, ""]), "utf-8")
    with pytest.raises(Refused) as refused:
        score(f"ccu-{task}", str(folder), str(SCORES / f"ccu-{task}/system"))
    found = {item.code: item.help for item in refused.value.verdict.findings}
    assert found["CCR107"] == "write a number below 1e15: no document is so long"


def test_a_saved_place_that_no_stream_has_is_not_kept(tmp_path: Path) -> None:
    path = tmp_path / "c.jsonl"
    rows = [
        '{"format":"hlteval-corpus","version":1}',
        '{"table":"sources","row":0,"path":"x","member":"x","format":"x","sha256":""}',
        '{"table":"documents","row":0,"name":"d","length":1e300}',
        '{"table":"documents","row":1,"name":"e","length":99}',
        '{"table":"changes","row":0,"document":1,"origin":0,"record":1,"at":1e15}',
    ]
    path.write_text("\n".join(rows) + "\n", "utf-8")
    corpus, findings = read(str(path), "jsonl")
    assert corpus.documents["name"].to_list() == ["e"]
    assert corpus.changes.is_empty()
    assert [item.code for item in findings][:2] == ["COR103", "COR103"]
