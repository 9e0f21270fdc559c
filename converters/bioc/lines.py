"""The annotations, events, relations, modifiers and equivalences of a corpus as lines of BioC."""

from __future__ import annotations

import polars as pl

from hlteval.converters.bioc.documents import EQUIVALENCE, EVENT, MODIFIER, RELATION
from hlteval.converters.bioc.layout import LARGEST
from hlteval.converters.toolkit.confidences import to_text
from hlteval.representation import Corpus
from hlteval.syntax.xml_text import attribute, content, start_tag

_KEY = ("document", "origin", "record")
_ORDER = ("origin", "record", "kind", "row")


def _more(corpus: Corpus, element: str) -> pl.DataFrame:
    """The other infons of elements of a kind, on one line each."""
    rows = corpus.attributes.filter(element=f"{element}/infon")
    infon = pl.concat_str(
        start_tag("infon", attribute("key", "name")), content("value"), pl.lit("</infon>")
    )
    return rows.group_by(*_KEY, maintain_order=True).agg(more=infon.str.join())


def _candidates(corpus: Corpus) -> pl.DataFrame:
    """The other candidates of each mention, as infons."""
    rows = corpus.links.filter(pl.col("entity").is_not_null()).sort("mention_row", "rank")
    infons = rows.group_by(row="mention_row").agg(_given("identifier", "entity").alias("one"))
    return infons.select("row", candidates=pl.col("one").list.join(""))


def _given(key: str, column: str) -> pl.Expr:
    """A column as an infon; nothing where it has no value."""
    text = pl.concat_str(pl.lit(f'<infon key="{key}">'), content(column), pl.lit("</infon>"))
    return pl.when(pl.col(column).is_not_null()).then(text)


def _named(column: str) -> pl.Expr:
    """An identifier as an attribute; nothing where it is empty."""
    return pl.when(pl.col(column) != "").then(attribute("id", column))


def annotation_lines(corpus: Corpus) -> pl.DataFrame:
    """Annotations as lines, with where they begin and end."""
    rows = corpus.mentions.filter(writable())
    rows = rows.join(_more(corpus, "annotation"), on=_KEY, how="left", maintain_order="left")
    rows = rows.join(_candidates(corpus), on="row", how="left", maintain_order="left")
    sure = pl.col("confidence").is_null() & pl.col("confidence_text").is_null()
    rows = rows.with_columns(
        sure=pl.when(~sure).then(to_text(rows)),
        kind=pl.when(pl.col("label") != "").then("label"),
        text=pl.coalesce("text", _text_of(rows, corpus), pl.lit("")),
    )
    line = pl.concat_str(
        start_tag("annotation", _named("mention")),
        _given("type", "kind"),
        _given("identifier", "entity"),
        "candidates",
        _given("mention_type", "mention_type"),
        _given("confidence", "sure"),
        _given("annotator", "annotator"),
        "more",
        pl.coalesce(_locations(), _location(pl.col("start"), pl.col("end"))),
        pl.concat_str(pl.lit("<text>"), content("text"), pl.lit("</text></annotation>\n")),
        ignore_nulls=True,
    )
    return rows.select("document", "start", "end", line=line)


def _text_of(rows: pl.DataFrame, corpus: Corpus) -> pl.Series:
    """What stands at mentions that have no text: their parts with blanks between."""
    texts = dict(corpus.documents.drop_nulls("text").select("row", "text").iter_rows())
    columns = rows.select("document", "text", "fragments", "start", "end").iter_rows()
    # Polars looks for a code point from the beginning of a text, each time; Python knows it.
    return pl.Series(
        "text",
        [
            " ".join(
                texts[document][part["start"] : part["end"]]
                for part in (parts or [{"start": start, "end": end}])
            )
            if text is None and document in texts
            else None
            for document, text, parts, start, end in columns
        ],
        dtype=pl.String,
    )


def _location(start: pl.Expr, end: pl.Expr) -> pl.Expr:
    return pl.format('<location offset="{}" length="{}"/>', start, end - start)


def _locations() -> pl.Expr:
    start, end = (pl.element().struct.field(name) for name in ("start", "end"))
    return pl.col("fragments").list.eval(_location(start, end)).list.join("")


