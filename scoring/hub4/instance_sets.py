"""Instance sets: what both sides say, in the shape that is compared, and which sets can be mapped.

A side is its instances and their fills: one row a single fill of a scored slot, its strings worded
for comparing, and the minimal strings of a reference apart. Sets go together by document or, where
the system's text is not segmented, are candidates if they overlap ("Mapping Instance Sets").
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Literal

import numpy as np
import polars as pl

from hlteval.representation import Corpus
from hlteval.representation.global_map import GlobalMap
from hlteval.scoring.hub4.normalizer import TextNormalizer
from hlteval.scoring.hub4.text_columns import Scale, Text, TextPair, in_columns, same_file
from hlteval.scoring.hub4.word_alignment import DOCUMENT, SCLITE, Costs, Integers, Lexicon

Mode = Literal["content", "extent", "both"]
MODES: tuple[Mode, ...] = ("content", "extent", "both")
#: Slots without points, unless others are named: no system fills them on its own.
UNSCORED = ("DOC_NR", "COMMENT", "OBJ_STATUS")
FILLERS = ("uh", "um")
#: The examples of the specification.
PREMODIFIERS = ("and", "a", "the")
NONE = "none"
#: A pair of documents or instances of a set.
MAPPED = {"set": pl.Int64, "reference": pl.Int64, "system": pl.Int64}
#: What identifies a slot of an instance: a name, and which slot of that name it is.
_SLOT = ("slot", "occurrence")

#: Reads the texts of a corpus by document; unsegmented, all of it under the empty name.
Texts = Callable[[], Mapping[str, Text]]
#: What makes the extents of each document columns, for the reference and the system.
Scales = tuple[Mapping[int, Scale] | None, Mapping[int, Scale] | None]


@dataclass(frozen=True)
class Options:
    """The choices that the specification leaves to the scorer.

    Attributes:
        mode: what single fills are compared by.
        unscored: slots that give no points, as `SLOT` or `TYPE.SLOT`.
        corpus: the texts of the reference.
        hyp_corpus: the texts of the system; extents are aligned where they differ.
        unsegmented: whether the system's offsets count from the beginning of its corpus.
        glm: global maps for the spellings of the reference and of the system, unless both corpora
            are given and identical.
        align: whether extents are compared by the alignment of the texts.
        align_costs: the costs of that alignment; empty: `phones` with a lexicon, else `document`.
        lexicon: the pronunciations of words.
        ignore_case: whether case is ignored in any case; where texts differ it always is.
        noisy: whether words are compared, of which fillers and fragments may be absent.
        fillers: the pause fillers of noisy texts.
        premodifiers: words that are removed from the beginnings of fills; `none` alone for no word.
        premodifiers_anywhere: whether they are removed from all places.
        whiteout: characters that count as spaces.
        nonextractable: elements whose text counts as spaces.
        type_order: the types in the order in which they are mapped; by what points to what if
            empty.
        top: the type of the instance that ties a set together, which is mapped in any case.
        zero_f: whether pairs without a correct point are mapped: always (`map`, as the algorithm
            says), not if the reference's instance is optional, or never (`skip`).
        beta: the weight of recall in the reported F-measures; pairs are mapped with 1.
    """

    mode: Mode | Literal["all"] = "all"
    unscored: tuple[str, ...] = UNSCORED
    corpus: Texts | None = None
    hyp_corpus: Texts | None = None
    unsegmented: bool = False
    glm: tuple[GlobalMap, GlobalMap] | None = None
    align: bool = False
    align_costs: Literal["", "document", "sclite", "phones"] = ""
    lexicon: Lexicon | None = None
    ignore_case: bool = False
    noisy: bool = False
    fillers: tuple[str, ...] = FILLERS
    premodifiers: tuple[str, ...] = PREMODIFIERS
    premodifiers_anywhere: bool = False
    whiteout: str = ""
    nonextractable: tuple[str, ...] = ()
    type_order: tuple[str, ...] = ()
    zero_f: Literal["map", "skip-optional", "skip"] = "map"
    top: str = "TEMPLATE"
    beta: float = 1.0

    @property
    def modes(self) -> tuple[Mode, ...]:
        """The modes of comparison, in order."""
        return MODES if self.mode == "all" else (self.mode,)

    @property
    def aligns(self) -> bool:
        """Whether extents are compared by the alignment of the texts: if they differ."""
        return (self.align or self.hyp_corpus is not None) and not self.identical

    @cached_property
    def texts_by_document(self) -> tuple[Mapping[str, Text], Mapping[str, Text]]:
        """The texts of both sides; empty where they are not given."""
        return (self.corpus() if self.corpus else {}, self.hyp_corpus() if self.hyp_corpus else {})

    @cached_property
    def identical(self) -> bool:
        """Whether both corpora are given and have the same texts."""
        if self.corpus is None or self.hyp_corpus is None:
            return False
        reference, system = self.texts_by_document
        return same_file(reference, system[""]) if "" in system else reference == system

    @property
    def _maps(self) -> tuple[GlobalMap | None, GlobalMap | None]:
        """The global maps, if spellings are compared by them."""
        return (None, None) if self.glm is None or self.identical else self.glm

    @cached_property
    def normalizers(self) -> list[TextNormalizer]:
        """How the strings of the reference and of the system are normalised."""
        return [
            TextNormalizer(
                spellings=spellings,
                fold=self.aligns or spellings is not None or self.ignore_case,
                whiteout=self.whiteout,
                nonextractable=self.nonextractable,
                premodifiers=() if self.premodifiers == (NONE,) else self.premodifiers,
                anywhere=self.premodifiers_anywhere,
            )
            for spellings in self._maps
        ]

    @cached_property
    def texts(self) -> TextPair | None:
        """The texts of both sides, where they differ or are not segmented.

        Raises:
            ValueError: if those of a side are not given, or a lexicon is not.
        """
        if not self.aligns and not self.unsegmented:
            return None
        if self.corpus is None or (self.aligns and self.hyp_corpus is None):
            raise ValueError("the texts of both sides are needed to align them")
        if self.align_costs == "phones" and self.lexicon is None:
            raise ValueError("words are aligned by phones with a lexicon only")
        costs: Costs = SCLITE if self.align_costs == "sclite" else DOCUMENT
        if self.lexicon and self.align_costs in ("", "phones"):
            costs = self.lexicon.costs()
        return TextPair(*self.texts_by_document, self._maps, costs)


@dataclass(frozen=True)
class Side:
    """The instances of a reference or of a system.

    Attributes:
        instances: `instance`, `document`, `type`, `pointer`, `is_optional`, in the file's order.
        fills: `fill`, `instance`, `document`, `type`, `slot`, `occurrence`, `place` (the number of
            the slot), `slot_optional`, `alternative`, `position`, `kind`, `text`, `content`,
            `start`, `end`, and `whole` and `whole_start` with premodifiers; of a pointer `target`
            and `target_type`, null where it leads nowhere.
        minimal: `fill`, `content`, `start`, `end`, and `bare`, whether it has nothing but
            premodifiers: a row per minimal string of a reference.
        whole: `document`, `start`, `end`: from the first to the last offset of all text fills.
    """

    instances: pl.DataFrame
    fills: pl.DataFrame
    minimal: pl.DataFrame
    whole: pl.DataFrame

    @property
    def order(self) -> pl.DataFrame:
        """The documents in the order of their first instances: `document`, `order`."""
        firsts = self.instances.group_by("document").agg(order=pl.col("instance").min())
        return firsts.sort("order")

    def of(self, documents: pl.Series) -> Side:
        """The instances of some documents, in the same numbering."""
        inside = pl.col("document").is_in(documents.drop_nulls().implode())
        fills = self.fills.filter(inside)
        minimal = self.minimal.filter(pl.col("fill").is_in(fills["fill"].implode()))
        return Side(self.instances.filter(inside), fills, minimal, self.whole.filter(inside))


@dataclass(frozen=True)
class InstanceSets:
    """Two sides, and which of their instance sets can be mapped.

    Attributes:
        reference: the reference.
        system: the system.
        slots: `place`, `slot`, `occurrence`: the slots of both sides, numbered.
        most: one more than the greatest number of alternatives of a slot.
        pairs: `set`, `reference`, `system`: documents; one is null where a set is left over.
        settled: whether these are the mapping, and not only what overlaps.
        names: the name of each document of either side: `document`, `name`.
    """

    reference: Side
    system: Side
    slots: pl.DataFrame
    most: int
    pairs: pl.DataFrame
    settled: bool
    names: tuple[pl.DataFrame, pl.DataFrame]

    @property
    def sides(self) -> Mapping[str, Side]:
        """Both sides by name."""
        return {"reference": self.reference, "system": self.system}

    @property
    def places(self) -> int:
        """The number of different slots."""
        return max(self.slots.height, 1)

    def parts(self, size: int) -> Iterator[InstanceSets]:
        """Some sets at a time, in order; all at once where it is not settled what is mapped."""
        if not self.settled or self.pairs.height <= size:
            yield self
            return
        for pairs in self.pairs.iter_slices(size):
            sides = self.reference.of(pairs["reference"]), self.system.of(pairs["system"])
            yield replace(self, reference=sides[0], system=sides[1], pairs=pairs)

    def with_rest(self, mapped: pl.DataFrame) -> pl.DataFrame:
        """Pairs of sets, then the sets of either side that are in none, numbered."""
        rest = (
            side.order.select(pl.col("document").alias(name)).join(mapped, on=name, how="anti")
            for name, side in self.sides.items()
        )
        rows = pl.concat([mapped, *rest], how="diagonal")
        return rows.with_columns(set=pl.int_range(pl.len(), dtype=pl.Int64)).select(*MAPPED)

    def with_slots(self, rows: pl.DataFrame) -> pl.DataFrame:
        """Rows with the names of slots, `slot`; `at` is `places` times a pair, plus the place."""
        names = self.slots.select("slot", at="place")
        place = pl.col("at") % self.places
        return rows.join(names, left_on=place, right_on="at", how="left", maintain_order="left")

    def with_names(self, pairs: pl.DataFrame) -> pl.DataFrame:
        """Pairs of sets with the names of their documents: `document`, `document_system`."""
        ours, theirs = (names.rename({"document": "row"}) for names in self.names)
        named = pairs.join(ours, left_on="reference", right_on="row", how="left")
        named = named.join(theirs, left_on="system", right_on="row", how="left", suffix="_system")
        return named.select("set", document="name", document_system="name_system")


def by_document(reference: Corpus, system: Corpus, options: Options) -> InstanceSets:
    """The sets of two corpora whose documents are numbered alike, mapped by document.

    This is "Segmented Hypothesis Documents".
    """
    scales: Scales = (None, None)
    if options.aligns and options.texts is not None:
        ours, theirs = _names(reference), _names(system)
        both = ours.join(theirs, on="document", suffix="_system")
        pairs = options.texts.scales(both.select("name", "name_system").iter_rows())
        known = [(row, pair) for row, pair in zip(both["document"], pairs, strict=True) if pair]
        scales = {row: pair[0] for row, pair in known}, {row: pair[1] for row, pair in known}
    sets = _sets(reference, system, options, scales)
    same = sets.system.order.select("document", system="document")
    mapped = sets.reference.order.join(same, on="document").select("system", reference="document")
    return replace(sets, pairs=sets.with_rest(mapped), settled=True)


def by_overlap(reference: Corpus, system: Corpus, options: Options) -> InstanceSets:
    """The sets of a reference and of a system without documents, as far as they overlap.

    This is "Unsegmented Hypothesis Texts": a set of the system reaches from the smallest to the
    largest offset of its text fills, one of the reference over its document, both counted from the
    beginning of the corpus. Ends that touch overlap.
    """
    texts = options.texts_by_document[0]
    extents = pl.DataFrame(
        [
            (document, text.start, text.start + len(text.text))
            for document, name in _names(reference).iter_rows()
            if (text := texts.get(name)) is not None
        ],
        dict.fromkeys(("document", "start", "end"), pl.Int64),
        orient="row",
    )
    offsets = dict(extents.select("document", "start").iter_rows())
    scales: Scales = (None, None)
    pair = options.texts.whole() if options.aligns and options.texts is not None else None
    if pair is not None:
        ours, theirs = _names(reference)["document"], _names(system)["document"]
        scales = dict.fromkeys(ours, pair[0]), dict.fromkeys(theirs, pair[1])
        extents = in_columns(extents, scales[0] or {})
    sets = _sets(reference, system, options, scales, offsets)
    # Documents may lie inside each other: of those before one, the end that is farthest counts.
    extents = extents.sort("start", maintain_order=True)
    whole = sets.system.whole
    first = extents["end"].cum_max().search_sorted(whole["start"], side="left").to_numpy()
    last = extents["start"].search_sorted(whole["end"], side="right").to_numpy()
    number, place = ranges(first.astype(np.int64), last.astype(np.int64))
    documents = {"reference": extents["document"][place], "system": whole["document"][number]}
    pairs = pl.DataFrame(documents)
    known = sets.reference.order.select(reference="document")
    pairs = pairs.join(known, on="reference", how="semi", maintain_order="left")
    pairs = pairs.with_columns(set=pl.int_range(pl.len(), dtype=pl.Int64)).select(*MAPPED)
    return replace(sets, pairs=pairs, settled=False)


def ranges(first: Integers, last: Integers) -> tuple[Integers, Integers]:
    """The members of ranges, each from a first to before a last: the range's number, the member."""
    counts = np.maximum(last - first, 0)
    numbers = np.repeat(np.arange(len(counts)), counts)
    within = np.arange(len(numbers)) - np.repeat(np.cumsum(counts) - counts, counts)
    return numbers, first[numbers] + within


