"""Large tables in parts: findings and scores are those of the whole files."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hlteval import converters
from hlteval.sources import Member, open_source
from hlteval.syntax.sections import TableSections
from hlteval.workflows.run.batches import Submission
from hlteval.workflows.run.engine import validate
from hlteval.workflows.run.request import Intervals, Request
from tests.effort import tries
from tests.properties.edl.test_parts import outcome

Draw = st.DrawFn
#: Gives the lines of a document.
Lines = Callable[[Draw, str], Sequence[str]]


def tokens(begin: str, cells: str, tags: Sequence[str], end: Sequence[str] = ()) -> Lines:
    """A line that begins a document, and lines of tokens in some sentences."""

    def lines(draw: Draw, name: str) -> list[str]:
        found = [begin.format(name=name)]
        for _ in range(draw(st.integers(0, 2))):
            for word in draw(st.lists(st.sampled_from(["Osh", "a", "é𝄞"]), max_size=3)):
                tag = draw(st.sampled_from(tags))
                entity = draw(st.sampled_from(["Q1", "Q2", "Q2|Q3", "_"]))
                found.append(cells.format(word=word, tag=tag, entity=entity))
            found += end
        return found

    return lines


def rows(*choices: Sequence[str]) -> Lines:
    """Lines of a table, each of cells that begin with the document."""

    def lines(draw: Draw, name: str) -> list[str]:
        number = draw(st.integers(0, 3))
        each = ([draw(st.sampled_from(cells)) for cells in choices] for _ in range(number))
        return ["".join(cells).format(name=name) for cells in each]

    return lines


HIPE = "TOKEN\tNE-COARSE-LIT\tNEL-LIT\tMISC"
TAGS = ["O", "O", "O", "B-PER", "I-PER", "B-LOC"]
TIMES = [f"{start} {length} " for start in ("0", "1.5", "2") for length in ("1", "0.5")]
#: The task, the suffix, the first lines, and those of a document.
TABLES: Mapping[str, tuple[str, str, Sequence[str], Lines]] = {
    "hipe": (
        "mentions",
        "tsv",
        [HIPE, "# language = en"],
        tokens("# hipe2022:document_id = {name}", "{word}\t{tag}\t{entity}\t_", TAGS, ["# s"]),
    ),
    "hipe-links": (
        "links",
        "tsv",
        [HIPE],
        tokens("# document_id = {name}", "{word}\t{tag}\t{entity}\t_", TAGS),
    ),
    "aida": (
        "links",
        "tsv",
        [],
        tokens(
            "-DOCSTART- ({name})",
            "{word}{tag}",
            ["", "", "\tB\tOsh\tOsh", "\tI\tOsh\t--NME--", "\tB\tOsh\tBishkek"],
            [""],
        ),
    ),
    "conllu-plus": (
        "mentions",
        "conllup",
        ["# global.columns = ID FORM NER", "# note"],
        tokens("# newdoc id = {name}", "1\t{word}\t{tag}", TAGS, [""]),
    ),
    "neleval": (
        "links",
        "tsv",
        [],
        rows(["{name}\t"], ["1\t2", "3\t4", "5\t6"], ["\tE1\t1.0\tPER", "\tE2\t0.5\tLOC", ""]),
    ),
    "label-table": (
        "labels",
        "tsv",
        ["text\tid\tlabel"],
        rows(["a\t", "b\t"], ["{name}\t"], ["yes", "yes", "no", "No", ""]),
    ),
    "comma": (
        "labels",
        "csv",
        ["id,label,llr"],
        rows(["{name},"], ["yes,", "no,"], ["0.5", "-1", "1"] * 3 + ['"0.5"', "x"]),
    ),
    "rttm": (
        "segments",
        "rttm",
        [";; comment"],
        rows(["NORM {name} 1 "], TIMES, ["<NA> "], ["adhere ", "<NA> "], ["101 ", "102 "], ["1.5"]),
    ),
    "instances": (
        "segments",
        "csv",
        ["file_id,kind,label,start,end"],
        rows(["{name},norm,"], ["101,", "102,"], ["0,1", "1.5,2", "1,3", "2,1", "2"]),
    ),
    "stm": (
        "transcripts",
        "stm",
        [";; comment"],
        rows(["{name} "], ["1 ", "1 ", "2 "], ["s1 "], ["1 2 ", "0.5 1 ", "x "], ["a b", "b", ""]),
    ),
    "ctm": (
        "transcripts",
        "ctm",
        [],
        rows(["{name} "], ["1 "], ["1 2 ", "0.5 1 "] * 4 + ["x "], ["a", "b", "c"]),
    ),
}


@st.composite
def tables(draw: Draw, kind: str) -> str:
    """A table of some documents, mostly in their order and mostly without mistakes."""
    *_, head, document = TABLES[kind]
    names = [name for name in ("d1", "d2", "d3", "d4") if draw(st.integers(0, 7))]
    if draw(st.integers(0, 9)) == 0:
        names.reverse()
    lines = [line for name in names for line in document(draw, name)]
    if draw(st.integers(0, 7)) == 0 and lines:
        wrong = ["x", "", lines[0], "a\tb\tc\td\te", ";; x"]
        lines.insert(draw(st.integers(0, len(lines))), draw(st.sampled_from(wrong)))
    return draw(st.sampled_from(["\n"] * 9 + ["\r\n"])).join([*head, *lines]) + "\n"


@pytest.mark.long("each example is read three times")
@settings(max_examples=tries(200), deadline=None)
@given(st.data(), st.sampled_from([*TABLES]), st.integers(1, 3), st.booleans())
def test_parts_give_what_whole_files_give(tmp_path_factory, data, kind, size, scored):
    task, suffix, *_ = TABLES[kind]
    paths = [tmp_path_factory.mktemp("parts") / f"{name}.{suffix}" for name in ("gold", "run")]
    for path in paths:
        path.write_bytes(data.draw(tables(kind)).encode())
    own = {"reference" if scored else "against": str(paths[0])}
    if scored and data.draw(st.booleans()):
        own |= {"alignment": True, "evidence": True, "intervals": Intervals(20)}
    request = Request(task, str(paths[1]), lenient=True, max_per_code=2, **own)
    parts = Request(task, str(paths[1]), lenient=True, max_per_code=2, batch=size, **own)
    assert outcome(parts) == outcome(request)


def test_a_part_without_scores_has_the_labels_of_its_reference(tmp_path: Path):
    """A label of the reference without a score makes rankings undefined, wherever it is."""
    (tmp_path / "gold.csv").write_text("id,label,llr\nd1,yes,0.5\nd2,yes,0.5\n")
    (tmp_path / "run.csv").write_text("id,label,llr\nd2,yes,0.5\n")
    own = {"reference": str(tmp_path / "gold.csv"), "lenient": True}
    paths = ("labels", str(tmp_path / "run.csv"))
    whole, parts = (outcome(Request(*paths, **own, batch=batch)) for batch in (None, 1))
    assert whole[0]["auc"] is whole[0]["ap"] is None
    assert parts == whole


def lines_of(kind: str, name: str) -> list[str]:
    """The lines of a valid document."""
    return {
        "hipe": [f"# hipe2022:document_id = {name}", "Osh\tB-LOC\tQ1\t_"],
        "hipe-links": [f"# document_id = {name}", "Osh\tB-LOC\tQ1\t_"],
        "aida": [f"-DOCSTART- ({name})", "Osh\tB\tOsh\tOsh", ""],
        "conllu-plus": [f"# newdoc id = {name}", "1\tOsh\tB-LOC", ""],
        "neleval": [f"{name}\t1\t2\tE1\t1.0\tPER", f"{name}\t5\t6\tE1\t1.0\tPER"],
        "label-table": [f"a\t{name}\tyes"],
        "comma": [f"{name},yes,0.5"],
        "rttm": [f"NORM {name} 1 1.5 1 <NA> adhere 101 1.5"],
        "instances": [f"{name},norm,101,0,1"],
        "stm": [f"{name} 1 s1 1 2 a b", f"{name} 2 s1 2 3 a b"],
        "ctm": [f"{name} 1 1 2 a"],
    }[kind]


def whole_readings(tmp_path: Path, monkeypatch, kind: str, names: Sequence[str]) -> int:
    """How often files are read as a whole."""
    task, suffix, head, _ = TABLES[kind]
    lines = [*head, *(line for name in names for line in lines_of(kind, name))]
    path = tmp_path / f"run.{suffix}"
    path.write_text("\n".join(lines) + "\n", "utf-8", newline="")
    read, whole = [], Submission._whole
    monkeypatch.setattr(Submission, "_whole", lambda own: read.append(own) or whole(own))
    validate(Request(task, str(path), against=str(path), batch=1))
    return len(read)


@pytest.mark.parametrize("kind", TABLES)
def test_a_valid_table_is_read_in_parts(tmp_path: Path, monkeypatch, kind):
    assert whole_readings(tmp_path, monkeypatch, kind, ["d1", "d2", "d3"]) == 0


@pytest.mark.parametrize("kind", TABLES)
def test_a_table_with_documents_in_two_places_is_read_as_a_whole(tmp_path, monkeypatch, kind):
    assert whole_readings(tmp_path, monkeypatch, kind, ["d1", "d2", "d1"]) == 1


def test_what_is_in_several_lines_of_a_document_is_not_its_begin(tmp_path: Path):
    path = tmp_path / "run.tab"
    path.write_bytes(b"d1\td2\td2\nd1\td1\td2\nd2\td2\td1\nd2\td1\td1\nd33\tx\t\nd3\tx\t\n")
    sections = TableSections(open_source(str(path)).members[0], column=0)
    assert [*sections.begins(0)] == [("d2", 18), ("d33", 36), ("d3", 43)]
    assert [*sections.begins(1)] == [("d2", 18), ("d33", 36), ("d3", 43)]
    assert [*sections.begins(18)] == [("d33", 36), ("d3", 43)]
    assert [*sections.begins(36)] == [("d3", 43)]
    assert sections.find(["x", "d3"], 0) == ("d3", 43)
    assert sections.find(["d2"], 18) == ("d2", 18)
    assert sections.find(["d1"], 18) is None
    second = TableSections(sections.member, column=1)
    assert second.find(["d1"], 0) == ("d1", 9)
    assert [*second.begins(0)] == [("d1", 9), ("d2", 18), ("d1", 27), ("x", 36)]


@pytest.mark.parametrize(
    ("name", "divided"), [("edl-tab", True), ("neleval", True), ("stm", False)]
)
def test_semicolons_begin_a_comment_only_where_the_format_has_comments(
    name: str, divided: bool
) -> None:
    """Documents of EDL may be named so; lines of STM are no documents then."""
    lines = {
        "edl-tab": "run\tm\tword\t;;{}:0-3\tE1\tPER\tNAM\t1.0\n",
        "neleval": ";;{}\t0\t4\tE1\t1\tPER\n",
        "stm": ";;{} 1 speaker 0 1 word\n",
    }
    data = "".join(map(lines[name].format, "abc")).encode()
    if name == "edl-tab":
        data = data.replace(b"run\t", b";;run\t")
    find = converters.load(name).sections
    assert find is not None
    sections = find(Member("", "s", len(data), lambda: data))
    assert [own for own, _ in sections.begins(0)] == ([";;b", ";;c"] if divided else [])


@pytest.mark.parametrize(
    ("column", "until", "last"),
    [(0, b"", b"d1\tx"), (2, b"", b"y\td1\td1\td1"), (2, b":", b"y\td1\td1:0\td1")],
)
def test_a_document_is_found_though_other_cells_have_its_name(
    column: int, until: bytes, last: bytes
) -> None:
    others = b"x\td1\tx:0\td1\td1:0\td1\ny\td1\tz:1\td1\n"
    data = others + last + b"\n"
    table = TableSections(Member("", "s", len(data), lambda: data), column, until=until)
    assert table.find(["d2", "d1"], 0) == ("d1", len(others))
    assert table.find(["d1"], len(data)) is None
