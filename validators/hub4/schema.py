"""The schema of HUB-4 templettes: special slots and types, and what only references have."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import polars as pl

from hlteval.grammars import vocabulary
from hlteval.representation import Corpus


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
