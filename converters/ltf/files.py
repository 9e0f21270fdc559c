"""Writes a corpus as LTF files in LDC's layout."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from typing import NamedTuple
from unicodedata import category

import polars as pl

from hlteval.converters.ltf.rsd import UNWRITABLE
from hlteval.converters.ltf.tables import DECLARATION, DOCTYPE, LANGUAGE, LENGTH, MD5, unlike
from hlteval.converters.toolkit import source_files
from hlteval.representation import Corpus
from hlteval.sources import is_file_path
from hlteval.syntax.xml_places import ABSENT, attribute, attributes, content, escape, start_tag

# A corpus as LTF and LAF can represent it: offsets, parts and attributes of their schemas.


#: The largest offset: nine digits.
LARGEST = 999_999_999
_PART = re.compile("(HEADLINE|TEXT) ([1-9][0-9]{0,8})(?: P ([1-9][0-9]{0,8}))?")
_OTHER = "^(DATELINE|AUTHORLINE) [1-9][0-9]{0,8}$"
#: The attributes of the schema that no column of a table has.
_NAMES = {
    "LCTL_TEXT": ("lang", "source_file", "source_type", "author", "encoding"),
    "DOC": ("id", "lang", "tokenization", "grammar", LENGTH, MD5),
    "SEG": ("start_token", "end_token"),
    "TOKEN": ("attach", "gloss"),
}
_ATTACHED = ("LEFT", "RIGHT", "BOTH")
_KEY = ("document", "origin", "record", "element", "name")


class Fitted(NamedTuple):
    """The corpus that is written, and the counts of what is lost, by description."""

    corpus: Corpus
    lost: Mapping[str, int]


def fitted(corpus: Corpus) -> Fitted:
    """The corpus without what no LTF file can hold.

    Examples:
        >>> place = {"row": 0, "document": 0, "origin": 0, "record": 1, "start": 0, "end": 10**10}
        >>> dict(fitted(Corpus(segments=[place])).lost)["segments and tokens with invalid offsets"]
        1
    """
    return corpus.cached(_fitted)


def _fitted(corpus: Corpus) -> Fitted:
    segments = corpus.segments.filter(writable_offsets())
    held = pl.col("segment_row").is_null() | pl.col("segment_row").is_in(segments["row"].implode())
    tokens = corpus.tokens.filter(writable_offsets() & held)
    gone = corpus.segments.height + corpus.tokens.height - segments.height - tokens.height
    attributes = corpus.attributes.filter(_known())
    attributes = attributes.unique(_KEY, keep="first", maintain_order=True)
    irregular = pl.col("document").is_in(list(_irregular(segments, attributes)))
    lost = segments.filter(irregular, pl.col("part").is_not_null()).height
    part = pl.when(~irregular).then(pl.col("part"))
    attributes = attributes.filter(~(irregular & pl.col("element").str.contains(_OTHER)))
    kept = corpus.replace(
        segments=segments.with_columns(part=part), tokens=tokens, attributes=attributes
    )
    return Fitted(
        kept,
        {
            "segments and tokens with invalid offsets": gone,
            "parts of documents that LTF does not have": lost,
            "attributes of other formats": corpus.attributes.height - attributes.height,
        },
    )


def writable_offsets() -> pl.Expr:
    """Whether both offsets of a span can be written; the end is inclusive there."""
    end = pl.col("end").is_between(1, LARGEST + 1)
    return pl.col("start").is_between(0, LARGEST) & end


def _known() -> pl.Expr:
    """Whether an attribute is one of the schema."""
    element, name = pl.col("element"), pl.col("name")
    own = [(element == tag) & name.is_in(list(names)) for tag, names in _NAMES.items()]
    attached = (name != "attach") | pl.col("value").is_in(list(_ATTACHED))
    return pl.any_horizontal(*own, element.str.contains(_OTHER) & (name == "text")) & attached


def _irregular(segments: pl.DataFrame, attributes: pl.DataFrame) -> set[int]:
    """The documents whose parts do not follow each other as in a file of LTF."""
    others: dict[int, list[str]] = {}
    lines = attributes.filter(pl.col("element").str.contains(_OTHER))
    for document, element in lines.select("document", "element").iter_rows():
        others.setdefault(document, []).append(element)
    named = segments.filter(pl.col("part").is_not_null())["document"]
    divided = segments.filter(pl.col("document").is_in([*others, *named]))
    parts: dict[int, list[str]] = {document: [] for document in others}
    for document, part in divided.select("document", "part").iter_rows():
        parts.setdefault(document, []).append(part or "TEXT 1")
    return {
        document for document, own in parts.items() if not _regular(own, others.get(document, ()))
    }


def _regular(parts: Iterable[str], others: Iterable[str]) -> bool:
    """Whether parts are numbered from 1, each number once.

    Examples:
        >>> _regular(["HEADLINE 1", "TEXT 2 P 1"], []), _regular(["TEXT 1"], ["DATELINE 1"])
        (True, False)
    """
    tags: dict[int, str] = {}
    for part in parts:
        match = _PART.fullmatch(part)
        if not match or (match[3] and match[1] == "HEADLINE"):
            return False
        if tags.setdefault(int(match[2]), match[1]) != match[1]:
            return False
    for element in others:
        tag, number = element.split(" ")
        if int(number) in tags:
            return False
        tags[int(number)] = tag
    return sorted(tags) == [*range(1, len(tags) + 1)]


# Splits plain text into segments and tokens, by simple rules without a language model.
#
# A segment is a line without its line feed, so that the text can be rebuilt from the segments.
# White space separates tokens; punctuation at either end of a token is a token of its own.


WORD, PUNCT, UNKNOWN = "word", "punct", "unknown"
_LINE, _CHUNK = re.compile("[^\n]+"), re.compile(r"\S+")
#: Addresses, user names and hash tags, whose first character is not punctuation.
_WHOLE = re.compile(r"[A-Za-z][A-Za-z+.-]*://\S*\w/?|[@#]\w+")
_APOSTROPHES = "'`\u2019\u02bc\u02bb"


class Token(NamedTuple):
    """A token: its offsets (half-open), and whether it is a word, punctuation or neither."""

    start: int
    end: int
    pos: str


def lines(text: str) -> Iterator[tuple[int, int]]:
    r"""The lines of a text that are not empty, as offsets.

    Only a line feed ends a line.

    Examples:
        >>> list(lines("\nab\n\nc d\n"))
        [(1, 3), (5, 8)]
    """
    return (line.span() for line in _LINE.finditer(text))


def tokens(text: str, start: int = 0, end: int | None = None) -> Iterator[Token]:
    """The tokens of a stretch of a text.

    Examples:
        >>> text = "(Reuters) - Ukraine's Buk-M2."
        >>> [text[token.start : token.end] for token in tokens(text)]
        ['(', 'Reuters', ')', '-', "Ukraine's", 'Buk-M2', '.']
        >>> [token.pos for token in tokens(text)][-3:]
        ['word', 'unknown', 'punct']
    """
    for chunk in _CHUNK.finditer(text, start, len(text) if end is None else end):
        yield from _divided(text, *chunk.span())


def _divided(text: str, start: int, end: int) -> Iterator[Token]:
    """The tokens of a stretch without white space: its core, and the punctuation around it."""
    whole = _WHOLE.match(text, start, end)
    first = start
    while not whole and first < end and _is_mark(text[first]):
        first += 1
    last = end
    floor = whole.end() if whole else first
    while last > floor and _is_mark(text[last - 1]):
        last -= 1
    if first > start:
        yield Token(start, first, PUNCT)
    if last > first:
        letters = all(_is_letter(c) or c in _APOSTROPHES for c in text[first:last])
        yield Token(first, last, WORD if letters and not whole else UNKNOWN)
    if end > last:
        yield Token(last, end, PUNCT)


@cache
def _is_mark(character: str) -> bool:
    """Whether a character is punctuation, or a sign of money or arithmetic."""
    return category(character)[0] == "P" or category(character) in {"Sc", "Sm", "Sk"}


@cache
def _is_letter(character: str) -> bool:
    """Whether a character is a letter, a digit, a mark on one, or a joiner between two."""
    return category(character)[0] in "LMN" or character in "\u200c\u200d"


SUFFIX = ".ltf.xml"
_OWN = {"SEG": ("start_token", "end_token"), "TOKEN": ("attach", "gloss")}
_ELEMENTS = "^(LCTL_TEXT|DOC|SEG|TOKEN|(DATELINE|AUTHORLINE) [0-9]+)$"


def as_files(corpus: Corpus) -> Iterator[tuple[str, str]]:
    """The name and content of every file: those that were read, and new ones."""
    corpus = fitted(corpus).corpus
    without = set().union(*_left(corpus).values())
    whole = _segmented(corpus, without)
    own = _attributes(whole)
    made = set(whole.segments["document"]).difference(corpus.segments["document"])
    documents = {row: text for row, text in _documents(whole, own, made) if row not in without}
    yield from _output_paths(whole, documents, own)


def _left(corpus: Corpus) -> dict[str, set[int]]:
    """The documents that no file can represent, by reason."""
    segmented = set(corpus.segments["document"].to_list())
    named = list(corpus.documents.select("row", "name").iter_rows())
    texts = corpus.documents.filter(pl.col("text").str.contains(UNWRITABLE))["row"]
    silent = set(corpus.segments.filter(pl.col("text").is_null())["document"])
    unwritable = {row for row in texts if row not in segmented or row in silent}
    unwritable |= {row for row, name in named if re.search(UNWRITABLE, name)}
    unwritable |= set(corpus.documents.filter(pl.col("language").str.contains(ABSENT))["row"])
    for table, columns in (
        (corpus.segments, ("name", "text")),
        (corpus.tokens, ("name", "text", "pos", "morph")),
        (corpus.attributes, ("name", "value")),
    ):
        found = pl.any_horizontal(pl.col(columns).str.contains(ABSENT))
        unwritable |= set(table.filter(found)["document"])
    empty = corpus.documents.filter(~pl.col("text").fill_null("").str.contains("[^\n]"))["row"]
    own = _attributes(corpus).items()
    divided = {row for row, elements in own if any(" " in element for element in elements)}
    paths = source_files.output_paths(corpus, "ltf", SUFFIX, shared=True)
    nameless = {row for row, name in named if not is_file_path(name)}
    return {
        "documents without text": set(empty).difference(segmented, divided),
        "documents whose name is not a valid file name": nameless,
        "documents whose file another document has": {
            row for row, _ in named if row not in paths and row not in nameless
        },
        "documents with characters not allowed in XML": unwritable,
    }


def _segmented(corpus: Corpus, without: set[int]) -> Corpus:
    """The corpus with segments and tokens for the texts without any."""
    done = without.union(corpus.segments["document"])
    segments: list[dict[str, object]] = []
    inside: list[dict[str, object]] = []
    texts = corpus.documents.filter(~pl.col("row").is_in(list(done))).drop_nulls("text")
    for document, text in texts.select("row", "text").iter_rows():
        for start, end in lines(text):
            place = {"document": document, "origin": 0, "record": 0}
            segments.append(
                {**place, "row": len(segments), "start": start, "end": end, "text": text[start:end]}
            )
            inside += [
                {**place, "row": 0, "segment_row": len(segments) - 1, "text": text[s:e], "start": s,
                 "end": e, "pos": pos, "morph": "none"}
                for s, e, pos in tokens(text, start, end)
            ]  # fmt: skip
    if not segments:
        return corpus
    made = Corpus(segments=segments, tokens=inside)
    first = (corpus.segments["row"].max() or 0) + 1  # type: ignore[operator]
    return corpus.replace(
        segments=pl.concat([corpus.segments, made.segments.with_columns(pl.col("row") + first)]),
        tokens=pl.concat([corpus.tokens, made.tokens.with_columns(pl.col("segment_row") + first)]),
    )


#: The attributes of files, documents and parts, by document and element.
_Own = Mapping[int, Mapping[str, Sequence[tuple[str, str]]]]


def _documents(corpus: Corpus, own: _Own, made: set[int]) -> Iterator[tuple[int, str]]:
    """Each document as a DOC element."""
    bodies: dict[int, list[tuple[str | None, str]]] = {}
    for document, part, line in _segment_lines(corpus).iter_rows():
        bodies.setdefault(document, []).append((part, line))
    columns = ("row", "name", "text", "language")
    for row, name, text, language in corpus.documents.select(columns).iter_rows():
        elements = own.get(row, {})
        head = _head(name, text, language, elements.get("DOC", ()), simple=row in made)
        others = [(element, pairs[0][1]) for element, pairs in elements.items() if " " in element]
        yield row, f"<DOC{attributes(head)}>\n{_body(bodies.get(row, []), others)}</DOC>\n"


def _attributes(corpus: Corpus) -> _Own:
    """The attributes of LTF files, documents and parts, without those of segments and tokens."""
    found: dict[int, dict[str, list[tuple[str, str]]]] = {}
    rows = corpus.attributes.filter(pl.col("element").str.contains(_ELEMENTS))
    rows = rows.filter(~pl.col("element").is_in(list(_OWN)))
    columns = ("document", "element", "name", "value")
    for document, element, name, value in rows.select(columns).iter_rows():
        found.setdefault(document, {}).setdefault(element, []).append((name, value))
    return {row: own for row, own in found.items() if "id" in dict(own.get("DOC", ()))}


def _head(
    name: str,
    text: str | None,
    language: str | None,
    own: Sequence[tuple[str, str]],
    *,
    simple: bool,
) -> Sequence[tuple[str, str]]:
    """The attributes of DOC: the original ones, or those known from the document."""
    if own:
        known = {"id": name}
        declared = dict(own).get(LENGTH, "")
        # A reader would fill the text up to a length beyond it.
        if text is not None and declared.isdecimal() and int(declared[:18]) > len(text):
            known[LENGTH] = str(len(text))
        return [(key, known.get(key, value)) for key, value in own]
    head = [("id", name), *([(LANGUAGE, language)] if language else ())]
    head += [("tokenization", "simple"), ("grammar", "none")] if simple else []
    if text is None:
        return head
    digest = hashlib.md5(text.encode(), usedforsecurity=False).hexdigest()
    return [*head, (LENGTH, str(len(text))), (MD5, digest)]


def _place() -> pl.Expr:
    return pl.format(' start_char="{}" end_char="{}"', "start", pl.col("end") - 1)


def _with_own(table: pl.DataFrame, own: pl.DataFrame, element: str) -> pl.DataFrame:
    """The rows of a table with the attributes specific to LTF as columns."""
    own = own.filter(pl.col("element") == element)
    for name in _OWN[element]:
        values = own.filter(pl.col("name") == name).select(
            "document", "origin", "record", pl.col("value").alias(name)
        )
        values = values.unique(["document", "origin", "record"], keep="first")
        table = table.join(
            values, on=["document", "origin", "record"], how="left", maintain_order="left"
        )
    return table


def _segment_lines(corpus: Corpus) -> pl.DataFrame:
    """Each segment as lines, in order: `document`, `part`, `line`."""
    texts = corpus.documents.select(document="row", whole="text")
    segments = corpus.segments.join(texts, on="document", how="left", maintain_order="left")
    cut = pl.col("whole").str.slice(
        pl.col("start"), (pl.col("end") - pl.col("start")).clip(lower_bound=0)
    )
    number = pl.int_range(pl.len()).over("document")
    segments = segments.with_columns(
        text=pl.coalesce("text", cut),
        name=pl.coalesce("name", pl.format("segment-{}", number)),
        number=number,
    )
    segments = _with_own(segments, corpus.attributes, "SEG")
    own = [attribute(name) for name in _OWN["SEG"]]
    line = pl.concat_str(
        start_tag("SEG", attribute("id", "name"), *own, _place()),
        pl.format("<ORIGINAL_TEXT>{}</ORIGINAL_TEXT>", content("text")),
        "tokens",
        pl.lit("</SEG>"),
        separator="\n",
        ignore_nulls=True,
    )
    inside = _token_lines(corpus, segments.select(segment_row="row", number="number"))
    segments = segments.join(inside, left_on="row", right_on="segment_row", how="left")
    return segments.sort("row").select("document", "part", line=line)


def _token_lines(corpus: Corpus, numbers: pl.DataFrame) -> pl.DataFrame:
    """The tokens of each segment as lines: `segment_row`, `tokens`."""
    inside = corpus.tokens.join(numbers, on="segment_row", maintain_order="left")
    ordinal = pl.int_range(pl.len()).over("segment_row")
    named = pl.coalesce("name", pl.format("token-{}-{}", "number", ordinal))
    inside = _with_own(inside.with_columns(name=named), corpus.attributes, "TOKEN")
    names = ("attach", "pos", "morph", "gloss")
    tag = start_tag("TOKEN", attribute("id", "name"), *map(attribute, names), _place())
    line = pl.concat_str(tag, content("text"), pl.lit("</TOKEN>"))
    return inside.group_by("segment_row", maintain_order=True).agg(tokens=line.str.join("\n"))


def _body(segments: Sequence[tuple[str | None, str]], others: Sequence[tuple[str, str]]) -> str:
    """The content of DOC: usually one TEXT, or parts in the order of their numbers."""
    if not others and all(part is None for part, _ in segments):
        inside = "".join(f"{line}\n" for _, line in segments)
        return f"<TEXT>\n{inside}</TEXT>\n"
    parts: dict[int, tuple[str, dict[str, list[str]]]] = {}
    for part, line in segments:
        tag, number, *paragraph = (part or "TEXT 1").split(" ")
        inner = parts.setdefault(int(number), (tag, {}))[1]
        key = " ".join(paragraph) or f"SEG {len(inner)}"
        inner.setdefault(key, []).append(line)
    written = {number: _part(tag, inner) for number, (tag, inner) in parts.items()}
    for element, text in others:
        tag, number = element.split(" ")
        written[int(number)] = f"<{tag}>{escape(text)}</{tag}>\n"
    return "".join(written[number] for number in sorted(written))


def _part(tag: str, inner: Mapping[str, Sequence[str]]) -> str:
    """A HEADLINE or TEXT with its segments, those of a paragraph together."""
    body = ""
    for key, lines_of_key in inner.items():
        inside = "".join(f"{line}\n" for line in lines_of_key)
        body += f"<P>\n{inside}</P>\n" if key.startswith("P ") else inside
    return f"<{tag}>\n{body}</{tag}>\n"


def _output_paths(
    corpus: Corpus, documents: Mapping[int, str], own: _Own
) -> Iterator[tuple[str, str]]:
    """The name and content of each file."""
    output_paths = source_files.output_paths(corpus, "ltf", SUFFIX, shared=True)
    files: dict[str, list[tuple[int, str | None]]] = {}
    for row, language in corpus.documents.select("row", "language").iter_rows():
        if row in documents:
            files.setdefault(output_paths[row], []).append((row, language))
    for home, rows in files.items():
        row, language = rows[0]
        made = [(LANGUAGE, language)] if language and row not in own else []
        root = own.get(row, {}).get("LCTL_TEXT", made)
        inside = "".join(documents[row] for row, _ in rows)
        head = f"{DECLARATION}\n{DOCTYPE}\n<LCTL_TEXT{attributes(root)}>\n"
        yield home, f"{head}{inside}</LCTL_TEXT>\n"


def lost(corpus: Corpus) -> Mapping[str, int]:
    """The counts of rows that the files cannot represent."""
    kept, counts = fitted(corpus)
    return {
        **{reason: len(rows) for reason, rows in _left(kept).items()},
        "documents whose text is not covered by segments": unlike(kept).height,
        "tokens outside of segments": kept.tokens["segment_row"].null_count(),
        **counts,
    }
