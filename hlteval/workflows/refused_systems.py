"""Systems of a comparison that are refused: the others are compared without them."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import msgspec

from hlteval.results.comparison import RefusedSystem
from hlteval.workflows.refusals import Refused
from hlteval.workflows.runs import Run


def scored_systems(
    systems: Sequence[str], run: Callable[[str], Run]
) -> tuple[dict[str, Run], tuple[RefusedSystem, ...]]:
    """What was counted of each system, and the systems that are refused.

    Args:
        systems: paths of the submissions.
        run: scores one of them.

    Raises:
        Refused: if all are, or the reference cannot be used.
    """
    runs: dict[str, Run] = {}
    refused: dict[str, Refused] = {}
    for path in systems:
        try:
            runs[path] = run(path)
        except Refused as reason:
            if reason.whole:  # so are all others
                raise
            refused[path] = reason
    if not runs and len(refused) == 1:
        raise next(iter(refused.values()))
    if not runs:
        raise _all_refused([*refused.values()])
    return runs, tuple(_refused(path, reason) for path, reason in refused.items())


def _refused(path: str, reason: Refused) -> RefusedSystem:
    return RefusedSystem(
        name=str(path),
        reason=str(reason),
        help=reason.fix,
        codes=tuple(sorted({finding.code for finding in reason.blocking})),
        blocking=reason.blocking,
        verdict=reason.verdict,
    )


def _all_refused(reasons: Sequence[Refused]) -> Refused:
    """The refusal of a comparison of which no system is left."""
    findings = tuple(finding for reason in reasons for finding in reason.verdict.findings)
    codes = frozenset(finding.code for reason in reasons for finding in reason.blocking)
    joined = msgspec.structs.replace(reasons[0].verdict, findings=findings, paths={})
    return Refused(
        joined, "nothing was compared: all submissions are refused", reasons[0].fix, codes
    )
