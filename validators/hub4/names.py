"""Rules of HUB-4 about names: those of the task, and those of a reference (HUB230 to HUB233).

Without a reference only the names that the task itself gives a meaning are known.
"""

from __future__ import annotations

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
    """What the task allows.

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
    """What the task allows in a system's output, or in a reference, with some options.

    Examples:
        >>> schema({"unscored": "COMMENT"}).unscored
        ('COMMENT',)
    """
    data = vocabulary("hub4")
    top = options.get("top") or data["top"]

    def names(option: str) -> tuple[str, ...]:
        value = options.get(option)
        return tuple(value.split(",")) if value else tuple(data[option])

    return Schema(
        system=not reference,
        unsegmented=options.get("unsegmented") == "yes" and not reference,
        top=top,
        pointers=names("pointers") if "pointers" in options else _of_top(data, top),
        unscored=names("unscored"),
        document=data["document"],
        status=data["status"],
        optional=tuple(data["optional"]),
    )


def _of_top(data: Mapping[str, Any], top: str) -> tuple[str, ...]:
    """The slots that hold pointers, for another name of the type that ties sets together."""
    return tuple(name.replace(f"{data['top']}.", f"{top}.", 1) for name in data["pointers"])


def only_in_references(corpus: Corpus) -> str:
    """What a corpus has that only a reference may have; empty if there is nothing."""
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
_SHOWN = 8


def _reference_types(context: RuleContext) -> list[str]:
    """The types of the instances of the reference; none if there is no reference."""
    if context.own:
        return []
    return context.against.frames["label"].drop_nulls().unique().sort().to_list()


def _reference_slots(context: RuleContext) -> list[tuple[str, str]]:
    """The types of the reference with each of their slots."""
    if context.own:
        return []
    labels = context.against.frames.lazy().select("label", frame_row="row")
    rows = context.against.fills.lazy().select("frame_row", "slot").join(labels, on="frame_row")
    return rows.select("label", "slot").drop_nulls().unique().sort("label", "slot").collect().rows()


def unused_type(context: RuleContext) -> pl.LazyFrame:
    """An instance of a type that the reference never has, once for each type."""
    known = _reference_types(context)
    other = frames(context).filter(~pl.col("label").is_in(known))
    found = first_of(only_if(bool(known), other), "label").collect()
    hints = [did_you_mean(label, known, listed("types", known)) for label in found["label"]]
    return found.lazy().with_columns(pl.Series("hint", hints, pl.String))


def unused_slot(context: RuleContext) -> pl.LazyFrame:
    """A slot that no instance of its type has in the reference, once for each."""
    known = _reference_slots(context)
    names = {*(f"{label}.{slot}" for label, slot in known), *of_task(context.schema)}
    other = fills(context).filter(
        pl.col("begins"),
        pl.col("label").is_in(_reference_types(context)),
        ~pl.col("full").is_in(sorted(names)) & ~pl.col("slot").is_in(sorted(names)),
    )
    found = first_of(at(other, "slot"), "full").collect()
    split = (name.partition(".") for name in context.schema.pointers)
    pointers = [(kind, slot) for kind, _, slot in split]
    hints = [
        slot_hint(label, slot, [*known, *pointers])
        for label, slot in found.select("label", "slot").rows()
    ]
    return found.lazy().with_columns(pl.Series("hint", hints, pl.String))


def slot_hint(
    label: str, slot: str, known: Sequence[tuple[str, str]], where: str = "the reference"
) -> str:
    """A similar slot of the type, another type that has the slot, or the slots of the type."""
    own = sorted({name for kind, name in known if kind == label})
    others = sorted({kind for kind, name in known if name == slot})
    otherwise = f"{_several(others)} has it" if others else listed(f"slots of {label}", own, where)
    return did_you_mean(slot, own, otherwise)


def listed(what: str, names: Sequence[str], where: str = "the reference") -> str:
    """A hint with the names that there are."""
    return f"{what} of {where}: {_several(names)}" if names else f"it has no {what}"


def _several(names: Sequence[str]) -> str:
    more = [f"{len(names) - _SHOWN:,} more"] if len(names) > _SHOWN else []
    listed = [*names[:_SHOWN], *more]
    return " and ".join(filter(None, [", ".join(listed[:-1]), *listed[-1:]]))


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
    rows = fills(context).filter("begins")
    pointer = pl.col("kind") == "pointer"
    each = rows.select("label", "slot", pointer=pointer).unique().collect().rows()
    known = {*_reference_slots(context), *allowed_names(context)}
    wrong = {
        (label, slot, pointer): meant
        for label, slot, pointer in each
        if (label, slot) not in known
        for meant in _meant(label, slot, context.schema, pointer=pointer)
    }
    names = pl.LazyFrame(
        [(*key, meant) for key, meant in wrong.items()],
        {"label": pl.String, "slot": pl.String, "pointer": pl.Boolean, "meant": pl.String},
        orient="row",
    )
    found = rows.with_columns(pointer=pointer).join(
        names, on=["label", "slot", "pointer"], maintain_order="left"
    )
    return at(found, "slot").select("origin", "record", "field", "id", "meant", given="slot")


def _meant(label: str, slot: str, schema: Schema, *, pointer: bool) -> Iterator[str]:
    """The slot of the task that is meant by a name, if it is none itself."""
    names = [name.rpartition(".") for name in sorted(of_task(schema))]
    own = [name for kind, _, name in names if kind in ("", label)]
    if slot in own:
        return
    same = [name for name in own if _plain(name) == _plain(slot)]
    pointers = [name.removeprefix(f"{label}.") for name in schema.pointers]
    near = closest(slot, [name for name in pointers if "." not in name]) if pointer else None
    yield from same[:1] or ([near] if near else [])


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
        f"did you mean {similar[name]}?" if name in similar else listed("documents", known)
        for name in found["name"]
    ]
    return found.lazy().with_columns(pl.Series("hint", hints, pl.String))


# Rules of HUB-4 about the types and slots that the file of --slots allows (HUB234, HUB235).
#
# The type that ties sets together and the slots that the task gives a meaning are always allowed.


_FILE = "the file of --slots"


def other_type(context: RuleContext) -> pl.LazyFrame:
    """An instance of a type that is not allowed, once for each type."""
    known = sorted({kind for kind, _ in allowed_names(context)})
    other = frames(context).filter(~pl.col("label").is_in([*known, context.schema.top]))
    found = first_of(only_if(bool(known), other), "label").collect()
    hints = [_type_hint(label, known) for label in found["label"]]
    return found.lazy().with_columns(pl.Series("hint", hints, pl.String))


def _type_hint(label: str, known: Sequence[str]) -> str:
    """A similar type, the types, or that a type with a hyphen needs to be named."""
    longer = [name for name in known if name.startswith(f"{label}-")]
    if longer:
        return f"for types with a hyphen, add --types {','.join(longer)}"
    return did_you_mean(label, known, listed("types", known, _FILE))


def other_slot(context: RuleContext) -> pl.LazyFrame:
    """A slot that its type is not allowed to have, once for each.

    A type without a slot in the file may have all slots.
    """
    known = [(kind, slot) for kind, slot in allowed_names(context) if slot]
    names = sorted({*(f"{kind}.{slot}" for kind, slot in known), *of_task(context.schema)})
    other = fills(context).filter(
        pl.col("begins"),
        pl.col("label").is_in(sorted({kind for kind, _ in known})),
        ~pl.col("full").is_in(names) & ~pl.col("slot").is_in(names),
    )
    found = first_of(at(other, "slot"), "full").collect()
    hints = [
        slot_hint(label, slot, known, _FILE) for label, slot in found.select("label", "slot").rows()
    ]
    return found.lazy().with_columns(pl.Series("hint", hints, pl.String))
