"""A corpus in memory is judged and scored like the files that it was read from."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

from hlteval.representation import Corpus
from hlteval.sources.inputs import as_path
from hlteval.workflows import config as demo
from hlteval.workflows.convert.conversion import convert, read
from hlteval.workflows.convert.inputs import UnknownFormat
from hlteval.workflows.run.verdicts import Refused
from tests.runs import score, validate

CASES = [
    ("seedev-full", "reference", "system"),
    ("seedev-full", "reference", "flawed"),
    ("seedev-binary", "reference", "system"),
    ("speech-sf", "speech/annotations", "speech/system.json"),
    ("speech-sf", "speech/annotations", "speech/flawed.json"),
    ("lorehlt-edl", "entities/reference.tab", "entities/system.tab"),
    ("lorehlt-edl", "entities/reference.tab", "entities/flawed.tab"),
    ("hub4", "comparison/reference.tpl", "comparison/bold.tpl"),
    ("hub4", "templettes/reference.tpl", "templettes/flawed.tpl"),
]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("demo")
    demo.unpack(folder)
    return folder


def corpus(path: Path) -> Corpus:
    return read(str(path))[0]


@pytest.mark.sampled(6)
@pytest.mark.parametrize(("task", "reference", "system"), CASES)
def test_the_scores_are_those_of_the_files(folder, task, reference, system):
    files = {"reference": str(folder / reference), "system": str(folder / system)}
    held = {name: as_path(name, corpus(folder / path)) for name, path in files.items()}
    expected = score(task, **files, lenient=True, alignment=False)
    for mixed in (held, {**files, "system": held["system"]}, {**held, "system": files["system"]}):
        found = score(task, **mixed, lenient=True, alignment=False)
        assert found.metrics == expected.metrics


@pytest.mark.parametrize(("task", "reference", "system"), CASES)
def test_the_findings_of_rules_are_those_of_the_files(folder, task, reference, system):
    rejected = corpus(folder / system).rejected_records.rows(named=True)
    own = {row["code"] for row in rejected}
    readers = {finding.code for finding in read(str(folder / system))[1]} | own
    files = validate(task, str(folder / system), against=str(folder / reference))
    held = as_path("system", corpus(folder / system))
    verdict = validate(task, held, against=as_path("against", corpus(folder / reference)))
    expected = [(f.code, f.record) for f in files.findings if f.code not in readers]
    expected += [("COR109", None) for _ in rejected]
    assert sorted((f.code, str(f.record)) for f in verdict.findings) == sorted(
        (code, str(record)) for code, record in expected
    )


def test_what_comes_with_the_task_is_no_prediction(folder):
    whole = as_path("system", corpus(folder / "reference"))  # .txt, .a1 and .a2 together
    verdict = validate("seedev-full", whole, against=str(folder / "reference"))
    assert verdict.findings == ()


def test_a_document_without_predictions_is_missing(folder):
    none = Corpus(documents=[{"row": 0, "name": "demo-2"}])
    verdict = validate("seedev-full", as_path("system", none), against=str(folder / "reference"))
    assert [f.code for f in verdict.findings] == ["REF104"]
    assert not verdict.decided


def test_findings_name_table_and_row(folder):
    held = as_path("system", corpus(folder / "flawed"))
    verdict = validate("seedev-full", held, against=str(folder / "reference"))
    first = next(f for f in verdict.findings if f.code == "STD302")
    assert (first.code, first.file, first.table, first.row) == ("STD302", "<corpus>", "frames", 0)
    assert (first.span, first.position) == (None, ":frames[0]")


def test_broken_keys_are_findings(folder):
    whole = corpus(folder / "system")
    arguments = whole.arguments.with_columns(frame_row=pl.lit(99, pl.Int64))
    held = as_path("system", whole.replace(arguments=arguments))
    verdict = validate("seedev-full", held, against=str(folder / "reference"))
    broken = verdict.of("submission").findings
    assert sum(f.code == "COR105" for f in broken) == arguments.height
    assert broken[0].message == ("arguments.frame_row is 99, but frames has no row with this key")
    with pytest.raises(Refused, match="SEE202"):  # events without arguments
        score("seedev-full", str(folder / "reference"), held)


def test_the_signature_follows_the_content(folder):
    reference, system = corpus(folder / "reference"), corpus(folder / "system")
    changed = system.replace(frames=system.frames.with_columns(label=pl.lit("Regulates_Process")))
    first, again, other = (
        score("seedev-full", as_path("r", reference), as_path("s", each), lenient=True).signature
        for each in (system, system.replace(), changed)
    )
    assert first == again != other


@pytest.mark.parametrize("path", ["reference", "entities/system.tab", "templettes/system.tpl"])
def test_a_corpus_is_converted_like_its_files(folder, tmp_path, path):
    held = as_path("source", corpus(folder / path))
    assert convert(held, str(tmp_path / "held.jsonl")) == []
    convert(str(folder / path), str(tmp_path / "file.jsonl"))
    assert corpus(tmp_path / "held.jsonl") == corpus(tmp_path / "file.jsonl")
    assert read(held)[0] == read(str(folder / path))[0]


def test_a_corpus_has_no_other_format(folder):
    with pytest.raises(UnknownFormat, match="<corpus> is in memory"):
        read(as_path("source", corpus(folder / "reference")), "standoff")