def writable() -> pl.Expr:
    """Whether a mention, and each of its parts, begins in a text and does not end before that."""
    reversed_part = pl.element().struct.field("end") < pl.element().struct.field("start")
    negative = pl.element().struct.field("start") < 0
    wrong = pl.col("fragments").list.eval(reversed_part | negative).list.any()
    ordered = (pl.col("start") >= 0) & (pl.col("end") >= pl.col("start"))
    return ordered & (pl.col("end") <= LARGEST) & ~wrong.fill_null(value=False)


def relation_lines(corpus: Corpus) -> pl.DataFrame:
    """Events, relations, modifiers and equivalences as lines, in the order of their records."""
    more = _more(corpus, "relation")
    listed = [_frames(corpus), _modifiers(corpus), _groups(corpus)]
    rows = pl.concat([one.with_columns(kind=number) for number, one in enumerate(listed)])
    rows = rows.join(more, on=_KEY, how="left", maintain_order="left")
    line = pl.concat_str(
        "tag", "infons", "more", "nodes", pl.lit("</relation>\n"), ignore_nulls=True
    )
    ordered = rows.sort("document", *_ORDER)
    return ordered.select("document", start=pl.lit(0), end=pl.lit(0), line=line)


def _node(target: str, role: str) -> pl.Expr:
    return pl.concat_str(
        start_tag("node", attribute("refid", target), attribute("role", role)).str.strip_suffix(
            ">"
        ),
        pl.lit("/>"),
    )


_LINE = ("row", *_KEY, "tag", "infons", "nodes")


def _type() -> pl.Expr:
    return _given("type", "type")


def _frames(corpus: Corpus) -> pl.DataFrame:
    arguments = corpus.arguments.sort("frame_row", "position").group_by(row="frame_row")
    nodes = arguments.agg(
        arguments=_node("target", "role").str.join(), plain=(pl.col("role") == "Arg").all()
    )
    rows = corpus.frames.join(nodes, on="row", how="left", maintain_order="left")
    shape = pl.when(pl.col("trigger").is_not_null()).then(pl.lit(EVENT)).otherwise(pl.lit(RELATION))
    group = (pl.col("label") == "Equiv") & pl.col("plain") & pl.col("trigger").is_null()
    rows = rows.with_columns(
        type=pl.when(pl.col("label") != "").then("label"),
        said=pl.when((pl.col("kind") != shape) | group).then("kind"),
    )
    return rows.select(
        "row",
        *_KEY,
        tag=start_tag("relation", attribute("id", "frame")),
        infons=pl.concat_str(
            _type(), _given("kind", "said"), _given("trigger_id", "trigger"), ignore_nulls=True
        ),
        nodes=pl.concat_str(
            pl.when(pl.col("trigger").is_not_null()).then(_node("trigger", "label")),
            "arguments",
            ignore_nulls=True,
        ),
    )


def _modifiers(corpus: Corpus) -> pl.DataFrame:
    rows = corpus.modifiers.with_columns(
        type=pl.when(pl.col("label") != "").then("label"),
        said=pl.lit(MODIFIER),
        role=pl.lit("Target"),
    )
    return rows.select(
        "row",
        *_KEY,
        tag=start_tag("relation", _named("modifier")),
        infons=pl.concat_str(
            _type(),
            _given("kind", "said"),
            _given("value", "value"),
            _given("text", "text"),
            ignore_nulls=True,
        ),
        nodes=_node("target", "role"),
    )


def _groups(corpus: Corpus) -> pl.DataFrame:
    rows = corpus.groups.with_columns(node_role=pl.lit("Arg"))
    by = rows.group_by("document", "group", "kind", maintain_order=True)
    groups = by.agg(
        pl.col("row", "origin", "record").first(), nodes=_node("member", "node_role").str.join()
    )
    groups = groups.with_columns(
        type=pl.when(pl.col("kind") != "").then("kind"), said=pl.lit(EQUIVALENCE)
    )
    return groups.select(
        "row",
        *_KEY,
        tag=start_tag("relation", attribute("id", "group")),
        infons=pl.concat_str(_type(), _given("kind", "said"), ignore_nulls=True),
        nodes="nodes",
    )
