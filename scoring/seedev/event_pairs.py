"""Pairs of reference and predicted events: candidates, their similarity, and who goes with whom.

The similarity of two events is Sp = Sp-binary · SNeg · SOpt (SeeDev evaluation, "Sub-tasks
evaluations"). Where there are no optional arguments it is 0 or 1, and events of equal keys are
paired in the order of the files; else `hlteval.scoring.matching` pairs weighed candidates.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

import numpy as np
import numpy.typing as npt
import polars as pl

from hlteval.representation import numbers, ordinals, row_hash
from hlteval.scoring.matching import Candidates, Pair, optimal
from hlteval.scoring.seedev.events import Sameness, Side, keys

#: A similarity of 1. Twice the least common multiple of 1 to 12: with six optional roles on either
#: side, 1 - errors / N and its half are whole numbers of these units.
UNIT = 55440

#: A pair: the event of the reference, that of the system, and their similarity in units.
CHOSEN = {"row": pl.Int64, "row_system": pl.Int64, "weight": pl.Int64}


@dataclass(frozen=True, slots=True)
class Only:
    """A filter on what events are about: the fillers of `roles` must all be of the types `of`."""

    roles: tuple[str, ...]
    of: tuple[str, ...]


@dataclass(frozen=True)
class Evaluation:
    """One pairing of all events, and the subsets of its pairs that are scored.

    Attributes:
        name: of the evaluation, as the official software prints it.
        overall: name of the scoring over all pairs; empty if there is none.
        scoring_names: the names of all scorings, in the order in which they are printed.
        scorings: the scoring that counts the events of a type, by type; a pair counts where either
            of its events does.
        merged: types that are taken as one, with its name.
        agents: of merged types, the roles that are compared as agent and as target; an event
            without its agent role is never paired.
        commutative: the types whose arguments may change places.
        inside_sentences: whether events across sentences are left out.
        only: what the events that count are about.
    """

    name: str
    overall: str
    scoring_names: tuple[str, ...]
    scorings: Mapping[str, str]
    merged: Mapping[str, str] = field(default_factory=dict)
    agents: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    commutative: frozenset[str] = frozenset()
    inside_sentences: bool = False
    only: Only | None = None

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the scoring over all pairs and of all others, in order."""
        return (self.overall, *self.scoring_names)


@dataclass(frozen=True)
class Comparison:
    """When two events are similar, and how much.

    Attributes:
        sameness: when two fillers are the same.
        conditions: the optional roles; without them similarity is 0 or 1.
        negation: whether being negated on one side only halves the similarity.
        mandatory: `compared` where the fillers of mandatory roles must be the same; else their
            roles by type, as mandatory and alternative ones: all of the former and one of the
            latter must be present on both sides, whatever fills them.
        pairing: `optimal`, or `greedy` as the official software.
    """

    sameness: Sameness
    conditions: tuple[str, ...] = ()
    negation: bool = False
    mandatory: Literal["compared"] | Mapping[str, tuple[tuple[str, ...], tuple[str, ...]]] = (
        "compared"
    )
    pairing: Literal["optimal", "greedy"] = "optimal"


def pairs(sides: tuple[Side, Side], evaluation: Evaluation, comparison: Comparison) -> pl.DataFrame:
    """The pairing of an evaluation: a row per pair, as `CHOSEN`."""
    if not comparison.conditions:
        return _equal(sides, evaluation)
    if comparison.pairing == "greedy":
        return _best_first(sides, _weighed(sides, evaluation, comparison))
    weighed = pl.concat([pl.DataFrame(schema=CHOSEN), *_weighed(sides, evaluation, comparison)])
    # Of several alternatives of two events, one is enough.
    weighed = weighed.unique(["row", "row_system"], maintain_order=True)
    # Where neither event has another candidate there is nothing to decide.
    alone = pl.col("row").is_unique() & pl.col("row_system").is_unique()
    decided = optimal([Pair(*row) for row in weighed.filter(~alone).iter_rows()])
    return pl.concat([weighed.filter(alone), pl.DataFrame(decided, schema=CHOSEN, orient="row")])


def _best_first(sides: tuple[Side, Side], weighed: Iterable[pl.DataFrame]) -> pl.DataFrame:
    """The pairs by falling weight, then in the order of the reference and of the system."""
    left, right = (side.events["row"].sort() for side in sides)
    found = Candidates(len(left), len(right), UNIT)
    for part in weighed:
        numbers = left.search_sorted(part["row"]), right.search_sorted(part["row_system"])
        reference, system = (at.to_numpy().astype(np.int64) for at in numbers)
        found.add(reference, system, part["weight"].to_numpy())
    taken = pl.DataFrame(found.best_first(), schema=CHOSEN, orient="row")
    return taken.with_columns(
        left.gather(taken["row"]), row_system=right.gather(taken["row_system"])
    )


