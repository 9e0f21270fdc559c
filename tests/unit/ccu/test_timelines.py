"""Files of timelines: each finding has a fixture at its place; what is written is read again."""

from __future__ import annotations

import re
from itertools import count
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hlteval import convert, read
from hlteval.converters import load
from hlteval.converters.timelines.notation import durations, ends, plain_text
from hlteval.findings import FieldRef, Finding, catalogue
from hlteval.grammars.relaxng import elements
from hlteval.representation import Corpus
from hlteval.sources import Member, Source, open_source
from hlteval.syntax.xml_elements import conforms
from hlteval.workflows.convert.inputs import detect_format
from tests.effort import tries

FIXTURES = Path(__file__).parents[3] / "fixtures"
FORMATS = ("rttm", "audacity", "webvtt", "elan", "instances-csv", "levels-parquet")
INVALID = [(form, path) for form in FORMATS for path in sorted(FIXTURES.glob(f"{form}/invalid/*"))]
VALID = [(form, path) for form in FORMATS for path in sorted(FIXTURES.glob(f"{form}/valid/*"))]

MARKED = {
    "TLN101-no-name.rttm": (2, "<NA>"),
    "TLN201-no-fields.rttm": (2, "NORM M01 1 45.2 15.0 101"),
    "TLN202-comma.rttm": (2, "45,2"),
    "TLN202-confidence.rttm": (2, "high"),
    "TLN203-number.rttm": (2, "1.0"),
    "TLN204-words.rttm": (3, "LEXEME M01 1 45.2 0.3 yes lex Ann <NA> <NA>"),
    "TLN101-empty.txt": (2, ""),
    "TLN102-misspelt.txt": (2, "state=adhere"),
    "TLN103-word.txt": (2, "llr=high"),
    "TLN301-spaces.txt": (2, "45.2 60.2 101"),
    "TLN302-comma.txt": (2, "45,2"),
    "TLN303-exchanged.txt": (2, "45.2"),
    "TLN304-words.txt": (2, "\\\tlow\thigh"),
    "TLN101-no-text.vtt": (6, "01:45.200 --> 02:00.200"),
    "TLN102-misspelt.vtt": (7, "norm: 101 | state=adhere"),
    "TLN401-no-header.vtt": (1, "00:45.200 --> 01:00.200"),
    "TLN402-comma.vtt": (6, "00:01:45,200"),
    "TLN403-no-length.vtt": (6, "02:00.200 --> 02:00.200"),
    "TLN404-no-times.vtt": (6, "norm: 102"),
    "TLN103-word.eaf": (11, "101 | llr=high"),
    "TLN501-fraction.eaf": (7, "70.5"),
    "TLN502-no-slot.eaf": (10, "ts9"),
    "TLN503-exchanged.eaf": (10, "ts1"),
    "TLN504-word.eaf": (11, "high"),
    "TLN505-dependent.eaf": (17, '<REF_ANNOTATION ANNOTATION_ID="a2" ANNOTATION_REF="a1">'),
    "XML105-other-element.eaf": (15, "<TRACK/>"),
    "TLN101-no-label.csv": (3, ""),
    "TLN601-no-kind.csv": (1, "document,label,start,end"),
    "TLN602-comma.csv": (3, "M01,norm,101,45,2,60,2,,,,"),
    "TLN603-misspelt.csv": (1, "directoin"),
    "TLN604-word.csv": (3, "early"),
    "TLN605-plural.csv": (3, "norms"),
    "TLN606-open.csv": (3, 'M01,norm,"101,45.2,60.2,,,,'),
}


def marked(finding: Finding) -> tuple[int, str]:
    assert finding.span is not None
    assert finding.excerpt is not None
    start = finding.span.column - 1 - finding.excerpt.offset
    length = finding.span.end_column - finding.span.column
    return finding.span.line, finding.excerpt.text[start : start + length]


@pytest.mark.parametrize(("form", "path"), INVALID, ids=lambda value: getattr(value, "name", value))
def test_a_fixture_raises_its_code_at_its_place_and_nothing_else(form: str, path: Path) -> None:
    corpus, findings = read(str(path), form)
    (finding,) = findings
    assert finding.code == path.name[:6]
    assert finding.clause
    assert finding.help
    if form != "levels-parquet":
        assert marked(finding) == MARKED[path.name]
    corpus.check_keys()


def test_every_code_has_a_fixture() -> None:
    codes = {code for code in catalogue() if re.match("TLN[1-7]", code)}  # 8: UEM
    assert {path.name[:6] for _, path in INVALID} - {"XML105"} == codes


@pytest.mark.parametrize(("form", "path"), VALID, ids=lambda value: getattr(value, "name", value))
def test_a_valid_file_is_detected_and_has_no_finding(form: str, path: Path) -> None:
    assert detect_format(open_source(str(path))).name == form
    assert list(read(str(path), form)[1]) == []


