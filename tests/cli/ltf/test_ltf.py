"""LTF on the command line: checked, converted, and never scored."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

FIXTURES = Path(__file__).parents[3] / "fixtures"
VALID = FIXTURES / "ltf" / "valid"
Run = Callable[..., Any]


def test_valid_files_pass_in_every_form(invoke: Run, tmp_path: Path) -> None:
    packed = shutil.make_archive(str(tmp_path / "pack"), "zip", VALID.parent, VALID.name)
    single = VALID / "water-1.ltf.xml"
    for path in (VALID, packed, single):
        result = invoke("validate", "ltf", path)
        read = "1 document, 9 records" if path == single else "2 documents, 21 records"
        passed = f"pass: no findings; {read} read (ltf, profile plan)\n"
        assert (result.exit_code, result.stdout) == (0, passed)
    assert invoke("validate", "ltf", "-", stdin=single.read_bytes()).exit_code == 0
    assert invoke("validate", "ltf", VALID, single, single).exit_code == 0


def test_findings_for_programs(invoke: Run) -> None:
    path = FIXTURES / "ltf/invalid/LTF404-other-case.ltf.xml"
    result = invoke("validate", "ltf", path, "--format", "json")
    assert result.exit_code == 1
    (only,) = json.loads(result.stdout)["findings"]
    place = (only["line"], only["column"], only["end_column"], only["record"])
    assert (only["code"], *place) == ("LTF404", 15, 77, 81, "token-1-0")


def test_a_warning_fails_where_that_is_wanted(invoke: Run) -> None:
    path = FIXTURES / "ltf/invalid/LTF201-another-document.ltf.xml"
    assert invoke("validate", "ltf", path).exit_code == 0
    assert invoke("validate", "ltf", path, "--fail-on", "warning").exit_code == 1


def test_there_is_no_official_profile_and_no_score(invoke: Run) -> None:
    result = invoke("validate", "ltf", VALID, "--profile", "official")
    assert result.exit_code == 2
    assert "no profile official; " in result.stderr
    for command in ("score", "compare"):
        assert invoke(command, "ltf", "-r", VALID, "-s", VALID).exit_code == 2


def test_nothing_is_scored_from_python_either() -> None:
    import hlteval

    with pytest.raises(hlteval.WrongArgument, match="task: ltf cannot be scored"):
        hlteval.score("ltf", str(VALID), str(VALID))


def test_formats_are_told_from_the_files(invoke: Run, tmp_path: Path) -> None:
    for room, name in (("ltf", "water-1.ltf.xml"), ("rsd", ""), ("laf", "")):
        out = tmp_path / f"{room}.jsonl"
        assert invoke("convert", FIXTURES / room / "valid" / name, out).exit_code == 0
        assert '"name":"water-1"' in out.read_text("utf-8")


@pytest.mark.parametrize("room", ["rsd", "laf", "conllu"])
def test_what_is_read_is_written_byte_by_byte(room: str, invoke: Run, tmp_path: Path) -> None:
    folder = FIXTURES / room / "valid"
    (file,) = folder.iterdir()
    source = folder if room != "conllu" else file
    assert invoke("convert", source, tmp_path / "c.corpus").stderr == ""
    out = tmp_path / "out"
    result = invoke("convert", tmp_path / "c.corpus", out, "--to", room, "--strict-loss")
    assert (result.exit_code, result.stderr) == (0, "")
    written = out if room == "conllu" else out / file.name
    assert written.read_bytes() == file.read_bytes()


def test_every_part_of_a_document_comes_back(invoke: Run, tmp_path: Path) -> None:
    once, twice = tmp_path / "once", tmp_path / "twice"
    result = invoke("convert", VALID, once, "--to", "ltf", "--strict-loss")
    assert "CNV102" in result.stderr  # the layout of one file was not LDC's
    written = (once / "water-2.ltf.xml").read_text("utf-8")
    for part in (
        '<DOC raw_text_md5="', "<HEADLINE>\n<SEG", "<DATELINE>Cork, 16 July 2019</DATELINE>\n",
        "<AUTHORLINE>R. &amp; D.</AUTHORLINE>\n", "<P>\n<SEG", "</P>\n<SEG", 'attach="LEFT"',
        'gloss="moving air"', 'start_token="token-0-0" end_token="token-0-2"',
        '<LCTL_TEXT lang="eng" source_file="water-2.txt"', ">AT&amp;T helps.<",
    ):  # fmt: skip
        assert part in written
    assert invoke("convert", once, twice, "--to", "ltf", "--strict-loss").stderr == ""
    for file in once.iterdir():
        assert (twice / file.name).read_bytes() == file.read_bytes()
    assert invoke("validate", "ltf", once).exit_code == 0


def test_plain_text_is_a_segment_a_line(invoke: Run, tmp_path: Path) -> None:
    for setting, line in (("as-written", "AT&T helps."), ("divided", "AT&T helps .")):
        out = tmp_path / setting
        invoke("convert", VALID, out, "--to", "text", "--set", f"tokens={setting}")
        assert (out / "water-2.txt").read_text("utf-8").split("\n")[1] == line


def test_texts_that_xml_cannot_hold_are_told_and_left_out(invoke: Run, tmp_path: Path) -> None:
    folder = FIXTURES / "rsd/invalid"
    out = tmp_path / "out"
    result = invoke("convert", folder, out, "--to", "ltf")
    assert "2 documents with characters not allowed in XML" in result.stderr
    assert result.stderr.count("warning[RSD101]") == 2
    assert "error[CNV106]: ltf can represent nothing" in result.stderr
    assert not out.exists()
    assert invoke("convert", folder, tmp_path / "x", "--to", "ltf", "--strict-loss").exit_code == 1


def test_annotations_without_a_text_are_no_documents(invoke: Run, tmp_path: Path) -> None:
    result = invoke("convert", FIXTURES / "laf/valid", tmp_path / "out", "--to", "ltf")
    assert "ltf cannot represent 1 document without text" in result.stderr
    assert "error[CNV106]: ltf can represent nothing" in result.stderr
    assert not (tmp_path / "out").exists()


def test_what_a_dtd_says_is_never_looked_at(invoke: Run, tmp_path: Path) -> None:
    (tmp_path / "ltf.v1.5.dtd").write_text('<!ENTITY x "help">', "utf-8")
    written = (VALID / "water-1.ltf.xml").read_text("utf-8").replace(">help<", ">&x;<")
    path = tmp_path / "water-1.ltf.xml"
    path.write_text(written, "utf-8")
    assert "error[XML111]: undefined entity &x;" in invoke("validate", "ltf", path).stdout


def test_documents_without_segments_are_divided(invoke: Run, tmp_path: Path) -> None:
    standoff = FIXTURES / "standoff/valid/full"
    invoke("convert", standoff, tmp_path / "out", "--to", "ltf")
    assert invoke("validate", "ltf", tmp_path / "out").exit_code == 0
    invoke("convert", tmp_path / "out", tmp_path / "raw", "--to", "rsd")
    for file in standoff.glob("*.txt"):
        text = (tmp_path / "raw" / f"{file.stem}.rsd.txt").read_bytes()
        assert text == file.read_bytes()


HOSTILE = """
import resource, sys
resource.setrlimit(resource.RLIMIT_AS, (3 << 30, 3 << 30))
resource.setrlimit(resource.RLIMIT_CPU, (20, 20))
from hlteval.cli import main
sys.argv = ["hlteval", "validate", "ltf", *sys.argv[1:], "--format", "concise"]
main()
"""
ENTITIES = "".join(f'<!ENTITY e{n} "{f"&e{n - 1};" * 10}">' for n in range(1, 12))
HEAD = '<?xml version="1.0" encoding="UTF-8"?>\n<!DOCTYPE LCTL_TEXT SYSTEM "ltf.v1.5.dtd"{}>\n'
DOC = '<LCTL_TEXT><DOC id="d"><TEXT><SEG id="segment-0" start_char="{}" end_char="{}">'
LONG = "x" * 10_100_000


END = "</SEG></TEXT></DOC></LCTL_TEXT>"
TEXT = "<ORIGINAL_TEXT>{}</ORIGINAL_TEXT>"
FAR = HEAD.format("") + DOC.format(999_999_990, 999_999_999)
WIDE = " ".join(f'a{number}="x"' for number in range(4_000))
ATTACKS = {
    "laughs": (
        HEAD.format(f'[<!ENTITY e0 "x">{ENTITIES}]') + "<LCTL_TEXT>&e11;</LCTL_TEXT>",
        "XML102",
    ),
    "parameter": (HEAD.format(" [<!ENTITY % p SYSTEM 'file:///dev/zero'> %p;]"), "XML102"),
    "deep": (HEAD.format("") + "<P>" * 200_000, "XML104"),
    "far": (FAR + END, "LTF305"),
    "far-text": (FAR + TEXT.format("0123456789") + END, "LTF505"),
    "far-and-back": (
        f'{FAR}{TEXT.format("0123456789")}</SEG><SEG id="segment-1" start_char="0" end_char="0">'
        f"{TEXT.format('x')}{END}",
        "LTF505",
    ),
    "long": (HEAD.format("") + DOC.format(0, 10_099_999) + TEXT.format(LONG) + END, "LTF405"),
    "wide": (HEAD.format("") + f"<LCTL_TEXT {WIDE}/>", "XML107"),
    "nul": ("\x00" * 1000, "SRC203"),
    "empty": ("", "XML101"),
    "namespace": (HEAD.format("") + "<LCTL_TEXT xmlns:a='b' a:lang='c'/>", "XML107"),
    "prefix": (HEAD.format("") + "<LCTL_TEXT><a:DOC/></LCTL_TEXT>", "XML105"),
}


def test_hostile_files_are_findings_in_bounded_time_and_memory(tmp_path: Path) -> None:
    for name, (data, _) in ATTACKS.items():
        (tmp_path / f"{name}.ltf.xml").write_text(data.replace('"d"', f'"{name}"'), "utf-8")
    command = [sys.executable, "-c", HOSTILE, str(tmp_path)]
    done = subprocess.run(command, check=False, capture_output=True, text=True, timeout=300)
    assert (done.returncode, done.stderr) == (1, "")
    for name, (_, code) in ATTACKS.items():
        told = [line for line in done.stdout.splitlines() if f"/{name}.ltf.xml" in line]
        assert any(f"[{code}]" in line for line in told), name


@pytest.mark.parametrize(("flaw", "code"), [("", ""), (' stary="1"', "XML107")])
def test_places_are_right_far_down_a_file(
    flaw: str, code: str, invoke: Run, tmp_path: Path
) -> None:
    written = (VALID / "water-1.ltf.xml").read_text("utf-8").replace(">Send</", ">send</")
    path = tmp_path / "water-1.ltf.xml"
    far = written.replace("<TEXT>", "\n" * 70_000 + f"<TEXT{flaw}>")
    path.write_text(far, "utf-8")
    found = invoke("validate", "ltf", path, "--format", "jsonl").stdout.splitlines()
    places = [(item["code"], item["line"], item["column"]) for item in map(json.loads, found)]
    assert places == [*([(code, 70_005, 14)] if code else []), ("LTF404", 70_015, 77)]
