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

from collections.abc import Iterable, Iterator, Mapping

import polars as pl

from hlteval.converters.declarations import declaration
from hlteval.converters.ltf.tables import as_declared, rebuilt, unlike
from hlteval.converters.toolkit.source_files import File, findings_in_lines, head
from hlteval.findings import Finding, Problem
from hlteval.representation import Corpus
from hlteval.sources import Source
from hlteval.syntax.tsv import Lines

_COLUMNS = r"^[0-9]+\t([^\t]+)\t[^\t]*\t[^\t]*\t([^\t]*)\t[^\t]*\t[^\t]*\t[^\t]*\t[^\t]*\t([^\t]*)$"
_RANGE = "(?:^|[|])TokenRange=([0-9]{1,9}):([0-9]{1,9})(?:[|]|$)"
_NEWDOC = "# newdoc id = "
#: So many of the ten columns of a token are there if a line is damaged.
_LEAST = 6
_ESCAPES = {"\\": "\\\\", "\t": "\\t", "\n": "\\n", "\r": "\\r", "|": "\\p"}


def sniff(source: Source) -> bool:
    """Whether it is a single file that begins with a document or segment of CoNLL-U.

    Comments of these forms are also in files with a few columns of words and tags.
    """
    begin = head(source, 4000)
    tokens = (line.split() for line in begin.split("\n")[:-1] if line and line[0] != "#")
    columns = next(filter(None, tokens), None)
    own = begin.startswith((_NEWDOC, "# sent_id = ", "# text = "))
    return own and (columns is None or len(columns) >= _LEAST)


def read_file(file: File) -> tuple[Corpus, Iterable[Finding]]:
    """The documents of a file, and what is wrong with lines that are no tokens of theirs."""
    lines, line = Lines(file.text or ""), pl.col("line")
    is_empty, is_comment = line.str.strip_chars(" ") == "", line.str.starts_with("#")
    every = (
        lines.table()
        .with_columns(
            document=line.str.starts_with(_NEWDOC).cast(pl.Int64).cum_sum() - 1,
            block=is_empty.cast(pl.Int64).cum_sum(),
            origin=pl.lit(0, pl.Int64),
        )
        .filter(~is_empty)
    )
    form, xpos, misc = (line.str.extract(_COLUMNS, group) for group in (1, 2, 3))
    tokens = every.filter(~is_comment).with_columns(form=form, xpos=xpos, misc=misc)
    tokens = tokens.with_columns(
        text=_unescape(pl.col("form")),
        pos=_unescape(pl.when(pl.col("xpos") != "_").then(pl.col("xpos"))),
        name=_unescape(pl.col("misc").str.extract("(?:^|[|])Id=([^|]*)")),
        morph=_unescape(pl.col("misc").str.extract("(?:^|[|])Morph=([^|]*)")),
        start=pl.col("misc").str.extract(_RANGE, 1).cast(pl.Int64),
        end=pl.col("misc").str.extract(_RANGE, 2).cast(pl.Int64),
    )
    is_placed = pl.col("start").is_not_null() & (pl.col("document") >= 0)
    wrong, tokens = tokens.filter(~is_placed), tokens.filter(is_placed)
    comments = every.filter(is_comment, pl.col("document") >= 0).with_columns(
        newdoc=_unescape(_comment("newdoc id")),
        declared=_comment("length").cast(pl.Int64, strict=False),
        name=_unescape(_comment("sent_id")),
        text=_unescape(_comment("text")),
        range=_comment("range"),
    )
    segments = _segments(comments, tokens)
    blocks = segments.select("block", segment_row="row")
    tokens = tokens.join(blocks, on="block", how="left", maintain_order="left")
    documents = comments.group_by(row="document", maintain_order=True).agg(
        pl.col("origin", "newdoc").first(), pl.col("declared").drop_nulls().first()
    )
    whole = documents.drop_nulls("declared").select("declared", document="row")
    texts = rebuilt(whole, segments).select("text", row="document")
    documents = documents.join(texts, on="row", how="left", maintain_order="left")
    corpus = Corpus(
        sources=[file.origin],
        documents=as_declared("documents", documents.rename({"newdoc": "name"})),
        segments=as_declared("segments", segments),
        tokens=as_declared("tokens", tokens.with_columns(row=pl.int_range(pl.len()))),
    )
    lost = pl.when(pl.col("document") < 0).then(pl.lit("CNU103")).otherwise(pl.lit("CNU102"))
    code = pl.when(pl.col("form").is_null()).then(pl.lit("CNU101")).otherwise(lost)
    places = wrong.select(code, "record", start=0, end=line.str.len_chars())
    problems = (Problem(*row) for row in places.iter_rows())
    return corpus, findings_in_lines(problems, lines, file.member)


