"""What a submission of LoReHLT situation frames may have, by the options of the task."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Allowed:
    """What the options say of a submission.

    Attributes:
        cutoff: whether it has a cut-off confidence.
    """

    cutoff: bool


def allowed(options: Mapping[str, str], reference: bool = False) -> Allowed:
    """What a submission, or a reference, may have.

    Examples:
        >>> allowed({"cutoff": "0.3"})
        Allowed(cutoff=True)
    """
    return Allowed(reference or "cutoff" in options)
