"""The mapping as a table: at each level what was mapped to what, its points, and why."""

from __future__ import annotations

from collections.abc import Mapping

import polars as pl

from hlteval.representation import Corpus
from hlteval.scoring.hub4.candidates import Mode
from hlteval.scoring.hub4.fill_match import TESTS
from hlteval.scoring.hub4.mapping import POINTS, InstanceSets, f_measure
from hlteval.scoring.hub4.mapping import Mapping as Mapped
from hlteval.scoring.hub4.normalizer import NOTATION
from hlteval.scoring.hub4.templettes import Side

LEVELS = ("set", "instance", "slot", "alternative", "fill")
#: A row per instance set, instance, slot, alternative and single fill of either side: what stands
#: on both sides (null where it is mapped to nothing), its points, their F-measure (null where there
#: are none), the reason, and the texts and extents of fills after all normalisation. Rows of a
#: level are followed by those of what they consist of.
MAPPING: Mapping[str, pl.DataType | type[pl.DataType]] = {
    "mode": pl.String,
    "document": pl.String,
    "document_system": pl.String,
    "level": pl.String,
    "type": pl.String,
    "slot": pl.String,
    "reference": pl.String,
    "system": pl.String,
    **dict.fromkeys(POINTS, pl.Int64),
    "f": pl.Float64,
    "why": pl.String,
    "compared": pl.String,
    "compared_system": pl.String,
}

_ORDER = ("set", "place_of_pair", "at", "depth", "order")


def mapping_rows(
    found: Mapped, sets: InstanceSets, mode: Mode, reference: Corpus, system: Corpus
) -> pl.DataFrame:
    """The mapping of a mode, as `MAPPING`.

    Args:
        found: the mapping.
        sets: the sides that were mapped.
        mode: what single fills are compared by.
        reference: the corpus of the reference, for what it says in its own words.
        system: that of the system.
    """
    pairs = _named(found, sets)
    levels = [
        _sets(pairs, sets, found),
        _instances(pairs),
        *_slots(pairs, sets, found),
        _fills(pairs, sets, found, mode, (reference, system)),
    ]
    rows = pl.concat(levels, how="diagonal").join(
        sets.named(found.sets), on="set", how="left", maintain_order="left"
    )
    rows = rows.sort(_ORDER, nulls_last=False, maintain_order=True)
    scored = pl.col("cor") + pl.col("inc") + pl.col("mis") + pl.col("spu") > 0
    return rows.with_columns(
        pl.col(*POINTS).fill_null(0),
        mode=pl.lit(mode),
        level=pl.col("depth").replace_strict(list(range(5)), LEVELS, return_dtype=pl.String),
    ).with_columns(f=pl.when(scored.fill_null(False)).then(f_measure()))[list(MAPPING)]


def _named(found: Mapped, sets: InstanceSets) -> pl.DataFrame:
    """The pairs of instances, those that are removed among them, with their pointers."""
    gone = found.removed.join(
        sets.reference.instances.select(reference="instance", type="type"), on="reference"
    )
    pairs = pl.concat(
        [found.pairs.with_columns(gone=pl.lit(False)), gone.with_columns(gone=pl.lit(True))],
        how="diagonal",
    )
    for side, name in ((sets.reference, "reference"), (sets.system, "system")):
        own = side.instances.select("pointer", instance="instance")
        pairs = pairs.join(own, left_on=name, right_on="instance", how="left", suffix="_system")
    last = pl.lit(2**62)
    return pairs.with_columns(
        place_of_pair=pl.struct(
            pl.col("reference").fill_null(last), pl.col("system").fill_null(last)
        )
        .rank("ordinal")
        .cast(pl.Int64)
    )


def _sets(pairs: pl.DataFrame, sets: InstanceSets, found: Mapped) -> pl.DataFrame:
    sums = pairs.group_by("set").agg(pl.col(*POINTS).sum())
    mapped = "same document" if sets.settled else "greedy, among overlapping sets"
    why = (
        pl.when(pl.col("system").is_null())
        .then(pl.lit("the system has no such set"))
        .when(pl.col("reference").is_null())
        .then(pl.lit("the reference has no such set"))
        .otherwise(pl.lit(mapped))
    )
    names = sets.named(found.sets)
    rows = found.sets.select("set", why=why, depth=0).join(sums, on="set", how="left")
    return rows.join(names, on="set").rename({"document": "reference", "document_system": "system"})


def _instances(pairs: pl.DataFrame) -> pl.DataFrame:
    choice = pl.col("choice").round(4).cast(pl.String)
    why = (
        pl.when("gone")
        .then(pl.lit("optional, unmapped"))
        .when(pl.col("choice").is_not_null())
        .then(pl.format("best remaining F: {}", choice))
        .when(pl.col("system").is_null())
        .then(pl.lit("no unmapped instance left in the system"))
        .otherwise(pl.lit("no unmapped instance left in the reference"))
    )
    return pairs.select(
        "set",
        "place_of_pair",
        "type",
        *POINTS,
        reference="pointer",
        system="pointer_system",
        why=why,
        depth=pl.lit(1),
    )