def _names(corpus: Corpus) -> pl.DataFrame:
    return corpus.documents.select(document="row", name="name")


def _sets(
    reference: Corpus,
    system: Corpus,
    options: Options,
    scales: Scales,
    offsets: Mapping[int, int] | None = None,
) -> InstanceSets:
    """Both sides, their slots numbered alike, not mapped yet.

    Args:
        reference: the reference.
        system: the system, of which the first alternative of each slot counts.
        options: how strings are normalised, and what is not scored.
        scales: the columns of each document, where extents are compared by them.
        offsets: what is added to the extents of each document of the reference.
    """
    normalizers = options.normalizers
    ours = _side(reference, normalizers[0], options, scales[0], offsets)
    first = system.fills.filter(alternative=1)
    theirs = _side(system.replace(fills=first), normalizers[1], options, scales[1])
    fills = pl.concat(side.fills.select(*_SLOT, "alternative") for side in (ours, theirs))
    slots = fills.select(_SLOT).unique(maintain_order=True).with_row_index("place")
    slots = slots.with_columns(pl.col("place").cast(pl.Int64))
    ours, theirs = (
        replace(side, fills=side.fills.join(slots, on=_SLOT, how="left", maintain_order="left"))
        for side in (ours, theirs)
    )
    most = fills.select(pl.col("alternative").max().fill_null(0)).item() + 1
    names = _names(reference), _names(system)
    return InstanceSets(ours, theirs, slots, most, pl.DataFrame(schema=MAPPED), False, names)


