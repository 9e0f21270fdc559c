r"""CoNLL coreference: one token per line, with the mentions that start and end there.

Format:
    `#begin document (NAME); part 000`, token lines, `#end document`. Columns are separated by
    spaces or tabs; the word is the fourth column, or the first if there are fewer than five; the
    last column is `-`, or parts separated by `|`: `(7` starts a mention of entity 7, `7)` ends the
    most recent one, `(7)` is a mention of one token. An empty line ends a sentence.

Conventions:
    The offset of a token is its 1-based number in the document, so a mention of the first two
    tokens is at 1-2, as in neleval. With `--set offsets=characters`, offsets are code points of a
    text with a space between words and a line feed between sentences. Entity 7 of document D
    becomes `NIL7:D`; with `--set entities=corpus` it becomes `NIL7`, shared by all documents, and
    with `--set entities=written` it stays as it is. Parts after the first are separate documents,
    `NAME;PART`. With `--set columns=tabs`, only tabs separate columns, as the official scorer of
    CoNLL-2012 has it: without tabs, marks are looked for in the whole line.

Example lines:
    #begin document (D1); part 000
    D1	0	0	Daniel	(7
    D1	0	1	Ortega	7)
    D1	0	2	spoke	-

    #end document

Codes raised: CRF1xx.
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from heapq import merge
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from typing import Literal

import numpy as np
import polars as pl

from hlteval.converters.declarations import declaration
from hlteval.converters.format import ReadResult
from hlteval.converters.toolkit.made_text import MadeText
from hlteval.converters.toolkit.rows import keyed, row_problems
from hlteval.converters.toolkit.source_files import FileBatch, findings_in_lines, head, locate_lines
from hlteval.findings import FieldRef, Location, Problem
from hlteval.representation import Corpus
from hlteval.sources import Member, Source
from hlteval.syntax.sections import Sections, marked_sections
from hlteval.syntax.tsv import Lines

BEGIN = re.compile(r"^#begin document \((?P<name>[^\n]*?)\)(?:; part (?P<part>[0-9]+))?[ \t\r]*$")
#: What begins a document, and what ends one.
_LIMIT = rf"{BEGIN.pattern}|^#end document[ \t\r]*$"
_PART = re.compile(r"\([^()|\s]+\)?|[^()|\s]+\)")
_MARKS = rf"^(?:{_PART.pattern})(?:\|(?:{_PART.pattern}))*$"
#: A token with the tag of a named entity, of which `conll-columns` are made.
_TAGGED = re.compile(r"\s*\S[^\n]*[\t ](?:O|[BIESLU]-[^\s()|]+)[\t ]*\r?\n")
_NONE = ("-", "_", "*")
_TOKENS = {
    **dict.fromkeys(("document", "origin", "record", "sentence"), pl.Int64),
    "word": pl.String,
}
_LINE, _MARK, _CELLS = pl.col("line"), pl.col("marks"), pl.col("cells").list


def with_tabs(text: str) -> str:
    r"""A text whose lines without tabs have one word, and all of their marks in a last column.

    Examples:
        >>> with_tabs("d 0 0 (1) -\nd 0 1 word -")
        'd\t(1)\nd\t-'
    """
    lines = text.split("\n")
    for at, line in enumerate(lines):
        if line.strip() and "\t" not in line and not line.startswith("#"):
            lines[at] = f"{line.split()[0]}\t{'|'.join(_PART.findall(line)) or '-'}"
    return "\n".join(lines)


def part(begun: re.Match[str]) -> str:
    """The name of a document, with its part if that is not the first.

    Examples:
        >>> line = "#begin document (D1); part 002"
        >>> part(BEGIN.match(line)), part(BEGIN.match(line.replace("2", "0")))
        ('D1;2', 'D1')
    """
    number = (begun["part"] or "").lstrip("0")  # which may be longer than any number
    return f"{begun['name']};{number}" if number else begun["name"]


# Writing CoNLL coreference: tokens of a corpus with the mentions that begin and end there.


_ENTITY = r"^[^()|\s]+$"
_PARTED = re.compile(r"(.*);([1-9][0-9]*)", re.DOTALL)
_SPACES = re.compile(r"\s+")


def write(corpora: Iterable[Corpus], path: Path) -> None:
    """Write the documents that have tokens."""
    with path.open("w", encoding="utf-8", newline="\n") as stream:
        for corpus in corpora:
            stream.writelines(f"{line}\n" for line in _lines(corpus))


def _begin(name: str) -> str:
    """The line that begins a document."""
    parted = _PARTED.fullmatch(name)
    base, number = (parted[1], parted[2]) if parted else (name, "")
    return f"#begin document ({base}); part {number:0>3}"


def _tokens(corpus: Corpus) -> pl.DataFrame:
    """The tokens of documents that are read as those of the same name, in order."""
    names = {
        name: begun is not None and part(begun) == name and not {"\n", "\r"} & {*name}
        for name in corpus.documents["name"]
        for begun in [BEGIN.match(_begin(name))]
    }
    documents = corpus.documents.select(named="name", document="row")
    documents = documents.filter(pl.col("named").is_in([name for name in names if names[name]]))
    tokens = corpus.tokens.filter(pl.col("text").str.strip_chars() != "")
    named = tokens.join(documents, on="document", maintain_order="left")
    ordered = named.sort("document", "start", "end", maintain_order=True)
    return ordered.with_columns(token=pl.int_range(pl.len()))


def _marks(corpus: Corpus, tokens: pl.DataFrame) -> pl.DataFrame:
    """The mentions that begin and end where tokens do, with the first and the last of these."""
    first = tokens.unique(("document", "start"), keep="first")
    last = tokens.unique(("document", "end"), keep="last")
    first = first.select("document", "start", first="token")
    last = last.select("document", "end", "named", last="token")
    marks = corpus.mentions.join(first, on=("document", "start"), maintain_order="left")
    marks = marks.join(last, on=("document", "end"), maintain_order="left")
    number = pl.col("entity").str.extract(r"^NIL([0-9]+):", 1).fill_null("")
    own = pl.col("entity") == pl.format("NIL{}:{}", number, "named")
    marks = marks.with_columns(written=pl.when(own).then(number).otherwise("entity"))
    return marks.filter(pl.col("first") <= pl.col("last"), pl.col("written").str.contains(_ENTITY))


def count_losses(corpus: Corpus) -> Mapping[str, int]:
    """The counts of rows that no line can represent."""
    tokens = _tokens(corpus)
    marks = _marks(corpus, tokens)
    silent = corpus.documents.join(tokens, left_on="row", right_on="document", how="anti")
    bare = corpus.segments.join(tokens, left_on="row", right_on="segment_row", how="anti")
    # a token is read with the same offsets if these are its number, or characters of the words
    number = pl.int_range(1, pl.len() + 1).over("document")
    length = pl.col("text").str.len_chars().cast(pl.Int64)
    end = (length + 1).cum_sum().over("document") - 1
    by_number = (pl.col("start") == number) & (pl.col("end") == number + 1)
    elsewhere = ~(by_number | ((pl.col("start") == end - length) & (pl.col("end") == end)))
    spaced = tokens.filter(pl.col("text").str.contains(r"\s"))
    named = (pl.col("label") != "") | (pl.col("mention") != "")
    linked = pl.col("entity").str.contains("^[0-9]+$")
    return {
        "documents without tokens": silent.height,
        "segments without tokens": bare.height,
        "tokens without text, or with spaces": corpus.tokens.height - tokens.height + spaced.height,
        "tokens with offsets that change on reading": tokens.filter(elsewhere).height,
        "mentions without an entity, or not aligned with tokens": corpus.mentions.height
        - marks.height,
        "types and identifiers of mentions": marks.filter(named).height,
        "links to a knowledge base, read back as clusters": marks.filter(linked).height,
    }


def _lines(corpus: Corpus) -> Iterator[str]:
    tokens = _tokens(corpus)
    cells = _cells(_marks(corpus, tokens))
    for (name,), rows in tokens.group_by("named", maintain_order=True):
        yield _begin(str(name))
        parted = _PARTED.fullmatch(str(name))
        base = _SPACES.sub("_", parted[1] if parted else str(name)) or "-"
        words = rows.select("segment_row", "token", "text").iter_rows()
        for at, (_, sentence) in enumerate(groupby(words, itemgetter(0))):
            yield from [""] * (at > 0)
            for number, (_, token, text) in enumerate(sentence):
                columns = (base, parted[2] if parted else "0", str(number), _SPACES.sub("_", text))
                yield "\t".join([*columns, "|".join(cells.get(token, ())) or "-"])
        yield from ("", "#end document")


def _cells(mentions: pl.DataFrame) -> Mapping[int, list[str]]:
    """The last column by token: mentions that begin, the outer first; then those that end."""
    ordered = mentions.sort("first", "last", descending=[False, True], maintain_order=True)
    rows = ordered.select("first", "last", "written").rows()
    cells: dict[int, list[str]] = {}
    for first, last, entity in rows:
        cells.setdefault(first, []).append(f"({entity})" if first == last else f"({entity}")
    for _, last, entity in (row for row in reversed(rows) if row[0] != row[1]):
        cells.setdefault(last, []).append(f"{entity})")
    return cells


def sniff(source: Source) -> bool:
    """Whether the first line of a single file begins a document, and no tag ends the next one."""
    first, _, rest = head(source, 400).partition("\n")
    return BEGIN.match(first) is not None and not _TAGGED.match(rest)


def read(
    source: Source,
    offsets: Literal["tokens", "characters"] = "tokens",
    entities: Literal["document", "corpus", "written"] = "document",
    columns: Literal["any", "tabs"] = "any",
) -> Iterator[ReadResult]:
    """The tokens and mentions of all files, as one batch."""
    files, documents = FileBatch(source.path, FORMAT.name), dict[str, tuple[int, int]]()
    parts, mentions, count = [pl.DataFrame(schema=_TOKENS)], list[tuple[int, int, str]](), 0
    for member in source.members:
        text = files.open(member) or ""
        lines = Lines(with_tabs(text) if columns == "tabs" else text)
        names, rows, wrong = _token_lines(lines)
        for name in names:
            documents.setdefault(name, (len(documents), len(files.members) - 1))
        row = pl.Series([documents[name][0] for name in names], dtype=pl.Int64)
        origin = pl.lit(len(files.members) - 1, pl.Int64)
        rows = rows.with_columns(document=row.gather(rows["begun"]), origin=origin)
        found, unmatched = _match_marks(rows.with_columns(token=count + pl.int_range(pl.len())))
        for first, last, entity, begun in found:
            scope = f":{names[begun]}" if entities == "document" else ""
            is_number = entity.isdigit() and entities != "written"
            mentions.append((first, last, f"NIL{entity}{scope}" if is_number else entity))
        others = (
            Problem(code, record, 0, 0, {"entity": entity}, "entity")
            for record, code, entity in sorted(unmatched)
        )
        problems = merge(*wrong, others, key=itemgetter(1))
        files.findings += findings_in_lines(problems, lines, member, _stretch)
        parts.append(rows.select(*_TOKENS))
        count += rows.height
    tokens, sentence = pl.concat(parts), pl.struct("document", "origin", "sentence")
    tokens = tokens.with_row_index().sort("document", "index")
    place = np.argsort(tokens["index"].to_numpy())  # a document may go on after others
    tokens = tokens.with_columns(begins=sentence.ne_missing(sentence.shift(1)))
    texts: list[str | None] = [None] * len(documents)
    if offsets == "characters":
        made, filled = MadeText.of(tokens, len(documents)), set(tokens["document"])
        texts = [f"{text}\n" if at in filled else "" for at, text in enumerate(made.texts)]
    else:
        number = pl.int_range(1, pl.len() + 1).over("document")
        starts = tokens.select(number).to_series().to_numpy()
        made = MadeText([], starts, starts + 1, tokens["document"].to_numpy())
    named = zip((at for _, at in documents.values()), documents, texts, strict=True)
    firsts = place[[first for first, _, _ in mentions]]
    lasts = place[[last for _, last, _ in mentions]]
    own = pl.Series([mention[2] for mention in mentions], dtype=pl.String)
    spans = made.place_rows(tokens, firsts, lasts)
    corpus = Corpus(
        sources=files.sources,
        documents=keyed("documents", [*named], ("origin", "name", "text")),
        mentions=spans.with_columns(mention=pl.lit(""), label=pl.lit(""), entity=own),
        **made.tables(tokens),
    )
    yield ReadResult(corpus, tuple(files.findings), tuple(files.members))


def _token_lines(lines: Lines) -> tuple[list[str], pl.DataFrame, Sequence[Iterator[Problem]]]:
    """The names of documents, the lines of their tokens, and the problems of others by code."""
    begins, limit = _LINE.str.contains(BEGIN.pattern), _LINE.str.contains(_LIMIT)
    is_empty = _LINE.str.strip_chars() == ""
    rows = lines.table().with_columns(
        begun=begins.cast(pl.Int64).cum_sum() - 1,
        is_inside=pl.when(limit).then(begins).forward_fill().fill_null(value=False),
        sentence=(limit | is_empty).cast(pl.Int64).cum_sum(),
    )
    names = [part(match) for match in map(BEGIN.match, rows.filter(begins)["line"]) if match]
    rows = rows.filter(~limit & ~is_empty)
    outside = row_problems("CRF101", rows.filter(~pl.col("is_inside")), "line")
    tabs = _LINE.str.contains("\t", literal=True)
    cells = pl.when(tabs).then(_LINE.str.split("\t")).otherwise(_LINE.str.extract_all(r"\S+"))
    rows = rows.filter("is_inside").with_columns(cells=cells)
    short = row_problems("CRF102", rows.filter(_CELLS.len() < 2), "line")
    word = pl.when(_CELLS.len() > 4).then(_CELLS.get(3, null_on_oob=True)).otherwise(_CELLS.first())
    rows = rows.filter(_CELLS.len() > 1).with_columns(word=word, marks=_CELLS.last())
    rows = rows.with_columns(marks=pl.when(~_MARK.is_in(_NONE)).then("marks"))
    odd = rows.filter(~_MARK.str.contains(_MARKS)).with_columns(given="marks")
    others = (outside, short, row_problems("CRF103", odd, "entity", "given"))
    return names, rows.with_columns(pl.when(_MARK.str.contains(_MARKS)).then("marks")), others


def _match_marks(
    rows: pl.DataFrame,
) -> tuple[list[tuple[int, int, str, int]], list[tuple[int, str, str]]]:
    """Match the marks of tokens.

    Returns:
        For each mention its first and last token, its entity, and the number of its document in the
        file; and of each mark without the other one its record, the code and the entity.
    """
    found, unmatched = list[tuple[int, int, str, int]](), list[tuple[int, str, str]]()
    opened: dict[tuple[int, str], list[tuple[int, int, int]]] = defaultdict(list)
    marked = rows.drop_nulls("marks").select("token", "record", "begun", "marks")
    for token, record, begun, marks in marked.iter_rows():
        for mark in marks.split("|"):
            entity = mark.strip("()")
            if mark.startswith("("):
                opened[begun, entity].append((len(found), token, record))
                found.append((token, -1, entity, begun))  # in the order in which mentions begin
            if mark.endswith(")") and opened[begun, entity]:
                at, first, _ = opened[begun, entity].pop()
                found[at] = (first, token, entity, begun)
            elif mark.endswith(")"):
                unmatched.append((record, "CRF104", entity))
    for (_, entity), others in opened.items():
        unmatched += [(record, "CRF105", entity) for _, _, record in others]
    return [mention for mention in found if mention[1] >= 0], unmatched


def sections(member: Member, entities: str = "document", **_: str) -> Sections | None:
    """The documents of a file, where no entity is in two of them."""

    def name(line: str) -> str | None:
        begun = BEGIN.match(line)
        return part(begun) if begun else None

    return marked_sections(member, (b"#begin document",), name) if entities == "document" else None


def locate(member: Member, places: Sequence[FieldRef]) -> list[Location | None]:
    """The lines of places of a file, or their last columns."""
    return locate_lines(member, places, _stretch)


def _stretch(line: str, field: str) -> tuple[int, int]:
    last = (line.split("\t") if "\t" in line else line.split() or [""])[-1]
    return len(line) - len(last) if field in {"extent", "offsets", "entity"} else 0, len(line)


FORMAT = declaration(__name__)
