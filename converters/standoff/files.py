"""Writes a corpus as standoff, in either dialect."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

import polars as pl

from hlteval.converters.standoff.dialects import BRAT, TEXT, Dialect
from hlteval.converters.standoff.fitting import fitted, modifier_kind
from hlteval.converters.toolkit.source_files import write_files
from hlteval.representation import Corpus
from hlteval.sources import stays_inside


def write(corpora: Iterable[Corpus], path: Path, dialect: Dialect) -> None:
    """The documents as a folder of texts and annotations."""
    write_files((file for corpus in corpora for file in as_files(corpus, dialect)), path)


def as_files(corpus: Corpus, dialect: Dialect) -> Iterator[tuple[str, str]]:
    """The name and content of every file, also of those without records.

    Files are in the folders where those of their documents were.
    """
    corpus = fitted(corpus, dialect).corpus
    read = _files_read(corpus, dialect)
    homes = {(name, suffix): path for name, path, suffix in read.drop("origin").iter_rows()}
    others = dict(read.select("name", "path").unique("name", keep="first").iter_rows())
    for name, suffix, content in _contents(corpus, dialect, read):
        path = homes.get((name, suffix)) or others.get(name) or name
        yield path + suffix, content


def _files_read(corpus: Corpus, dialect: Dialect) -> pl.DataFrame:
    """The files that the documents were read from: `origin`, `name`, `path` and `suffix`.

    The name of a document begins with its folder where the name of its files does not suffice.
    """
    suffix = pl.col("member").str.extract(r"(\.[^./]*)$")
    own = corpus.sources.filter(
        pl.col("format") == dialect.name,
        suffix.is_in([*dialect.suffixes]),
        pl.col("member").map_elements(stays_inside, pl.Boolean),
    )
    files = own.select(
        origin="row", path=pl.col("member").str.extract(r"(.*)\.[^./]*$"), suffix=suffix
    )
    qualified = pl.col("path").is_in(corpus.documents["name"].implode())
    name = pl.when(qualified).then("path").otherwise(pl.col("path").str.extract(r"([^/]*)$"))
    return files.select("origin", "path", "suffix", name=name).select(
        "origin", "name", "path", "suffix"
    )


def _contents(
    corpus: Corpus, dialect: Dialect, files: pl.DataFrame
) -> Iterator[tuple[str, str, str]]:
    """The document, suffix and content of every file."""
    for name, text in corpus.documents.select("name", "text").iter_rows():
        if text is not None:
            yield name, TEXT, text
    annotated = pl.when(pl.col("suffix").is_in(list(dialect.annotations))).then("suffix")
    read = files.select("origin", "name", suffix=annotated)
    names = corpus.documents.select("name", document="row")
    lines = _written(corpus, dialect).join(read.select("origin", "suffix"), on="origin", how="left")
    lines = lines.join(names, on="document").with_columns(
        pl.col("suffix").fill_null(pl.col("home"))
    )
    lines = lines.sort("name", "suffix", "origin", "record", "home", "order")
    content = lines.group_by("name", "suffix", maintain_order=True).agg(
        content=pl.col("line").str.join("\n") + "\n"
    )
    bare = names.join(read, on="name", how="anti").select("name")
    bare = bare.join(pl.DataFrame({"suffix": dialect.annotations}), how="cross")
    known = read.select("name", "suffix").drop_nulls().join(names, on="name", how="semi")
    wanted = pl.concat([known, bare, content.select("name", "suffix")])
    filled = wanted.unique().join(content, on=["name", "suffix"], how="left").sort("name", "suffix")
    for name, suffix, text in filled.select("name", "suffix", "content").iter_rows():
        yield name, suffix, text or ""


def _written(corpus: Corpus, dialect: Dialect) -> pl.DataFrame:
    """Every record as a line, with `home`, the suffix of its file if it was not read from one."""
    modifiers = _brat_modifier() if dialect is BRAT else _bionlp_modifier()
    kinds = (
        (dialect.mentions, _mention_lines(corpus)),
        (dialect.others, _frame_lines(corpus)),
        (dialect.others, corpus.modifiers.with_columns(line=modifiers)),
        (dialect.others, _group_lines(corpus)),
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
    broken = pl.when(pl.col("fragments").list.len() > 0).then(
        pl.col("fragments").list.eval(fragment).list.join(";")
    )
    span = pl.coalesce(broken, pl.concat_str("start", "end", separator=" "))
    text = pl.format("\t{}", "text").fill_null("")
    line = pl.format("{}\t{} {}{}", "mention", "label", span, text)
    return corpus.mentions.with_columns(line=line)


def _frame_lines(corpus: Corpus) -> pl.DataFrame:
    argument = pl.format("{}:{}", "role", "target")
    arguments = corpus.arguments.sort("frame_row", "position").group_by(row="frame_row")
    joined = arguments.agg(arguments=argument.str.join(" "))
    label = pl.concat_str("label", "trigger", separator=":", ignore_nulls=True)
    rest = pl.format(" {}", "arguments").fill_null("")
    line = pl.format("{}\t{}{}", "frame", label, rest)
    return corpus.frames.join(joined, on="row", how="left").with_columns(line=line)


def _bionlp_modifier() -> pl.Expr:
    referent = pl.format(" Referent:{}", "value").fill_null("")
    return pl.format("{}\t{} Annotation:{}{}", "modifier", "label", "target", referent)


def _brat_modifier() -> pl.Expr:
    value = pl.format(" {}", "value").fill_null("")
    text = pl.when(modifier_kind().is_in(["normalization", "note"])).then(pl.format("\t{}", "text"))
    return pl.format("{}\t{} {}{}{}", "modifier", "label", "target", value, text.fill_null(""))


def _group_lines(corpus: Corpus) -> pl.DataFrame:
    groups = corpus.groups.sort("row").group_by("document", "group", "kind", maintain_order=True)
    members = groups.agg(pl.col("row", "origin", "record").first(), pl.col("member").str.join(" "))
    return members.with_columns(line=pl.format("*\t{} {}", "kind", "member"))
