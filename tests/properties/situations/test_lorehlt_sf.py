"""LoReHLT situation frames: round trips, verdicts beside the schema, and reading in bulk."""

from __future__ import annotations

import json
import tempfile
from collections import Counter
from pathlib import Path
from typing import Any
from unittest.mock import patch

import polars as pl
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from jsonschema import Draft4Validator

from hlteval.converters import load
from hlteval.converters.situations.lorehlt import lorehlt_sf_json
from hlteval.converters.situations.lorehlt.items import VERSIONS, LorehltSchema, types
from hlteval.converters.situations.lorehlt.reference_tables import kinds
from hlteval.converters.situations.lorehlt.valid_items import read_valid
from hlteval.grammars import schema
from hlteval.representation import Corpus
from hlteval.sources import Member, Source, open_source
from tests.effort import tries

NAMES = st.text(st.characters(codec="utf-8", exclude_characters="\0"), min_size=1, max_size=6)
ENTRIES = st.fixed_dictionaries(
    {
        "Sentiment": st.sampled_from([-3, -0.5, 1, 2.5]),
        "Emotion_Fear": st.booleans(),
        "Emotion_Anger": st.booleans(),
        "Emotion_Joy": st.booleans(),
        "Source": st.one_of(st.sampled_from(["author", "NIL1", "17"]), NAMES),
    }
)


def _frames(kind: str, **more: st.SearchStrategy[Any]) -> st.SearchStrategy[dict[str, Any]]:
    return st.fixed_dictionaries(
        {
            "DocumentID": st.one_of(st.sampled_from(["D1", "D2"]), NAMES),
            "Type": st.sampled_from(types(kind)),
            "Place_KB_ID": st.one_of(st.sampled_from(["", "17", "NIL1"]), NAMES),
            "Status": st.just("current"),
            "Confidence": st.floats(0, 1),
            "Justification_ID": st.one_of(st.just(""), NAMES),
            "Urgent": st.booleans(),
            "SEC": st.lists(ENTRIES, max_size=2),
            **more,
        }
    )


FRAMES = st.one_of(
    _frames("issue"), _frames("need", Resolution=st.sampled_from(["sufficient", "insufficient"]))
)


def source(data: bytes, name: str = "system_output.json") -> Source:
    return Source(name, "file", (Member("", name, len(data), lambda: data),))


def read(form: str, given_source: Source, **chosen: str) -> Any:
    (result,) = load(form).with_settings(chosen).read(given_source)
    result.corpus.check_keys()
    return result


def content(corpus: Corpus) -> list[Any]:
    """What a corpus holds, but for the places in its files."""
    names = ("documents", "frames", "sentiments")
    return [getattr(corpus, name).drop("origin", "record", strict=False).rows() for name in names]


@given(st.lists(FRAMES, max_size=4))
@settings(max_examples=tries(12), deadline=None)
def test_json_becomes_tables_and_json_again(frames: list[dict[str, Any]]) -> None:
    first = read("lorehlt-sf-json", source(json.dumps(frames).encode()))
    assert {item.code for item in first.findings} <= {"LSF211"}
    with tempfile.TemporaryDirectory() as folder:
        tables, path = Path(folder, "tables"), Path(folder, "system_output.json")
        load("lorehlt-sf-tables").write([first.corpus], tables)
        second = read("lorehlt-sf-tables", open_source(str(tables)))
        assert second.findings == ()
        assert content(second.corpus) == content(first.corpus)
        load("lorehlt-sf-json").write([second.corpus], path)
        assert json.loads(path.read_text("utf-8")) == frames


VALUES = st.one_of(
    st.none(), st.booleans(), st.floats(-4, 4), st.sampled_from(["", "current", "food", "0.5"]),
    st.just([]), st.just({}), st.lists(ENTRIES, min_size=1, max_size=1),
)  # fmt: skip


@st.composite
def damaged(draw: st.DrawFn) -> dict[str, Any]:
    """A frame with one value replaced or left out, possibly in an entry of it."""
    frame = draw(FRAMES)
    inside = frame["SEC"][0] if frame["SEC"] and draw(st.booleans()) else frame
    name = draw(st.sampled_from(sorted({*inside, "Resolution", "Justification"})))
    if name in inside and draw(st.booleans()):
        del inside[name]
    else:
        inside[name] = draw(VALUES)
    return frame


EDITS = st.sampled_from(
    ['"Urgent": true, "Urgent"', '"Urg\\u0065nt"', '"Urgent" ', '"urgent"', "'Urgent'"]
)


@given(
    st.lists(FRAMES, max_size=4),
    st.one_of(st.none(), damaged()),
    st.one_of(st.none(), EDITS),
    st.sampled_from(VERSIONS),
    st.sampled_from(["as-written", "stripped"]),
)
@settings(max_examples=tries(100), deadline=None)
def test_valid_files_are_read_in_bulk_as_all_others_are(
    frames: list[dict[str, Any]],
    odd: dict[str, Any] | None,
    edit: str | None,
    version: str,
    names: str,
) -> None:
    text = json.dumps([*frames, *([] if odd is None else [odd])])
    given_source = source((text if edit is None else text.replace('"Urgent"', edit, 1)).encode())
    chosen = {"schema": version, "document-ids": names}
    first = read("lorehlt-sf-json", given_source, **chosen)
    with patch(f"{lorehlt_sf_json.__name__}.read_valid", lambda *_, **__: None):
        second = read("lorehlt-sf-json", given_source, **chosen)
    assert first.findings == second.findings
    assert first.corpus == second.corpus


