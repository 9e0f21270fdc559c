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
from collections.abc import Iterable, Iterator, Mapping
from heapq import merge
from operator import itemgetter
from pathlib import Path
from typing import Any

import polars as pl

from hlteval.converters.declarations import declaration
from hlteval.converters.toolkit.made_text import MadeText
from hlteval.converters.toolkit.rows import row_problems, with_documents
from hlteval.converters.toolkit.source_files import (
    File,
    cell_stretch,
    findings_in_lines,
    head_of_first,
)
from hlteval.converters.toolkit.token_lines import bodies, ordered_tokens, with_tokens
from hlteval.findings import Finding, Problem
from hlteval.representation import Corpus
from hlteval.sources import Member, Source
from hlteval.syntax.sections import Sections, marked_sections
from hlteval.syntax.tsv import Lines

_BEGIN = r"^#begin document \(([^\n]*?)\)(?:; part ([0-9]+))?[ \t\r]*$"
_LIMIT = rf"{_BEGIN}|^#end document[ \t\r]*$"
_PART = r"\([^()|\s]+\)?|[^()|\s]+\)"
_MARKS = rf"^(?:{_PART})(?:\|(?:{_PART}))*$"
#: A token with the tag of a named entity, of which `conll-columns` are made.
_TAGGED = re.compile(r"\s*\S[^\n]*[\t ](?:O|[BIESLU]-[^\s()|]+)[\t ]*\r?\n")
_SPACES, _NONE = r"[\s\x1c-\x1f]+", ("-", "_", "*", "")
_LINE, _CELLS = pl.col("line"), pl.col("cells").list


def sniff(source: Source) -> bool:
    """Whether the first line begins a document, and no tag ends the next one."""
    first, _, rest = head_of_first(source.members, 400).partition("\n")
    return name_in(first) is not None and not _TAGGED.match(rest)


def name_in(line: str) -> str | None:
    """The name of the document that a line begins, with its part if that is not the first.

    Examples:
        >>> name_in("#begin document (D1); part 002"), name_in("#begin document (D1); part 000")
        ('D1;2', 'D1')
    """
    begun = re.match(_BEGIN, line)
    number = begun and (begun[2] or "").lstrip("0")  # which may be longer than any number
    return begun and (f"{begun[1]};{number}" if number else begun[1])


def read_file(
    file: File, offsets: str = "tokens", entities: str = "document", columns: str = "any"
) -> tuple[Corpus, Iterable[Finding]]:
    """The tokens and mentions of a file."""
    lines = Lines(file.text or "")
    documents, tokens, wrong = _token_lines(lines, columns)
    marks = _match_marks(tokens)
    for code, end in (("CRF104", "first"), ("CRF105", "last")):
        alone = marks.filter(pl.col(end) < 0).sort("record", maintain_order=True)
        wrong.append(row_problems(code, alone, "entity", "entity"))
    problems = merge(*wrong, key=itemgetter(1))
    findings = findings_in_lines(problems, lines, file.member, stretch)
    marks = marks.filter(pl.min_horizontal("first", "last") >= 0)
    tokens = tokens.select("record", "document", "word", "begins")
    if offsets == "characters":
        made = MadeText.of(tokens, documents.height)
        texts = [text and f"{text}\n" for text in made.texts]
        documents = documents.with_columns(text=pl.Series(texts, dtype=pl.String))
    else:
        number = tokens.select(pl.int_range(1, pl.len() + 1).over("document")).to_series()
        starts = number.to_numpy()
        made = MadeText([], starts, starts + 1, tokens["document"].to_numpy())
    name = pl.lit(documents["name"].gather(marks["document"]))
    scope = pl.format(":{}", name) if entities == "document" else pl.lit("")
    is_number = pl.col("entity").str.contains(r"^\d+$") & (entities != "written")
    entity = pl.when(is_number).then(pl.format("NIL{}{}", "entity", scope)).otherwise("entity")
    given = marks.select(entity=entity, mention=pl.lit(""), label=pl.lit(""))
    spans = made.place_rows(tokens, marks["first"].to_numpy(), marks["last"].to_numpy())
    return Corpus(
        sources=[file.origin],
        documents=documents,
        mentions=spans.with_columns(given),
        **made.tables(tokens),
    ), findings


def _token_lines(
    lines: Lines, columns: str
) -> tuple[pl.DataFrame, pl.DataFrame, list[Iterator[Problem]]]:
    """The documents, their tokens in order, and the problems of other lines by code."""
    begins, limit = _LINE.str.contains(_BEGIN), _LINE.str.contains(_LIMIT)
    is_empty = _LINE.str.strip_chars() == ""
    rows = lines.table().with_columns(
        begun=begins.cast(pl.Int64).cum_sum() - 1,
        is_inside=pl.when(limit).then(begins).forward_fill().fill_null(value=False),
        sentence=(limit | is_empty).cast(pl.Int64).cum_sum(),
    )
    names = map(name_in, rows.filter(begins)["line"])
    documents, begun = with_documents(pl.DataFrame({"name": names}, {"name": pl.String}))
    rows = rows.filter(~limit & ~is_empty)
    outside = row_problems("CRF101", rows.filter(~pl.col("is_inside")), "line")
    tabs = _LINE.str.contains("\t", literal=True)
    bare = _LINE.str.extract_all(r"\S+")
    if columns == "tabs":
        bare = pl.concat_list(bare.list.first(), _LINE.str.extract_all(_PART).list.join("|"))
    cells = pl.when(tabs).then(_LINE.str.split("\t")).otherwise(bare)
    rows = rows.filter("is_inside").with_columns(cells=cells)
    word = pl.when(_CELLS.len() > 4).then(_CELLS.get(3, null_on_oob=True)).otherwise(_CELLS.first())
    rows = rows.select("record", "begun", "sentence", word=word, given=_CELLS.last())
    fits, given = pl.col("given").str.contains(_MARKS), pl.col("given").is_in(_NONE)
    odd = row_problems("CRF103", rows.filter(~fits, ~given), "entity", "given")
    rows = rows.with_columns(document=begun["document"].gather(rows["begun"]))
    rows = rows.sort("document", maintain_order=True)  # one may go on after others
    begins = pl.col("sentence").ne_missing(pl.col("sentence").shift(1))
    rows = rows.with_columns(begins=begins, marks=pl.when(fits).then("given"))
    return documents, rows, [outside, odd]