def _slots(pairs: pl.DataFrame, sets: InstanceSets, found: Mapped) -> list[pl.DataFrame]:
    """The slots, and the alternatives that count."""
    names = sets.reference.slots.select("place", "slot")
    place = pl.col("at") % sets.reference.places
    rows = found.evaluation.slots.join(
        pairs.select("pair", "set", "place_of_pair", "type"), on="pair", how="inner"
    ).with_columns(place=place)
    rows = rows.join(names, on="place", how="left")
    answered = found.fills.answers.select("at", answered=pl.lit(True))
    rows = rows.join(answered, on="at", how="left").with_columns(
        pl.col("answered").fill_null(False)
    )
    ours, theirs = pl.col("alternative").is_not_null(), pl.col("answered")
    counts = found.fills.alternatives.group_by("at").agg(of=pl.len())
    rows = rows.join(counts, on="at", how="left")
    why = (
        pl.when(ours & theirs)
        .then(pl.lit("same name"))
        .when(ours)
        .then(pl.lit("the system has no such slot"))
        .when(theirs)
        .then(pl.lit("the reference has no such slot"))
        .otherwise(pl.lit("all its instances are removed"))
    )
    slots = rows.select(
        *_HEAD,
        "slot",
        *POINTS,
        reference=pl.when(ours | ~theirs).then("slot"),
        system=pl.when(theirs).then("slot"),
        why=why,
        depth=pl.lit(2),
    )
    best = pl.when(theirs).then(pl.lit("best F")).otherwise(pl.lit("fewest points"))
    alternatives = rows.filter(ours).select(
        *_HEAD,
        "slot",
        *(pl.col(name) for name in POINTS),
        reference=pl.format("alternative {}", "alternative"),
        system=pl.when(theirs).then(pl.lit("alternative 1")),
        why=pl.when(pl.col("of") == 1)
        .then(pl.lit("the only one"))
        .otherwise(pl.format("{} of {}", best, "of")),
        depth=pl.lit(3),
    )
    return [slots, alternatives]


_HEAD = ("set", "place_of_pair", "type", "at")


def _fills(
    pairs: pl.DataFrame,
    sets: InstanceSets,
    found: Mapped,
    mode: Mode,
    corpora: tuple[Corpus, Corpus],
) -> pl.DataFrame:
    """The single fills of the alternatives that count, each beside what it is mapped to."""
    weight = 2 if mode == "both" else 1
    rows = _paired(pairs, sets, found)
    text = pl.col("kind") == "text"
    points = pl.when(text).then(weight).otherwise(1).cast(pl.Int64)
    ours, theirs = pl.col("fill").is_not_null(), pl.col("fill_system").is_not_null()
    spared = pl.col("slot_optional") & (~pl.col("answered") | ~text)
    none = pl.lit(0, pl.Int64)
    removed, gain = pl.col("removed"), pl.col("gain").fill_null(0)
    rows = rows.with_columns(
        cor=pl.when(ours & theirs).then(gain).otherwise(none),
        inc=pl.when(ours & theirs).then(points - gain).otherwise(none),
        mis=pl.when(ours & ~theirs & ~spared & (removed == 0)).then(points).otherwise(none),
        spu=pl.when(theirs & ~ours).then(points).otherwise(none),
        optional=pl.when(ours & ~theirs & spared & (removed == 0)).then(points).otherwise(none),
        why=_reason(mode, ours, theirs, spared),
        removed=removed.clip(0, 1),
    )
    sides = (sets.reference, sets.system)
    names = (("reference", "fill", "compared"), ("system", "fill_system", "compared_system"))
    content = pl.col("content")
    for mark, notation in NOTATION:
        content = content.str.replace_all(mark, notation, literal=True)
    extent = pl.format(" ##{}#{}#", "start", "end").fill_null("")
    worded = pl.concat_str(pl.format('"{}"', content), extent)
    for corpus, side, (name, column, compared) in zip(corpora, sides, names, strict=True):
        originals = _written(corpus, side).rename({"fill": column, "written": name})
        comparable = side.fills.select(pl.col("fill").alias(column), worded.alias(compared))
        for table in (originals, comparable):
            rows = rows.join(table, on=column, how="left", maintain_order="left")
    columns = ("reference", "system", "why", "compared", "compared_system", "order")
    return rows.select(*_HEAD, "slot", *POINTS, *columns, depth=pl.lit(4))


