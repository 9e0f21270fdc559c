"""The mapping as a table: at each level what was mapped to what, its points, and why."""

import polars as pl

from hlteval.representation import Corpus, first_case
from hlteval.scoring.hub4.instance_sets import InstanceSets, Mode
from hlteval.scoring.hub4.mapping import POINTS, TESTS, f_measure
from hlteval.scoring.hub4.mapping import Mapping as Mapped
from hlteval.scoring.hub4.normalizer import NOTATION

LEVELS = ("set", "instance", "slot", "alternative", "fill")
#: A row per instance set, instance, slot, alternative and single fill of either side: what stands
#: on both sides (null where it is mapped to nothing), its points, their F-measure (null where there
#: are none), the reason, and the texts and extents of fills after all normalisation. Rows of a
#: level are followed by those of what they consist of.
MAPPING = (
    *("mode", "document", "document_system", "level", "type", "slot", "reference", "system"),
    *POINTS,
    *("f", "why", "compared", "compared_system"),
)

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
    pairs = _pairs(found, sets)
    slots = _slots(found, sets)
    fills = _fills(found, sets, mode)
    fills = _with_strings(fills, sets, (reference, system))
    levels = (slots, _alternatives(slots, found), fills)
    heads = pairs.select("pair", "set", "place_of_pair", "type").drop_nulls("pair")
    columns = {"at", "slot", "depth", "order", *MAPPING}
    tables = [level.select(name for name in level.columns if name in columns) for level in levels]
    below = pl.concat(tables, how="diagonal")
    below = below.with_columns(pair=pl.col("at") // sets.places).join(heads, on="pair")
    rows = pl.concat([_sets(pairs, sets, found), _instances(pairs), below], how="diagonal")
    names = sets.with_names(found.sets)
    rows = rows.join(names, on="set", how="left", maintain_order="left")
    rows = rows.sort(_ORDER, nulls_last=False, maintain_order=True)
    scored = pl.sum_horizontal("cor", "inc", "mis", "spu", ignore_nulls=False) > 0
    return rows.with_columns(
        pl.col(*POINTS).fill_null(0),
        mode=pl.lit(mode),
        level=pl.col("depth").replace_strict(list(range(5)), LEVELS, return_dtype=pl.String),
        scored=scored.fill_null(False),
    ).with_columns(f=pl.when("scored").then(f_measure()))[list(MAPPING)]


def _pairs(found: Mapped, sets: InstanceSets) -> pl.DataFrame:
    """The pairs of instances, those that are removed among them, with their pointers."""
    types = sets.reference.instances.select("type", reference="instance")
    gone = found.removed.join(types, on="reference").with_columns(gone=True)
    pairs = pl.concat([found.pairs.with_columns(gone=False), gone], how="diagonal")
    for name, side in sets.sides.items():
        pointers = side.instances.select("pointer", pl.col("instance").alias(name))
        pairs = pairs.join(pointers, on=name, how="left", suffix="_system")
    place = pl.struct(pl.col("reference", "system").fill_null(pl.lit(2**62))).rank("ordinal")
    return pairs.with_columns(place_of_pair=place.cast(pl.Int64))


def _sets(pairs: pl.DataFrame, sets: InstanceSets, found: Mapped) -> pl.DataFrame:
    sums = pairs.group_by("set").agg(pl.col(*POINTS).sum())
    why = first_case(
        (pl.col("system").is_null(), "the system has no such set"),
        (pl.col("reference").is_null(), "the reference has no such set"),
        otherwise="same document" if sets.settled else "greedy, among overlapping sets",
    )
    rows = found.sets.select("set", why=why, depth=0).join(sums, on="set", how="left")
    names = sets.with_names(found.sets)
    return rows.join(names, on="set").rename({"document": "reference", "document_system": "system"})


def _instances(pairs: pl.DataFrame) -> pl.DataFrame:
    choice = pl.col("choice").round(4).cast(pl.String)
    why = first_case(
        (pl.col("gone"), "optional, unmapped"),
        (choice.is_not_null(), pl.format("best remaining F: {}", choice)),
        (pl.col("system").is_null(), "no unmapped instance left in the system"),
        otherwise="no unmapped instance left in the reference",
    )
    columns = ("set", "place_of_pair", "type", *POINTS)
    sides = {"reference": "pointer", "system": "pointer_system"}
    return pairs.select(*columns, **sides, why=why, depth=pl.lit(1))


def _slots(found: Mapped, sets: InstanceSets) -> pl.DataFrame:
    answered = found.fills.answers.select("at", answered=True)
    rows = sets.with_slots(found.evaluation.slots).join(answered, on="at", how="left")
    ours, theirs = pl.col("alternative").is_not_null(), pl.col("answered").fill_null(False)
    why = first_case(
        (ours & theirs, "same name"),
        (ours, "the system has no such slot"),
        (theirs, "the reference has no such slot"),
        otherwise="all its instances are removed",
    )
    return rows.with_columns(
        reference=pl.when(ours | ~theirs).then("slot"),
        system=pl.when(theirs).then("slot"),
        why=why,
        depth=pl.lit(2),
    )


def _alternatives(slots: pl.DataFrame, found: Mapped) -> pl.DataFrame:
    """The alternatives that count."""
    counts = found.fills.alternatives.group_by("at").agg(of=pl.len())
    rows = slots.drop_nulls("alternative").join(counts, on="at", how="left")
    why = first_case(
        (pl.col("of") == 1, "the only one"),
        (pl.col("answered"), pl.format("best F of {}", "of")),
        otherwise=pl.format("fewest points of {}", "of"),
    )
    return rows.with_columns(
        reference=pl.format("alternative {}", "alternative"),
        system=pl.when("answered").then(pl.lit("alternative 1")),
        why=why,
        depth=pl.lit(3),
    )


def _pairs_of_fills(found: Mapped, sets: InstanceSets) -> pl.DataFrame:
    """The single fills of the alternatives that count, each beside what it is mapped to.

    A fill that gains points is beside that with which it does; of the others of a kind, the first
    is beside the first, and so on.

    Returns:
        `at`, `slot`, `kind`, `fill`, `fill_system`, `gain`, `answered`, `slot_optional`, whether
        the fill is `removed`, and the tests of texts.
    """
    slots, links, dropped = found.evaluation
    chosen = slots.select("at", "alternative").drop_nulls()
    at = pl.col("pair") * sets.places + pl.col("place")
    columns = ("instance", "place", "alternative", "position", "kind", "fill")
    ours, theirs = (
        found.pairs.select("pair", instance=name)
        .join(side.fills.select(columns), on="instance")
        .with_columns(at=at)
        .sort("at", "position")
        for name, side in sets.sides.items()
    )
    ours = ours.join(chosen, on=["at", "alternative"], how="semi", maintain_order="left")
    ours = ours.join(dropped, on=["at", "fill"], how="anti", maintain_order="left")
    links = links.join(ours, on=["at", "fill"], how="semi")
    ours = ours.select("at", "kind", "fill")
    theirs = theirs.select("at", "kind", fill_system="fill")
    number = -1 - pl.int_range(pl.len()).over("at", "kind", pl.col("link").is_null())
    left, right = (
        rows.join(
            links.select("at", name, link="fill"),
            on=["at", name],
            how="left",
            maintain_order="left",
        ).with_columns(link=pl.coalesce("link", number))
        for rows, name in ((ours, "fill"), (theirs, "fill_system"))
    )
    rows = left.join(right, on=["at", "kind", "link"], how="full", coalesce=True)
    gone = dropped.unique(["at", "target"], keep="first", maintain_order=True)
    gone = gone.select("at", "fill", kind=pl.lit("pointer"), removed=True)
    rows = pl.concat([rows, gone], how="diagonal")
    pair = ["at", "fill", "fill_system"]
    optional = sets.reference.fills.select("fill", "slot_optional")
    return (
        sets.with_slots(rows)
        .join(links.select(*pair, "gain"), on=pair, how="left")
        .join(found.fills.texts.select(*pair, *TESTS), on=pair, how="left")
        .join(found.fills.answers.select("at", answered=True), on="at", how="left")
        .join(optional, on="fill", how="left")
        .with_columns(pl.col("answered", "removed", "slot_optional", *TESTS).fill_null(False))
        .with_columns(pl.col("gain").fill_null(0))
    )


def _fills(found: Mapped, sets: InstanceSets, mode: Mode) -> pl.DataFrame:
    """The pairs of single fills with their points, and why they have them."""
    rows = _pairs_of_fills(found, sets)
    text, gain, removed = pl.col("kind") == "text", pl.col("gain"), pl.col("removed")
    missing, spurious = pl.col("fill_system").is_null(), pl.col("fill").is_null()
    spared = pl.col("slot_optional") & (~pl.col("answered") | ~text)
    points = pl.when(text & (mode == "both")).then(2).otherwise(1).cast(pl.Int64)
    cases = {
        "inc": (~missing & ~spurious, points - gain),
        "mis": (missing & ~spared & ~removed, points),
        "spu": (spurious, points),
        "optional": (missing & spared & ~removed, points),
        "removed": (removed, pl.lit(1, pl.Int64)),
    }
    content = first_case(
        (~pl.col("inside"), "content not inside the reference string"),
        (~pl.col("holds"), "content contains no minimal string"),
        otherwise="content correct",
    )
    extent = first_case(
        (~pl.col("enclosed"), "extent not inside the reference extent"),
        (~pl.col("overlaps"), "extent overlaps no minimal extent"),
        otherwise="extent correct",
    )
    tests = {"content": [content], "extent": [extent], "both": [content, extent]}[mode]
    why = first_case(
        (removed, "points to an unmapped optional instance"),
        (missing & spared, "optional"),
        (missing, "the system has none"),
        (spurious, "the reference has none"),
        (text, pl.concat_str(tests, separator="; ")),
        (gain > 0, "target instances are mapped to each other"),
        otherwise="target instances are not mapped to each other",
    )
    return rows.select(
        *("at", "slot", "fill", "fill_system"),
        *(pl.when(case).then(n).otherwise(0).alias(name) for name, (case, n) in cases.items()),
        cor="gain",
        why=why,
        depth=pl.lit(4),
        order=pl.coalesce("fill", pl.col("fill_system") + 2**61),
    )


def _with_strings(
    rows: pl.DataFrame, sets: InstanceSets, corpora: tuple[Corpus, Corpus]
) -> pl.DataFrame:
    """The fills of both sides as their files have them, and as they are compared."""
    numbers = (pl.element().struct.field(name) for name in ("start", "end"))
    extents = pl.col("extents").list.eval(pl.format("{}#{}#", *numbers)).list.join("")
    extents = pl.when(pl.col("extents").list.len() > 0).then(pl.format(" ##{}", extents))
    text = pl.format('"{}"{}', "text", extents.fill_null(""))
    pointer = pl.when(pl.col("kind") == "pointer").then(pl.format("<{}>", "target"))
    content = pl.col("content")
    for mark, notation in NOTATION:
        content = content.str.replace_all(mark, notation, literal=True)
    extent = pl.format(" ##{}#{}#", "start", "end").fill_null("")
    for corpus, side, name, column, compared in (
        (corpora[0], sets.reference, "reference", "fill", "compared"),
        (corpora[1], sets.system, "system", "fill_system", "compared_system"),
    ):
        some = corpus.fills.filter(pl.col("row").is_in(side.fills["fill"].implode()))
        tables = (
            some.select(pl.coalesce(pointer, text).alias(name), fill="row"),
            side.fills.select(pl.format('"{}"{}', content, extent).alias(compared), "fill"),
        )
        for table in tables:
            rows = rows.join(table, left_on=column, right_on="fill", how="left")
    return rows


# The listing: a reference and a system side by side, for people.


def listings(mapping: pl.DataFrame) -> dict[str, str]:
    """The listings of each mode, by file name: all of it, and only what has errors."""
    modes = mapping["mode"].unique(maintain_order=True)
    kinds = {"side-by-side": False, "errors": True}
    return {
        f"mapping.{mode}.{kind}.txt": listing(mapping.filter(mode=mode), errors=errors)
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
    text, why = pl.concat_str(points, separator=" ", ignore_nulls=True), pl.col("why").fill_null("")
    sides = pl.format("{} | {}  [{}] {}", "reference", "system", text, why)
    line = first_case(
        (pl.col("level") == "fill", pl.format("    {}: {}", "slot", sides)),
        (pl.col("level") == "set", pl.format("\n{}", sides)),
        otherwise=pl.format("  {}", sides),
    )
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
    names = rows.filter(instance)
    names = names.select("_instance", instance="reference", instance_system="system")
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
