"""Rules of SeeDev about identifiers and what they refer to (STD301, STD302, SEE303, SEE304)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import polars as pl

from hlteval.representation import row_hash
from hlteval.validators.rule import RuleContext, at, only_if
from hlteval.validators.seedev.tables import members, nested

# Cycles among frames that are arguments of each other.


Edge = tuple[int, int]


def cycles(edges: Iterable[Edge]) -> Iterator[tuple[Edge, list[int]]]:
    """One cycle of each strongly connected set of frames.

    Args:
        edges: pairs of a frame and a frame that fills one of its roles.

    Yields:
        The edge that closes the cycle, and the frames along it, the first one repeated at its end.

    Examples:
        >>> list(cycles([(1, 2), (2, 3), (3, 1), (4, 1)]))
        [((3, 1), [1, 2, 3, 1])]
    """
    targets: dict[int, list[int]] = {}
    for source, target in edges:
        targets.setdefault(source, []).append(target)
    done: set[int] = set()
    for start in sorted(targets):
        if start not in done:
            yield from _from(start, targets, done)


def _from(
    start: int, targets: dict[int, list[int]], done: set[int]
) -> Iterator[tuple[Edge, list[int]]]:
    """Walk depth first, without recursion: a chain of frames may be as long as a file."""
    path, on_path = [start], {start}
    pending = [iter(targets.get(start, ()))]
    while pending:
        following = next(pending[-1], None)
        if following is None:
            pending.pop()
            last = path.pop()
            on_path.discard(last)
            done.add(last)
        elif following in on_path:
            yield (path[-1], following), [*path[path.index(following) :], following]
        elif following not in done:
            path.append(following)
            on_path.add(following)
            pending.append(iter(targets.get(following, ())))


_PUNCTUATION = ".,;:()[]\"'"
_PLACE = ("document", "origin", "record", "id")


def duplicate_identifier(context: RuleContext) -> pl.LazyFrame:
    """An identifier of an earlier record of the document, or of a given entity."""
    key = ["document", "id"]
    tables = ("mentions", "frames", "modifiers")
    records = pl.concat(context.records(name).select(_PLACE) for name in tables)
    if not context.has_repeated_identifiers:
        return records.head(0)
    given = context.reference_mentions.rename({"mention": "id"}).join(records, on=key, how="semi")
    given = given.unique().with_columns(given=pl.lit(True))
    repeated = records.filter(row_hash(*key).is_duplicated())
    some = pl.concat([repeated, records.join(given, on=key, how="semi")]).unique()
    some = some.join(given, on=key, how="left").sort("document", "origin", "record")
    some = some.with_columns(
        first=pl.col("record").first().over(key), ordinal=pl.int_range(pl.len()).over(key)
    )
    found = some.filter(pl.col("given") | (pl.col("ordinal") > 0))
    copies = _copies(context).select("origin", "record", copy=pl.lit(True))
    found = found.join(copies, on=["origin", "record"], how="left", maintain_order="left")
    count = pl.col("copy").count().over("document", "origin")
    nth = pl.col("copy").cum_count().over("document", "origin")
    more = pl.format("in the .a1, as are {} more text spans of this file", count - 1)
    where = pl.when("given").then(pl.lit("in the .a1")).otherwise(pl.format("in line {}", "first"))
    unique = pl.lit("give each annotation of a document a unique identifier")
    remove = pl.lit("remove the lines of the .a1 file from this file")
    found = found.with_columns(
        where=pl.when(pl.col("copy") & (count > 1)).then(more).otherwise(where),
        hint=pl.when("copy").then(remove).otherwise(unique),
        nth=pl.when("copy").then(nth),
    )
    return at(found.filter(pl.col("nth").fill_null(1) == 1), "id")


def _copies(context: RuleContext) -> pl.LazyFrame:
    """The text spans that repeat given ones, with their types and offsets."""
    place = ("document", "label", "start", "end")
    key = [*place, "id"]
    given = context.against.mentions.lazy().select(*place, id="mention")
    mentions = context.records("mentions", "label", "start", "end")
    return only_if(not context.own, mentions.join(given, on=key, how="semi"))


def _references(context: RuleContext) -> pl.LazyFrame:
    """Every reference that may be dangling, at its field."""
    arguments = context.all_arguments.filter(pl.col("filler").is_null()).rename({"frame": "id"})
    triggers = context.records("frames", "trigger").drop_nulls("trigger")
    references = [
        at(arguments, pl.format("target {}", "position")),
        at(triggers, "trigger").rename({"trigger": "target"}),
        at(context.records("modifiers", "target"), "target"),
        members(context).rename({"member": "target"}),
    ]
    return pl.concat(rows.select(*_PLACE, "field", "target") for rows in references)


def may_be_unresolved(context: RuleContext) -> bool:
    """Whether an argument leads nowhere, or there are other references."""
    system = context.system
    triggers = system.frames["trigger"]
    others = triggers.null_count() < len(triggers) or system.modifiers.height
    every = context.all_arguments.select(pl.col("filler").is_null().any()).collect()
    return bool(others or system.groups.height or every.item())


def are_repeated(context: RuleContext) -> bool:
    """Whether a document has several items of one identifier."""
    return context.has_repeated_identifiers


def unresolved(context: RuleContext) -> pl.LazyFrame:
    """A reference to an identifier that the document does not have.

    References in unknown documents are not checked.
    """
    item = ["document", "target"]
    documents = context.against.documents.lazy().select(document="row")
    some = _references(context).join(documents, on="document", how="semi").collect()
    references = some.lazy()
    if some.is_empty():
        return references
    known = context.items.select(item).join(references, on=item, how="semi")
    found = references.join(known, on=item, how="anti", maintain_order="left")
    named = found.join(context.names, on="document", how="left", maintain_order="left")
    return _suggested(named, context).with_columns(document="name")


def _suggested(dangling: pl.LazyFrame, context: RuleContext) -> pl.LazyFrame:
    """Dangling references with the identifier that they have without punctuation, if any."""
    known = context.items.select("document", bare="target", known=pl.lit(True))
    bare = pl.col("target").str.strip_chars(_PUNCTUATION)
    near = dangling.with_columns(bare=bare)
    near = near.join(known, on=["document", "bare"], how="left", maintain_order="left")
    suggestion = pl.when("known").then(pl.format("; did you mean {}?", "bare"))
    return near.with_columns(suggestion=suggestion.otherwise(pl.lit(""))).drop("known", "bare")


def self_reference(context: RuleContext) -> pl.LazyFrame:
    """An event that is its own argument."""
    return nested(context).filter(pl.col("frame_row") == pl.col("filler_row"))


def cyclic_events(context: RuleContext) -> pl.LazyFrame:
    """An event that is its own argument through others, once for each cycle."""
    edges = nested(context).filter(pl.col("frame_row") != pl.col("filler_row")).collect()
    names = dict(context.system.frames.select("row", "frame").iter_rows()) if edges.height else {}
    loops = cycles(edges.select("frame_row", "filler_row").iter_rows())
    rows = [(*edge, " → ".join(names[row] for row in path)) for edge, path in loops]
    schema = {"frame_row": pl.Int64, "filler_row": pl.Int64, "path": pl.String}
    paths = pl.DataFrame(rows, schema=schema, orient="row")
    found = edges.join(paths, on=["frame_row", "filler_row"])
    return found.unique(["frame_row", "filler_row"], maintain_order=True).lazy()
