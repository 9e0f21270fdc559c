"""Exported projects of INCEpTION, whose annotations are archives in an archive or a folder."""

from __future__ import annotations

import io
import tarfile
import zipfile
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from hlteval import agreement, convert, score, validate
from hlteval.sources import LIMITS, Unreadable, open_source
from hlteval.workflows.convert.inputs import detect_format
from tests.unit.uima.test_formats import SOFA, TSV, XMI, read

TYPES = """<?xml version="1.0" encoding="UTF-8"?>
<typeSystemDescription xmlns="http://uima.apache.org/resourceSpecifier"><types><typeDescription>
<name>c.A</name><supertypeName>uima.tcas.Annotation</supertypeName></typeDescription></types>
</typeSystemDescription>"""
VIEW = '<cas:View sofa="1" members="2"/>'


def xmi(label: str, begin: int = 0, end: int = 3) -> str:
    span = f'<c:A xmi:id="2" sofa="1" begin="{begin}" end="{end}" value="{label}"/>'
    return XMI.format(span + SOFA + VIEW)


def packed(files: Mapping[str, str | bytes]) -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return stream.getvalue()


#: A document that two people have annotated, and one that nobody has yet; both are curated.
PROJECT = {
    "exportedproject.json": "{}",
    "source/d1.txt": "Ann sang.",
    "annotation/d1.txt/anna.zip": packed({"anna.xmi": xmi("PER"), "TypeSystem.xml": TYPES}),
    "annotation/d1.txt/ben.lee.zip": packed({"d1.xmi": xmi("ORG"), "TypeSystem.xml": TYPES}),
    "annotation/d1.txt/INITIAL_CAS.zip": packed({"INITIAL_CAS.xmi": xmi("X")}),
    "annotation_ser/d1.txt/anna.ser": b"\xac\xed\0\5",
    "annotation/d2.txt/INITIAL_CAS.zip": packed({"INITIAL_CAS.xmi": xmi("X")}),
    "curation/d1.txt/CURATION_USER.zip": packed({"d1.xmi": xmi("PER"), "TypeSystem.xml": TYPES}),
    "curation/d2.txt/CURATION_USER.zip": packed({"d2.xmi": xmi("LOC")}),
}


def project(folder: Path, form: str, files: Mapping[str, str | bytes] = PROJECT) -> str:
    """A project as a folder, or as an archive."""
    path = folder / {"zip": "project.zip", "tgz": "project.tgz"}.get(form, "project")
    contents = {
        name: data.encode() if isinstance(data, str) else data for name, data in files.items()
    }
    if form == "zip":
        path.write_bytes(packed(contents))
    elif form == "tgz":
        with tarfile.open(path, "w:gz") as archive:
            for name, data in contents.items():
                info = tarfile.TarInfo(name)
                info.size = len(data)
                archive.addfile(info, io.BytesIO(data))
    else:
        for name, data in contents.items():
            (path / name).parent.mkdir(parents=True, exist_ok=True)
            (path / name).write_bytes(data)
    return str(path)


@pytest.mark.parametrize("form", ["zip", "tgz", "folder"])
def test_users_are_annotators(form: str, tmp_path: Path) -> None:
    path = project(tmp_path, form)
    source = open_source(path)
    assert source.findings == ()
    shown = [member.display for member in source.members]
    assert f"{path}/annotation/d1.txt/ben.lee.zip/d1.xmi" in shown
    assert not [name for name in shown if name.endswith(".zip")]
    assert detect_format(source).name == "cas-xmi"
    corpus, findings = read(path)
    assert [item.code for item in findings] == ["CNV104"]  # the texts and what the project is
    assert corpus.documents["name"].to_list() == ["d1.txt", "d2.txt"]
    rows = corpus.mentions.select("document", "mention", "label", "annotator").rows()
    assert sorted(rows) == [
        (0, "CURATION_USER:2", "PER", "CURATION_USER"),
        (0, "anna:2", "PER", "anna"),
        (0, "ben.lee:2", "ORG", "ben.lee"),
        (1, "CURATION_USER:2", "LOC", "CURATION_USER"),
    ]


