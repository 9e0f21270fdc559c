"""The files that a corpus is written to as BioNLP-ST standoff."""

from __future__ import annotations

from collections.abc import Iterator

import polars as pl

from hlteval.converters.situations import TEMPLETTE
from hlteval.representation import Corpus
from hlteval.sources import is_file_name

TEXT, GIVEN, ASKED = ".txt", ".a1", ".a2"


def as_files(corpus: Corpus) -> Iterator[tuple[str, str]]:
    """Every file of a corpus with its content, also those without records.

    There is none of a document whose name is no name of a file.
    """
    for name, text in corpus.documents.select("name", "text").iter_rows():
        if text is not None and is_file_name(name):
            yield name + TEXT, text
    suffix = pl.col("member").str.extract(r"(\.a[12])$")
    read = corpus.sources.select(origin="row", name=_stem("member"), suffix=suffix)
    names = corpus.documents.select("name", document="row")
    lines = _written(corpus).join(read.select("origin", "suffix"), on="origin", how="left")
    lines = lines.join(names, on="document").with_columns(
        pl.col("suffix").fill_null(pl.col("home"))
    )
    lines = lines.sort("name", "suffix", "record", "home", "order")
    content = lines.group_by("name", "suffix").agg(content=pl.col("line").str.join("\n") + "\n")
    bare = names.join(read, on="name", how="anti").select("name")
    bare = bare.join(pl.DataFrame({"suffix": [GIVEN, ASKED]}), how="cross")
    wanted = pl.concat(
        [read.select("name", "suffix").drop_nulls(), bare, content.select("name", "suffix")]
    )
    filled = wanted.unique().join(content, on=["name", "suffix"], how="left").sort("name", "suffix")
    for name, suffix, text in filled.select("name", "suffix", "content").iter_rows():
        if is_file_name(name):
            yield name + suffix, text or ""


def _stem(member: str) -> pl.Expr:
    """The document that a file belongs to: its name without folders, up to the last dot."""
    return pl.col(member).str.extract(r"([^/]*)\.[^./]*$")


def _written(corpus: Corpus) -> pl.DataFrame:
    """Every record as a line, with the file that is its home where it came from none."""
    kinds = (
        (GIVEN, _mention_lines(corpus)),
        (ASKED, _frame_lines(corpus)),
        (ASKED, _modifier_lines(corpus)),
        (ASKED, _group_lines(corpus)),
    )
    columns = ("document", "origin", "record", "home", "order", "line")
    return pl.concat(
        lines.with_columns(home=pl.lit(home), order=pl.col("row") + kind * 1_000_000_000).select(
            columns
        )
        for kind, (home, lines) in enumerate(kinds)
    )


def _mention_lines(corpus: Corpus) -> pl.DataFrame:
    fragment = pl.concat_str(
        pl.element().struct.field("start"), pl.element().struct.field("end"), separator=" "
    )
    broken = pl.col("fragments").list.eval(fragment).list.join(";")
    span = pl.coalesce(broken, pl.concat_str("start", "end", separator=" "))
    texts = corpus.documents.select(document="row", whole="text")
    length = (pl.col("end") - pl.col("start")).clip(0)  # a reversed span has no text
    cut = pl.col("whole").str.slice(pl.col("start"), length)
    text = pl.coalesce("text", cut.str.replace_all(r"[\r\n]", " "), pl.lit(""))
    line = pl.format("{}\t{} {}\t{}", "mention", "label", span, text)
    return corpus.mentions.join(texts, on="document", how="left").with_columns(line=line)


def _frame_lines(corpus: Corpus) -> pl.DataFrame:
    argument = pl.format("{}:{}", "role", "target")
    arguments = corpus.arguments.sort("frame_row", "position").group_by(row="frame_row")
    joined = arguments.agg(arguments=argument.str.join(" "))
    label = pl.concat_str("label", "trigger", separator=":", ignore_nulls=True)
    line = pl.format("{}\t{} {}", "frame", label, pl.col("arguments").fill_null(""))
    frames = corpus.frames.filter(pl.col("kind") != TEMPLETTE)
    return frames.join(joined, on="row", how="left").with_columns(line=line)


def _modifier_lines(corpus: Corpus) -> pl.DataFrame:
    referent = pl.format(" Referent:{}", "value").fill_null("")
    line = pl.format("{}\t{} Annotation:{}{}", "modifier", "label", "target", referent)
    return corpus.modifiers.with_columns(line=line)


def _group_lines(corpus: Corpus) -> pl.DataFrame:
    groups = corpus.groups.sort("row").group_by("document", "group", "kind", maintain_order=True)
    members = groups.agg(pl.col("row", "origin", "record").first(), pl.col("member").str.join(" "))
    return members.with_columns(line=pl.format("*\t{} {}", "kind", "member"))