def _reason(mode: Mode, ours: pl.Expr, theirs: pl.Expr, spared: pl.Expr) -> pl.Expr:
    """Why a pair of single fills has its points."""
    content = (
        pl.when(~pl.col("inside"))
        .then(pl.lit("content not inside the reference string"))
        .when(~pl.col("holds"))
        .then(pl.lit("content contains no minimal string"))
        .otherwise(pl.lit("content correct"))
    )
    extent = (
        pl.when(~pl.col("enclosed"))
        .then(pl.lit("extent not inside the reference extent"))
        .when(~pl.col("overlaps"))
        .then(pl.lit("extent overlaps no minimal extent"))
        .otherwise(pl.lit("extent correct"))
    )
    shown = {"content": [content], "extent": [extent], "both": [content, extent]}[mode]
    right, wrong = (pl.lit(f"target instances are{no} mapped to each other") for no in ("", " not"))
    return (
        pl.when(pl.col("removed") > 0)
        .then(pl.lit("points to an unmapped optional instance"))
        .when(~theirs & spared)
        .then(pl.lit("optional"))
        .when(~theirs)
        .then(pl.lit("the system has none"))
        .when(~ours)
        .then(pl.lit("the reference has none"))
        .when(pl.col("kind") == "pointer")
        .then(pl.when(pl.col("gain") > 0).then(right).otherwise(wrong))
        .otherwise(pl.concat_str(shown, separator="; "))
    )


def _paired(pairs: pl.DataFrame, sets: InstanceSets, found: Mapped) -> pl.DataFrame:
    """The fills that count of both sides: gaining pairs, then the rest in order, then removed."""
    evaluation, most = found.evaluation, sets.reference.most
    which = pl.col("at") * most + pl.col("alternative")
    chosen = evaluation.slots.drop_nulls("alternative").select(which=which)
    head = pairs.select("pair", "set", "place_of_pair", "type", "reference", "system")
    ours = _members(head, sets.reference, "reference").with_columns(which=which)
    theirs = _members(head, sets.system, "system").rename({"fill": "fill_system"})
    dropped = evaluation.dropped.unique(["at", "target"], keep="first", maintain_order=True)
    gone = ours.join(dropped.select("which", "fill"), on=["which", "fill"], how="semi")
    ours = ours.join(chosen, on="which", how="semi").join(
        evaluation.dropped, on=["which", "fill"], how="anti"
    )
    links = evaluation.links.join(chosen, on="which", how="semi")
    gaining = ours.join(links.drop("at"), on=["which", "fill"])
    rest = _zipped(
        ours.join(links, on=["which", "fill"], how="anti"),
        theirs.join(links, on=["at", "fill_system"], how="anti"),
    )
    rows = pl.concat([gaining, rest, gone.with_columns(removed=1)], how="diagonal_relaxed")
    tests = found.fills.texts.select("which", "fill", "fill_system", *TESTS)
    answered = found.fills.answers.select("at", answered=pl.lit(True))
    names = sets.reference.slots.select("place", "slot")
    return (
        rows.join(tests, on=["which", "fill", "fill_system"], how="left")
        .join(answered, on="at", how="left")
        .join(names, on="place", how="left")
        .with_columns(
            pl.col("answered").fill_null(False),
            pl.col("removed").fill_null(0).cast(pl.Int64),
            pl.col("slot_optional").fill_null(False),
            order=pl.coalesce("fill", pl.col("fill_system") + 2**61),
        )
    )


def _zipped(ours: pl.DataFrame, theirs: pl.DataFrame) -> pl.DataFrame:
    """What gains nothing: the first with the first, and so on, for each kind."""
    keys = ["at", "kind"]
    number = pl.int_range(pl.len(), dtype=pl.Int64).over(keys)
    left = ours.sort("at", "position").with_columns(number=number)
    right = theirs.sort("at", "position").with_columns(number=number)
    rows = left.join(right, on=[*keys, "number"], how="full", coalesce=True)
    same = ("set", "place_of_pair", "type", "place")
    return rows.with_columns(pl.coalesce(name, f"{name}_right") for name in same).drop("number")


def _members(head: pl.DataFrame, side: Side, name: str) -> pl.DataFrame:
    """The fills of the instances of one side of the pairs."""
    keep = ["fill", "place", "position", "kind", "alternative"]
    keep += ["slot_optional"] if name == "reference" else []
    some = head.drop_nulls("pair").rename({name: "instance"}).drop_nulls("instance")
    rows = some.join(side.fills.select("instance", *keep), on="instance")
    at = pl.col("pair") * side.places + pl.col("place")
    return rows.select("set", "place_of_pair", "type", *keep, at=at)


