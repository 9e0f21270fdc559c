"""Overlaps of entities that the lines <OVERLAP> of an annotation.conf do not allow.

brat's own check of a collection is followed: of two entities whose extents overlap, spans may be
equal, one may contain the other, with each fragment in one of the other, or else they cross. Where
no line declares overlaps, brat's check allows none, but many collections were never checked: there
nothing is judged.
"""

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import groupby, islice
from math import inf
from operator import itemgetter
from typing import NamedTuple

import polars as pl

from hlteval.converters.standoff.annotation_conf import ANY, AnnotationConf, ConfOverlap

#: The most declarations that are distinguished, and entities around one that are judged with it.
_MOST, _NEAR = 100, 50
#: The kinds of overlaps in messages; that of an entity within another is `contain` for brat.
_KINDS: Mapping[str, str] = {
    "equal": "have the span of",
    "contain": "be inside of",
    "cross": "cross",
}


class Entity(NamedTuple):
    """An entity: its file, record, identifier and label, and its fragments."""

    origin: int
    record: int
    id: str
    label: str
    spans: tuple[tuple[int, int], ...]

    @property
    def start(self) -> int:
        """The start of its first fragment."""
        return min(start for start, _ in self.spans)

    @property
    def end(self) -> int:
        """The end of its last fragment."""
        return max(end for _, end in self.spans)

    def contains(self, other: "Entity") -> bool:
        """Whether each fragment of another entity is inside of one of its own."""
        before = (bisect_right(self.spans, (start, inf)) - 1 for start, _ in other.spans)
        return all(
            at >= 0 and end <= self.spans[at][1]
            for at, (_, end) in zip(before, other.spans, strict=True)
        )


#: Whether an entity of a label may have a kind of overlap with one of another label.
Rules = Callable[[str, str, str], bool]


def wrong_overlaps(conf: AnnotationConf, mentions: pl.DataFrame) -> Iterator[dict[str, object]]:
    """Yield a row for each entity that overlaps another as no line allows.

    Each entity has one row at most, with the first of the others: an earlier one, or one around it.

    Args:
        conf: the configuration.
        mentions: the entities with `document`, `origin`, `record`, `id`, `label`, and their places.
    """
    if not conf.overlaps:
        return
    is_allowed = _rules(conf, mentions["label"].unique().to_list())
    for cluster in _clusters(mentions):
        for entity, other, kind in _wrong_pairs(cluster, is_allowed):
            line = f"<OVERLAP> Arg1:{entity.label}, Arg2:{other.label}, <OVL-TYPE>:{kind}"
            place = {"origin": entity.origin, "record": entity.record, "field": "fragments"}
            yield {
                **place,
                "code": "ACF208",
                "at": conf.overlaps[0].at,
                "id": entity.id,
                "label": entity.label,
                "role": _KINDS[kind],
                "given": f"{other.label} {other.id}",
                "hint": f"correct a span, or declare {line}",
            }


def _clusters(mentions: pl.DataFrame) -> Iterator[list[Entity]]:
    """Yield the entities of each stretch of text in which each overlaps one before it."""
    longest_first = [pl.col("document"), pl.col("start"), -pl.col("end"), pl.col("record")]
    rows = mentions.sort(longest_first)
    before = pl.col("end").cum_max().shift(1).over("document")
    begins = (pl.col("start") >= before).fill_null(value=True)
    rows = rows.with_columns(cluster=begins.cast(pl.Int64).cum_sum())
    rows = rows.filter(pl.len().over("cluster") > 1)
    columns = ("origin", "record", "id", "label", "start", "end", "fragments")
    for _, group in groupby(rows.select("cluster", *columns).iter_rows(), key=itemgetter(0)):
        cluster = []
        for _, origin, record, name, label, start, end, parts in group:
            spans = [(part["start"], part["end"]) for part in parts or ()] or [(start, end)]
            cluster.append(Entity(origin, record, name, label, tuple(sorted(spans))))
        yield cluster


def _wrong_pairs(
    cluster: Sequence[Entity], is_allowed: Rules
) -> Iterator[tuple[Entity, Entity, str]]:
    """Yield each entity that is wrong with another, and how they overlap.

    Entities of one span and label are alike to all others: these are compared once.
    """
    same: dict[object, dict[str, Entity]] = defaultdict(dict)
    others: dict[tuple[object, str], tuple[Entity, str] | None] = {}
    wrong, around = set[Entity](), list[Entity]()
    for entity in cluster:
        alike, key = same[entity.spans], (entity.spans, entity.label)
        equal = (each for each in islice(alike.values(), _MOST))
        found = next((e for e in equal if not is_allowed(entity.label, e.label, "equal")), None)
        pair = None if found is None else (found, "equal")
        alike.setdefault(entity.label, entity)
        if key not in others:
            others[key] = None
            for other in around[: -_NEAR - 1 : -1]:
                if other.spans == entity.spans or other.end <= entity.start:
                    continue
                if entity.contains(other):  # it has the same extent, and fragments
                    is_wrong = not is_allowed(other.label, entity.label, "contain")
                    if is_wrong and other not in wrong:
                        wrong.add(other)
                        yield other, entity, "contain"
                    continue
                kind = "contain" if other.contains(entity) else "cross"
                if not is_allowed(entity.label, other.label, kind):
                    others[key] = other, kind
                    break
            around.append(entity)
            if len(around) > 2 * _NEAR:
                around = [each for each in around if each.end > entity.start][-_NEAR:]
        pair = pair or others[key]
        if pair and entity not in wrong:
            wrong.add(entity)
            yield entity, *pair


def _rules(conf: AnnotationConf, labels: Iterable[str]) -> Rules:
    """Make the function that tells what is allowed: bits are declarations."""
    declared = {overlap._replace(at=0, arguments=()): None for overlap in conf.overlaps}
    overlaps = [*declared]
    if len(overlaps) > _MOST:  # one with all types and kinds
        inner_types = frozenset[str]().union(*(o.inner for o in overlaps))
        outer_types = frozenset[str]().union(*(o.outer for o in overlaps))
        kinds = frozenset[str]().union(*(o.kinds for o in overlaps))
        overlaps = [ConfOverlap(inner_types, outer_types, kinds)]

    def bits(are: Iterable[bool]) -> int:
        return sum(1 << at for at, is_one in enumerate(are) if is_one)

    names = {label: conf.names_of(label) for label in labels}
    inner = {own: bits(not n.isdisjoint(o.inner) for o in overlaps) for own, n in names.items()}
    outer = {own: bits(not n.isdisjoint(o.outer) for o in overlaps) for own, n in names.items()}
    any_kind = bits(ANY in o.kinds for o in overlaps)
    of_kind = {kind: bits(kind in o.kinds for o in overlaps) | any_kind for kind in _KINDS}

    def is_allowed(first: str, second: str, kind: str) -> bool:
        as_written, swapped = inner[first] & outer[second], inner[second] & outer[first]
        back = any_kind if kind == "contain" else of_kind[kind]
        return bool(as_written & of_kind[kind] | swapped & back)

    return is_allowed
