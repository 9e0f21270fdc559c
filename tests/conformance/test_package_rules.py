"""The rules of packages by their numbers (formats, 3.1): a good and a bad archive of each."""

from __future__ import annotations

import io
import tarfile
import zipfile
from collections.abc import Mapping
from pathlib import Path

import pytest

from hlteval import validate

SUB_ID = "CCU_P1_TA1_ND_LCC_LDC2022R17-V1_20220531_050236"
MAP_ID = SUB_ID.replace("_ND_", "_NDMAP_")
INDEX = "file_id\tis_processed\tmessage\tfile_path\nM1\ttrue\t\tM1.tab\n"
NORMS = "file_id\tnorm\tstart\tend\tstatus\tllr\n"
MAP = f"sys_norm\tref_norm\tsub_id\n501\t104\t{SUB_ID}\n"
OTHER_MAP = f"{MAP}502\t105\t{SUB_ID.replace('050236', '050237')}\n"
MENTION = "R\tm1\tOsh\td1:3-5\tNIL1\tGPE\tNAM\t{}\n"
EDL = MENTION.format("1.0")
SF = {"system_output.json": "[]\n", "team.tab": EDL}
OUTSIDE = INDEX.replace("M1.tab", "../M1.tab")
ABSOLUTE = INDEX.replace("M1.tab", "/M1.tab")
OUT = INDEX.replace("M1.tab", "./out/M1.tab")


INDEXED = {f"{SUB_ID}/system_output.index.tab": INDEX, f"{SUB_ID}/M1.tab": NORMS}


def with_index(index: str, table: str = "M1.tab") -> dict[str, str]:
    return {f"{SUB_ID}/system_output.index.tab": index, f"{SUB_ID}/{table}": NORMS}


MT = (
    '<?xml version="1.0" encoding="UTF-8"?>\n'
    '<!DOCTYPE mteval SYSTEM "lorehlt-mt-v1.2.dtd">\n<mteval><tstset><doc docid="{0}">'
    '<seg id="segment-0">{0}</seg></doc></tstset></mteval>\n'
)
LTF = (
    '<?xml version="1.0" encoding="UTF-8"?>\n'
    '<!DOCTYPE LCTL_TEXT SYSTEM "ltf.v1.5.dtd">\n<LCTL_TEXT><DOC id="{0}" lang="{1}"><TEXT>'
    '<SEG id="segment-0" start_char="0" end_char="3"><ORIGINAL_TEXT>abcd</ORIGINAL_TEXT>'
    '<TOKEN id="token-0-0" start_char="0" end_char="3">abcd</TOKEN></SEG></TEXT></DOC></LCTL_TEXT>'
)
ENG = {"ENG_X_1.ltf.xml": MT.format("ENG_X_1")}


def mt(*names: str) -> Mapping[str, str]:
    """Translations in files of these names."""
    return {name: MT.format(name.rpartition("/")[2].partition(".")[0]) for name in names}