def _side(
    corpus: Corpus,
    normalizer: TextNormalizer,
    options: Options,
    scales: Mapping[int, Scale] | None,
    offsets: Mapping[int, int] | None = None,
) -> Side:
    """The instances of a corpus, their fills with strings and extents as they are compared."""
    instances = corpus.frames.filter(kind="templette").select(
        "document",
        instance="row",
        type="label",
        pointer="frame",
        is_optional=pl.col("optional").fill_null(False),
    )
    columns = ("slot", "slot_number", "alternative", "position", "kind", "text")
    fills = corpus.fills.filter(pl.col("kind") != "empty").select(
        *columns, "extents", "brackets",
        pointer="target", fill="row", instance="frame_row", slot_optional="optional",
    )  # fmt: skip
    owners = instances.select("instance", "document", "type")
    targets = instances.unique(["document", "pointer"], keep="first", maintain_order=True)
    targets = targets.select("document", "pointer", target="instance", target_type="type")
    fills = fills.join(owners, on="instance", maintain_order="left")
    fills = fills.join(targets, on=["document", "pointer"], how="left", maintain_order="left")
    occurrence = pl.col("slot_number").rank("dense").over("instance", "slot").cast(pl.Int64)
    fills = fills.with_columns(occurrence=occurrence).drop("slot_number", "pointer")

    texts = fills.filter(kind="text")
    strings = _with_offsets(_maximal(texts, normalizer), offsets, scales)
    minimal = _with_offsets(_minimal(texts, normalizer), offsets, scales).drop("document")
    whole = strings.group_by("document").agg(
        start=pl.min_horizontal(pl.col("start").min(), pl.col("end").min()),
        end=pl.max_horizontal(pl.col("start").max(), pl.col("end").max()),
    )
    full = pl.concat_str("type", "slot", separator=".")
    unscored = pl.col("slot").is_in(options.unscored) | full.is_in(options.unscored)
    fills = fills.filter(~unscored).drop("extents", "brackets")
    fills = fills.join(strings.drop("document"), on="fill", how="left", maintain_order="left")
    return Side(instances, fills, minimal, whole.drop_nulls())


