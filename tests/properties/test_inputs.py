"""Inputs: every file on the disk is read or listed, and no two documents become one."""

from __future__ import annotations

import tarfile
import tempfile
import zipfile
from collections import Counter
from functools import cache
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hlteval import convert, read
from hlteval.converters import known, load
from hlteval.representation import Corpus
from hlteval.workflows.convert.conversion import NotConverted

PER_DOCUMENT = [
    name for name in known() if load(name).layout == "per_document" and load(name).write
]
OF_THEIR_OWN = {"appen", "audacity", "elan", "textgrid", "webvtt", "lorehlt-mt"}
"""Formats that have a place for nothing that standoff has."""
FOLDERS = ("", "a/", "b/", "b/c/")
STEMS = ("d1", "d2", "d3")
FOREIGN = ("README.md", "b/x.conf", "a/y.tmp")
Tree = tuple[set[tuple[str, str]], set[str]]
TREES = st.tuples(
    st.sets(st.tuples(st.sampled_from(FOLDERS), st.sampled_from(STEMS)), min_size=1),
    st.sets(st.sampled_from(FOREIGN)),
)


def document(name: str) -> Corpus:
    """A document with something of every kind that a format has a place for."""
    place = {"row": 0, "document": 0, "origin": 0, "record": 1}
    mention = {"mention": "T1", "label": "City", "start": 0, "end": 3, "text": "Osh"}
    return Corpus(
        sources=[{"row": 0, "path": "x", "member": "x", "format": "x", "sha256": ""}],
        documents=[{"row": 0, "name": name, "text": f"Osh met {name}\n", "origin": 0}],
        mentions=[place | mention],
        frames=[place | {"kind": "situation", "label": "Shelter"}],
        translations=[place | {"segment": "segment-0", "role": "system", "text": "Osh met"}],
        instances=[place | {"kind": "norm", "label": "101", "start": 1.0, "end": 2.5}],
    )


@cache
def files(form: str, stem: str) -> dict[str, bytes]:
    """The files of a document."""
    write = load(form).write
    assert write is not None
    with tempfile.TemporaryDirectory() as made:
        write([load(form).supported(document(stem))], Path(made, "out"))
        found = [file for file in sorted(Path(made).rglob("*")) if file.is_file()]
        return {file.name: file.read_bytes() for file in found}


def planted(form: str, tree: Tree, folder: Path) -> list[str]:
    """Write documents to folders, and files of no format; the names of all files."""
    for home, stem in sorted(tree[0]):
        for file, content in files(form, stem).items():
            target = folder / home / file
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(content)
    for name in tree[1]:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text("?")
    return sorted(str(f.relative_to(folder)) for f in folder.rglob("*") if f.is_file())


def packed(folder: Path, names: list[str], kind: str) -> Path:
    path = folder.with_name(f"packed.{kind}")
    if kind == "zip":
        with zipfile.ZipFile(path, "w") as archive:
            for name in names:
                archive.write(folder / name, name)
    else:
        with tarfile.open(path, "w:gz") as tar:
            for name in names:
                tar.add(folder / name, name)
    return path


@pytest.mark.parametrize("form", PER_DOCUMENT)
def test_every_file_is_read_or_listed_and_every_document_is_one(form: str) -> None:
    @given(TREES)
    @settings(max_examples=4, deadline=None)
    def hold(tree: Tree) -> None:
        with tempfile.TemporaryDirectory() as root:
            folder = Path(root, "tree")
            names = planted(form, tree, folder)
            stems = Counter(stem for _, stem in tree[0])
            expected = {f"{home}{stem}" if stems[stem] > 1 else stem for home, stem in tree[0]}
            for kind in ("folder", "zip", "tgz"):
                path = folder if kind == "folder" else packed(folder, names, kind)
                corpus, findings = read(str(path), form)
                assert sorted(corpus.documents["name"]) == sorted(expected), kind
                listed = [f.message for f in findings if f.code == "CNV104"]
                unread = int(listed[0].split()[0]) if listed else 0
                assert corpus.sources.height + unread == len(names)
                assert unread == len(tree[1])

    hold()