def test_files_without_problems_are_read_in_bulk() -> None:
    entry = {"Sentiment": -3, "Emotion_Fear": True, "Emotion_Anger": False, "Emotion_Joy": True}
    frame = {"DocumentID": "D1", "Type": "food", "Place_KB_ID": "", "Status": "past"}
    frame |= {"Confidence": 1, "Justification_ID": "", "Resolution": "sufficient"}
    frame |= {"Urgent": True, "SEC": [entry | {"Source": "author"}]}
    for version in VERSIONS:
        corpus = read_valid(json.dumps([frame]).encode(), ORIGIN, version, stripped=True)
        assert corpus is not None
        assert corpus.sentiments["value"].to_list() == [-3.0]
    for odd in ({"Status": "not_current"}, {"Confidence": 1.1}, {"Place_KB_ID": "\u200b"}):
        data = json.dumps([frame | odd]).encode()
        assert read_valid(data, ORIGIN, "plan", stripped=False) is None


ORIGIN = {"row": 0, "path": "", "member": "s.json", "format": "lorehlt-sf-json", "sha256": ""}


@pytest.mark.parametrize("version", VERSIONS)
def test_a_frame_has_an_error_if_and_only_if_it_breaks_the_schema(version: str) -> None:
    definitions = schema("lorehlt-sf")["definitions"]
    validator = Draft4Validator({**definitions[version], "definitions": definitions})

    @given(damaged())
    @settings(max_examples=tries(12), deadline=None)
    def hold(frame: dict[str, Any]) -> None:
        data = json.dumps([frame]).encode()
        findings = read("lorehlt-sf-json", source(data), schema=version).findings
        errors = [item for item in findings if item.severity == "error"]
        assert bool(errors) == (not validator.is_valid(frame))
        assert all(item.span for item in findings)
        version_schema = LorehltSchema(version)
        each = [(code, path) for code, path, _ in version_schema.violations(frame)]
        assert Counter(version_schema.errors(frame)) == Counter(each)  # found without their values

    hold()


CELLS = {
    "annotator": ["300", "314"], "name": ["D1", "D2"], "frame": ["F1", "F2", "F3"],
    "place": ["none", "Ent-1"], "status": ["current"], "scope": ["4_region", "none"],
    "severity": ["2_injury", "x"], "resolution": ["insufficient"], "entry": ["17", "NIL2", ""],
    "value": ["-1.5", "2", "y"], "polarity": ["negative", "none"],
    "emotions": ["fear", "none", "fear,anger"], "holder": ["author"], "target": ["F1", "F9"],
    "frame_type": ["need"], "description": ["fire", "none"], "label": [],
}  # fmt: skip


@st.composite
def tables(draw: st.DrawFn) -> dict[str, str]:
    """Files of needs, issues and sentiments by path; some lines are wrong."""
    files = {}
    for name in ("needs", "issues", "sentiments"):
        kind = kinds()[name]
        labels = [*types("need" if name == "needs" else "issue"), "weather"]
        for number in range(draw(st.integers(0, 2))):
            columns = [
                column
                for column in kind.columns
                if column.name in CELLS and (not column.optional or draw(st.booleans()))
            ]
            lines = ["\t".join(column.title for column in columns)]
            for _ in range(draw(st.integers(0, 3))):
                cells = [draw(st.sampled_from(CELLS[c.name] or labels)) for c in columns]
                lines.append("\t".join(cells[draw(st.sampled_from([0, 0, 0, 1])) :]))
            files[f"{name}/D{number}{kind.suffix}"] = "\n".join([*lines, ""])
    return files


@given(tables())
@settings(max_examples=tries(12), deadline=None)
def test_many_files_are_read_as_each_by_itself(files: dict[str, str]) -> None:
    def member(path: str) -> Member:
        return Member(path, path, None, files[path].encode)

    assume(files)
    every = Source("x", "folder", tuple(map(member, sorted(files))))
    together = read("lorehlt-sf-reference", every)
    alone = [read("lorehlt-sf-reference", Source("x", "folder", (member(path),))) for path in files]
    findings = [item for result in alone for item in result.findings]
    assert sorted(map(repr, together.findings)) == sorted(map(repr, findings))
    for table, column in (("frames", "frame"), ("sentiments", "value")):
        assert rows(together.corpus, table, column) == sorted(
            row for result in alone for row in rows(result.corpus, table, column)
        )
    assert together.corpus.rejected_records.height == sum(
        result.corpus.rejected_records.height for result in alone
    )


def rows(corpus: Corpus, table: str, column: str) -> list[str]:
    """The rows of a table with the names of their documents and files."""
    names = corpus.documents.select("name", document="row")
    files = corpus.sources.select("member", origin="row")
    frame: pl.DataFrame = getattr(corpus, table)
    joined = frame.join(names, on="document").join(files, on="origin")
    return sorted(map(str, joined.select("name", "member", "record", column).rows()))


@given(tables())
@settings(max_examples=tries(8), deadline=None)
def test_an_annotation_comes_back_equal(files: dict[str, str]) -> None:
    assume(files)
    with tempfile.TemporaryDirectory() as folder:
        for path, text in files.items():
            file = Path(folder, "one", path)
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text, "utf-8")
        form = load("lorehlt-sf-reference")
        first = read("lorehlt-sf-reference", open_source(f"{folder}/one")).corpus
        assert form.losses(first.replace(rejected_records=[])) == {}
        form.write([first], Path(folder, "two"))
        results = [*form.read(open_source(f"{folder}/two"))]
        again = Corpus.concat(result.corpus for result in results)
        places = ("origin", "record", "row", "frame_row")
        for table in ("documents", "frames", "sentiments"):
            ours, theirs = (
                sorted(map(str, getattr(corpus, table).drop(places, strict=False).rows()))
                for corpus in (first, again)
            )
            assert ours == theirs, table