def _match_marks(tokens: pl.DataFrame) -> pl.DataFrame:
    """Match the marks of tokens, in the order in which mentions begin.

    Returns:
        The `first` and `last` token of each mention, -1 where none is marked; the line, `record`,
        of a mark; the number of its `document`; and its `entity`.
    """
    found = list[list[Any]]()
    opened: dict[tuple[int, str], list[list[Any]]] = defaultdict(list)
    marked = tokens.with_row_index("token").drop_nulls("marks")
    columns = ("token", "record", "document", "marks")
    for token, record, document, marks in marked.select(columns).iter_rows():
        for mark in marks.split("|"):
            entity = mark.strip("()")
            own = opened[document, entity]
            if mark.startswith("("):
                own.append([token, -1, record, document, entity])
                found.append(own[-1])
            if mark.endswith(")") and own:
                own.pop()[1] = token
            elif mark.endswith(")"):
                found.append([-1, token, record, document, entity])
    numbers = dict.fromkeys(("first", "last", "record", "document"), pl.Int64)
    return pl.DataFrame(found, {**numbers, "entity": pl.String}, orient="row")


def sections(member: Member, entities: str = "document", **_: str) -> Sections | None:
    """The documents of a file, where no entity is in two of them."""
    if entities != "document":
        return None
    return marked_sections(member, (b"#begin document",), name_in)


def stretch(line: str, field: str) -> tuple[int, int]:
    """The place of a field in its line, which is the last column."""
    at = -1 if field in {"extent", "offsets", "entity"} else None
    return cell_stretch(line, at, "\t" if "\t" in line else " ")


def write(corpora: Iterable[Corpus], path: Path) -> None:
    """Write the documents that have tokens."""
    parts = pl.col("name").str.extract_groups(r"(?s)^(.*);([1-9][0-9]*)$").struct
    name, part = pl.coalesce(parts.field("1"), "name"), parts.field("2").fill_null("0")
    begin = pl.format("#begin document ({}); part {}", name, part.str.zfill(3))
    base = name.str.replace_all(_SPACES, "_").replace("", "-")
    number = pl.col("token") - pl.when("begins").then("token").forward_fill()
    word = pl.col("text").str.replace_all(_SPACES, "_")
    mark = pl.col("mark").fill_null("-")
    closed = pl.when(pl.col("first") == pl.col("last")).then(pl.lit(")")).otherwise(pl.lit(""))
    line = pl.concat_str("base", "part", number, word, mark, separator="\t")
    with path.open("w", encoding="utf-8", newline="\n") as stream:
        for corpus in corpora:
            documents, tokens, mentions = _writable(corpus)
            cells = documents.select(document="row", base=base, part=part)
            rows = tokens.join(cells, on="document", maintain_order="left")
            # marks of mentions that begin, the outer first; then of those that end
            mentions = mentions.sort("first", "last", descending=[False, True], maintain_order=True)
            begins = mentions.select("first", mark=pl.format("({}{}", "written", closed))
            ends = mentions.reverse().filter(pl.col("first") != pl.col("last"))
            ends = ends.select(first="last", mark=pl.format("{})", "written"))
            of_tokens = pl.concat([begins, ends]).group_by("first", maintain_order=True)
            marks = of_tokens.agg(pl.col("mark").str.join("|")).rename({"first": "token"})
            rows = rows.join(marks, on="token", how="left", maintain_order="left")
            for begun, body in bodies(documents.with_columns(name=begin), rows, line):
                stream.write(f"{begun}\n{body}#end document\n" if body else "")


def _writable(corpus: Corpus) -> tuple[pl.DataFrame, pl.DataFrame, pl.DataFrame]:
    """The documents whose names a line can have, their tokens, and the mentions of these."""
    documents = corpus.documents.filter(~pl.col("name").str.contains(r"[\n\r]"))
    names = documents.select("name", document="row")
    tokens = ordered_tokens(corpus, pl.col("text").str.strip_chars() != "")
    tokens = tokens.join(names, on="document", how="semi", maintain_order="left")
    tokens = tokens.with_columns(token=pl.int_range(pl.len()))
    rows = with_tokens(corpus.mentions, tokens).join(names, on="document", maintain_order="left")
    number = pl.col("entity").str.extract(r"^NIL([0-9]+):", 1).fill_null("")
    own = pl.col("entity") == pl.format("NIL{}:{}", number, "name")
    rows = rows.with_columns(written=pl.when(own).then(number).otherwise("entity"))
    fits = pl.col("written").str.contains(r"^[^()|\s]+$")
    return documents, tokens, rows.filter(fits, pl.col("first") <= pl.col("last"))


def count_losses(corpus: Corpus) -> Mapping[str, int]:
    """The counts of rows that no line can represent."""
    _, tokens, mentions = _writable(corpus)
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
        - mentions.height,
        "types and identifiers of mentions": mentions.filter(named).height,
        "links to a knowledge base, read back as clusters": mentions.filter(linked).height,
    }


FORMAT = declaration(__name__)
