"""A spreadsheet, picture or document in place of a file is one finding in every format."""

from __future__ import annotations

import io
import shutil
import tarfile
import zipfile
from pathlib import Path

import pytest

from hlteval import validate
from hlteval.converters import known, load
from hlteval.findings import finding
from hlteval.sources import decode, open_source
from hlteval.workflows.convert.inputs import Input

FIXTURES = Path(__file__).parents[3] / "fixtures"


def zipped(*names: str, mimetype: str = "") -> bytes:
    """A zip archive with members of these names."""
    written = io.BytesIO()
    with zipfile.ZipFile(written, "w") as archive:
        if mimetype:
            archive.writestr("mimetype", mimetype)
        for name in names:
            archive.writestr(name, "<x/>")
    return written.getvalue()


OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(100)
SPREADSHEET = zipped("[Content_Types].xml", "xl/workbook.xml", "xl/worksheets/sheet1.xml")
FILES = {
    "an Excel spreadsheet": SPREADSHEET,
    "a Word document": zipped("docProps/app.xml", "word/document.xml"),
    "a PowerPoint presentation": zipped("[Content_Types].xml", "ppt/presentation.xml"),
    "an OpenDocument spreadsheet": zipped(
        "content.xml", mimetype="application/vnd.oasis.opendocument.spreadsheet"
    ),
    "a zip archive": zipped("d1.a2"),
    "a gzip archive": b"\x1f\x8b\x08\0rest",
    "a file of Microsoft Office": OLE,
    "a PDF document": b"%PDF-1.4\n1 0 obj\n<< >>\nendobj\n",
    "an RTF document": b"{\\rtf1\\ansi T1}",
    "a PNG picture": b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR",
    "a JPEG picture": b"\xff\xd8\xff\xe0\0\x10JFIF",
    "a GIF picture": b"GIF89a\x01\0\x01\0",
    "a Parquet file": b"PAR1\x15\0PAR1",
}
OWN_READERS = {"corpus", "levels-parquet", "spacy-docbin"}
"""Formats of binary files."""
OF_BOTH = {"hf-tokens": {"a Parquet file": "HFT106"}}
"""Formats of texts that may also be binary files: the code of what is none of these either."""
FORMATS = [name for name in known() if load(name).reads and name not in OWN_READERS]
IN_FOLDERS = {
    "ccu-reference": ("annotation", "data/norms.tab"),
    "ccu-submission": ("nd", "system_output.index.tab"),
    "mt-text": ("two-sets", "segments.ids"),
    "sacrebleu-tsv": ("two-sets", "columns.tsv"),
}
"""Formats of folders, each with a valid one and a file in it."""


@pytest.mark.parametrize(("kind", "data"), FILES.items(), ids=lambda each: str(each)[:30])
def test_the_bytes_decide_what_a_file_is(kind: str, data: bytes) -> None:
    for encoding in ("utf-8", "latin-1"):
        decoded = decode(data, display="d1.a2", encoding=encoding)
        assert decoded.text is None
        (found,) = decoded.findings
        assert (found.code, found.message) == ("SRC205", f"the file is {kind}, not text")


def test_old_spreadsheets_are_told_from_other_files_of_office() -> None:
    (found,) = decode(OLE + "Workbook".encode("utf-16-le"), display="x.xls").findings
    assert found.message == "the file is an Excel spreadsheet, not text"


@pytest.mark.parametrize("form", FORMATS)
def test_every_format_has_one_finding(form: str, tmp_path: Path) -> None:
    path = tmp_path / f"d1{(load(form).suffixes or ('.txt',))[-1]}"
    file = path
    if form in IN_FOLDERS:
        valid, name = IN_FOLDERS[form]
        path = tmp_path / "folder"
        shutil.copytree(FIXTURES / form / "valid" / valid, path)
        file = path / name
        assert file.exists()
    for kind, data in FILES.items():
        file.write_bytes(data)
        found = [item for result in Input.open(str(path), form).read() for item in result.findings]
        assert [item.code for item in found] == [OF_BOTH.get(form, {}).get(kind, "SRC205")], kind


@pytest.mark.parametrize("name", ["runs/x.tab", "runs/x.xlsx"])
def test_a_spreadsheet_in_an_archive_is_no_archive_in_it(name: str, tmp_path: Path) -> None:
    path = tmp_path / "runs.tgz"
    with tarfile.open(path, "w:gz") as archive:
        info = tarfile.TarInfo(name)
        info.size = len(SPREADSHEET)
        archive.addfile(info, io.BytesIO(SPREADSHEET))
    (member,) = open_source(str(path)).members
    assert decode(member.fetch(), display=member.display).findings[0].code == "SRC205"


@pytest.mark.parametrize(
    ("task", "name"),
    [
        ("lorehlt-edl", "x.tab"), ("lorehlt-edl", "x.xlsx"), ("hub4", "x.tpl"), ("ltf", "x.xml"),
        ("speech-sf", "x.json"), ("seedev-full", "seed-1.a2"), ("lorehlt-sf", "x.json"),
    ],
)  # fmt: skip
def test_every_task_has_one_finding(task: str, name: str, tmp_path: Path) -> None:
    path = tmp_path / name
    path.write_bytes(SPREADSHEET)
    texts = FIXTURES / "standoff" / "valid" / "full" if task == "seedev-full" else None
    found = validate(task, str(path), against=str(texts) if texts else None).findings
    errors = [item.code for item in found if item.severity == "error"]
    assert errors == ["SRC205"]


def test_a_reference_and_an_option_have_the_same_finding(tmp_path: Path) -> None:
    edl = FIXTURES / "lorehlt-edl" / "valid"
    path = tmp_path / "kb.xlsx"
    path.write_bytes(SPREADSHEET)
    system = str(edl / "submission.tab")
    for options in ({"against": str(path)}, {"options": {"kb": str(path)}}):
        found = validate("lorehlt-edl", system, **options).findings  # type: ignore[arg-type]
        assert [item.code for item in found if item.file == str(path)] == ["SRC205"]


def test_the_finding_says_what_to_do() -> None:
    assert "tab-separated" in (finding("SRC205", kind="a PDF document").help or "")
