"""Pairs of reference and predicted events: candidates, their similarity, and who goes with whom.

The similarity of two events is Sp = Sp-binary · SNeg · SOpt (SeeDev evaluation, "Sub-tasks
evaluations"). Where there are no optional arguments it is 0 or 1, and events of equal keys are
paired in the order of the files; else `hlteval.scoring.matching` pairs weighed candidates.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import polars as pl

from hlteval.representation import numbers, ordinals, row_hash
from hlteval.scoring.matching import Candidates, Pair, optimal
from hlteval.scoring.seedev.events import Comparison, Side, keys

#: A similarity of 1. Twice the least common multiple of 1 to 12: with six optional roles on either
#: side, 1 - errors / N and its half are whole numbers of these units.
UNIT = 55440

#: A pair: the event of the reference, that of the system, and their similarity in units.
CHOSEN = {"row": pl.Int64, "row_system": pl.Int64, "weight": pl.Int64}

#: Candidates that are weighed at a time.
_PART = 250_000
#: The number of what fills no role.
_NONE = -1


@dataclass(frozen=True)
class Evaluation:
    """One pairing of all events, and the subsets of its pairs that are scored.

    Attributes:
        name: of the evaluation, as the official software prints it.
        names: of its scorings, in the order in which they are printed.
        overall: whether the first scoring is over all pairs; else only events of the types that
            are scored or merged are paired.
        scorings: the scoring that counts the events of a type, by type; a pair counts where either
            of its events does.
        merged: types that are taken as one, with its name.
        agents: of merged types, the roles that are compared as agent and as target, and one that
            is not compared, if any; an event without its agent role is never paired.
        commutative: the types whose arguments may change places.
        inside_sentences: whether events across sentences are left out.
        restricted: the roles whose fillers must all be of the types `fillers` in events that count.
        fillers: the types of these.
    """

    name: str
    names: tuple[str, ...]
    overall: bool = True
    scorings: Mapping[str, str] = field(default_factory=dict)
    merged: Mapping[str, str] = field(default_factory=dict)
    agents: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    commutative: frozenset[str] = frozenset()
    inside_sentences: bool = False
    restricted: tuple[str, ...] = ()
    fillers: tuple[str, ...] = ()


def pairs(sides: tuple[Side, Side], evaluation: Evaluation, comparison: Comparison) -> pl.DataFrame:
    """The pairing that maximizes the sum of Sp, without pairs of 0: a row per pair, as `CHOSEN`.

    The official software of SeeDev-full takes the most similar pair that is left, again and again;
    among equals that of the first event of the reference, then of the system.
    """
    if not comparison.conditions:
        return _equal(sides, evaluation)
    weighed = _candidates(sides, evaluation, comparison)
    if comparison.roles:
        left, right = (1 + int(side.events["row"].to_numpy().max(initial=0)) for side in sides)
        candidates = Candidates(left, right, UNIT)
        for part in weighed:
            candidates.add(*(part[name].to_numpy() for name in CHOSEN))
        return pl.DataFrame(candidates.best_first(), schema=CHOSEN, orient="row")
    every = pl.concat([pl.DataFrame(schema=CHOSEN), *weighed])
    # Where neither event has another candidate there is nothing to decide.
    alone = pl.col("row").is_unique() & pl.col("row_system").is_unique()
    decided = optimal([Pair(*row) for row in every.filter(~alone).iter_rows()])
    return pl.concat([every.filter(alone), pl.DataFrame(decided, schema=CHOSEN, orient="row")])


def _equal(sides: tuple[Side, Side], evaluation: Evaluation) -> pl.DataFrame:
    """Pairs where similarity is 0 or 1: equal keys, first with first, second with second.

    Which of the events of a key are paired only matters where types are merged: the scorings of
    these types count the pairs in which either event has the type.
    """
    agents = {
        f"{label} {role}": name
        for label, roles in evaluation.agents.items()
        for role, name in zip(roles, ("Agent", "Target", "")[: len(roles)], strict=True)
    }
    arguments = [side.arguments for side in sides]
    if agents:
        name, role = pl.format("{} {}", "label", "role"), pl.col("role")
        role = name.replace_strict(agents, default=role, return_dtype=pl.String)
        has_agent = (pl.col("role") == "Agent").any().over("frame_row")
        free = ~pl.col("label").is_in(evaluation.agents.keys())
        kept = (pl.col("role") != "") & (free | has_agent)
        arguments = [rows.with_columns(role=role).filter(kept) for rows in arguments]
    if evaluation.merged:
        label = pl.col("label").replace(dict(evaluation.merged))
        arguments = [rows.with_columns(label=label) for rows in arguments]
    key = ["document", "core", "rank"]
    left, right = (
        cores.lazy()
        .with_columns(rank=ordinals(cores, ["document", "core"]))
        .with_columns(row_hash(*key))
        for cores in keys(arguments, evaluation.commutative)
    )
    joined = left.join(right, on="hashed", suffix="_system", maintain_order="left")
    same = joined.filter(pl.col(part) == pl.col(f"{part}_system") for part in key)
    return same.select("row", "row_system", weight=pl.lit(UNIT, pl.Int64)).collect()


def _candidates(
    sides: tuple[Side, Side], evaluation: Evaluation, comparison: Comparison
) -> Iterator[pl.DataFrame]:
    """The pairs of events that are similar, as `CHOSEN`, some at a time.

    One document may have millions of candidates: events that share their type and what is
    mandatory. By roles, two events share each alternative that both have; the pair is one.
    """
    conditions = comparison.conditions
    core = [side.arguments.filter(~pl.col("role").is_in(conditions)) for side in sides]
    if comparison.roles is None:
        left, right = keys(core, evaluation.commutative)
    else:
        left, right = (_shapes(rows, comparison.roles) for rows in core)
    ours, theirs = _optional_arguments(sides, conditions)
    theirs = theirs.rename({name: f"{name}_system" for name in theirs.columns})
    key = ["document", "core"]
    sizes = left.join(right.group_by(key).len(), on=key, maintain_order="left")
    numbered = sizes.with_columns(part=pl.col("len").cast(pl.Int64).cum_sum() // _PART)
    similarity = _similarity(conditions)
    for part in numbered.partition_by("part", maintain_order=True, include_key=False):
        joined = part.join(right, on=key, suffix="_system", maintain_order="left")
        pairs = joined.select("row", "row_system", weight=pl.lit(UNIT, pl.Int64))
        # Most events have nothing that is optional: those pairs are equal.
        either = pairs["row"].is_in(ours["row"].implode())
        either |= pairs["row_system"].is_in(theirs["row_system"].implode())
        some = pairs.filter(either).join(ours, on="row", how="left", maintain_order="left")
        some = some.join(theirs, on="row_system", how="left", maintain_order="left")
        some = some.with_columns(pl.col("^negated.*$").fill_null(value=False)).fill_null(_NONE)
        weights = some.select(similarity.cast(pl.Int64)).to_series()
        weights = pairs["weight"].scatter(either.arg_true(), weights)
        yield pairs.with_columns(weights).filter(pl.col("weight") > 0)


def _shapes(
    arguments: pl.DataFrame, roles: Mapping[str, tuple[tuple[str, ...], tuple[str, ...]]]
) -> pl.DataFrame:
    """A row per event that has all mandatory roles, and alternative role that it has.

    Returns:
        `document`, `row` and the `core`, which names the type and the alternative.
    """
    filled = arguments.group_by("document", row="frame_row", label="label").agg("role")
    rows = [
        (document, row, f"{label} {alternative}")
        for document, row, label, present in filled.sort("row").iter_rows()
        if label in roles and set(roles[label][0]).issubset(present)
        for alternative in roles[label][1] or ("",)
        if alternative in {"", *present}
    ]
    schema = {"document": pl.Int64, "row": pl.Int64, "core": pl.String}
    return pl.DataFrame(rows, schema=schema, orient="row")


def _optional_arguments(
    sides: tuple[Side, Side], conditions: Sequence[str]
) -> tuple[pl.DataFrame, pl.DataFrame]:
    """The fillers of the optional roles of each event, in numbers; `_NONE` where nothing does.

    Returns:
        For either side a row per event that has one or is negated: `row`, `negated`, and of each
        role `key R` (equal where fillers are the same) and `thing R` (the object; of several that
        are one, only the first).
    """
    filled = [side.arguments.filter(pl.col("role").is_in(conditions)) for side in sides]
    both = pl.concat([rows.select("frame_row", "role", "key", "thing") for rows in filled])
    codes = numbers(pl.concat([both["key"], both["thing"]]).to_frame())
    both = both.with_columns(key=codes.head(both.height), thing=codes.tail(both.height))
    tables, halves = [], (both.head(filled[0].height), both.tail(filled[1].height))
    for side, rows in zip(sides, halves, strict=True):
        known = pl.col("row").is_in(rows["frame_row"].implode())
        wide = side.events.select("row", "negated").filter(known | pl.col("negated"))
        for at, role in enumerate(conditions):
            fillers = pl.col("key", "thing").name.suffix(f" {role}")
            of_role = rows.filter(role=role).select(fillers, row="frame_row")
            wide = wide.join(of_role, on="row", how="left", maintain_order="left")
            thing = pl.col(f"thing {role}")
            earlier = [pl.col(f"thing {other}") == thing for other in conditions[:at]]
            repeated = pl.any_horizontal(pl.lit(value=False), *earlier)
            wide = wide.with_columns(pl.when(~repeated.fill_null(value=False)).then(thing))
        tables.append(wide.fill_null(_NONE))
    return tables[0], tables[1]


def _similarity(conditions: Sequence[str]) -> pl.Expr:
    """Sp of events that share what is mandatory, in units: SNeg · SOpt, with SOpt = 1 - EOpt / N.

    A missing or extra optional argument is one error, a wrong one two; N is the number of different
    fillers of both events, and SOpt is 1 without any. SNeg is one half where only one is negated.
    """
    ours, theirs = (
        [pl.col(f"thing {role}{suffix}") for role in conditions] for suffix in ("", "_system")
    )
    roles = [(pl.col(f"key {role}"), pl.col(f"key {role}_system")) for role in conditions]
    one_sided = [(left == _NONE) != (right == _NONE) for left, right in roles]
    differ = [left != right for left, right in roles]
    errors = _count(*differ, *differ) - _count(*one_sided)
    common = _count(*((left == right) & (left != _NONE) for left in ours for right in theirs))
    fillers = _count(*(thing != _NONE for thing in (*ours, *theirs))) - common
    optional = pl.when(fillers == 0).then(UNIT).otherwise((fillers - errors) * UNIT // fillers)
    only_one = pl.col("negated") != pl.col("negated_system")
    return pl.when(only_one).then(optional // 2).otherwise(optional)


def _count(*conditions: pl.Expr) -> pl.Expr:
    """How many of the conditions hold."""
    return pl.sum_horizontal(condition.cast(pl.Int64) for condition in conditions)
