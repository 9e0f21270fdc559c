"""`--jobs` where one process reads everything: a note on standard error says why."""

from __future__ import annotations

from pathlib import Path

import pytest

DEMO = Path(__file__).parents[2] / "hlteval" / "demo"
MENTIONS, GOLD = DEMO / "entities" / "system.tab", DEMO / "entities" / "reference.tab"
SINGLE = "a submission in a single file is one batch"
SORTED = f"{SINGLE}, unless it is large, valid and sorted by document"
STREAM = "other processes cannot read standard input or data in memory"
ONE = "a batch has up to 1,000 documents, and there is only one"
FOLDERS = ("-r", DEMO / "reference", "-s", DEMO / "system")
SCORE = ("score", "lorehlt-edl", "-r", GOLD, "-s", MENTIONS)
COMMANDS = {
    "validate": (("validate", "lorehlt-edl", MENTIONS), SORTED),
    "validate several": (("validate", "lorehlt-edl", MENTIONS, GOLD), SORTED),
    "validate -": (("validate", "lorehlt-edl", "-"), STREAM),
    "score": (SCORE, SORTED),
    "score json": ((*SCORE, "--format", "json"), SORTED),
    "score folders": (("score", "seedev-full", *FOLDERS), ONE),
    "leaderboard": (("leaderboard", "lorehlt-edl", MENTIONS, GOLD, "-r", GOLD), SINGLE),
}


@pytest.mark.parametrize("name", COMMANDS)
def test_jobs_without_effect_are_noted_with_the_reason(name, invoke):
    command, reason = COMMANDS[name]
    stdin = MENTIONS.read_bytes() if "-" in command else None
    alone, result = (invoke(*command, "--jobs", jobs, stdin=stdin) for jobs in (1, 3))
    assert (result.stdout, result.exit_code) == (alone.stdout, alone.exit_code)
    own = result.stderr.removeprefix(alone.stderr)
    assert " ".join(own.split()) == f"note: --jobs 3 has no effect: {reason}"