def _maximal(texts: pl.DataFrame, normalizer: TextNormalizer) -> pl.DataFrame:
    """The maximal string of each text fill, with its extent."""
    extent = pl.col("extents").list.first().struct
    worded = normalizer.normalize_all(texts["text"])
    extents = {"whole_start": extent.field("start"), "end": extent.field("end")}
    rows = texts.select("fill", "document", **extents).hstack(worded.drop("text", "bare"))
    # Some premodifiers stay, of which minimal strings consist.
    if normalizer.premodifiers:
        some = texts.filter((pl.col("brackets").list.len() > 0).fill_null(False))
        kept = []
        for fill, text, brackets in some.select("fill", "text", "brackets").iter_rows():
            spans = ((part["start"], part["end"]) for part in brackets)
            wording = normalizer.normalize(text, spans)
            kept.append((fill, wording.content, wording.shift))
        schema = {"fill": pl.Int64, "content": pl.String, "shift": pl.Int64}
        rows = rows.update(pl.DataFrame(kept, schema, orient="row"), on="fill")
    start = pl.col("whole_start") + pl.col("shift")
    return rows.with_columns(start=start).drop("shift")


def _minimal(texts: pl.DataFrame, normalizer: TextNormalizer) -> pl.DataFrame:
    """The minimal strings of each text fill, with their extents."""

    def parts(lists: pl.Expr) -> pl.DataFrame:
        """A row per part of lists of stretches, numbered within each fill."""
        listed = texts.select("fill", "document", "text", part=lists)
        some = listed.filter((pl.col("part").list.len() > 0).fill_null(False))
        rows = some.explode("part").unnest("part")
        return rows.with_columns(number=pl.int_range(pl.len(), dtype=pl.Int64).over("fill"))

    string = pl.col("text").str.slice("start", pl.col("end") - pl.col("start"))
    strings = parts(pl.col("brackets")).select("fill", "document", "number", text=string)
    extents = parts(pl.col("extents").list.slice(1)).drop("text")
    rows = strings.join(extents, on=["fill", "document", "number"], how="full", coalesce=True)
    rows = rows.sort("fill", "number")
    worded = normalizer.normalize_all(rows["text"]).drop("text", "whole")
    rows = rows.drop("text", "number").hstack(worded)
    return rows.with_columns(start=pl.col("start") + pl.col("shift")).drop("shift")


def _with_offsets(
    rows: pl.DataFrame, offsets: Mapping[int, int] | None, scales: Mapping[int, Scale] | None
) -> pl.DataFrame:
    """Extents in the offsets, and then in the columns, in which the two sides are compared."""
    more = [name for name in ("whole_start",) if name in rows.columns]
    if offsets is not None:
        begin = pl.col("document").replace_strict(offsets, default=None, return_dtype=pl.Int64)
        rows = rows.with_columns(pl.col("start", "end", *more) + begin)
    return rows if scales is None else in_columns(rows, scales, more)
