"""Packaging: how the submissions of a task are packed, as a value."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from hlteval.extensions import lazy

if TYPE_CHECKING:
    from hlteval.findings import Finding
    from hlteval.sources import Source
    from hlteval.validators.packing import Arranged


def _any_name(_: str) -> Mapping[str, str]:
    """Nothing: a name of any form."""
    return {}


_AS_THEY_ARE = lazy("hlteval.validators.packing:as_they_are")


def _unnamed(_: Source) -> Iterator[Finding]:
    """Nothing to check: a name of any form."""
    yield from ()


def _unknown(_: Source) -> str:
    """Nothing that only submissions to this task have."""
    return ""


@dataclass(frozen=True, slots=True)
class Packaging:
    """How the submissions of a task are packed.

    Attributes:
        suffixes: of the archives, the usual one first.
        name: the form of the name of an archive, without its suffix; empty for any name.
        layout: what an archive holds, in a few words.
        parse: the parts of a name by what they are; empty for a name of another form.
        arrange: what goes into an archive of a name (without its suffix) and under which names,
            from the files that a user has.
        named: what is wrong with the name alone, whatever is inside: errors are reported of an
            archive that cannot be read, too.
        recognize: what a source has that only submissions to this task have, in a few words; the
            format of the task is looked for anyway, unless `by_format` is False.
        by_format: whether a source in the format of the task may be a submission to it.
    """

    suffixes: tuple[str, ...] = (".tgz", ".zip")
    name: str = ""
    layout: str = "the files as they are"
    parse: Callable[[str], Mapping[str, str]] = _any_name
    arrange: Callable[[str, Source], Arranged] = _AS_THEY_ARE
    named: Callable[[Source], Iterator[Finding]] = _unnamed
    recognize: Callable[[Source], str] = _unknown
    by_format: bool = True

    def suffix(self, name: str) -> str:
        """The suffix of an archive of the task that a name ends in; empty if it has none.

        Examples:
            >>> Packaging().suffix("run-1.tgz"), Packaging().suffix("run-1.rar")
            ('.tgz', '')
        """
        lower = name.lower()
        return next((suffix for suffix in self.suffixes if lower.endswith(suffix)), "")