BOTH = mt("NW_X_1.ltf.xml", "NW_X_2.ltf.xml")
CASES: Mapping[str, tuple[str, str, Mapping[str, str], str]] = {
    "MT1": ("lorehlt-mt", "any name.tgz", BOTH, ""),
    "MT1 zip": ("lorehlt-mt", "x.zip", BOTH, ""),
    "MT1 tar.gz": ("lorehlt-mt", "x.tar.gz", BOTH, "MTV104"),
    "MT2": ("lorehlt-mt", "x.tgz", mt("out/NW_X_1.ltf.xml", "out/NW_X_2.ltf.xml"), "MTV103"),
    "MT3 missing": ("lorehlt-mt", "x.tgz", mt("NW_X_1.ltf.xml"), "MTV201"),
    "MT3 name": ("lorehlt-mt", "x.tgz", mt("NW_X_1.ltf.xml", "NW_X_2.xml"), "MTV102"),
    "MT4": ("lorehlt-mt", "x.tgz", {**BOTH, **ENG}, "MTV204"),
    "SF1": ("lorehlt-sf", "any name.tgz", SF, "LSF311"),
    "SF1 zip": ("lorehlt-sf", "x.zip", SF, "LSF311"),
    "SF1 tar.gz": ("lorehlt-sf", "x.tar.gz", SF, "LSF107"),
    "SF1 folder": ("lorehlt-sf", "x.tgz", {f"out/{n}": t for n, t in SF.items()}, "LSF105 LSF105"),
    "SF2": ("lorehlt-sf", "x.tgz", {"output.json": "[]\n", "team.tab": EDL}, "LSF106"),
    "SF3 none": ("lorehlt-sf", "x.tgz", {"system_output.json": "[]\n"}, "LSF102"),
    "SF3 two": (
        "lorehlt-sf",
        "x.tgz",
        {**SF, "b.tab": EDL.replace("m1", "m2").replace("3-5", "7-9")},
        "LSF103",
    ),
    "EDL1": ("lorehlt-edl", "N_EDL_CP1_1.tab.tar.gz", {"N_EDL_CP1_1.tab": EDL}, ""),
    "EDL1 zip": ("lorehlt-edl", "N_EDL_CP1_1.tab.zip", {"N_EDL_CP1_1.tab": EDL}, "EDL106"),
    "EDL1 folder": ("lorehlt-edl", "N_EDL_CP1_1.tgz", {"out/N_EDL_CP1_1.tab": EDL}, "EDL107"),
    "EDL2": ("lorehlt-edl", "N_EDL_CP1_1.tsv.tgz", {"N_EDL_CP1_1.tsv": EDL}, "EDL108"),
    "EDL3 inner": ("lorehlt-edl", "N_EDL_CP1_1.tab.tgz", {"mine.tab": EDL}, "EDL110"),
    "EDL3 name": ("lorehlt-edl", "mine.tgz", {"mine.tab": EDL}, "EDL111"),
    "EDL4": ("lorehlt-edl", "N_EDL_CP1_1.tgz", {"N_EDL_CP1_1.tab": MENTION.format("1")}, "EDL315"),
    "SP1": ("speech-sf", "any.zip", {"frames.json": "[]\n"}, ""),
    "C1": ("ccu-nd", f"{SUB_ID}.tgz", INDEXED, ""),
    "C1 zip": ("ccu-nd", f"{SUB_ID}.zip", INDEXED, "CCU201"),
    "C1 tar.gz": ("ccu-nd", f"{SUB_ID}.tar.gz", INDEXED, "CCU201"),
    "C2 flat": (
        "ccu-nd",
        f"{SUB_ID}.tgz",
        {"system_output.index.tab": INDEX, "M1.tab": NORMS},
        "CCU202",
    ),
    "C2 other": (
        "ccu-nd",
        f"{SUB_ID}.tgz",
        {"out/system_output.index.tab": INDEX, "out/M1.tab": NORMS},
        "CCU203",
    ),
    "C3 index": ("ccu-nd", f"{SUB_ID}.tgz", {f"{SUB_ID}/M1.tab": NORMS}, "CCS101"),
    "C3 table": ("ccu-nd", f"{SUB_ID}.tgz", {f"{SUB_ID}/system_output.index.tab": INDEX}, "CCS123"),
    "C4": ("ccu-ndmap", f"{MAP_ID}.tgz", {f"{MAP_ID}/nd.map.tab": MAP}, ""),
    "C4 index": (
        "ccu-ndmap",
        f"{MAP_ID}.tgz",
        {f"{MAP_ID}/nd.map.tab": MAP, f"{MAP_ID}/system_output.index.tab": INDEX},
        "CCU207",
    ),
    "C5 dot": ("ccu-nd", f"{SUB_ID}.tgz", with_index(INDEX.replace("M1.t", "./M1.t")), ""),
    "C5 sub-folder": ("ccu-nd", f"{SUB_ID}.tgz", with_index(OUT, "out/M1.tab"), ""),
    "C5 parent": ("ccu-nd", f"{SUB_ID}.tgz", with_index(OUTSIDE), "CCS125 CCS124"),
    "C5 absolute": ("ccu-nd", f"{SUB_ID}.tgz", with_index(ABSOLUTE), "CCS125 CCS124"),
    "C6": ("ccu-nd", f"{SUB_ID}.tgz", with_index(INDEX.replace("true", "false")), ""),
    "C7": ("ccu-ndmap", f"{MAP_ID}.tgz", {f"{MAP_ID}/nd.map.tab": OTHER_MAP}, "CCU714"),
    "C7 itself": (
        "ccu-ndmap",
        f"{MAP_ID}.tgz",
        {f"{MAP_ID}/nd.map.tab": MAP.replace(SUB_ID, MAP_ID)},
        "CCU717",
    ),
    "SUB_ID time": (
        "ccu-nd",
        f"{SUB_ID.replace('0531', '1331')}.tgz",
        {name.replace("0531", "1331"): text for name, text in INDEXED.items()},
        "CCU204",
    ),
    "SUB_ID team": (
        "ccu-nd",
        f"{SUB_ID.replace('LCC', 'NIST')}.tgz",
        {name.replace("LCC", "NIST"): text for name, text in INDEXED.items()},
        "CCU205",
    ),
    "SUB_ID task": (
        "ccu-nd",
        f"{SUB_ID.replace('_ND_', '_ED_')}.tgz",
        {name.replace("_ND_", "_ED_"): text for name, text in INDEXED.items()},
        "CCU206",
    ),
}
"""By rule: the task, the name of an archive, its files, and the codes that are found."""


def packed(path: Path, files: Mapping[str, str]) -> Path:
    if path.suffix == ".zip":
        with zipfile.ZipFile(path, "w") as archive:
            for name, text in files.items():
                archive.writestr(name, text)
        return path
    with tarfile.open(path, "w:gz") as tar:
        for name, text in files.items():
            member = tarfile.TarInfo(name)
            member.size = len(text)
            tar.addfile(member, io.BytesIO(text.encode()))
    return path


def texts(folder: Path) -> Path:
    """The input of translation: two documents, and one that is English already."""
    folder.mkdir()
    for name, language in (("NW_X_1", "uzb"), ("NW_X_2", "uzb"), ("ENG_X_1", "eng")):
        (folder / f"{name}.ltf.xml").write_text(LTF.format(name, language), "utf-8")
    return folder


@pytest.mark.parametrize("rule", CASES)
def test_a_rule_is_held_by_its_code(rule: str, tmp_path: Path) -> None:
    task, name, files, codes = CASES[rule]
    against = texts(tmp_path / "ltf") if task == "lorehlt-mt" else None
    verdict = validate(task, packed(tmp_path / name, files), against=against)
    found = [f.code for f in verdict.findings if f.severity != "info" or f.code in codes]
    assert found == codes.split()
