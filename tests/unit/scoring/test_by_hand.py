"""Every measure of every task has an example that is computed by hand.

Each of the modules below scores one example and compares all values with those of a computation, so
that a measure without one makes its test fail. What a task declares must be among these values.
"""

from __future__ import annotations

import pytest

from hlteval import tasks
from tests.unit.ccu import test_by_hand as ccu
from tests.unit.edl import test_by_hand as edl
from tests.unit.hub4 import test_by_hand as hub4
from tests.unit.mt import test_by_hand as mt
from tests.unit.seedev import test_by_hand as seedev
from tests.unit.situations import test_lorehlt_by_hand as lorehlt
from tests.unit.situations import test_speech_by_hand as speech

EXAMPLES = {
    "seedev-binary": seedev.figures([1], 1, 1),
    "seedev-full": seedev.figures([1], 1, 1),
    "speech-sf": speech.EXPECTED,
    "lorehlt-edl": edl.EXPECTED,
    "lorehlt-sf": lorehlt.EXPECTED,
    "lorehlt-mt": mt.EXPECTED,
    "hub4": hub4.EXPECTED,
    "ccu-nd": ccu.DETECTION,
    "ccu-ed": ccu.DETECTION,
    "ccu-vd": ccu.LEVEL_VALUES,
    "ccu-ad": ccu.LEVEL_VALUES,
    "ccu-cd": ccu.CHANGES,
    "ccu-ta2": ccu.QUESTIONNAIRE,
}
ELSEWHERE = {"lorehlt-mt": {"meteor"}}
"""The values of METEOR are those of its jar; tests/unit/mt/test_meteor.py has its formula."""


@pytest.mark.parametrize("name", sorted(tasks.BUILTIN))
def test_every_measure_has_an_example_by_hand(name: str) -> None:
    declared = {*tasks.load(name).metrics}
    assert declared - ELSEWHERE.get(name, set()) <= {*EXAMPLES.get(name, {})}
