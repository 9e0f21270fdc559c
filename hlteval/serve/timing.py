"""How slow clients may be."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True)
class Pace:
    """How slow the body of a request may be.

    Attributes:
        pause: seconds without a byte at most.
        grace: seconds that a body may take in any case.
        rate: bytes per second after these, on average.
    """

    pause: float = 20.0
    grace: float = 30.0
    rate: float = 50_000.0


@dataclass(frozen=True)
class Timing:
    """How slow a client may be.

    Attributes:
        headers: seconds for the headers of a request.
        reading: seconds in which a client reads nothing of an answer.
        pace: of the bodies of requests.
    """

    headers: float = 10.0
    reading: float = 30.0
    pace: Pace = field(default_factory=Pace)
