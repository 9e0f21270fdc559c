"""Rules of HUB-4 about names: of the task, a reference and --slots (HUB230 to HUB235).

Without a reference only the names that the task itself gives a meaning are known.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl

from hlteval.findings import Finding
from hlteval.findings.suggest import closest, closest_files, did_you_mean
from hlteval.grammars import vocabulary
from hlteval.representation import Corpus
from hlteval.validators.hub4.tables import allowed_names, fills, frames
from hlteval.validators.names import unknown_names
from hlteval.validators.rule import RuleContext, at, first_of, only_if

# The schema of HUB-4 templettes: special slots and types, and what only references have.


@dataclass(frozen=True, slots=True)
class Schema:
    """The names that the task allows.

    Attributes:
        system: whether a system's output is checked, and not a reference.
        unsegmented: whether offsets count through the whole corpus, as those of a system may.
        top: the type of the instance that ties a set together.
        pointers: the slots that hold pointers, as TYPE.SLOT.
        unscored: the slots whose texts need no extents, as SLOT or TYPE.SLOT.
        document: the slot that repeats the document's identifier.
        status: the slot that marks an instance as optional.
        optional: the texts that do so.
    """

    system: bool
    unsegmented: bool
    top: str
    pointers: tuple[str, ...]
    unscored: tuple[str, ...]
    document: str
    status: str
    optional: tuple[str, ...]


def schema(options: Mapping[str, str], reference: bool = False) -> Schema:
    """The schema for a system's output, or in a reference, with some options.

    Examples:
        >>> schema({"unscored": "COMMENT"}).unscored
        ('COMMENT',)
    """
    data = vocabulary("hub4")
    top = options.get("top") or data["top"]

    def names(option: str) -> tuple[str, ...]:
        value = options.get(option)
        return tuple(value.split(",")) if value else tuple(data[option])

    pointers = names("pointers")
    if "pointers" not in options:  # another name of the type that ties sets together
        pointers = tuple(name.replace(f"{data['top']}.", f"{top}.", 1) for name in pointers)
    return Schema(
        system=not reference,
        unsegmented=options.get("unsegmented") == "yes" and not reference,
        top=top,
        pointers=pointers,
        unscored=names("unscored"),
        document=data["document"],
        status=data["status"],
        optional=tuple(data["optional"]),
    )


def only_in_references(corpus: Corpus) -> str:
    """Report what only a reference may have; empty if a corpus has nothing of it."""
    fills = corpus.fills.lazy()
    kinds = {
        "several alternatives": pl.col("alternative") > 1,
        "minimal strings": pl.col("brackets").list.len() > 0,
        "optional slots": pl.col("optional"),
    }
    counts = fills.select(rows.sum().alias(name) for name, rows in kinds.items()).collect()
    found = [name for name, count in counts.row(0, named=True).items() if count]
    return f"the submission has {' and '.join(found)}" if found else ""


#: Most names of a reference that a hint lists.
_MOST_NAMES = 8
_FILE = "the file of --slots"


def _reference_slots(context: RuleContext) -> list[tuple[str, str]]:
    """The types of the reference with each of their slots; none if there is no reference."""
    if context.own:
        return []
    labels = context.against.frames.lazy().select("label", frame_row="row")
    rows = context.against.fills.lazy().select("frame_row", "slot").join(labels, on="frame_row")
    return rows.select("label", "slot").drop_nulls().unique().sort("label", "slot").collect().rows()


def _reference_types(context: RuleContext) -> list[str]:
    """The types of the instances of the reference; none if there is no reference."""
    if context.own:
        return []
    return context.against.frames["label"].drop_nulls().unique().sort().to_list()


def _unknown_types(
    context: RuleContext, known: list[str], allowed: list[str], where: str
) -> pl.LazyFrame:
    """The first instance of each type that is neither known nor allowed, if any is known.

    The hint is a similar type, the known ones, or that a type with a hyphen needs to be named.
    """
    other = frames(context).filter(~pl.col("label").is_in([*known, *allowed]))
    found = first_of(only_if(bool(known), other), "label").collect()
    hints: list[str] = []
    for label in found["label"]:
        longer = [name for name in known if name.startswith(f"{label}-")] if allowed else []
        by_name = did_you_mean(label, known, list_names("types", known, where))
        by_option = f"for types with a hyphen, add --types {','.join(longer)}"
        hints.append(by_option if longer else by_name)
    return found.lazy().with_columns(pl.Series("hint", hints, pl.String))


def _unknown_slots(
    context: RuleContext,
    known: list[tuple[str, str]],
    types: list[str],
    similar: list[tuple[str, str]],
    where: str,
) -> pl.LazyFrame:
    """The first of each slot of some types that is neither known nor one of the task."""
    names = sorted({*(f"{label}.{slot}" for label, slot in known), *of_task(context.schema)})
    is_known = pl.col("full").is_in(names) | pl.col("slot").is_in(names)
    other = fills(context).filter("begins", pl.col("label").is_in(types), ~is_known)
    found = first_of(at(other, "slot"), "full").collect()
    hints: list[str] = []
    for label, slot in found.select("label", "slot").rows():
        slots = sorted({name for kind, name in similar if kind == label})
        others = sorted({kind for kind, name in similar if name == slot})
        by_type = f"{_enumerate(others)} has it"
        listed = by_type if others else list_names(f"slots of {label}", slots, where)
        hints.append(did_you_mean(slot, slots, listed))
    return found.lazy().with_columns(pl.Series("hint", hints, pl.String))


def unused_type(context: RuleContext) -> pl.LazyFrame:
    """An instance of a type that the reference never has, once for each type."""
    return _unknown_types(context, _reference_types(context), [], "the reference")


def unused_slot(context: RuleContext) -> pl.LazyFrame:
    """A slot that no instance of its type has in the reference, once for each."""
    known = _reference_slots(context)
    pointers = (name.partition(".") for name in context.schema.pointers)
    similar = [*known, *((kind, slot) for kind, _, slot in pointers)]
    return _unknown_slots(context, known, _reference_types(context), similar, "the reference")


def other_type(context: RuleContext) -> pl.LazyFrame:
    """An instance of a type that the file of --slots does not allow, once for each type.

    The type that ties sets together and the slots that the task gives a meaning are always allowed.
    """
    known = sorted({kind for kind, _ in allowed_names(context)})
    return _unknown_types(context, known, [context.schema.top], _FILE)


def other_slot(context: RuleContext) -> pl.LazyFrame:
    """A slot that the file of --slots does not allow its type to have, once for each.

    A type without a slot in the file may have all slots.
    """
    known = [(kind, slot) for kind, slot in allowed_names(context) if slot]
    types = sorted({kind for kind, _ in known})
    return _unknown_slots(context, known, types, known, _FILE)


def list_names(what: str, names: Sequence[str], where: str = "the reference") -> str:
    """A hint with the names that there are."""
    return f"{what} of {where}: {_enumerate(names)}" if names else f"it has no {what}"


def _enumerate(names: Sequence[str]) -> str:
    more = len(names) - _MOST_NAMES
    shown = [*names[:_MOST_NAMES], *([f"{more:,} more"] if more > 0 else [])]
    return " and ".join(filter(None, [", ".join(shown[:-1]), *shown[-1:]]))


def of_task(schema: Schema) -> set[str]:
    """The slots to which the task gives a meaning, as SLOT or TYPE.SLOT."""
    return {*schema.pointers, *schema.unscored, schema.document, schema.status}


def unscored_names(
    context: RuleContext, options: Mapping[str, str], _: Mapping[str, Any]
) -> Iterator[Finding]:
    """The slots of --unscored that neither side, the task nor the file of --slots has."""
    given = [name for name in options.get("unscored", "").split(",") if name]
    if given:
        own = fills(context).select("label", "slot").unique().collect().rows()
        pairs = {*own, *_reference_slots(context), *allowed_names(context)}
        slots = {slot for _, slot in pairs} | {f"{label}.{slot}" for label, slot in pairs}
        yield from unknown_names("unscored", "slot", given, slots | of_task(schema({})))


def misspelt(context: RuleContext) -> pl.LazyFrame:
    """A slot or a top type that is meant to be one of the task, by all but its spelling."""
    return pl.concat([_misspelt_tops(context), _misspelt_slots(context)], how="diagonal")


def _misspelt_tops(context: RuleContext) -> pl.LazyFrame:
    """The instances of a type like the top one, in sets without that, unless it is a known type."""
    allowed = [kind for kind, _ in allowed_names(context)]
    top, known = context.schema.top, [*_reference_types(context), *allowed]
    rows = frames(context)
    labels = rows.select("label").unique().collect()["label"].drop_nulls().to_list()
    alike = [name for name in labels if name not in (top, *known) and closest(name, [top])]
    has = rows.filter(pl.col("label") == top).select("document")
    found = rows.filter(pl.col("label").is_in(alike))
    alone = found.join(has, on="document", how="anti", maintain_order="left")
    return alone.select("origin", "record", "field", "id", given="label", meant=pl.lit(top))


def _misspelt_slots(context: RuleContext) -> pl.LazyFrame:
    """The slots like one of the task; those with pointers may also differ in letters."""
    rows = fills(context).filter("begins").with_columns(pointer=pl.col("kind") == "pointer")
    known = {*_reference_slots(context), *allowed_names(context)}
    task = [name.rpartition(".") for name in sorted(of_task(context.schema))]
    wrong: list[tuple[str, str, bool, str]] = []
    for label, slot, pointer in rows.select("label", "slot", "pointer").unique().collect().rows():
        names = [name for kind, _, name in task if kind in ("", label)]
        if (label, slot) in known or slot in names:
            continue
        meant = next((name for name in names if _plain(name) == _plain(slot)), None)
        if meant is None and pointer:
            slots = [name.removeprefix(f"{label}.") for name in context.schema.pointers]
            meant = closest(slot, [name for name in slots if "." not in name])
        if meant is not None:
            wrong.append((label, slot, pointer, meant))
    schema = {"label": pl.String, "slot": pl.String, "pointer": pl.Boolean, "meant": pl.String}
    names_meant = pl.LazyFrame(wrong, schema, orient="row")
    found = rows.join(names_meant, on=["label", "slot", "pointer"], maintain_order="left")
    return at(found, "slot").select("origin", "record", "field", "id", "meant", given="slot")


def _plain(name: str) -> str:
    return name.casefold().replace("_", "").replace("-", "")


def set_elsewhere(context: RuleContext) -> pl.LazyFrame:
    """A set of a document of which the reference has no set, once for each document."""
    against = context.against
    sets = against.documents.join(against.frames, left_on="row", right_on="document", how="semi")
    known = [] if context.own else sets["name"].to_list()
    others = frames(context).filter(~pl.col("name").is_in(known))
    compared = bool(known) and not context.schema.unsegmented
    found = first_of(only_if(compared, others), "name").collect()
    similar = closest_files(found["name"].to_list(), known)
    hints = [
        f"did you mean {similar[name]}?" if name in similar else list_names("documents", known)
        for name in found["name"]
    ]
    return found.lazy().with_columns(pl.Series("hint", hints, pl.String))
