"""The rules of CCU, by task and code.

The readers report what breaks the form of a file; these rules check what it says.
"""

from __future__ import annotations

from hlteval.validators.ccu import places
from hlteval.validators.rule import Rule


def _of_places(table: str) -> tuple[Rule, ...]:
    return (
        Rule("CCU401", table, places.negative, submission_only=True),
        Rule("CCU404", table, places.beyond_end, submission_only=True),
        Rule("CCU405", table, places.far_beyond_end, submission_only=True),
        Rule("CCU406", table, places.broken_character, submission_only=True),
    )


def _of_stretches(table: str) -> tuple[Rule, ...]:
    return (
        *_of_places(table),
        Rule("CCU402", table, places.reversed_stretch, submission_only=True),
        Rule("CCU403", table, places.empty_stretch, submission_only=True),
    )


ND = _of_stretches("instances")
ED = _of_stretches("instances")
VD = _of_stretches("ratings")
AD = VD
CD = _of_places("changes")
NDMAP: tuple[Rule, ...] = ()
REFERENCE: tuple[Rule, ...] = ()
