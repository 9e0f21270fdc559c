r"""CoNLL-U: one token per line in ten tab-separated columns, an empty line after each segment.

Format:
    One file for all documents. Before the first segment of a document, `# newdoc id` gives its name
    and `# length` its length in code points. `# sent_id`, `# range` and `# text` are identifier,
    offsets and text of a segment. The columns ID, FORM, XPOS and MISC hold the number of the token,
    its text, its class, and `TokenRange`, `Id` and `Morph`; all others are empty.

Conventions:
    Ranges are 0-based, half-open code points of the document. The text of a document is rebuilt
    from its segments, joined by line feeds. `\t`, `\n`, `\r`, `\p` and `\\` encode a tab,
    line breaks, `|` and a backslash; `_` is an empty value.

Example lines:
    # newdoc id = NW_X
    # length = 7
    # sent_id = segment-0
    # range = 1:6
    # text = AT&T?
    1	AT&T	_	_	unknown	_	_	_	_	Id=token-0-0|Morph=none|SpaceAfter=No|TokenRange=1:5
    2	?	_	_	punct	_	_	_	_	Id=token-0-1|Morph=none|TokenRange=5:6

Codes raised: CNU1xx.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import partial
from pathlib import Path

import polars as pl

from hlteval.converters.declarations import declaration
from hlteval.converters.format import ReadResult
from hlteval.converters.ltf.tables import COLUMNS, rebuilt, unlike
from hlteval.converters.toolkit.source_files import File, head, read_files
from hlteval.findings import Bounded, Finding, Problem
from hlteval.representation import TABLES, Corpus
from hlteval.sources import Member, Source

_COLUMNS = r"^[0-9]+\t([^\t]+)\t[^\t]*\t[^\t]*\t([^\t]*)\t[^\t]*\t[^\t]*\t[^\t]*\t[^\t]*\t([^\t]*)$"
_RANGE = "(?:^|[|])TokenRange=([0-9]{1,9}):([0-9]{1,9})(?:[|]|$)"
_NEWDOC = "# newdoc id = "
_ESCAPES = (("\\", "\\\\"), ("\t", "\\t"), ("\n", "\\n"), ("\r", "\\r"), ("|", "\\p"))


def sniff(source: Source) -> bool:
    """Whether it is a single file that begins with a document or segment of CoNLL-U."""
    return head(source, 200).startswith((_NEWDOC, "# sent_id = ", "# text = "))


def read(source: Source) -> Iterator[ReadResult]:
    """The documents of each file as one batch."""
    return read_files(source, FORMAT.name, _read)


def _read(file: File) -> tuple[Corpus, Iterable[Finding]]:
    tables, rejected = _tables(file.text or "")
    findings = _findings(rejected, file.member)
    return Corpus(sources=[file.origin], **tables), findings


def _tables(text: str) -> tuple[dict[str, pl.DataFrame], pl.DataFrame]:
    """The tables of a file, and the rejected lines."""
    lines = pl.DataFrame({"line": text.split("\n")}).with_columns(
        pl.col("line").str.strip_suffix("\r"), record=pl.int_range(1, pl.len() + 1)
    )
    empty = pl.col("line").str.strip_chars(" ") == ""
    begins = pl.col("line").str.starts_with(_NEWDOC)
    lines = lines.with_columns(
        document=begins.cast(pl.Int64).cum_sum() - 1,
        block=empty.cast(pl.Int64).cum_sum(),
        origin=pl.lit(0, pl.Int64),
    ).filter(~empty)
    comments = lines.filter(pl.col("line").str.starts_with("#"))
    rest = lines.filter(~pl.col("line").str.starts_with("#"))
    tokens = _tokens(rest)
    kept = tokens.filter(pl.col("start").is_not_null() & (pl.col("document") >= 0))
    wrong = tokens.join(kept.select("record"), on="record", how="anti", maintain_order="left")
    segments = _segments(comments.filter(pl.col("document") >= 0), kept)
    placed = segments.select("block", segment_row="row")
    kept = kept.join(placed, on="block", how="left", maintain_order="left")
    tables = {
        "documents": _documents(comments, segments),
        "segments": segments,
        "tokens": kept.with_columns(row=pl.int_range(pl.len())),
    }
    return {name: _shaped(name, table) for name, table in tables.items()}, wrong


def _shaped(name: str, table: pl.DataFrame) -> pl.DataFrame:
    return table.select(
        pl.col(column).cast(TABLES[name].schema[column])
        for column in COLUMNS[name]
        if column in table.columns
    )


def _tokens(lines: pl.DataFrame) -> pl.DataFrame:
    """The fields of lines that are tokens; null in other lines."""
    form, xpos, misc = (pl.col("line").str.extract(_COLUMNS, group) for group in (1, 2, 3))
    split = lines.with_columns(form=form, xpos=xpos, misc=misc)
    return split.with_columns(
        text=_unescaped(pl.col("form")),
        pos=_unescaped(pl.when(pl.col("xpos") != "_").then(pl.col("xpos"))),
        name=_misc("Id"),
        morph=_misc("Morph"),
        start=pl.col("misc").str.extract(_RANGE, 1).cast(pl.Int64),
        end=pl.col("misc").str.extract(_RANGE, 2).cast(pl.Int64),
    )


def _misc(key: str) -> pl.Expr:
    return _unescaped(pl.col("misc").str.extract(f"(?:^|[|]){key}=([^|]*)"))


def _comment(key: str) -> pl.Expr:
    """The value of a comment with a key; null in other comments."""
    head = f"# {key} = "
    line = pl.col("line")
    return pl.when(line.str.starts_with(head)).then(line.str.strip_prefix(head))


def _segments(comments: pl.DataFrame, tokens: pl.DataFrame) -> pl.DataFrame:
    """The segments: blocks of lines whose place is known from a comment or their tokens."""
    place = pl.col("place").str.splitn(":", 2).struct
    named = comments.with_columns(
        name=_unescaped(_comment("sent_id")),
        text=_unescaped(_comment("text")),
        place=_comment("range"),
    )
    every = pl.concat(
        [
            named.select("document", "origin", "record", "block", "name", "text", "place"),
            tokens.select("document", "origin", "record", "block").with_columns(
                pl.lit(None, pl.String).alias(name) for name in ("name", "text", "place")
            ),
        ]
    ).sort("record")
    inside = tokens.group_by("block").agg(first=pl.col("start").min(), last=pl.col("end").max())
    found = every.group_by("block", maintain_order=True).agg(
        pl.col("document").last(),
        pl.col("origin").first(),
        pl.col("record").first(),
        pl.col("name", "text", "place").drop_nulls().first(),
    )
    found = found.join(inside, on="block", how="left", maintain_order="left").with_columns(
        start=pl.coalesce(place.field("field_0").cast(pl.Int64, strict=False), "first"),
        end=pl.coalesce(place.field("field_1").cast(pl.Int64, strict=False), "last"),
    )
    found = found.drop_nulls(["start", "end"])
    return found.with_columns(row=pl.int_range(pl.len(), dtype=pl.Int64))


def _documents(comments: pl.DataFrame, segments: pl.DataFrame) -> pl.DataFrame:
    """The documents with their texts, where these can be rebuilt from the segments."""
    headers = comments.filter(pl.col("document") >= 0).with_columns(
        name=_unescaped(_comment("newdoc id")),
        length=_comment("length").cast(pl.Int64, strict=False),
    )
    found = headers.group_by("document", maintain_order=True).agg(
        pl.col("name").first(), declared=pl.col("length").drop_nulls().first()
    )
    whole = found.drop_nulls("declared").select("document", "declared")
    texts = rebuilt(whole, segments).select("document", "text")
    found = found.join(texts, on="document", how="left", maintain_order="left")
    return found.rename({"document": "row"}).with_columns(origin=pl.lit(0))


def _findings(rejected: pl.DataFrame, member: Member) -> list[Finding]:
    """The lines that are not tokens, or tokens without a place."""
    bounded = Bounded(member.max_per_code)
    columns = rejected.select("record", "line", "form", "document")
    for record, line, form, document in columns.iter_rows():
        code = "CNU101" if form is None else "CNU103" if document < 0 else "CNU102"
        bounded.add(code, record, partial(_finding, code, member.display), line)
    return bounded.findings


def _finding(code: str, file: str, record: int, line: str) -> Finding:
    return Problem(code, record, 0, len(line)).in_line(file, line)


def _unescaped(text: pl.Expr) -> pl.Expr:
    """Text without escapes; the backslash is set aside first."""
    text = text.str.replace_all("\\\\", "\0", literal=True)
    for character, written in _ESCAPES[1:]:
        text = text.str.replace_all(written, character, literal=True)
    return text.str.replace_all("\\_", "_", literal=True).str.replace_all("\0", "\\", literal=True)


def _escaped(text: pl.Expr) -> pl.Expr:
    for character, written in _ESCAPES:
        text = text.str.replace_all(character, written, literal=True)
    return text


def write(corpora: Iterable[Corpus], path: Path) -> None:
    """All documents in one file."""
    with path.open("w", encoding="utf-8", newline="") as stream:
        for corpus in corpora:
            stream.writelines(_blocks(corpus))


def _blocks(corpus: Corpus) -> Iterator[str]:
    made: dict[int, list[str]] = {}
    for document, block in _written(corpus).iter_rows():
        made.setdefault(document, []).append(block)
    names = corpus.documents.select("row", "text", name=_escaped(pl.col("name")))
    unfit = _unfit(corpus)
    for row, text, name in names.iter_rows():
        length = f"# length = {len(text)}\n" if text is not None and row not in unfit else ""
        first, *others = made.get(row, ["\n"])
        yield f"{_NEWDOC}{name}\n{length}{first}"
        yield from others


def _unfit(corpus: Corpus) -> set[int]:
    """The documents whose text cannot be rebuilt from their segments and line feeds."""
    bare = corpus.documents.join(corpus.segments, left_on="row", right_on="document", how="anti")
    outside = bare.filter(pl.col("text").str.contains("[^\n]"))
    return {*unlike(corpus)["document"], *outside["row"]}


def _written(corpus: Corpus) -> pl.DataFrame:
    """The lines of each segment: `document`, `block`."""
    tokens = corpus.tokens.drop_nulls("segment_row")
    follows = pl.col("start").shift(-1).over("segment_row") == pl.col("end")
    misc = pl.concat_str(
        pl.format("Id={}", _escaped(pl.col("name"))),
        pl.format("Morph={}", _escaped(pl.col("morph"))),
        pl.when(follows).then(pl.lit("SpaceAfter=No")),
        pl.format("TokenRange={}:{}", "start", "end"),
        separator="|",
        ignore_nulls=True,
    )
    pos = pl.when(pl.col("pos") == "_").then(pl.lit("\\_")).otherwise(_escaped(pl.col("pos")))
    number = pl.int_range(1, pl.len() + 1).over("segment_row")
    form = _escaped(pl.col("text"))
    line = pl.format("{}\t{}\t_\t_\t{}\t_\t_\t_\t_\t{}\n", number, form, pos.fill_null("_"), misc)
    lines = tokens.select(line=line, row="segment_row")
    inside = lines.group_by("row", maintain_order=True).agg(tokens=pl.col("line").str.join(""))
    block = pl.concat_str(
        pl.format("# sent_id = {}\n", _escaped(pl.col("name"))),
        pl.format("# range = {}:{}\n", "start", "end"),
        pl.format("# text = {}\n", _escaped(pl.col("text"))),
        "tokens",
        pl.lit("\n"),
        ignore_nulls=True,
    )
    segments = corpus.segments.join(inside, on="row", how="left", maintain_order="left")
    return segments.select("document", block=block)


def count_losses(corpus: Corpus) -> Mapping[str, int]:
    """The rows that the file cannot represent."""
    return {
        "texts not covered by segments": len(_unfit(corpus)),
        "tokens outside of segments": corpus.tokens["segment_row"].null_count(),
        "tokens without text": corpus.tokens.filter(pl.col("text") == "").height,
    }


FORMAT = declaration(__name__)