def _comment(key: str) -> pl.Expr:
    """The value of a comment with a key; null in other comments."""
    head, line = f"# {key} = ", pl.col("line")
    return pl.when(line.str.starts_with(head)).then(line.str.strip_prefix(head))


def _segments(comments: pl.DataFrame, tokens: pl.DataFrame) -> pl.DataFrame:
    """The segments: blocks of lines whose place is known from a comment or their tokens."""
    place = ("document", "origin", "record", "block")
    named = comments.select(*place, "name", "text", "range")
    lines = pl.concat([named, tokens.select(*place, "start", "end")], how="diagonal")
    blocks = lines.sort("record").group_by("block", maintain_order=True)
    edges = pl.col("range").str.splitn(":", 2).struct
    segments = blocks.agg(
        pl.col("document").last(),
        pl.col("origin", "record").first(),
        pl.col("name", "text", "range").drop_nulls().first(),
        pl.col("start").min(),
        pl.col("end").max(),
    )
    start, end = (edges.field(f"field_{at}").cast(pl.Int64, strict=False) for at in (0, 1))
    segments = segments.with_columns(start=pl.coalesce(start, "start"), end=pl.coalesce(end, "end"))
    segments = segments.drop_nulls(["start", "end"])
    return segments.with_columns(row=pl.int_range(pl.len(), dtype=pl.Int64))


def _unescape(text: pl.Expr) -> pl.Expr:
    """Text without escapes."""
    escapes = {escape: character for character, escape in _ESCAPES.items()}
    return text.str.replace_many({**escapes, "\\_": "_"})


def _escape(text: pl.Expr) -> pl.Expr:
    """Text with escapes."""
    return text.str.replace_many(_ESCAPES)


def as_text(corpus: Corpus) -> Iterator[str]:
    """The documents, each with the lines of its segments."""
    tokens = corpus.tokens.drop_nulls("segment_row")
    follows = pl.col("start").shift(-1).over("segment_row") == pl.col("end")
    misc = pl.concat_str(
        pl.format("Id={}", _escape(pl.col("name"))),
        pl.format("Morph={}", _escape(pl.col("morph"))),
        pl.when(follows).then(pl.lit("SpaceAfter=No")),
        pl.format("TokenRange={}:{}", "start", "end"),
        separator="|",
        ignore_nulls=True,
    )
    pos = pl.when(pl.col("pos") == "_").then(pl.lit("\\_")).otherwise(_escape(pl.col("pos")))
    number = pl.int_range(1, pl.len() + 1).over("segment_row")
    form = _escape(pl.col("text"))
    line = pl.format("{}\t{}\t_\t_\t{}\t_\t_\t_\t_\t{}\n", number, form, pos.fill_null("_"), misc)
    lines = tokens.select(line=line, row="segment_row").group_by("row", maintain_order=True)
    joined = lines.agg(tokens=pl.col("line").str.join(""))
    segments = corpus.segments.join(joined, on="row", how="left", maintain_order="left")
    block = pl.concat_str(
        pl.format("# sent_id = {}\n", _escape(pl.col("name"))),
        pl.format("# range = {}:{}\n", "start", "end"),
        pl.format("# text = {}\n", _escape(pl.col("text"))),
        "tokens",
        pl.lit("\n"),
        ignore_nulls=True,
    )
    blocks: dict[int, list[str]] = {}
    for document, content in segments.select("document", block=block).iter_rows():
        blocks.setdefault(document, []).append(content)
    unfit = _unfit(corpus)
    names = corpus.documents.select("row", "text", name=_escape(pl.col("name")))
    for row, text, name in names.iter_rows():
        length = f"# length = {len(text)}\n" if text is not None and row not in unfit else ""
        first, *others = blocks.get(row, ["\n"])
        yield f"{_NEWDOC}{name}\n{length}{first}"
        yield from others


def _unfit(corpus: Corpus) -> set[int]:
    """The documents whose text cannot be rebuilt from their segments and line feeds."""
    bare = corpus.documents.join(corpus.segments, left_on="row", right_on="document", how="anti")
    outside = bare.filter(pl.col("text").str.contains("[^\n]"))
    return {*unlike(corpus)["document"], *outside["row"]}


def count_losses(corpus: Corpus) -> Mapping[str, int]:
    """The rows that the file cannot represent."""
    return {
        "texts not covered by segments": len(_unfit(corpus)),
        "tokens outside of segments": corpus.tokens["segment_row"].null_count(),
        "tokens without text": corpus.tokens.filter(pl.col("text") == "").height,
    }


FORMAT = declaration(__name__)