def _equal(sides: tuple[Side, Side], evaluation: Evaluation) -> pl.DataFrame:
    """Pairs where similarity is 0 or 1: equal keys, first with first, second with second.

    Which of the events of a key are paired only matters where types are merged: the scorings of
    these types count the pairs in which either event has the type.
    """
    key = ["document", "core", "rank"]
    arguments = [_merged(one.arguments, evaluation) for one in sides]
    cores = keys(arguments, evaluation.commutative)
    left, right = (_ranked(*both, evaluation) for both in zip(cores, sides, strict=True))
    joined = left.join(right, on="hashed", suffix="_system", maintain_order="left")
    same = joined.filter(pl.col(part) == pl.col(f"{part}_system") for part in key)
    return same.select("row", "row_system", weight=pl.lit(UNIT, pl.Int64)).collect()


def _merged(arguments: pl.DataFrame, evaluation: Evaluation) -> pl.DataFrame:
    """The arguments with the merged types as one, and the roles that are compared."""
    if not evaluation.merged:
        return arguments
    label = pl.col("label").replace(dict(evaluation.merged))
    return arguments.with_columns(label=label, role=_compared_role(evaluation))


def _ranked(cores: pl.DataFrame, one: Side, evaluation: Evaluation) -> pl.LazyFrame:
    """The key of each event, and its ordinal among those of the same key in the document."""
    if evaluation.agents:
        cores = cores.join(_without_agent(one, evaluation), on="row", how="anti")
    ranked = cores.with_columns(rank=ordinals(cores, ["document", "core"]))
    return ranked.lazy().with_columns(row_hash("document", "core", "rank"))


def _compared_role(evaluation: Evaluation) -> pl.Expr:
    renamed = {
        f"{label} {role}": name
        for label, roles in evaluation.agents.items()
        for role, name in zip(roles, ("Agent", "Target"), strict=True)
    }
    if not renamed:
        return pl.col("role")
    named = pl.concat_str("label", "role", separator=" ")
    return named.replace_strict(renamed, default=pl.col("role"), return_dtype=pl.String)


def _without_agent(one: Side, evaluation: Evaluation) -> pl.DataFrame:
    agents = {label: roles[0] for label, roles in evaluation.agents.items()}
    events = one.events.filter(pl.col("label").is_in(agents.keys()))
    agent = pl.col("label").replace_strict(agents, default=None, return_dtype=pl.String)
    present = one.arguments.filter(pl.col("role") == agent).select(row="frame_row")
    return events.select("row").join(present, on="row", how="anti")


def _weighed(
    sides: tuple[Side, Side], evaluation: Evaluation, comparison: Comparison
) -> Iterator[pl.DataFrame]:
    """The pairs of events that are similar, as `CHOSEN`, some at a time.

    One document may have millions of candidates. Two events may be paired by several alternatives.
    """
    left, right = _cores(sides, evaluation, comparison)
    ours, theirs = _optionals(sides, comparison.conditions)
    for part in _parts(left, right):
        joined = part.join(right, on=["document", "core"], suffix="_system", maintain_order="left")
        similarity = _similarity(
            ours.at(joined["row"]), theirs.at(joined["row_system"]), comparison
        )
        weight = pl.Series("weight", similarity)
        candidates = joined.select("row", "row_system").with_columns(weight)
        yield candidates.filter(pl.col("weight") > 0)