def test_a_small_file_of_very_many_rows_is_not_unpacked(tmp_path: Path) -> None:
    path = tmp_path / "levels.parquet"
    rows = pl.DataFrame({"file_id": ["d"], "kind": ["valence"], "start": 0, "end": 1, "level": 5})
    findings: dict[int, list[Finding]] = {}
    for number in (100_000, 100_001):
        pl.concat([rows] * number).rechunk().write_parquet(path)
        corpus, findings[number] = read(str(path), "levels-parquet")
        assert corpus.ratings.height == (0 if findings[number] else 100_000)
    assert not findings[100_000]
    (refused,) = findings[100_001]
    assert refused.code == "TLN701"
    assert refused.message.endswith("bytes unpack to 100,001 rows")


def test_what_labels_say_is_read() -> None:
    corpus, _ = read(str(FIXTURES / "elan/valid/M01.eaf"))
    row = corpus.ratings.row(0, named=True)
    assert (row["kind"], row["level"], row["bin"], row["start"]) == ("valence", 420.0, "2", 45.2)
    change = corpus.changes.row(0, named=True)
    assert (change["at"], change["direction"], change["strength"]) == (60.2, "negative", "4")
    # The kind is that of the linguistic type, of the name of the tier, or of the value.
    assert corpus.instances["kind"].to_list() == ["norm", "emotion", "emotion"]
    assert corpus.instances["end"].to_list() == [60.2, 70.35, None]


@pytest.mark.parametrize("form", ["audacity", "webvtt", "rttm", "elan"])
def test_labels_without_a_kind_have_that_of_the_setting(form: str, tmp_path: Path) -> None:
    lines = {
        "audacity": "1\t2\tjoy\n",
        "webvtt": "WEBVTT\n\n00:01.000 --> 00:02.000\njoy\n",
        "rttm": "SPEAKER M01 1 1 1 <NA> <NA> joy <NA> <NA>\n",
        "elan": (FIXTURES / "elan/valid/M02.eaf").read_text("utf-8").replace('"norm"', '"x"'),
    }
    path = tmp_path / f"M01{load(form).suffixes[0]}"
    path.write_text(lines[form], "utf-8")
    convert(str(path), str(tmp_path / "out.csv"), from_format=form, settings={"kind": "emotion"})
    assert "M01,emotion," in (tmp_path / "out.csv").read_text("utf-8")


NAMES = ["M01", "M02"]
LABELS = ["101", "joy", "none", "say “hi”", "a,b", 'q"q', "norm: x", "R&D <b>", "=5"]
SECONDS = st.integers(0, 10_000_000).map(lambda time: time / 1000)


@st.composite
def streams(draw: st.DrawFn) -> Corpus:
    """Instances, ratings and changes of streams, in seconds with milliseconds."""
    tables: dict[str, list[dict[str, Any]]] = {"instances": [], "ratings": [], "changes": []}
    for document, _ in enumerate(NAMES):
        for table in draw(st.lists(st.sampled_from([*tables]), min_size=1, max_size=4)):
            start = draw(SECONDS)
            end = start + draw(st.integers(1, 60_000)) / 1000
            place = {"row": len(tables[table]), "document": document, "origin": 0, "record": 1}
            span = {"start": start, "end": round(end, 3), "region": draw(OPTIONAL)}
            who = {"annotator": draw(OPTIONAL)}
            kept: dict[str, dict[str, Any]] = {
                "instances": {
                    "kind": draw(st.sampled_from(["norm", "emotion"])),
                    **span,
                    "label": draw(st.sampled_from(LABELS)),
                    "status": draw(OPTIONAL),
                    "llr": draw(LLR),
                    "several": draw(st.sampled_from([None, True, False])),
                },
                "ratings": {
                    "kind": draw(st.sampled_from(["valence", "arousal"])),
                    **span,
                    "level": draw(st.sampled_from([None, 1.0, 420.5])),
                    "bin": draw(OPTIONAL),
                },
                "changes": {
                    "at": start,
                    "llr": draw(LLR),
                    "direction": draw(OPTIONAL),
                    "strength": draw(OPTIONAL),
                    "evidence": draw(OPTIONAL),
                },
            }
            tables[table].append({**place, **who, **kept[table]})
    source = {"row": 0, "path": "x", "member": "x", "format": "x", "sha256": ""}
    documents = [{"row": n, "origin": 0, "name": name} for n, name in enumerate(NAMES)]
    return Corpus(sources=[source], documents=documents, **tables)


OPTIONAL = st.sampled_from([None, "adhere", "adhere,violate", "S 1", "="])
LLR = st.sampled_from([None, 0.0, -1.5, 1e-9, 12345678.25])


def said(corpus: Corpus, form: str, table: str) -> list[str]:
    """The rows of a table without keys, in the columns that a format represents."""
    carried = load(form).carries
    frame = getattr(corpus, table)
    kept = [c for c in frame.columns if f"{table}.{c}" in carried or c in {"kind", "label"}]
    names = dict(corpus.documents.select("row", "name").iter_rows())
    rows = frame.select("document", *kept).iter_rows()
    return sorted(repr((names[document], *cells)) for document, *cells in rows)


