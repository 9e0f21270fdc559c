"""Conversion runs: which format is meant, and what is never lost in silence."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from msgspec.structs import replace

from hlteval.converters import BUILTIN, Format, ReadResult, load
from hlteval.converters.corpus.jsonl import write_jsonl
from hlteval.representation import Corpus
from hlteval.sources import Member, Source, open_source
from hlteval.sources.inputs import as_path
from hlteval.workflows.convert import conversion, inputs, losses
from hlteval.workflows.convert.conversion import Lossy, NotConverted, convert, read, target
from hlteval.workflows.convert.inputs import UnknownFormat, detect_format

FIXTURES = Path(__file__).parents[3] / "fixtures"
CORPUS = str(FIXTURES / "standoff" / "valid" / "full")


@pytest.mark.parametrize(
    ("path", "name"),
    [
        *(("out.jsonl", "jsonl"), ("o.corpus", "corpus"), ("a.a2", "standoff"), ("a.ann", "brat")),
        ("a.rsd.txt", "rsd"),
    ],
)
def test_the_suffix_tells_the_format(path: str, name: str) -> None:
    assert target(path).name == name


def test_a_suffix_of_several_formats_tells_none() -> None:
    """Texts are `.txt` beside the annotations of BioNLP-ST and of brat."""
    with pytest.raises(UnknownFormat, match=r"suffix of \S*a\.txt does not determine"):
        target("a.txt")


EDL = FIXTURES / "lorehlt-edl" / "valid" / "submission.tab"
SECOND = replace(load("document-list"), name="second", suffixes=(".tab",))
"""Another format with the suffix of `edl-tab`, of documents."""


MODULES = (conversion, inputs, losses)


def replaced(monkeypatch: pytest.MonkeyPatch, form: Format) -> None:
    """Have a format loaded instead of the one of its name."""
    for each in MODULES:
        monkeypatch.setattr(each, "load", lambda name: form if name == form.name else load(name))


@pytest.fixture
def install(monkeypatch: pytest.MonkeyPatch) -> Callable[[Format, str], None]:
    """Add a format, by the module that declares it: a built-in one without a colon."""

    def add(added: Format, module: str) -> None:
        builtin = dict(BUILTIN) if ":" in module else {**BUILTIN, added.name: module}
        names = {added.name: module, **BUILTIN}
        monkeypatch.setattr(inputs, "BUILTIN", builtin)
        for each in MODULES:
            monkeypatch.setattr(each, "known", lambda: names)
        replaced(monkeypatch, added)

    return add


Install = Callable[[Format, str], None]
ELSEWHERE = "hlteval.converters.ccu.second"


def test_of_formats_with_one_suffix_the_family_of_the_input_decides(install: Install) -> None:
    install(SECOND, ELSEWHERE)
    assert target("out.tab", None, load("neleval")).name == "edl-tab"
    install(SECOND, "hlteval.converters.lists.second")
    assert target("out.tab", None, load("seedev-sentences")).name == "second"


def test_of_formats_with_one_suffix_the_tables_at_hand_decide(install: Install) -> None:
    install(SECOND, ELSEWHERE)
    tables = ("sources", "documents", "mentions")
    assert target("out.tab", None, load("jsonl"), lambda: tables).name == "edl-tab"


def test_what_stays_ambiguous_is_an_error_with_the_candidates(install: Install) -> None:
    install(SECOND, ELSEWHERE)
    candidates = "second or edl-tab or ccu-ta2"
    reason = rf"out\.tab does not determine the format, which may be {candidates}; .*--to: "
    with pytest.raises(UnknownFormat, match=reason):
        target("out.tab", None, load("jsonl"), lambda: ("sources", "documents"))


@pytest.mark.parametrize("suffix", [".tab", ".longer.tab"])
def test_a_plug_in_never_stands_beside_a_built_in_format(install: Install, suffix: str) -> None:
    install(replace(SECOND, suffixes=(suffix, ".own")), "second.format:FORMAT")
    tables = ("documents", "mentions")
    assert target("out.longer.tab", None, load("jsonl"), lambda: tables).name == "edl-tab"
    assert target("out.own", None, load("jsonl"), lambda: tables).name == "second"


def test_a_plug_in_never_wins_where_files_look_alike(install: Install) -> None:
    greedy = replace(SECOND, sniff=lambda _: True)
    install(greedy, "second.format:FORMAT")
    assert detect_format(open_source(str(EDL))).name == "edl-tab"
    install(greedy, ELSEWHERE)
    with pytest.raises(UnknownFormat, match="may be second or edl-tab"):
        detect_format(open_source(str(EDL)))


@pytest.mark.parametrize("between", ["kept.jsonl", None])
def test_a_table_is_converted_beside_a_second_format(
    between: str | None, install: Install, tmp_path: Path
) -> None:
    """By its family, or from a format that keeps everything by the tables that there are."""
    install(SECOND, ELSEWHERE)
    given = str(EDL)
    if between:
        given = str(tmp_path / between)
        convert(str(EDL), given)
    convert(given, str(tmp_path / "out.tab"))
    assert (tmp_path / "out.tab").read_bytes() == EDL.read_bytes()


@pytest.mark.parametrize(
    ("path", "form", "reason"),
    [
        ("out", None, "does not determine the format"),
        ("-", None, "does not determine the format"),
        ("out.xml", None, "does not determine the format"),
        ("out", "seedev-sentences", "cannot be written"),
        ("out", "xml", "unknown format xml"),
    ],
)
def test_a_format_that_cannot_be_told_is_asked_for(
    path: str, form: str | None, reason: str
) -> None:
    with pytest.raises(UnknownFormat, match=reason):
        target(path, form)


def test_what_could_be_two_formats_is_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    greedy = replace(load("jsonl"), sniff=lambda _: True)
    replaced(monkeypatch, greedy)
    source = Source("run", "folder", (Member("d.a2", "d.a2", 0, bytes),))
    with pytest.raises(UnknownFormat, match="may be standoff or jsonl"):
        detect_format(source)
    assert detect_format(source, "standoff").name == "standoff"


def test_strict_loss_holds_for_standard_output_too(
    monkeypatch: pytest.MonkeyPatch, capsysbinary: pytest.CaptureFixture[bytes]
) -> None:
    """No format of one file loses anything as yet; this one is made to."""
    narrow = replace(load("jsonl"), carries=("documents", "documents.text"))
    replaced(monkeypatch, narrow)
    with pytest.raises(Lossy) as lossy:
        convert(CORPUS, "-", from_format="standoff", to_format="jsonl", strict_loss=True)
    assert {finding.code for finding in lossy.value.findings} == {"CNV101"}
    assert capsysbinary.readouterr().out == b""
    findings = convert(CORPUS, "-", from_format="standoff", to_format="jsonl")
    assert {finding.code for finding in findings} == {"CNV101"}
    assert capsysbinary.readouterr().out != b""


def test_reading_gives_what_was_wrong_in_order(tmp_path: Path) -> None:
    (tmp_path / "b.a2").write_text("no tab\n")
    (tmp_path / "a.a2").write_text("E1\tX A:T1\nnone here\n")
    corpus, findings = read(str(tmp_path))
    assert corpus.frames.height == 1
    assert [(f.file or "")[-4:] for f in findings] == ["a.a2", "b.a2"]


def test_a_mistaken_end_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise OSError(28, "No space left on device")

    broken = replace(load("jsonl"), write=fail)
    replaced(monkeypatch, broken)
    with pytest.raises(OSError, match="No space"):
        convert(CORPUS, str(tmp_path / "out.jsonl"), from_format="standoff")
    assert list(tmp_path.iterdir()) == []


NAMES = ("../outside", "/outside", "a/../../outside", "a\\b", "..", "", "a\0b", "x" * 250)
FOLDERS = ("standoff", "brat", "appen", "ltf", "rsd", "laf", "text", "lorehlt-mt")


def read_from(member: str, form: str, name: str) -> Corpus:
    """A corpus of one document that says it was read from a file of that name."""
    source = {"row": 0, "path": "x", "member": member, "format": form, "sha256": ""}
    place = {"row": 0, "document": 0, "origin": 0, "record": 1}
    return Corpus(
        sources=[source],
        documents=[{"row": 0, "name": name, "origin": 0, "text": "a b"}],
        mentions=[place | {"mention": "T1", "label": "X", "start": 0, "end": 1}],
        translations=[place | {"segment": "segment-0", "role": "system", "text": "a b"}],
    )


@pytest.mark.parametrize("form", FOLDERS)
@pytest.mark.parametrize("given", NAMES)
def test_no_name_leads_out_of_the_folder(form: str, given: str, tmp_path: Path) -> None:
    write, folder = load(form).write, tmp_path / "deep" / "out"
    assert write is not None
    folder.parent.mkdir()
    write([read_from(given, form, "d1")], folder)
    written = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert written
    assert all(path.is_relative_to(folder) for path in written)
    assert any(path.name.startswith("d1.") for path in written)
    write([read_from("", "jsonl", given)], folder)
    assert {path for path in tmp_path.rglob("*") if path.is_file()} == set(written)
    assert not Path("/outside").exists()


@pytest.mark.parametrize("form", [name for name in FOLDERS if name != "text"])
def test_a_document_without_a_file_is_told(form: str) -> None:
    lost = load(form).count_losses(read_from("", "jsonl", "../outside"))
    assert lost["documents whose name is not a valid file name"] == 1


@pytest.mark.parametrize(
    "member", ["{}/secret.rsd.txt", "../secret.rsd.txt", "../../../etc/passwd"]
)
def test_nothing_is_opened_but_what_the_user_names(member: str, tmp_path: Path) -> None:
    """A saved corpus names the files that it was read from: these names are data."""
    (tmp_path / "secret.rsd.txt").write_text("secret", "utf-8")
    source = {"row": 0, "path": "x", "member": member.format(tmp_path), "format": "rsd"}
    document = {"row": 0, "name": "d1", "text": "in Osh\n", "origin": 0}
    corpus = Corpus(sources=[{**source, "sha256": "0" * 64}], documents=[document])
    write = load("jsonl").write
    assert write
    write([corpus], tmp_path / "in.jsonl")
    found = convert(str(tmp_path / "in.jsonl"), str(tmp_path / "out"), to_format="rsd")
    assert [finding.code for finding in found if finding.code == "CNV102"] == []
    assert [file.name for file in (tmp_path / "out").iterdir()] == ["d1.rsd.txt"]


PER_DOCUMENT = [
    name for name in BUILTIN if load(name).write and load(name).layout == "per_document"
]


@pytest.mark.parametrize("form", PER_DOCUMENT)
@pytest.mark.parametrize("name", ["x" * 300, "/".join(["d" * 200] * 25)], ids=["file", "path"])
def test_a_name_longer_than_the_system_allows_is_reported(
    form: str, name: str, tmp_path: Path
) -> None:
    mention = {"document": 0, "origin": 0, "record": 1, "mention": "T1", "label": "Protein"}
    corpus = Corpus(
        sources=[{"row": 0, "path": "x", "member": "d1", "format": "x", "sha256": ""}],
        documents=[
            {"row": row, "origin": 0, "name": given, "text": "AB is here.\n"}
            for row, given in enumerate((name, "d1"))
        ],
        mentions=[
            {**mention, "row": row, "document": row, "start": 0, "end": 2, "text": "AB"}
            for row in (0, 1)
        ],
    )
    with (tmp_path / "corpus.jsonl").open("wb") as stream:
        write_jsonl(corpus, stream)
    try:
        findings = convert(str(tmp_path / "corpus.jsonl"), str(tmp_path / "out"), to_format=form)
    except NotConverted as reason:  # the format represents nothing of the corpus
        findings = reason.findings
    assert any("whose name is not a valid file name" in found.message for found in findings)


@pytest.mark.parametrize("form", ["standoff", "brat", "rsd", "text", "ltf", "laf"])
def test_an_output_without_files_is_none(form: str, tmp_path: Path) -> None:
    """All documents are left out, and with them more mentions than there are losses."""
    source = {"row": 0, "path": "x", "member": "x", "format": "x", "sha256": ""}
    place = {"document": 0, "origin": 0, "label": "City", "start": 0, "end": 3}
    mentions = [{**place, "row": at, "record": at, "mention": f"T{at}"} for at in range(9)]
    corpus = Corpus(
        sources=[source],
        documents=[{"row": 0, "name": "d\0", "text": "Osh\0\n", "origin": 0}],
        mentions=mentions,
    )
    with pytest.raises(NotConverted) as refused:
        convert(as_path("source", corpus), str(tmp_path / "out"), to_format=form)
    assert "CNV106" in {finding.code for finding in refused.value.findings}
    assert not (tmp_path / "out").exists()


def test_a_name_of_an_earlier_batch_is_not_given_again() -> None:
    """Names are compared one by one only from the first batch that repeats some."""

    def batch(file: str, *names: str) -> ReadResult:
        source = {"row": 0, "path": "x", "member": file, "format": "x", "sha256": ""}
        rows = [{"row": row, "name": name, "origin": 0} for row, name in enumerate(names)]
        member = Member(file, file, None, lambda: b"")
        return ReadResult(Corpus(sources=[source], documents=rows), (), (member,))

    results = [batch("1", "a", "b"), batch("2", "c"), batch("3", "b", "d", "c"), batch("4", "a")]
    named = [*inputs.with_unique_names(results, {})]
    names = [each.corpus.documents["name"].to_list() for each in named]
    assert names == [["a", "b"], ["c"], ["b (2)", "d", "c (2)"], ["a (2)"]]
    found = [finding for each in named for finding in each.findings]
    assert [each.message.partition(";")[0] for each in found] == [
        "document b is already in 1",
        "document c is already in 2",
        "document a is already in 1",
    ]
