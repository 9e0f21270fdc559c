"""What of a corpus the annotations of PubAnnotation have no place for."""

from __future__ import annotations

from collections.abc import Mapping

import polars as pl

from hlteval.converters.pubannotation.items import SAID
from hlteval.converters.pubannotation.writing import (
    OTHER_FRAMES,
    is_ours,
    own_names,
    placed,
    writable,
)
from hlteval.converters.toolkit.frame_kinds import situations
from hlteval.converters.toolkit.spans import odd_parts
from hlteval.representation import Corpus


def lost(corpus: Corpus) -> Mapping[str, int]:
    """What of its tables is not written, or not read as it was.

    Examples:
        >>> sum(lost(Corpus()).values())
        0
    """
    mentions = corpus.mentions
    ours = [is_ours(*row) for row in corpus.attributes.select("element", "value").iter_rows()]
    sizes = corpus.groups.group_by("document", "group", "kind").len()
    return {
        **situations(corpus),
        "mentions outside of texts": mentions.filter(~writable()).height,
        "mentions whose fragments do not match their extent": mentions.filter(odd_parts()).height,
        "segments outside of texts": corpus.segments.filter(~placed()).height,
        "segment texts that differ from the document": _other_texts(corpus),
        "events without a unique identifier": _nameless(corpus),
        "values of mentions without a unique identifier": _unsaid(corpus),
        "equivalences with a single member": sizes.filter(pl.col("len") == 1).height,
        "attributes of other formats": len(ours) - sum(ours),
    }


def _other_texts(corpus: Corpus) -> int:
    """Segments that have a text, which is another than what stands there."""
    texts = dict(corpus.documents.select("row", "text").iter_rows())
    columns = ("document", "start", "end", "text")
    rows = corpus.segments.drop_nulls("text").select(columns).iter_rows()
    return sum(
        said != (texts[document] or "")[max(0, start) : max(0, end)]
        for document, start, end, said in rows
    )


def _nameless(corpus: Corpus) -> int:
    """Events, and relations of other than two, that nothing could refer to."""
    own = own_names(corpus)
    sizes = corpus.arguments.group_by(row="frame_row").agg(size=pl.len())
    frames = corpus.frames.filter(~pl.col("kind").is_in(OTHER_FRAMES))
    frames = frames.join(sizes, on="row", how="left")
    plain = (pl.col("kind") == "relation") & pl.col("trigger").is_null() & (pl.col("size") == 2)
    events = frames.filter(~plain.fill_null(value=False)).select("document", "frame")
    return sum(row not in own for row in events.iter_rows())


def _unsaid(corpus: Corpus) -> int:
    """Values in columns of mentions that nothing could refer to, candidates included."""
    own = own_names(corpus)
    links = corpus.links.drop_nulls("entity").group_by(row="mention_row").agg(links=pl.len())
    rows = corpus.mentions.join(links, on="row", how="left")
    values = pl.sum_horizontal(pl.col(*SAID).is_not_null().cast(pl.Int64))
    counted = rows.select("document", "mention", values + pl.col("links").fill_null(0))
    return sum(
        count for document, name, count in counted.iter_rows() if (document, name) not in own
    )
