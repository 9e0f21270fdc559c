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
from typing import Any

import polars as pl

from hlteval.converters.declarations import declaration
from hlteval.converters.edl.edl_tab import named_mentions
from hlteval.converters.toolkit import source_files, token_lines
from hlteval.converters.toolkit.made_text import MadeText
from hlteval.converters.toolkit.rows import LineFile, row_problems, with_documents
from hlteval.findings import Finding
from hlteval.representation import Corpus
from hlteval.sources import Member, Source
from hlteval.syntax.sections import Sections, marked_sections

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
    first, _, rest = source_files.head_of_first(source.members, 400).partition("\n")
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


def read_file(file: source_files.File, **settings: str) -> tuple[Corpus, Iterable[Finding]]:
    """The tokens and mentions of a file."""
    own = LineFile(file, stretch)
    documents, tokens = _read_tokens(own, settings["columns"])
    marks = _match_marks(own, tokens)
    if settings["offsets"] == "characters":
        made = MadeText.of(tokens, documents.height)
        texts = [text and f"{text}\n" for text in made.texts]
        documents = documents.with_columns(text=pl.Series(texts, dtype=pl.String))
    else:
        first = tokens.select(pl.int_range(1, pl.len() + 1).over("document")).to_series().to_numpy()
        made = MadeText([], first, first + 1, tokens["document"].to_numpy())
    name = pl.lit(documents["name"].gather(marks["document"]))
    scope = pl.format(":{}", name) if settings["entities"] == "document" else pl.lit("")
    number = pl.col("entity").str.contains(r"^\d+$") & (settings["entities"] != "written")
    entity = pl.when(number).then(pl.format("NIL{}{}", "entity", scope)).otherwise("entity")
    spans = made.place_rows(tokens, marks["first"].to_numpy(), marks["last"].to_numpy())
    mentions = spans.with_columns(marks.select(entity=entity), mention=pl.lit(""), label=pl.lit(""))
    return own.corpus("line", documents=documents, mentions=mentions, **made.tables(tokens))


def _read_tokens(own: LineFile, columns: str) -> tuple[pl.DataFrame, pl.DataFrame]:
    """The documents of a file, and their tokens in order; other lines are reported."""
    limit, is_empty = _LINE.str.contains(_LIMIT), _LINE.str.strip_chars() == ""
    section, sentence = limit.cum_sum(), (limit | is_empty).cum_sum()
    rows = own.lines.table().with_columns(section=section, sentence=sentence)
    names = [None, *map(name_in, rows.filter(limit)["line"])]  # where one ends, there is none
    limits = pl.DataFrame({"name": names}, {"name": pl.String}).with_row_index("section")
    documents, begun = with_documents(limits.drop_nulls())
    number = limits.join(begun, on="section", how="left", maintain_order="left")["document"]
    rows = rows.with_columns(document=number.gather(rows["section"])).filter(~limit & ~is_empty)
    own.counted.append(row_problems("CRF101", rows.filter(pl.col("document").is_null()), "line"))
    bare = _LINE.str.extract_all(r"\S+")
    if columns == "tabs":
        bare = pl.concat_list(bare.list.first(), _LINE.str.extract_all(_PART).list.join("|"))
    cells = pl.when(_LINE.str.contains("\t")).then(_LINE.str.split("\t")).otherwise(bare)
    rows = rows.drop_nulls("document").with_columns(cells=cells)
    word = pl.when(_CELLS.len() > 4).then(_CELLS.get(3, null_on_oob=True)).otherwise(_CELLS.first())
    rows = rows.select("record", "document", "sentence", word=word, given=_CELLS.last())
    fits, is_none = pl.col("given").str.contains(_MARKS), pl.col("given").is_in(_NONE)
    own.counted.append(row_problems("CRF103", rows.filter(~fits, ~is_none), "entity", "given"))
    rows = rows.sort("document", maintain_order=True)  # one may go on after others
    begins = pl.col("sentence").ne_missing(pl.col("sentence").shift(1))
    marks = pl.when(fits).then("given")
    return documents, rows.select("record", "document", "word", begins=begins, marks=marks)


def _match_marks(own: LineFile, tokens: pl.DataFrame) -> pl.DataFrame:
    """Match the marks of tokens, in the order in which mentions begin.

    Args:
        own: the file, where marks without others are reported.
        tokens: in order, with their `marks`.

    Returns:
        The `first` and `last` token of each mention, its `entity`, `document` and first `record`.
    """
    found = list[list[Any]]()
    opened: dict[tuple[int, str], list[list[Any]]] = defaultdict(list)
    marked = tokens.with_row_index().drop_nulls("marks")
    for token, record, document, *_, marks in marked.iter_rows():
        for mark in marks.split("|"):
            entity = mark.strip("()")
            waiting = opened[document, entity]
            if mark.startswith("("):
                waiting.append([token, None, record, document, entity])
                found.append(waiting[-1])
            if mark.endswith(")") and waiting:
                waiting.pop()[1] = token
            elif mark.endswith(")"):
                own.report("CRF104", record, "entity", entity=entity)
    for _, _, record, _, entity in (mark for mark in found if mark[1] is None):
        own.report("CRF105", record, "entity", entity=entity)
    numbers = dict.fromkeys(("first", "last", "record", "document"), pl.Int64)
    return pl.DataFrame(found, {**numbers, "entity": pl.String}, orient="row").drop_nulls()


