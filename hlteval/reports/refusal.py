"""A refusal to score, for people and as JSON."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import msgspec
from rich.console import Group, RenderableType
from rich.text import Text

from hlteval.findings import Finding
from hlteval.reports.findings import json
from hlteval.reports.prose import Prose
from hlteval.reports.text import MAX_FINDINGS, counted, text
from hlteval.results.verdict import Verdict


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why nothing was scored.

    Attributes:
        verdict: the verdict of validation, with its findings.
        reason: the reason in one line.
        help: what to do, in one line.
        blocking: the findings that are the reason.
        command: the command that reports the others too; empty if there is none.
    """

    verdict: Verdict
    reason: str
    help: str
    blocking: Sequence[Finding] = ()
    command: Sequence[str] = ()

    def as_json(self) -> str:
        """One object: that of a verdict, which is `refused`, with `reason` and `help`.

        Examples:
            >>> Refusal(Verdict("hub4", "plan", False), "no set", "add it").as_json()[:66]
            '{"schema":"refusal","version":1,"task":"hub4","profile":"plan","ve'
        """
        reasons = {"reason": self.reason, "help": self.help}
        return json(self.verdict, schema="refusal", outcome="refused", **reasons)

    def as_text(self, max_findings: int = MAX_FINDINGS) -> RenderableType:
        """The findings that are the reason, then the reason, what to do, and what else there is.

        Args:
            max_findings: maximum number of findings shown per file; 0 for all.
        """
        found = msgspec.structs.replace(self.verdict, task="", findings=tuple(self.blocking))
        return Group(text(found, max_findings), Text(), self.summary())

    def summary(self) -> RenderableType:
        """The reason and what to do."""
        lines: list[RenderableType] = [Prose(self.reason, "bold red"), Prose(self.help)]
        return Group(*lines, *self._others())

    def _others(self) -> Iterator[RenderableType]:
        """The number of all other findings, and the command that reports them."""
        blocking = set(self.blocking)
        others = tuple(item for item in self.verdict.findings if item not in blocking)
        if others:
            number = counted(msgspec.structs.replace(self.verdict, findings=others))
            yield Prose(
                f"not shown: {number}" + ("; to see all findings, run" if self.command else "")
            )
            yield from [Text(f"  {shlex.join(self.command)}")] if self.command else []
