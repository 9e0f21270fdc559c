"""The schema of HUB-4 templettes: special slots and types, and which side is checked."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from hlteval.grammars import vocabulary


@dataclass(frozen=True, slots=True)
class Schema:
    """What the task allows.

    Attributes:
        side: `system` or `reference`, whichever is checked.
        unsegmented: whether offsets count through the whole corpus.
        top: the type of the instance that ties a set together.
        pointers: the slots that hold pointers, as TYPE.SLOT.
        unscored: the slots whose texts need no extents, as SLOT or TYPE.SLOT.
        document: the slot that repeats the document's identifier.
        status: the slot that marks an instance as optional.
        optional: the texts that do so.
    """

    side: str
    unsegmented: bool
    top: str
    pointers: tuple[str, ...]
    unscored: tuple[str, ...]
    document: str
    status: str
    optional: tuple[str, ...]

    @property
    def system(self) -> bool:
        """Whether a system's output is checked."""
        return self.side == "system"


def schema(options: Mapping[str, str]) -> Schema:
    """What the task allows with some options.

    Examples:
        >>> schema({"unscored": "COMMENT"}).unscored
        ('COMMENT',)
    """
    data = vocabulary("hub4")

    def names(option: str) -> tuple[str, ...]:
        value = options.get(option)
        return tuple(value.split(",")) if value else tuple(data[option])

    return Schema(
        side=options.get("side", "system"),
        unsegmented=options.get("unsegmented") == "yes",
        top=data["top"],
        pointers=names("pointers"),
        unscored=names("unscored"),
        document=data["document"],
        status=data["status"],
        optional=tuple(data["optional"]),
    )