@pytest.mark.sampled(6)
@pytest.mark.parametrize("target", [*PER_DOCUMENT, "jsonl", "bioc-xml", "pubannotation"])
@given(tree=TREES)
@settings(max_examples=4, deadline=None)
def test_documents_of_one_name_stay_apart_in_every_format(target: str, tree: Tree) -> None:
    form = target if target in OF_THEIR_OWN else "standoff"
    with tempfile.TemporaryDirectory() as root:
        folder, out = Path(root, "tree"), Path(root, "out")
        planted(form, tree, folder)
        before, _ = read(str(folder), form)
        convert(str(folder), str(out), from_format=form, to_format=target)
        after, _ = read(str(out), target)
        stems = Counter(name.rpartition("/")[2] for name in before.documents["name"])
        assert len(after.documents) == len(tree[0])
        assert set(after.documents["name"]) == set(before.documents["name"])
        assert all(stems[name] == 1 for name in after.documents["name"] if "/" not in name
                   and not any(other == ("", name) for other in tree[0]))  # fmt: skip


SAVED = {"corpus", "jsonl"}
"""A saved corpus is a file of its own."""


@pytest.mark.parametrize(
    "form",
    [
        name
        for name in known()
        for own in [load(name)]
        if own.layout == "single_file" and own.write and own.reads and name not in SAVED
    ],
)
def test_files_of_the_same_documents_stay_apart(form: str, tmp_path: Path) -> None:
    """Two files, as of two runs: each document is there twice, under two names, with a finding."""
    write = load(form).write
    corpus = load(form).supported(document("d1"))
    assert write is not None
    end = load(form).suffixes[0] if load(form).suffixes else ".txt"
    for name in ("one", "two"):
        (tmp_path / "in").mkdir(exist_ok=True)
        write([corpus], tmp_path / "in" / f"{name}{end}")
    again, findings = read(str(tmp_path / "in"), form)
    if form in {
        "speech-sf-json",
        "lorehlt-sf-json",
        "lorehlt-sf-tables",
    }:  # one file is a submission; of several, none is read
        with pytest.raises(NotConverted, match="nothing to convert"):
            convert(
                str(tmp_path / "in"), str(tmp_path / "out"), from_format=form, to_format="jsonl"
            )
        return
    if several := {"ccu-reference": "CCR120", "ccu-submission": "CCS120"}.get(form):
        # A folder is one of them; of several the first is read, and the others are reported.
        assert again.documents.height == 1
        assert several in {finding.code for finding in findings}
        return
    if form in {"mteval", "mt-text", "tmx"}:
        # Sources, references and translations of a document may be in files of their own.
        assert again.documents.height == 1
        assert again.translations.height == 2
        return
    if form == "sacrebleu-tsv":  # a folder is one of them
        assert again.translations.height == 1
        assert "CNV104" in {finding.code for finding in findings}
        return
    alone, _ = read(str(tmp_path / "in" / f"one{end}"), form)
    count = alone.documents.height
    assert again.documents.height == 2 * count
    assert again.documents["name"].n_unique() == 2 * count
    told = {finding.code for finding in findings} & {
        "CNV201",
        "BIO105",
        "PUB106",
        "JAN105",
        "PBT104",
    }
    assert bool(told) == bool(count)


def test_files_in_a_folder_that_a_format_of_one_file_does_not_read_are_listed(
    tmp_path: Path,
) -> None:
    for form in ("bioc-xml", "edl-tab", "pubannotation", "corpus"):
        write, folder = load(form).write, tmp_path / form
        assert write is not None
        if form == "corpus":
            write([document("d1")], folder)
        else:
            folder.mkdir()
            write([document("d1")], folder / f"x{load(form).suffixes[0]}")
        (folder / "notes.md").write_text("?")
        listed = [f.message for f in read(str(folder), form)[1] if f.code == "CNV104"]
        assert listed == [f"1 file not read as {form}: notes.md"]
