"""Extents that are all off in the same way are rewritten to exactly the right ones."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.runs import fix, validate

Wrong = Callable[[str, int, int], tuple[int, int]]
BEFORE = "<DOC>\n<DOCNO> D0 </DOCNO>\nzero\n</DOC>\n"


def encoded(encoding: str, width: int) -> Wrong:
    def both(text: str, start: int, end: int) -> tuple[int, int]:
        lengths = [len(text[:place].encode(encoding)) // width for place in (start, end)]
        return lengths[0], lengths[1]

    return both


def line_ends(text: str, start: int, end: int) -> tuple[int, int]:
    return start + text.count("\n", 0, start), end + text.count("\n", 0, end)


CAUSES: dict[str, Wrong] = {
    "bytes": encoded("utf-8", 1),
    "utf-16": encoded("utf-16-le", 2),
    "line ends": line_ends,
    "from one": lambda _, start, end: (start + 1, end + 1),
    "from one, inclusive": lambda _, start, end: (start + 1, end),
    "inclusive": lambda _, start, end: (start, end - 1),
    "corpus": lambda _, start, end: (start + len(BEFORE), end + len(BEFORE)),
    "shift": lambda _, start, end: (start + 4, end + 4),
}
LETTERS = "éÅ\u0663\U0001f35e\U0001d6fcxyz"
PARTS = st.lists(st.text(st.sampled_from(LETTERS), max_size=3), min_size=4, max_size=6)


def words(parts: list[str]) -> list[str]:
    """Texts that are in the document once, with a number so that no two are alike."""
    return [f"w{number}{part}q" for number, part in enumerate(parts)]


def content(parts: list[str], ends: list[str]) -> str:
    """A document; its third word has a character of several units, and follows a line end."""
    each = words(parts)
    blanks = [*ends, *[" "] * len(each)]
    body = "".join(word + blanks[at] for at, word in enumerate(each))
    return f"<DOC>\n<DOCNO> D1 </DOCNO>\n\U0001f35e\n{body}\n</DOC>\n"


def templates(text: str, parts: list[str], wrong: Wrong | None, minimal: bool) -> str:
    """A template set with each word; each of a reference has a minimal string."""

    def at(start: int, end: int) -> str:
        pair = wrong(text, start, end) if wrong else (start, end)
        return f"{pair[0]}#{pair[1]}#"

    lines = ["<TEMPLATE-D1-1> :=", "    EVENT: <THING-D1-2>", "<THING-D1-2> :="]
    for number, word in enumerate(words(parts)):
        start = text.index(word)
        pairs, shown = at(start, start + len(word)), word
        if minimal:
            pairs += at(start, start + 2)
            shown = f"[{word[:2]}]{word[2:]}"
        lines.append(f'  SLOT{number}: "{shown}" ##{pairs}')
    return "\n".join(lines) + "\n"


def fixed(path: Path, corpus: Path, role: str) -> tuple[bytes, list[str], list[str]]:
    """The copy, what was corrected, and what was left."""
    target = path.with_name(f"fixed-{path.name}")
    copy = fix("hub4", str(path), str(target), role=role, options={"corpus": str(corpus)})
    kept = target if target.exists() else path  # of a right file there is no copy
    return kept.read_bytes(), [f.code for f in copy.fixes], [f.code for f in copy.unfixed]


@pytest.mark.sampled(6)
@pytest.mark.parametrize("cause", CAUSES)
@settings(max_examples=2, deadline=None)
@given(
    parts=PARTS,
    ends=st.lists(st.sampled_from([" ", "\n", "  "]), max_size=5),
    crlf=st.booleans(),
    minimal=st.booleans(),
)
def test_a_shifted_file_becomes_the_right_one(
    cause: str, parts: list[str], ends: list[str], crlf: bool, minimal: bool
) -> None:
    parts = [LETTERS[:5], *parts]  # a character of each width is always there
    text = content(parts, ends)
    role = "reference" if minimal else "submission"
    with tempfile.TemporaryDirectory() as folder:
        corpus, path = Path(folder, "c.sgml"), Path(folder, "wrong.tpl")
        corpus.write_bytes((BEFORE + text).replace("\n", "\r\n" if crlf else "\n").encode())
        path.write_bytes(templates(text, parts, CAUSES[cause], minimal).encode())
        right = templates(text, parts, None, minimal).encode()
        written, fixes, unfixed = fixed(path, corpus, role)
        assert (written, fixes, unfixed) == (right, ["HUB305"], [])
        again = path.with_name(f"fixed-{path.name}")
        judged = validate("hub4", str(again), role=role, options={"corpus": str(corpus)})
        assert not {"HUB303", "HUB305"} & {finding.code for finding in judged.findings}
        assert fixed(again, corpus, role) == (right, [], [])


PLAIN = ["é", "", "\U0001f35e", "x", "yz", "éé"]


def run(folder: Path, written: str) -> tuple[str, list[str], list[str]]:
    corpus, path = folder / "c.sgml", folder / "wrong.tpl"
    corpus.write_text(content(PLAIN, []), "utf-8")
    path.write_text(written, "utf-8")
    data, fixes, unfixed = fixed(path, corpus, "submission")
    return data.decode(), fixes, unfixed


def wrong(cause: str) -> str:
    return templates(content(PLAIN, []), PLAIN, CAUSES[cause], minimal=False)


def test_every_extent_is_rewritten_but_those_of_other_documents(tmp_path: Path) -> None:
    other = '<TEMPLATE-D9-1> :=\n    SLOT: "w0éq" ##35#40#\n'
    extra = '  TWO: "nowhere" ##33#35#\n'
    data, fixes, _ = run(tmp_path, wrong("from one") + extra + other)
    right = templates(content(PLAIN, []), PLAIN, None, minimal=False)
    assert data == right + extra.replace("33#35", "32#34") + other
    assert fixes == ["HUB305"]


@pytest.mark.parametrize(
    ("cause", "line"),
    [
        ("bytes", '  TWO: "nowhere" ##28#31#\n'),  # inside the four bytes of a character
        ("utf-16", '  TWO: "nowhere" ##30#9999#\n'),  # behind the end
        ("from one", '  TWO: "D1" ##14#16#\n'),  # right as it is
        ("from one", '  TWO: "nowhere" ##0#2#\n'),  # before the first character
        ("from one", '  TWO: "nowhere" ##4#x#\n'),  # not read
        ("from one", '  TWO: "a ##4#5# b" ##4#5#\n'),  # two fills in a line
    ],
)
def test_nothing_is_rewritten_if_an_extent_is_not_certain(
    tmp_path: Path, cause: str, line: str
) -> None:
    written = wrong(cause) + line
    data, fixes, unfixed = run(tmp_path, written)
    assert (data, fixes, unfixed) == (written, [], ["HUB305"])
