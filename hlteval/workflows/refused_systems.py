"""Systems of a comparison that are refused: the others are compared without them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import msgspec

from hlteval.results.comparison import RefusedSystem
from hlteval.workflows.refusals import Refused
from hlteval.workflows.runs import Run


def scored_systems(
    systems: Sequence[str], run: Callable[[str], Run]
) -> tuple[dict[str, Run], dict[str, Refused]]:
    """What was counted of each system, and the reasons of those that are refused.

    Args:
        systems: names or paths of the submissions.
        run: scores one of them.

    Raises:
        Refused: if the reference cannot be used.
    """
    runs: dict[str, Run] = {}
    refused: dict[str, Refused] = {}
    for system in systems:
        try:
            runs[system] = run(system)
        except Refused as reason:
            if reason.whole:  # so are all others
                raise
            refused[system] = reason
    return runs, refused


def refused_systems(reasons: Mapping[str, Refused]) -> tuple[RefusedSystem, ...]:
    """The systems that are refused, as values."""
    return tuple(_refused(name, reason) for name, reason in reasons.items())


def _refused(name: str, reason: Refused) -> RefusedSystem:
    return RefusedSystem(
        name=name,
        reason=str(reason),
        help=reason.fix,
        codes=tuple(sorted({finding.code for finding in reason.blocking})),
        blocking=reason.blocking,
        verdict=reason.verdict,
    )


def all_refused(reasons: Sequence[Refused]) -> Refused:
    """The refusal of a comparison of which no system is left."""
    if len(reasons) == 1:
        return reasons[0]
    findings = tuple(finding for reason in reasons for finding in reason.verdict.findings)
    codes = frozenset(finding.code for reason in reasons for finding in reason.blocking)
    joined = msgspec.structs.replace(reasons[0].verdict, findings=findings, paths={})
    return Refused(
        joined, "nothing was compared: all submissions are refused", reasons[0].fix, codes
    )