@pytest.mark.parametrize("form", FORMATS)
def test_what_is_written_is_read_again(form: str, tmp_path_factory: pytest.TempPathFactory) -> None:
    declared = load(form)
    folder, number = tmp_path_factory.mktemp("written"), count()

    @settings(max_examples=tries(6))
    @given(streams())
    def hold(corpus: Corpus) -> None:
        path = folder / f"{next(number)}{declared.suffixes[0]}"
        assert declared.write is not None
        declared.write([corpus], path)
        results = list(declared.read(open_source(str(path))))
        assert [found for result in results for found in result.findings] == []
        again = Corpus.concat(result.corpus for result in results)
        for table in {"instances", "ratings", "changes"} & {*declared.tables}:
            before, after = said(corpus, form, table), said(again, form, table)
            if form == "rttm":  # names with spaces do not fit
                before = [row for row in before if not re.search(r"'[^',]* [^',]*'", row)]
            assert after == before

    hold()


def test_written_eaf_is_valid_and_its_tiers_do_not_overlap(tmp_path: Path) -> None:
    place = {"document": 0, "origin": 0, "record": 1, "kind": "norm", "label": "101"}
    times = [(0.0, 5.0), (3.0, 9.0), (5.0, 7.0), (1.0, 2.0)]
    rows = [{"row": n, **place, "start": a, "end": b} for n, (a, b) in enumerate(times)]
    corpus = Corpus(documents=[{"row": 0, "name": "M01"}], instances=rows)
    form = load("elan")
    assert form.write is not None
    form.write([corpus], tmp_path)
    written = (tmp_path / "M01.eaf").read_text("utf-8")
    assert conforms(written, "eaf")
    assert written.count("<TIER ") == 2
    assert next(iter(elements("eaf"))) == "ANNOTATION_DOCUMENT"


@pytest.mark.parametrize("form", ["rttm", "audacity", "webvtt", "elan"])
def test_text_and_what_has_no_times_is_lost_and_said(form: str) -> None:
    place = {"origin": 0, "record": 1, "kind": "norm", "label": "101"}
    documents = [{"row": 0, "name": "T01", "modality": "text"}, {"row": 1, "name": "M01"}]
    times = [(0, 1.0, 5.0), (1, None, 5.0), (1, 5.0, 1.0), (1, 1.0004, 5.0)]
    rows = [
        {"row": n, **place, "document": document, "start": a, "end": b}
        for n, (document, a, b) in enumerate(times)
    ]
    losses = load(form).losses(Corpus(documents=documents, instances=rows))
    assert losses["instances in characters of text"] == 1
    assert losses["instances without a stretch of seconds"] == 2
    rounded = "instances whose times are rounded to milliseconds"
    assert losses.get(rounded, 0) == (form in {"webvtt", "elan"})


@given(st.lists(st.tuples(st.floats(0, 1e9), st.floats(0, 1e9)).map(sorted), max_size=5))
@settings(max_examples=tries(50))
def test_durations_lose_no_digit(pairs: list[list[float]]) -> None:
    starts, stops = (pl.Series([pair[at] for pair in pairs], dtype=pl.Float64) for at in range(2))
    assert ends(plain_text(starts), durations(starts, stops)).to_list() == stops.to_list()


def test_cells_are_located() -> None:
    data = b'document,kind,label,start,end\n"M,1",norm,"a ""b""",1.5,2\n'
    member = Member("", "f.csv", len(data), lambda: data)
    found = load("instances-csv").locate(member, [FieldRef(2, "start"), FieldRef(2, "label")])
    assert [location and location.span.column for location in found] == [22, 12]
    turn = b"NORM  M01 1 4.5 1 <NA> <NA> 101 0.5\n"
    member = Member("", "f.rttm", len(turn), lambda: turn)
    (location,) = load("rttm").locate(member, [FieldRef(1, "llr")])
    assert location is not None
    assert (location.span.column, location.span.end_column) == (33, 36)


def test_a_row_of_several_lines_is_one_row() -> None:
    data = b'document,kind,label,evidence,start\nM01,change,,"two\nlines",3\nM02,norm,x,,z\n'
    source = Source("f.csv", "file", (Member("", "f.csv", len(data), lambda: data),))
    (result,) = load("instances-csv").read(source)
    assert result.corpus.changes["evidence"].to_list() == ["two\nlines"]
    (finding,) = result.findings
    assert marked(finding) == (4, "z")


@pytest.mark.parametrize(
    "form", ["rttm", "audacity", "webvtt", "elan", "textgrid", "instances-csv"]
)
def test_turns_of_speakers_are_speakers_in_all_formats(form: str, tmp_path: Path) -> None:
    """They were norms, and came back as lines `NORM`."""
    line = "SPEAKER m1 1 {} {} <NA> <NA> {} <NA> <NA>\n".format
    turns = line("0.5", "6.0", "Ann") + line("7.0", "2.0", "Bo")
    (tmp_path / "m1.rttm").write_text(turns)
    convert(str(tmp_path / "m1.rttm"), str(tmp_path / "other"), to_format=form)
    corpus, _ = read(str(tmp_path / "other"))
    assert corpus.instances["kind"].to_list() == ["speaker", "speaker"]
    convert(corpus, str(tmp_path / "back.rttm"))
    assert (tmp_path / "back.rttm").read_text() == turns