def _written(corpus: Corpus, side: Side) -> pl.DataFrame:
    """Each fill of a side as its file writes it, without its brackets."""
    numbers = pl.col("extents").list.eval(
        pl.format("{}#{}#", pl.element().struct.field("start"), pl.element().struct.field("end"))
    )
    text = pl.concat_str(
        pl.format('"{}"', "text"),
        pl.when(pl.col("extents").list.len() > 0)
        .then(pl.concat_str(pl.lit(" ##"), numbers.list.join("")))
        .otherwise(pl.lit("")),
    )
    pointer = pl.format("<{}>", "target")
    written = pl.when(pl.col("kind") == "pointer").then(pointer).otherwise(text)
    own = corpus.fills.filter(pl.col("row").is_in(side.fills["fill"].implode()))
    return own.select(fill="row", written=written)


# The listing: a reference and a system side by side, for people.


def listings(mapping: pl.DataFrame) -> dict[str, str]:
    """The listings of each mode, by file name: all of it, and only what has errors."""
    modes = mapping["mode"].unique(maintain_order=True)
    kinds = {"side-by-side": False, "errors": True}
    return {
        f"mapping.{mode}.{kind}.txt": listing(mapping.filter(pl.col("mode") == mode), errors=errors)
        for mode in modes
        for kind, errors in kinds.items()
    }


def listing(mapping: pl.DataFrame, *, errors: bool = False) -> str:
    """The mapping for people: what the reference says on the left, the system on the right.

    Args:
        mapping: as `MAPPING`, of one mode.
        errors: whether to leave out what has no incorrect, missing or spurious point.
    """
    if mapping.is_empty():
        return ""
    shown = mapping.filter(~pl.col("level").is_in(["alternative", "slot"]))
    if errors:
        shown = shown.filter(pl.col("inc") + pl.col("mis") + pl.col("spu") > 0)
    shown = shown.with_columns(
        pl.col("reference", "system").replace("", None).fill_null("-")  # `-` for nothing
    )
    points = (
        pl.when(pl.col(name) != 0).then(pl.format(f"{{}} {name.upper()}", name)) for name in POINTS
    )
    points_text = pl.concat_str(points, separator=" ", ignore_nulls=True)
    sides = pl.format(
        "{} | {}  [{}] {}", "reference", "system", points_text, pl.col("why").fill_null("")
    )
    fill = pl.col("level") == "fill"
    indent = pl.when(pl.col("level") == "set").then(pl.lit("\n")).otherwise(pl.lit("  "))
    of_fill = pl.format("    {}: {}", "slot", sides)
    line = pl.when(fill).then(of_fill).otherwise(pl.concat_str(indent, sides))
    what = "Errors" if errors else "Templettes"
    head = f"{what} side by side, points by {mapping['mode'][0]}: reference | system"
    return "\n".join([head, *shown.select(line=line)["line"]]) + "\n"


# The mapping as people read it: its fills, each with the instances that it belongs to.


#: The outcome of a fill by its points; the first that it has counts.
_OUTCOMES = {"inc": "incorrect", "mis": "missing", "spu": "spurious", "cor": "correct"}


def readable(mapping: pl.DataFrame) -> pl.DataFrame:
    """The fills of a mapping, with `instance` and `instance_system`, outcome and places.

    Args:
        mapping: as `MAPPING`, of any modes.

    Examples:
        >>> points = {"cor": 0, "inc": 0, "mis": 0, "spu": 0, "optional": 0, "removed": 0}
        >>> rows = [{"level": "instance", "reference": "BREAD-d-1", "system": "BREAD-d-2"} | points]
        >>> fill = {"level": "fill", "reference": '"rye" ##4#7#', "system": '"oat" ##4#7#'}
        >>> rows.append(fill | points | {"inc": 1})
        >>> shown = readable(pl.DataFrame(rows))
        >>> shown.select("instance", "outcome", "reference_end").rows()
        [('BREAD-d-1', 'incorrect', 7)]
    """
    instance = pl.col("level") == "instance"
    rows = mapping.with_columns(_instance=instance.cum_sum())
    names = rows.filter(instance).select(
        "_instance", instance="reference", instance_system="system"
    )
    rows = rows.filter(level="fill").join(names, on="_instance", how="left", maintain_order="left")
    points = (pl.when(pl.col(name) > 0).then(pl.lit(said)) for name, said in _OUTCOMES.items())
    removed = pl.when(pl.col("removed") > 0).then(pl.lit("not scored"))
    # The first extent as written is that of the maximal string.
    extents = {
        f"{side}_{name}": pl.col(side)
        .str.extract(r"##(\d+)#(\d+)#[\d#]*$", place)
        .cast(pl.Int64, strict=False)
        for side in ("reference", "system")
        for place, name in ((1, "start"), (2, "end"))
    }
    return rows.with_columns(outcome=pl.coalesce(removed, *points, pl.lit("not scored")), **extents)
