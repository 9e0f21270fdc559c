"""Targets of a conversion: which format is written to a path."""

from __future__ import annotations

from collections.abc import Callable, Collection

from hlteval.converters import Format, known, load
from hlteval.workflows.inputs import UnknownFormat, named, preferred


def target(
    path: str,
    form: str | None = None,
    given: Format | None = None,
    tables: Callable[[], Collection[str]] = tuple,
) -> Format:
    """The format to write to a path, by its name or by the path's suffix.

    Of several formats with the suffix, built-in ones go before those of plug-ins, then those of the
    family of the input, then those of its evaluation, then those that can represent the most of its
    tables.

    Args:
        path: to write to.
        form: name of the format.
        given: the format of the input.
        tables: returns the names of the tables that the input has; called if they are needed.

    Raises:
        UnknownFormat: if there is no such format, or several, or it cannot be written.
    """
    if form is not None:
        chosen = named(form)
        if chosen.write is None:
            raise UnknownFormat(f"{form} cannot be written; {_writable()}")
        return chosen
    formats = [load(name) for name in known()]
    fitting = preferred([f for f in formats if f.write and path.endswith(f.suffixes)])
    lengths = [max(len(s) for s in f.suffixes if path.endswith(s)) for f in fitting]
    longest = max(lengths, default=0)  # .rsd.txt before .txt
    fitting = [f for f, length in zip(fitting, lengths, strict=True) if length == longest]
    family = [f for f in fitting if given and _family(f.name) == _family(given.name)]
    fitting = family or fitting
    same = [f for f in fitting if given and f.evaluation == given.evaluation]
    if len(fitting := same or fitting) > 1:
        present = set(tables())
        counts = {f.name: len(present.intersection(f.tables)) for f in fitting}
        fitting = [f for f in fitting if counts[f.name] == max(counts.values())]
    if len(fitting) != 1:
        names = " or ".join(f.name for f in fitting)
        reason = f", which may be {names}" if names else ""
        raise UnknownFormat(
            f"the suffix of {path} does not determine the format{reason}; {_writable()}"
        )
    return fitting[0]


def _writable() -> str:
    return "set one with --to: " + ", ".join(name for name in known() if load(name).write)


def _family(name: str) -> str:
    """The package of a format's module: `hlteval.converters.edl`, or that of a plug-in."""
    return known()[name].partition(":")[0].rpartition(".")[0]
