"""Large files of columns in parts: findings and scores are those of the whole files."""

from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hlteval.sources import Member
from hlteval.syntax.sections import marked_sections
from hlteval.workflows.run.batches import Submission
from hlteval.workflows.run.engine import validate
from hlteval.workflows.run.request import Request
from tests.effort import tries
from tests.properties.edl.test_parts import outcome

#: Tags of each scheme, the usual ones most often: two schemes in a file, or a broken sequence, are
#: findings, which whole files explain.
TAGS = (
    ["O", "O", "O", "B-PER", "I-PER", "B-LOC"],
    ["O", "O", "I-PER", "I-LOC"],
    ["O", "O", "B-PER", "S-LOC", "S-PER"],
    ["O", "O", "U-PER", "U-LOC"],
)
MARKS = ["-", "-", "(1)", "(2)", "(1)|(3)", "(1", "1)"]
BEGINS = ("-DOCSTART- -X- O", "-DOCSTART-", "#begin document ({name}); part 000")


@st.composite
def columns(draw: st.DrawFn, cells: Sequence[str], begin: str, names: Sequence[str]) -> str:
    """A file of documents, of which some lack some words or tags."""
    lines = [""] * draw(st.integers(0, 1))
    for name in names:
        lines.append(begin.format(name=name))
        for _ in range(draw(st.integers(0, 2))):
            for word in draw(st.lists(st.sampled_from(["Osh", "a", "é𝄞"]), max_size=4)):
                lines.append(f"{word} N {draw(st.sampled_from(cells))}")
            lines.append("")
        if begin.startswith("#"):
            lines.append("#end document")
    if draw(st.integers(0, 9)) == 0:
        wrong = ["x", "a b c d", begin.format(name="d1"), "-DOCSTART-x", "é\tN\tO"]
        lines.insert(draw(st.integers(0, len(lines))), draw(st.sampled_from(wrong)))
    return draw(st.sampled_from(["\n"] * 9 + ["\r\n"])).join(lines) + "\n"


@st.composite
def sides(draw: st.DrawFn) -> tuple[str, str, str]:
    """A task, and two files of documents of which most are on both sides."""
    task = draw(st.sampled_from(["mentions", "mentions", "coreference"]))
    begin = BEGINS[-1] if task == "coreference" else draw(st.sampled_from(BEGINS))
    files = []
    for _ in range(2):
        cells = MARKS if task == "coreference" else draw(st.sampled_from(TAGS))
        names = [f"d{at}" for at in range(1, 5) if draw(st.integers(0, 7))]
        files.append(draw(columns(cells, begin, names)))
    return task, *files


@settings(max_examples=tries(160), deadline=None)
@given(sides(), st.integers(1, 3), st.booleans())
def test_parts_give_what_whole_files_give(tmp_path_factory, both, size, scored):
    folder = tmp_path_factory.mktemp("parts")
    task, *texts = both
    gold, system = folder / "gold.conll", folder / "run.conll"
    for path, text in zip((gold, system), texts, strict=True):
        path.write_bytes(text.encode())
    own = {"reference": str(gold)} if scored else {"against": str(gold)}
    request = Request(task, str(system), lenient=True, max_per_code=2, **own)
    parts = Request(task, str(system), lenient=True, max_per_code=2, batch=size, **own)
    assert outcome(parts) == outcome(request)


FIRST = "-DOCSTART- -X- O\n\nOsh N B-LOC\nis N O\n\n"
SECOND = "-DOCSTART- -X- O\n\nJack N B-PER\nLondon N I-PER\n\n"


def whole_readings(tmp_path: Path, monkeypatch, gold: str, system: str, size: int = 1) -> int:
    """How often files are read as a whole."""
    (tmp_path / "gold.conll").write_text(gold, "utf-8", newline="")
    (tmp_path / "run.conll").write_text(system, "utf-8", newline="")
    paths = str(tmp_path / "run.conll"), str(tmp_path / "gold.conll")
    read, whole = [], Submission._whole
    monkeypatch.setattr(Submission, "_whole", lambda own: read.append(own) or whole(own))
    validate(Request("mentions", paths[0], against=paths[1], batch=size))
    return len(read)


def test_a_valid_file_is_read_in_parts(tmp_path: Path, monkeypatch):
    assert not whole_readings(tmp_path, monkeypatch, FIRST + SECOND, FIRST + SECOND)


@pytest.mark.parametrize(
    "system",
    [
        FIRST + SECOND.replace("B-PER", "U-PER").replace("I-PER", "O"),  # another scheme
        FIRST + SECOND.replace(" N ", " "),  # other columns
        FIRST + SECOND.replace(" ", "\t"),  # tabs
        FIRST + SECOND.replace("London", "Berlin"),  # a finding
        SECOND.replace("-DOCSTART- -X- O\n\n", "") + FIRST,  # words before the first document
        FIRST + SECOND.replace("-DOCSTART- -X- O", "-DOCSTART- (2)"),  # a name beside a number
    ],
)
def test_what_parts_cannot_show_is_read_as_a_whole(tmp_path: Path, monkeypatch, system):
    assert whole_readings(tmp_path, monkeypatch, FIRST + SECOND, system)


def test_documents_have_one_kind_of_names(tmp_path: Path):
    def names(text: bytes) -> list[str] | None:
        member = Member("", "s", None, lambda: text)
        found = marked_sections(member, [b"#"], lambda line: None if "!" in line else line[1:])
        return found and found.names

    assert names(b"#\nx\n#\n") == ["1", "2"]
    assert names(b"\n #\n#\n") is None
    assert names(b"#a\n#\n") is None
    assert names(b"#a\n#a\n") is None
    assert names(b"#a\n#!\n") == ["a"]
    assert names(b"#!\n#a\n") is None
    assert names(b"#a\r\n#b\n") is None
    assert names(b"x#a\n") is None
