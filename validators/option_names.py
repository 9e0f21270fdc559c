"""Names in options that neither the reference nor the submission has (OPT114)."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator

from hlteval.findings import Finding, finding
from hlteval.findings.counts import first_names
from hlteval.findings.suggest import did_you_mean

#: Names that a hint lists.
_SHOWN = 8


def unknown_names(
    option: str, what: str, given: Iterable[str], known: Collection[str], file: str | None = None
) -> Iterator[Finding]:
    """The findings about the names that are not known, each once.

    Args:
        option: the option, such as `unscored`.
        what: what the names are of, such as `slot`.
        given: the names.
        known: those that the reference, the submission or the task has.
        file: the file of the option that has them.

    Examples:
        >>> (found,) = unknown_names("unscored", "slot", ["COMENT"], ["COMMENT", "KIND"])
        >>> found.message, found.help, found.side
        ('no slot is called COMENT', 'did you mean COMMENT?', '--unscored')
    """
    names = sorted(known)
    listed = f"use one of {first_names(names, _SHOWN)}" if names else "leave it out"
    for name in dict.fromkeys(given):
        if name not in known:
            hint = did_you_mean(name, names, listed)
            found = finding("OPT114", file=file, what=what, given=name[:80], hint=hint)
            yield found.of(f"--{option}")
