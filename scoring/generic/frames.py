"""Relations and events of both sides as arrays: which are equal, and which have alike arguments.

A frame is a relation or an event: a label, possibly a trigger, and arguments with roles. Of a
mention that fills a role, only what the options say has to be equal; a frame that does is equal to
another by its own label, trigger and arguments, however deep. Identifiers are first looked up on
their own side, then in the reference, whose mentions may be given. The arguments of a fact are
entities: their identifiers must be equal.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np
import polars as pl

from hlteval.representation import FACT, ROLES, Corpus, frame_keys, look_up, row_hash
from hlteval.scoring.generic.averages import LabelOptions
from hlteval.scoring.generic.spans import Pairs, Units, Whole, best, combine, join, overlaps, sides

#: What of a mention must be equal.
Arguments = Literal["span+label", "span", "end", "end+label", "overlap"]
#: Of so many arguments, each has a partner of its own if each argument of both sides has any.
_FEW = 2
#: Frames within frames are compared so deep.
_DEPTH = 30


@dataclass(frozen=True, kw_only=True)
class FrameOptions(LabelOptions):
    """Labels, and when arguments are the same.

    Attributes:
        arguments: what of the mention of an argument must be equal.
        symmetric: labels whose arguments can be swapped.
        optional: roles that are not compared.
    """

    arguments: Arguments = "span+label"
    symmetric: tuple[str, ...] = ()
    optional: tuple[str, ...] = ()


@dataclass(frozen=True)
class Frames:
    """The frames of both sides.

    Attributes:
        rows: a row per frame, those of the reference first: `document`, `label` (null if ignored),
            whether it `counts` and is of the `system`, its `frame` as written, and its `trigger`,
            an index of `mentions` or -1.
        arguments: a row per argument: the index `id` of its frame, the `role`, the `mention` and
            the `nested` frame that fills it, -1 for none, the `entity` that does, null for none,
            and its words, the `text`.
        mentions: the mentions of both sides, those of the reference first.
        same: of each mention, what must be equal, as a number.
    """

    rows: pl.DataFrame
    arguments: pl.DataFrame
    mentions: Units
    same: Whole

    @cached_property
    def document(self) -> Whole:
        """The number of the document of each frame."""
        return self.rows["document"].to_numpy()

    @cached_property
    def label(self) -> Whole:
        """A number for the label of each frame."""
        return _codes(self.rows["label"])

    @cached_property
    def keys(self) -> Whole:
        """A number for each frame, equal for equal frames of a document."""
        return combine(self._classes[0], self.document)

    @cached_property
    def contents(self) -> Whole:
        """A number for each frame, equal for frames of a document but for their labels."""
        return combine(self._classes[1], self.document)

    def heads(self, *, by_label: bool) -> Whole:
        """A number for each frame, equal for frames of a document with the same trigger."""
        trigger = _at(self.same, self.rows["trigger"].to_numpy())
        head = _dense(np.where(trigger < 0, -2 - np.arange(len(trigger)), trigger))
        return combine(combine(head, self.label) if by_label else head, self.document)

    @cached_property
    def _classes(self) -> tuple[Whole, Whole]:
        """Numbers of frames, with and without their own labels, whatever their documents."""
        trigger = _at(self.same, self.rows["trigger"].to_numpy())
        own = _dense(combine(self.label, trigger))
        nested = self.arguments["nested"].to_numpy()
        mention = _at(self.same, self.arguments["mention"].to_numpy())
        dangling = (nested < 0) & (mention < 0) & (self._entity < 0)
        filler = _dense(np.where(dangling, -2 - np.arange(len(nested)), mention))
        if (self._entity >= 0).any():
            filler = _dense(combine(filler, self._entity))
        value = _dense(combine(filler, _codes(self.arguments["role"])))
        found, content = own, np.zeros(len(own), dtype=np.int64)
        is_nested = bool((nested >= 0).any())
        for _ in range(_DEPTH if is_nested else 1):
            before = int(found.max(initial=0))
            content = self._content(combine(value, _at(found, nested)))
            found = _dense(combine(own, content))
            if int(found.max(initial=0)) == before:
                break
        return found, _dense(combine(_dense(trigger), content))

    @cached_property
    def _entity(self) -> Whole:
        """A number for the entity of each argument, -1 for none."""
        return _codes(self.arguments["entity"])

    def _content(self, values: Whole) -> Whole:
        """A number for the arguments of each frame, equal where these are, in any order."""
        table = pl.DataFrame({"frame_row": self.arguments["id"], "value": _dense(values)})
        keys = frame_keys(table)
        content = np.zeros(self.rows.height, dtype=np.int64)
        content[keys["frame_row"].to_numpy()] = keys["content"].to_numpy() + 1
        return _dense(content)

    def alike(self, left: Whole, right: Whole, *, typed: bool) -> Pairs:
        """Pairs of frames with equal labels whose triggers and arguments all overlap.

        Args:
            left: indices of frames.
            right: indices of others.
            typed: whether the labels of mentions must be equal.
        """
        sides = [self._fillers(chosen, name) for chosen, name in ((left, "left"), (right, "right"))]
        fillers = [side.filter(pl.col("mention") >= 0)["mention"].unique().sort() for side in sides]
        ours, theirs = (each.to_numpy() for each in fillers)
        pairs, _ = overlaps(self.mentions.take(ours), self.mentions.take(theirs))
        first, second = ours[pairs.left], theirs[pairs.right]
        if typed:
            equal = self.mentions.label[first] == self.mentions.label[second]
            first, second = first[equal], second[equal]
        touching = pl.DataFrame({"mention": first, "mention_right": second})
        by_mention = (
            sides[0]
            .join(touching, on="mention")
            .join(
                sides[1].rename({"mention": "mention_right"}),
                on=["mention_right", "role", "label"],
                nulls_equal=True,
            )
        )
        inner = pl.max_horizontal("inner", "entity") >= 0
        others = [side.filter(inner) for side in sides]
        by_frame = others[0].join(others[1], on=["inner", "entity", "role", "label"])
        columns = ["left", "right", "left_size", "right_size", "left_at", "right_at"]
        every = pl.concat([by_mention.select(columns), by_frame.select(columns)])
        groups = every.group_by("left", "right", "left_size", "right_size").agg(
            pl.col("left_at", "right_at").n_unique()
        )
        whole = groups.filter(
            pl.col("left_at") == pl.col("left_size"), pl.col("right_at") == pl.col("right_size")
        )
        whole = whole.filter(pl.col("left_size") == pl.col("right_size")).sort("left", "right")
        if (large := whole.filter(pl.col("left_size") > _FEW)).height:
            # several may overlap one only: each needs a partner of its own
            some = every.join(large, on=["left", "right"], how="semi")
            ends = (
                some.select(pl.struct("left", "right", at).rank("dense")).to_series().cast(pl.Int64)
                for at in ("left_at", "right_at")
            )
            chosen = best(Pairs(*(end.to_numpy() for end in ends)), np.ones(some.height, np.int64))
            paired = some.filter(chosen).group_by("left", "right").agg(left_size=pl.len())
            lacking = large.join(
                paired.cast({"left_size": large.schema["left_size"]}),
                on=["left", "right", "left_size"],
                how="anti",
            )
            whole = whole.join(lacking, on=["left", "right"], how="anti", maintain_order="left")
        return Pairs(whole["left"].to_numpy(), whole["right"].to_numpy())

    def _fillers(self, chosen: Whole, name: str) -> pl.DataFrame:
        """The arguments and triggers of some frames, with how many each frame has."""
        nested = self.arguments["nested"].to_numpy()
        rows = pl.DataFrame({"id": chosen, "label": self.label[chosen]})
        arguments = self.arguments.select(
            "id", "role", "mention", inner=_at(self.keys, nested), entity=self._entity
        )
        number, none = pl.int_range(pl.len(), dtype=pl.Int64), pl.lit(-1, pl.Int64)
        triggers = self.rows.select(
            id=number, role=pl.lit(None, pl.String), mention="trigger", inner=none, entity=none
        )
        arguments = pl.concat([arguments, triggers.filter(pl.col("mention") >= 0)])
        arguments = arguments.with_columns(at=pl.int_range(pl.len()))
        found = rows.join(arguments, on="id", maintain_order="left")
        found = found.with_columns(size=pl.len().over("id"))
        return found.rename({"id": name, "at": f"{name}_at", "size": f"{name}_size"})


def _at(values: Whole, index: Whole) -> Whole:
    """The values at some places; -1 at -1."""
    return np.where(index < 0, -1, values[index]) if len(values) else index


def _codes(texts: pl.Series) -> Whole:
    """A number for each text."""
    return texts.cast(pl.Categorical).to_physical().cast(pl.Int64).fill_null(-1).to_numpy()


def _dense(values: Whole) -> Whole:
    """Numbers from 0 without gaps, equal where values are."""
    low, high = int(values.min(initial=0)), int(values.max(initial=0))
    if high - low > _SPARSE * len(values):
        return np.unique(values, return_inverse=True)[1]
    seen = np.zeros(high - low + 1, dtype=np.int64)
    seen[values - low] = 1
    return (np.cumsum(seen) - 1)[values - low]


#: Numbers are sorted where there are so many times as many possible ones.
_SPARSE = 8


def frames_of(
    reference: Corpus, system: Corpus, kinds: Sequence[str], options: FrameOptions
) -> Frames:
    """The frames of two corpora with the same numbers of documents.

    Args:
        reference: the reference.
        system: the system.
        kinds: which frames count; others can fill roles.
        options: their labels, and what of their arguments is compared.
    """
    both = sides(reference, system, LabelOptions(), unique=False)
    mentions = join(both.reference, both.system)
    corpora = ((reference, 0), (system, len(both.reference)))
    number = pl.int_range(pl.len(), dtype=pl.Int64)
    known = [
        corpus.mentions.select("document", "text", target="mention", mention=number + first)
        for corpus, first in corpora
    ]
    known = [_distinct(each) for each in known]
    rows, arguments, first = [], [], 0
    for at, (corpus, _) in enumerate(corpora):
        own = known[at::-1]  # a system may name mentions of the reference
        frames = _rows(corpus, first, kinds, options)
        trigger = _mentions_of(frames.select("document", target="trigger"), own)
        rows.append(frames.with_columns(trigger=trigger["mention"].fill_null(-1)))
        arguments.append(_arguments(corpus, frames, own, options))
        first += frames.height
    table = pl.concat([r.with_columns(system=pl.lit(at == 1)) for at, r in enumerate(rows)])
    return Frames(
        table, pl.concat(arguments), mentions, _comparison_keys(mentions, options.arguments)
    )


def _distinct(known: pl.DataFrame) -> pl.DataFrame:
    """Rows with what is looked up, the first of each key."""
    if known.select(row_hash(*_KEY)).to_series().n_unique() == known.height:
        return known
    return known.unique(_KEY, keep="first", maintain_order=True)


def _mentions_of(keys: pl.DataFrame, known: Sequence[pl.DataFrame]) -> pl.DataFrame:
    """Keys with the `mention` and its `text`, of the first tables that have each."""
    found = look_up(keys, known[0])
    for other in known[1:]:
        if found["mention"].has_nulls():
            more, lacking = look_up(keys, other), pl.col("mention").is_null()
            found = found.with_columns(
                pl.when(lacking).then(more[name]).otherwise(name).alias(name)
                for name in ("text", "mention")
            )
    return found


#: What is looked up.
_KEY = ["document", "target"]


def _rows(corpus: Corpus, first: int, kinds: Sequence[str], options: FrameOptions) -> pl.DataFrame:
    """The frames of a corpus, numbered from the first."""
    label = options.prepare(pl.col("label"))
    of_kind = pl.col("kind").is_in(list(kinds))
    return corpus.frames.select(
        *("document", "frame", "trigger", "kind"),
        label=pl.when(of_kind).then(label).otherwise("label"),
        counts=of_kind,
        id=pl.int_range(first, first + pl.len(), dtype=pl.Int64),
        frame_row="row",
    )


def _arguments(
    corpus: Corpus, frames: pl.DataFrame, known: Sequence[pl.DataFrame], options: FrameOptions
) -> pl.DataFrame:
    """The arguments of frames, with what fills them."""
    own = frames.select("frame_row", "id", "label", "kind")
    rows = corpus.arguments.select("document", "frame_row", "role", "target", "position")
    rows = rows.join(own, on="frame_row", maintain_order="left")
    unnumbered = pl.col("role").str.strip_chars_end("0123456789")
    of_relation = pl.col("role").replace(dict(ROLES))
    role = pl.when(pl.col("kind") == "event").then(unnumbered).otherwise(of_relation)
    rows = rows.with_columns(role=role, as_written="role")
    if options.optional:
        optional = {*options.optional, *(ROLES.get(role, role) for role in options.optional)}
        rows = rows.filter(~pl.col("role").is_in(list(optional)))
    swapped = pl.col("label").is_in(list(options.symmetric)).fill_null(value=False)
    rows = rows.with_columns(role=pl.when(swapped).then(pl.lit("")).otherwise("role"))
    inner = frames.select("document", target="frame", nested="id", inner_label="label")
    rows = look_up(_mentions_of(rows, known), _distinct(inner.drop_nulls("target")))
    alone, of_entities = pl.col("mention").is_null(), pl.col("kind") == FACT
    return rows.select(
        *("id", "role", "as_written"),
        mention=pl.when(~of_entities).then("mention").fill_null(-1),
        nested=pl.when(alone & ~of_entities).then("nested").fill_null(-1),
        entity=pl.when(of_entities).then("target"),
        text=pl.coalesce("text", "inner_label", "target"),
    )


def _comparison_keys(mentions: Units, arguments: Arguments) -> Whole:
    """Numbers that are equal for mentions that correspond, or that are equal if these overlap."""
    match arguments:
        case "span":
            return mentions.span
        case "end":
            return mentions.end
        case "end+label":
            return combine(mentions.end, mentions.label)
    return mentions.key
