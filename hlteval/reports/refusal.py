"""A refusal to score, for people and as JSON."""

from __future__ import annotations

from dataclasses import dataclass

from rich.console import Group, RenderableType
from rich.text import Text

from hlteval.reports.findings import json, render
from hlteval.results.verdict import Verdict


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why nothing was scored.

    Attributes:
        verdict: the verdict of validation, with its findings.
        reason: the reason in one line.
        help: what to do, in one line.
    """

    verdict: Verdict
    reason: str
    help: str

    def as_json(self) -> str:
        """One object: that of a verdict, which is `refused`, with `reason` and `help`.

        Examples:
            >>> Refusal(Verdict("hub4", "plan", False), "no set", "add it").as_json()[:58]
            '{"task":"hub4","profile":"plan","verdict":"refused","reaso'
        """
        return json(self.verdict, outcome="refused", reason=self.reason, help=self.help)

    def as_text(self) -> RenderableType:
        """The findings, then the reason and what to do."""
        return Group(render(self.verdict), Text(), self.summary())

    def summary(self) -> Text:
        """The reason and what to do."""
        return Text(self.reason, style="bold red").append(f"\n{self.help}", "not bold")