def sections(member: Member, entities: str = "document", **_: str) -> Sections | None:
    """The documents of a file, where no entity is in two of them."""
    return marked_sections(member, (b"#begin",), name_in) if entities == "document" else None


def stretch(line: str, field: str) -> tuple[int, int]:
    """The place of a field in its line, which is the last column."""
    at = -1 if field in {"extent", "offsets", "entity"} else None
    return source_files.cell_stretch(line, at, "\t" if "\t" in line else " ")


def as_text(corpus: Corpus) -> Iterator[str]:
    """The documents that have tokens, each with its lines."""
    parts = pl.col("name").str.extract_groups(r"(?s)^(.*);([1-9][0-9]*)$").struct
    name, part = pl.coalesce(parts.field("1"), "name"), parts.field("2").fill_null("0")
    begin = pl.format("#begin document ({}); part {}", name, part.str.zfill(3))
    base = name.str.replace_all(_SPACES, "_").replace("", "-")
    number = pl.col("token") - pl.when("begins").then("token").forward_fill()
    word, mark = pl.col("text").str.replace_all(_SPACES, "_"), pl.col("mark").fill_null("-")
    line = pl.concat_str("base", "part", number, word, mark, separator="\t")
    tokens, mentions = _rows(corpus)
    cells = corpus.documents.select(document="row", base=base, part=part)
    # marks of mentions that begin, the outer first; then of those that end
    mentions = mentions.sort("first", "last", descending=[False, True], maintain_order=True)
    single = pl.col("first") == pl.col("last")
    closed = pl.when(single).then(pl.lit(")")).otherwise(pl.lit(""))
    begins = mentions.select("first", mark=pl.format("({}{}", "written", closed))
    ends = mentions.reverse().filter(~single).select(first="last", mark=pl.format("{})", "written"))
    of_tokens = pl.concat([begins, ends]).group_by("first", maintain_order=True)
    marks = of_tokens.agg(pl.col("mark").str.join("|")).rename({"first": "token"})
    rows = tokens.join(cells, on="document", maintain_order="left")
    rows = rows.join(marks, on="token", how="left", maintain_order="left")
    for begun, body in token_lines.bodies(corpus.documents.with_columns(name=begin), rows, line):
        yield f"{begun}\n{body}#end document\n" if body else ""


def _rows(corpus: Corpus) -> tuple[pl.DataFrame, pl.DataFrame]:
    """The tokens that lines can have, and the mentions of these, with their entities as marks."""
    tokens = token_lines.ordered_tokens(corpus, pl.col("text").str.strip_chars() != "")
    tokens = tokens.with_columns(token=pl.int_range(pl.len()))
    number = pl.col("entity").str.extract(r"^NIL([0-9]+):", 1).fill_null("")
    own = pl.col("entity") == pl.format("NIL{}:{}", number, "name")
    written = pl.when(own).then(number).otherwise("entity")
    mentions = token_lines.with_tokens(named_mentions(corpus), tokens)
    fits = written.str.contains(r"^[^()|\s]+$") & (pl.col("first") <= pl.col("last"))
    return tokens, mentions.filter(fits).with_columns(written=written)


def count_losses(corpus: Corpus) -> Mapping[str, int]:
    """The counts of rows that no line can represent."""
    tokens, mentions = _rows(corpus)
    bare = corpus.segments.join(tokens, left_on="row", right_on="segment_row", how="anti")
    # a token is read with the same offsets if these are its number, or characters of the words
    size = pl.col("text").str.len_chars().cast(pl.Int64)
    number, last = pl.int_range(1, pl.len() + 1), (size + 1).cum_sum() - 1
    places = (pl.struct(start=number, end=number + 1), pl.struct(start=last - size, end=last))
    same = pl.any_horizontal(pl.struct("start", "end") == each.over("document") for each in places)
    odd = corpus.tokens.height - tokens.filter(~pl.col("text").str.contains(r"\s")).height
    linked = mentions["entity"].str.contains("^[0-9]+$")
    return {
        "segments without tokens": bare.height,
        "tokens without text, or with spaces": odd,
        "tokens with offsets that change on reading": tokens.filter(~same).height,
        "mentions without an entity, or without tokens": corpus.mentions.height - mentions.height,
        "links to a knowledge base, read back as clusters": int(linked.sum()),
    }


FORMAT = declaration(__name__)
