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

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

import polars as pl

from hlteval.converters.format import Format, ReadResult
from hlteval.converters.ltf.tables import COLUMNS, rebuilt, unlike
from hlteval.converters.toolkit.single_file import File, head, located, readings
from hlteval.findings import FieldRef, Finding, Location, Span, excerpt, finding
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
    return readings(source, FORMAT.name, _read)


def _read(file: File) -> tuple[Corpus, Iterable[Finding]]:
    tables, findings = _tables(file.text or "", file.member)
    return Corpus(sources=[file.origin], **tables), findings


def _tables(text: str, member: Member) -> tuple[dict[str, pl.DataFrame], list[Finding]]:
    """What the lines of a file say, and which of them say nothing."""
    lines = pl.DataFrame({"line": text.split("\n")}).with_columns(
        pl.col("line").str.strip_suffix("\r"), record=pl.int_range(1, pl.len() + 1)
    )
    blank = pl.col("line").str.strip_chars(" ") == ""
    begins = pl.col("line").str.starts_with(_NEWDOC)
    lines = lines.with_columns(
        document=begins.cast(pl.Int64).cum_sum() - 1,
        block=blank.cast(pl.Int64).cum_sum(),
        origin=pl.lit(0, pl.Int64),
    ).filter(~blank)
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
    return {name: _shaped(name, table) for name, table in tables.items()}, _faults(wrong, member)


def _shaped(name: str, table: pl.DataFrame) -> pl.DataFrame:
    return table.select(
        pl.col(column).cast(TABLES[name].schema[column])
        for column in COLUMNS[name]
        if column in table.columns
    )


def _tokens(lines: pl.DataFrame) -> pl.DataFrame:
    """The parts of lines that are tokens; null where they are none."""
    parts = [pl.col("line").str.extract(_COLUMNS, group) for group in (1, 2, 3)]
    split = lines.with_columns(form=parts[0], xpos=parts[1], misc=parts[2])
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


def _said(key: str) -> pl.Expr:
    """What a comment says behind its key; null in another comment."""
    head = f"# {key} = "
    line = pl.col("line")
    return pl.when(line.str.starts_with(head)).then(line.str.strip_prefix(head))


def _segments(comments: pl.DataFrame, tokens: pl.DataFrame) -> pl.DataFrame:
    """The segments: blocks of lines that have a place, by a comment or by their tokens."""
    place = pl.col("place").str.splitn(":", 2).struct
    said = comments.with_columns(
        name=_unescaped(_said("sent_id")), text=_unescaped(_said("text")), place=_said("range")
    )
    every = pl.concat(
        [
            said.select("document", "origin", "record", "block", "name", "text", "place"),
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
    """The documents with their texts, as far as their segments make them up."""
    said = comments.filter(pl.col("document") >= 0).with_columns(
        name=_unescaped(_said("newdoc id")), length=_said("length").cast(pl.Int64, strict=False)
    )
    found = said.group_by("document", maintain_order=True).agg(
        pl.col("name").first(), declared=pl.col("length").drop_nulls().first()
    )
    whole = found.drop_nulls("declared").select("document", "declared")
    texts = rebuilt(whole, segments).select("document", "text")
    found = found.join(texts, on="document", how="left", maintain_order="left")
    return found.rename({"document": "row"}).with_columns(origin=pl.lit(0))


def _faults(wrong: pl.DataFrame, member: Member) -> list[Finding]:
    """The lines that are no tokens, or tokens without a place."""
    told = []
    for record, line, form, document in wrong.select(
        "record", "line", "form", "document"
    ).iter_rows():
        span = Span(record, 1, len(line) + 1)
        code = "CNU101" if form is None else "CNU103" if document < 0 else "CNU102"
        told.append(finding(code, file=member.display, span=span, excerpt=excerpt(line, span)))
    return told


def _unescaped(text: pl.Expr) -> pl.Expr:
    """Text as it was before it was escaped; the backslash is put aside first."""
    text = text.str.replace_all("\\\\", "\0", literal=True)
    for character, written in _ESCAPES[1:]:
        text = text.str.replace_all(written, character, literal=True)
    return text.str.replace_all("\\_", "_", literal=True).str.replace_all("\0", "\\", literal=True)


def _escaped(text: pl.Expr) -> pl.Expr:
    for character, written in _ESCAPES:
        text = text.str.replace_all(character, written, literal=True)
    return text


def locate(member: Member, places: Sequence[FieldRef]) -> list[Location | None]:
    """Lines of a file; a record is a line."""
    return located(member, places)


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
    """The documents whose text is not what their segments make up, with line feeds between."""
    bare = corpus.documents.join(corpus.segments, left_on="row", right_on="document", how="anti")
    unsaid = bare.filter(pl.col("text").str.contains("[^\n]"))
    return {*unlike(corpus)["document"], *unsaid["row"]}


def _written(corpus: Corpus) -> pl.DataFrame:
    """Each segment as lines: `document`, `block`."""
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
    inside = tokens.group_by(row="segment_row", maintain_order=True).agg(tokens=line.str.join(""))
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


def lost(corpus: Corpus) -> Mapping[str, int]:
    """What of its tables the file does not hold."""
    return {
        "texts not covered by segments": len(_unfit(corpus)),
        "tokens outside of segments": corpus.tokens["segment_row"].null_count(),
        "tokens without text": corpus.tokens.filter(pl.col("text") == "").height,
    }


FORMAT = Format(
    name="conllu",
    title="CoNLL-U: one token per line, with offsets",
    suffixes=(".conllu",),
    layout="single_file",
    carries=(
        *("sources", "documents", "segments", "tokens", "documents.text", "segments.name"),
        *("segments.text", "tokens.name", "tokens.pos", "tokens.morph"),
    ),
    sniff=sniff,
    read=read,
    locate=locate,
    write=write,
    count_losses=lost,
)