def _parts(left: pl.DataFrame, right: pl.DataFrame) -> Iterator[pl.DataFrame]:
    """The events of one side in parts that have a bounded number of candidates on the other."""
    key = ["document", "core"]
    sizes = left.join(right.group_by(key).len(), on=key, maintain_order="left")
    numbered = sizes.with_columns(part=pl.col("len").cast(pl.Int64).cum_sum() // _PART)
    yield from numbered.drop("len").partition_by("part", maintain_order=True, include_key=False)


def _cores(
    sides: tuple[Side, Side], evaluation: Evaluation, comparison: Comparison
) -> tuple[pl.DataFrame, pl.DataFrame]:
    """What two events must share to be similar at all: `document`, `row`, `core`."""
    optional = pl.col("role").is_in(comparison.conditions)
    left, right = (one.arguments.filter(~optional) for one in sides)
    if comparison.mandatory == "compared":
        return keys((left, right), evaluation.commutative)
    return _shapes(left, comparison.mandatory), _shapes(right, comparison.mandatory)


def _shapes(
    arguments: pl.DataFrame, mandatory: Mapping[str, tuple[tuple[str, ...], tuple[str, ...]]]
) -> pl.DataFrame:
    """The shapes under which each event may be paired."""
    roles = arguments.group_by("document", row="frame_row", label="label").agg(pl.col("role"))
    rows = [
        (document, row, f"{label} {alternative}")
        for document, row, label, given in roles.sort("row").iter_rows()
        for alternative in _alternatives(mandatory.get(label), set(given))
    ]
    schema = {"document": pl.Int64, "row": pl.Int64, "core": pl.String}
    return pl.DataFrame(rows, schema=schema, orient="row")


def _alternatives(
    roles: tuple[tuple[str, ...], tuple[str, ...]] | None, given: set[str]
) -> Iterable[str]:
    """The shapes under which an event may be paired: one for each alternative role that it has."""
    if roles is None or not given.issuperset(roles[0]):
        return ()
    return tuple(role for role in roles[1] if role in given) if roles[1] else ("",)


def _similarity(ours: Optionals, theirs: Optionals, comparison: Comparison) -> Rows:
    """Sp of pairs of events: SOpt = 1 - errors / N, halved where only one side is negated.

    An argument that is missing or extra is one error, a wrong one two; N is the number of different
    fillers of both events.
    """
    one_sided = (ours.keys == NONE) != (theirs.keys == NONE)
    wrong = (ours.keys != theirs.keys) & ~one_sided
    errors = one_sided.sum(axis=0) + 2 * wrong.sum(axis=0)
    common = np.zeros(len(errors), np.int64)
    for role in range(len(comparison.conditions)):
        mine = ours.things[role]
        common += ((mine == theirs.things) & (mine != NONE)).sum(axis=0)
    fillers = (ours.things != NONE).sum(axis=0) + (theirs.things != NONE).sum(axis=0) - common
    similar = np.where(fillers == 0, UNIT, (fillers - errors) * UNIT // np.maximum(fillers, 1))
    halved = (ours.negated != theirs.negated) & comparison.negation
    weights: Rows = np.where(halved, similar // 2, similar)
    return weights


def _optionals(sides: tuple[Side, Side], conditions: Sequence[str]) -> tuple[Optionals, Optionals]:
    """The optional arguments of both sides, numbered together."""
    role = pl.col("role").replace_strict(conditions, range(len(conditions)), return_dtype=pl.Int64)
    optional = pl.col("role").is_in(conditions)
    columns = ("frame_row", "key", "thing")
    left, right = (one.arguments.filter(optional).select(*columns, role=role) for one in sides)
    both = pl.concat([left, right])
    codes = numbers(pl.concat([both["key"], both["thing"]]).to_frame())
    both = both.with_columns(key=codes.head(both.height), thing=codes.tail(both.height))
    ours, theirs = both.head(left.height), both.tail(right.height)
    roles = len(conditions)
    return Optionals.of(sides[0], ours, roles), Optionals.of(sides[1], theirs, roles)


class Optionals(NamedTuple):
    """The optional arguments of events, in numbers: a line per role, a column per event.

    Attributes:
        rows: the events, ascending.
        negated: whether each is negated.
        keys: what fills each role, equal numbers where fillers are the same; `NONE` without any.
        things: the objects that fill the roles; of several that are one, only the first.
    """

    rows: Rows
    negated: npt.NDArray[np.bool_]
    keys: Rows
    things: Rows

    @classmethod
    def of(cls, one: Side, filled: pl.DataFrame, roles: int) -> Optionals:
        """The optional arguments of a side: `frame_row`, and in numbers `role`, `key`, `thing`."""
        events = one.events.sort("row")
        rows = events["row"].to_numpy()
        keys = np.full((roles, len(rows)), NONE)
        things = keys.copy()
        at, role = np.searchsorted(rows, filled["frame_row"].to_numpy()), filled["role"].to_numpy()
        for table, column in ((keys, "key"), (things, "thing")):
            table[role, at] = filled[column].to_numpy()
        for later in range(1, roles):
            repeated = (things[:later] == things[later]).any(axis=0)
            things[later, repeated] = NONE
        return cls(rows, events["negated"].to_numpy(), keys, things)

    def at(self, rows: pl.Series) -> Optionals:
        """The columns of some events, in their order."""
        at = np.searchsorted(self.rows, rows.to_numpy())
        return Optionals(self.rows[at], self.negated[at], self.keys[:, at], self.things[:, at])


Rows = npt.NDArray[np.int64]
#: The number of what fills no role.
NONE = -1
#: Candidates that are weighed at a time.
_PART = 250_000