@pytest.mark.parametrize("form", ["zip", "folder"])
def test_a_project_is_validated_converted_compared_and_scored(form: str, tmp_path: Path) -> None:
    path = project(tmp_path, form)
    verdict = validate("mentions", path)
    assert [finding.code for finding in verdict.findings if finding.blocking] == ["GEN410"]
    place = f"{path}/annotation/d1.txt/ben.lee.zip/d1.xmi"
    assert [finding.file for finding in verdict.findings if finding.blocking] == [place]
    chosen = validate("mentions", path, options={"annotator": "CURATION_USER"})
    assert [finding.code for finding in chosen.findings if finding.blocking] == []
    convert(path, tmp_path / "brat", from_format="cas-xmi", to_format="brat")
    assert (tmp_path / "brat" / "d2.txt.ann").read_text().startswith("T1\tLOC 0 3\tAnn\n")
    found = agreement("mentions", [path])
    assert found.annotators == ("anna", "ben.lee")
    result = score("mentions", path, path, options={"annotator": "CURATION_USER"})
    assert result.metrics["micro.f1"] == 1
    # Ann is a person here and an organization there; nobody but the curator has seen d2
    (tmp_path / "ben").mkdir()
    names = ("annotation/d1.txt/ben.lee.zip", "annotation/d2.txt/INITIAL_CAS.zip")
    system = project(tmp_path / "ben", form, {name: PROJECT[name] for name in names})
    result = score("mentions", path, system, options={"annotator": "CURATION_USER"})
    assert result.metrics["micro.recall"] == 0


def test_tsv_and_json_in_archives(tmp_path: Path) -> None:
    content = f"{TSV}#Text=Ann sang\n1-1\t0-3\tAnn\tPER\t\n1-2\t4-8\tsang\t_\t\n"
    files = {"p/curation/d1/CURATION_USER.zip": packed({"d1.tsv": content})}
    path = project(tmp_path, "zip", files)
    assert detect_format(open_source(path)).name == "webanno-tsv"
    corpus, findings = read(path)
    assert (findings, corpus.mentions["annotator"].to_list()) == ([], ["CURATION_USER"])


def codes(files: Mapping[str, str | bytes], folder: Path, form: str = "zip", **limits: int) -> list:
    source = open_source(project(folder, form, files), limits=replace(LIMITS, **limits))
    found = [(item.code, (item.file or "").partition("project")[2]) for item in source.findings]
    for member in source.members:
        try:
            member.fetch()
        except Unreadable as error:
            found.append((error.finding.code, (error.finding.file or "").partition("project")[2]))
    return [*found, len(source.members)]


@pytest.mark.parametrize(
    ("inner", "code", "place"),
    [
        (b"", "SRC101", ""),
        (b"\x1f\x8b\x08\0", "SRC101", ""),
        (packed({"a.xmi": xmi("X")})[:-30], "SRC105", ""),
        (packed({}), "SRC104", ""),
        (packed({"../a.xmi": ""}), "SRC111", ""),
        (packed({"a.xmi": "", "A.xmi": ""}), "SRC114", "/A.xmi"),
        (packed({"b.zip": packed({"a.xmi": ""})}), "SRC116", "/b.zip"),
        (packed({"annotation/d/b.zip": packed({"a.xmi": ""})}), "SRC116", "/annotation/d/b.zip"),
        (packed({"b.xmi": packed({"a.xmi": ""})}), "SRC116", "/b.xmi"),
        (packed({"a.xmi": bytes(3 << 20)}), "SRC124", "/a.xmi"),
    ],
)
@pytest.mark.parametrize("form", ["zip", "folder"])
def test_inner_archives_are_judged_as_outer_ones(
    inner: bytes, code: str, place: str, form: str, tmp_path: Path
) -> None:
    files = {"annotation/d/u.zip": inner, "annotation/d/v.tsv": "x"}
    found = codes(files, tmp_path, form)
    suffix = ".zip" if form == "zip" else ""
    assert (code, f"{suffix}/annotation/d/u.zip{place}") in found


@pytest.mark.parametrize(
    ("limits", "code"),
    [
        ({"members": 4}, "SRC121"),
        ({"total_bytes": 5_000}, "SRC123"),
        ({"member_bytes": 1_500}, "SRC122"),
    ],
)
def test_limits_count_over_all_archives(limits: dict[str, int], code: str, tmp_path: Path) -> None:
    text = "".join(chr(97 + (7 * at * at) % 26) for at in range(2_000))
    files = {f"annotation/d/u{at}.zip": packed({"a.xmi": text}) for at in range(3)}
    assert codes(files, tmp_path) == [6 - 3]
    (tmp_path / "again").mkdir()
    found = codes(files, tmp_path / "again", **limits)
    assert code in {item[0] for item in found[:-1]}
    assert found[-1] == 0 or code == "SRC122"


def test_archives_at_other_places_stay_closed(tmp_path: Path) -> None:
    files = {"d/u.zip": PROJECT["annotation/d1.txt/anna.zip"], "annotation/u.zip": "", "d.a2": "E"}
    found = codes(files, tmp_path)
    assert {item[0] for item in found[:-1]} == {"SRC116"}
