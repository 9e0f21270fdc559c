"""`hlteval convert` with the mistakes that people make: nothing is lost or replaced in silence."""

from __future__ import annotations

import tarfile
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Run = Callable[..., Any]
ANN = "T1\tCity 0 3\tOsh\nN1\tReference T1 W:5\tOsh\n#1\tNote T1\tsure\n"
FIXTURES = Path(__file__).parents[2] / "fixtures"


def made(folder: Path, *names: str) -> Path:
    """A folder of documents in brat, by their names with sub-folders."""
    for name in names:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / f"{name}.txt").write_text(f"Osh, {name}")
        (folder / f"{name}.ann").write_text(ANN)
    return folder


def contents(folder: Path) -> dict[str, str]:
    return {
        str(file.relative_to(folder)): file.read_text()
        for file in folder.rglob("*")
        if file.is_file()
    }


def message(result: Any) -> str:
    return " ".join(result.stderr.replace("│", " ").split())


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    return made(tmp_path / "tree", "a/d1", "b/c/d1", "b/d2")


def packed(tree: Path, kind: str) -> Path:
    path = tree.with_name(f"tree.{kind}")
    names = sorted(contents(tree))
    if kind == "zip":
        with zipfile.ZipFile(path, "w") as archive:
            for name in names:
                archive.write(tree / name, name)
    else:
        with tarfile.open(path, "w:gz") as tar:
            for name in names:
                tar.add(tree / name, name)
    return path


@pytest.mark.parametrize("kind", ["folder", "zip", "tgz"])
def test_sub_folders_are_read_and_written_again(
    kind: str, invoke: Run, tree: Path, tmp_path: Path
) -> None:
    source = tree if kind == "folder" else packed(tree, kind)
    result = invoke("convert", source, tmp_path / "same", "--to", "brat", "--strict-loss")
    assert (result.exit_code, result.stderr) == (0, "")
    assert contents(tmp_path / "same") == contents(tree)


def test_what_is_lost_is_in_the_words_of_the_input(invoke: Run, tree: Path, tmp_path: Path) -> None:
    result = invoke("convert", tree, tmp_path / "out", "--to", "laf")
    assert result.exit_code == 0
    assert "laf cannot represent 3 N lines" in result.stderr
    assert "laf cannot represent 3 # notes" in result.stderr
    assert "rows of" not in result.stderr


@pytest.mark.parametrize("strict", [[], ["--strict-loss"]])
def test_an_output_of_nothing_is_an_error(
    strict: list[str], invoke: Run, tree: Path, tmp_path: Path
) -> None:
    suffix = invoke("convert", tree, tmp_path / "out.json", *strict)
    assert suffix.exit_code == 2
    assert "which may be speech-sf-json or lorehlt-sf-json" in suffix.stderr.replace("\n", " ")
    to = ("--to", "speech-sf-json")
    result = invoke("convert", tree, tmp_path / "out.json", *to, *strict)
    assert result.exit_code == 1
    assert "error[CNV106]: speech-sf-json can represent nothing of" in result.stderr
    assert "3 documents, 3 T lines" in result.stderr
    assert "brat" in result.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["tree"]


@pytest.mark.parametrize("strict", [[], ["--strict-loss"]])
@pytest.mark.parametrize("form", ["brat", "standoff", "ltf", "rsd", "text", "appen"])
def test_an_input_of_nothing_is_an_error(
    form: str, strict: list[str], invoke: Run, tmp_path: Path
) -> None:
    (tmp_path / "in" / "sub").mkdir(parents=True)
    (tmp_path / "in" / "sub" / "d1.pdf").write_text("x")
    result = invoke("convert", tmp_path / "in", tmp_path / "out.jsonl", "--from", form, *strict)
    assert result.exit_code == 1
    assert "error[CNV105]: found nothing to convert" in result.stderr
    assert "1 .pdf file" in result.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["in"]


def test_errors_leave_out_records_and_say_so(invoke: Run, tree: Path, tmp_path: Path) -> None:
    (tree / "b" / "d2.ann").write_text("T1 City 0 3 Osh\nX\n" + ANN)
    result = invoke("convert", tree, tmp_path / "out.bioc.xml")
    assert result.exit_code == 1
    assert "wrote 3 documents; left out 2 records because of 2 errors" in message(result)
    strict = invoke("convert", tree, tmp_path / "no.jsonl", "--strict-loss")
    assert strict.exit_code == 1
    assert "BRT101" in strict.stderr
    assert not (tmp_path / "no.jsonl").exists()


def test_files_that_are_not_read_are_listed(invoke: Run, tree: Path, tmp_path: Path) -> None:
    for name in ("x.md", "b/y.ANN", "b/z.conf", "v.pdf"):
        (tree / name).write_text("?")
    result = invoke("convert", tree, tmp_path / "out.bioc.xml")
    assert result.exit_code == 0
    assert "4 files not read as brat: b/y.ANN, b/z.conf, v.pdf, ..." in message(result)
    strict = invoke("convert", tree, tmp_path / "no.bioc.xml", "--strict-loss")
    assert (strict.exit_code, (tmp_path / "no.bioc.xml").exists()) == (1, False)


def test_what_exists_is_refused_before_any_work(invoke: Run, tmp_path: Path) -> None:
    (tmp_path / "out.jsonl").write_text("mine")
    result = invoke("convert", tmp_path / "nowhere", tmp_path / "out.jsonl")
    assert result.exit_code == 2
    assert "out.jsonl exists; use --force to replace it" in message(result)
    assert (tmp_path / "out.jsonl").read_text() == "mine"


