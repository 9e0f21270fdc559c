"""Refusals: why a submission is not scored, and how to see and fix what is in the way."""

from __future__ import annotations

import shlex

from hlteval.findings import REFERENCE, SUBMISSION
from hlteval.results.verdict import Verdict
from hlteval.tasks.task import Task
from hlteval.workflows.batches import Submission

NOTHING_TO_SCORE = frozenset({"REF101", "REF102", "REF103", "REF104", "REF106"})
"""Codes of references with which there are no numbers, also if all that blocks is to be ignored."""

BESIDE_A_SUBMISSION = frozenset({"REF104", "REF105"})
"""Codes of references that depend on the submission: beside others they may be right."""


class Refused(ValueError):
    """A submission was not scored.

    Attributes:
        verdict: the verdict of validation, with all its findings.
        blocking: the findings because of which nothing was scored.
        fix: what to do.
    """

    def __init__(
        self, refused: Verdict, reason: str, fix: str, crashes: frozenset[str] = frozenset()
    ) -> None:
        found = [item for item in refused.findings if item.blocking or item.code in crashes]
        codes = sorted({finding.code for finding in found})
        super().__init__(f"{reason} ({', '.join(codes)})")
        self.verdict, self.fix = refused, fix
        self.blocking = tuple(found)

    @property
    def whole(self) -> bool:
        """Whether no other submission is scored against this reference either."""
        other = {finding.code for finding in self.blocking if finding.side != SUBMISSION}
        return bool(other - BESIDE_A_SUBMISSION)


def refuse(
    judged: Verdict, opened: Submission, *, encoding: str, lenient: bool, empty: bool
) -> None:
    """Give no numbers where nothing sensible can be scored, or the official software gives none.

    Args:
        judged: the verdict of validation.
        opened: the submission and its reference.
        encoding: of the files.
        lenient: whether to score what can be scored in spite of blocking findings.
        empty: whether nothing was read of the reference.

    Raises:
        Refused: if there are no numbers.
    """
    crashes = opened.task.official_crashes_on
    if judged.profile == "official" and any(item.code in crashes for item in judged.findings):
        reason = "no official score: the official software crashes on these findings"
        raise Refused(judged, reason, "fix them, or use --profile plan", crashes)
    blocking = [finding for finding in judged.findings if finding.blocking]
    nothing = empty or not NOTHING_TO_SCORE.isdisjoint(finding.code for finding in blocking)
    if not blocking or (lenient and not nothing):
        return
    others = sorted({finding.side for finding in blocking} - {SUBMISSION})
    where = "".join(f" in the {named(side, opened.task)}" for side in others[:1])
    fix = "fix the blocking findings"
    fix += "" if nothing else ", or use --lenient to score the rest"
    if REFERENCE in others and not nothing:
        alone = command(opened, REFERENCE, encoding)
        fix += f"; `{alone}` checks the reference alone"
    raise Refused(judged, f"nothing was scored because of blocking findings{where}", fix)


def named(side: str, task: Task) -> str:
    """A side as in a sentence: that of an option is its file, or what it asks for."""
    options = {f"--{option.flag}": option for option in task.options}
    if side in options:
        return f"file of {side}" if options[side].is_input else f"option {side}"
    return side


def command(opened: Submission, side: str, encoding: str) -> str:
    """The command that shows the findings of a side; those of an option's file, beside others."""
    of_score = any(f"--{o.flag}" == side and o.commands == ("score",) for o in opened.task.options)
    name = "score" if of_score else "validate"
    words = ["hlteval", name, opened.task.name]
    reference = opened.reference.path if opened.reference else ""
    if side == REFERENCE:
        words += [reference, "--as", REFERENCE]
    elif of_score:
        words += ["-r", reference, "-s", opened.system.path]
    else:
        words += [opened.system.path, *(["--against", reference] if reference else [])]
    for option in opened.task.options:
        value = opened.options.get(option.name)
        if value and option.available_in(name):
            words += [f"--{option.flag}"] + ([] if option.switch else [value])
    words += [] if encoding == "utf-8" else ["--encoding", encoding]
    return shlex.join(words)