def test_force_replaces_files_of_the_same_name_only(
    invoke: Run, tree: Path, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    made(out, "b/d2", "old/d9")
    (out / "b" / "d2.ann").write_text("old")
    before = invoke("convert", tree, out, "--to", "brat")
    assert (before.exit_code, (out / "b" / "d2.ann").read_text()) == (2, "old")
    result = invoke("convert", tree, out, "--to", "brat", "--force")
    assert result.exit_code == 0
    assert "2 other files left in the folder: old/d9.ann, old/d9.txt" in message(result)
    old = {f"old/d9{end}": text for end, text in ((".txt", "Osh, old/d9"), (".ann", ANN))}
    assert contents(out) == contents(tree) | old


def test_a_single_document_is_the_file_that_is_named(
    invoke: Run, tree: Path, tmp_path: Path
) -> None:
    one = tree / "b" / "d2.ann"
    assert invoke("convert", one, tmp_path / "x.rsd.txt").exit_code == 0
    assert (tmp_path / "x.rsd.txt").read_text() == "Osh, b/d2"
    assert invoke("convert", one, tmp_path / "y.txt", "--to", "text").exit_code == 0
    assert (tmp_path / "y.txt").read_text() == "Osh, b/d2\n"
    assert invoke("convert", one, tmp_path / "z.ann").exit_code == 0
    assert (tmp_path / "z.ann").read_text() == ANN
    assert (tmp_path / "z.txt").read_text() == "Osh, b/d2"
    (tmp_path / "w.txt").write_text("mine")
    result = invoke("convert", one, tmp_path / "w.ann")
    assert (result.exit_code, "w.txt exists" in message(result)) == (2, True)
    assert not (tmp_path / "w.ann").exists()
    several = invoke("convert", tree, tmp_path / "many.rsd.txt")
    assert several.exit_code == 2
    assert "each of the 3 documents; use a folder with --to rsd" in message(several)
    assert not (tmp_path / "many.rsd.txt").exists()


def test_texts_and_annotations_are_joined(invoke: Run, tmp_path: Path) -> None:
    ltf, laf = FIXTURES / "ltf" / "valid", FIXTURES / "laf" / "valid"
    result = invoke("convert", ltf, laf, tmp_path / "out", "--to", "brat")
    assert result.exit_code == 0
    assert {"water-1.txt", "water-1.ann", "water-2.txt"} <= set(contents(tmp_path / "out"))
    alone = invoke("convert", ltf, tmp_path / "texts", "--to", "rsd")
    assert alone.exit_code == 0
    for names in (("texts", laf), (laf, "texts")):
        inputs = [tmp_path / name if name == "texts" else name for name in names]
        out = tmp_path / f"from-{names[0] == 'texts'}"
        assert invoke("convert", *inputs, out, "--to", "brat").exit_code == 0
        files = contents(out)
        assert files["water-1.ann"] == contents(tmp_path / "out")["water-1.ann"]
        assert files["water-1.txt"] == contents(tmp_path / "out")["water-1.txt"]


def test_a_table_and_plain_texts_are_joined(invoke: Run, tmp_path: Path) -> None:
    line = "R\tm1\tOsh\td1:{}\tNIL1\tGPE\tNAM\t1.0\n"
    (tmp_path / "texts").mkdir()
    (tmp_path / "texts" / "d1.txt").write_text("in Osh")
    (tmp_path / "right.tab").write_text(line.format("3-5"))
    (tmp_path / "wrong.tab").write_text(line.format("4-6"))
    texts, out = tmp_path / "texts", tmp_path / "out"
    assert invoke("convert", tmp_path / "right.tab", texts, out, "--to", "brat").exit_code == 0
    assert contents(out)["d1.ann"].startswith("T1\tGPE 3 6\tOsh\n")
    assert contents(out)["d1.txt"] == "in Osh"
    wrong = invoke("convert", tmp_path / "wrong.tab", texts, tmp_path / "no.bioc.xml")
    assert wrong.exit_code == 1
    assert "error[CNV207]: Osh at 4-7: the text ends before" in wrong.stderr
    assert f"{tmp_path / 'wrong.tab'}:1:6" in wrong.stderr


def test_the_encoding_is_that_of_the_input(invoke: Run, tmp_path: Path) -> None:
    (tmp_path / "d1.txt").write_bytes("Özgön".encode("latin-1"))
    (tmp_path / "d1.ann").write_bytes("T1\tCity 0 5\tÖzgön\n".encode("latin-1"))
    result = invoke("convert", tmp_path / "d1.ann", tmp_path / "o.rsd.txt", "--encoding", "latin-1")
    assert result.exit_code == 0
    assert (tmp_path / "o.rsd.txt").read_text("utf-8") == "Özgön"
    unknown = invoke(
        "convert", tmp_path / "d1.ann", tmp_path / "p.rsd.txt", "--encoding", "latin-x"
    )
    assert unknown.exit_code == 2


def test_each_input_may_have_its_format(invoke: Run, tmp_path: Path) -> None:
    for number in (1, 2):
        (tmp_path / f"d{number}.txt").write_text("Osh")
    paths = [tmp_path / "d1.txt", tmp_path / "d2.txt"]
    formats = ["--from", "text", "--from", "rsd"]
    assert invoke("convert", *paths, tmp_path / "two.jsonl", *formats).exit_code == 0
    result = invoke("convert", *paths, tmp_path / "no.jsonl", *formats, "--from", "rsd")
    assert (result.exit_code, "3 input formats for 2 inputs" in message(result)) == (2, True)
