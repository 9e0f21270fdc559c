"""Findings of which all batches decide whether they count."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from hlteval.converters import ReadResult
from hlteval.findings import REFERENCE, Finding
from hlteval.sources import Member
from hlteval.tasks import rules
from hlteval.validators import Rule
from hlteval.validators.rule_findings import Offending, located
from hlteval.workflows.batches import Submission


class Undecided(NamedTuple):
    """What a rule has found in a batch, of which all batches decide whether it counts.

    Attributes:
        side: what it is about.
        rule: the number of the rule among those of the task.
        found: the rows.
        files: the names of the files of the batch by their `origin`.
    """

    side: str
    rule: int
    found: Offending
    files: dict[int, str]


@dataclass
class Later:
    """Findings that count or not by the types of the frames of all batches.

    They are rows until then: most may be dropped, and only the places of others are looked up.

    Attributes:
        types: these types, by side.
        found: what was found.
    """

    types: dict[str, set[str]] = field(default_factory=dict)
    found: list[Undecided] = field(default_factory=list)

    def add(self, other: Later) -> None:
        """Add those of another batch."""
        for side, types in other.types.items():
            self.types.setdefault(side, set()).update(types)
        self.found += other.found

    def see(self, side: str, read: ReadResult, declared: Sequence[Rule]) -> None:
        """Take note of the types of the frames of a side, if findings depend on them."""
        if any(rule.counts_if for rule in declared):
            self.types.setdefault(side, set()).update(read.corpus.frames["label"].unique())

    def decided(
        self,
        found: Sequence[tuple[Rule, Offending]],
        side: str,
        read: ReadResult,
        declared: Sequence[Rule],
    ) -> list[tuple[Rule, Offending]]:
        """What counts whatever other batches hold; the rest is kept.

        Args:
            found: what rules have found in a batch.
            side: what it is about.
            read: the batch.
            declared: the rules of the task.
        """
        files = {origin: member.name for origin, member in enumerate(read.members)}
        self.found += (
            Undecided(side, declared.index(rule), item, files)
            for rule, item in found
            if rule.counts_if is not None
        )
        return [(rule, item) for rule, item in found if rule.counts_if is None]

    def counting(self, opened: Submission, side: str) -> Iterator[Finding]:
        """The findings about a side that count."""
        kept = [item for item in self.found if item.side == side]
        if not kept:  # possibly nothing is known of a format either
            return
        declared, reference = rules(opened.task), side == REFERENCE
        schema = opened.task.allows(opened.options, reference=reference)
        types = frozenset(self.types[side])
        counts = [rule.counts_if is None or rule.counts_if(types, schema) for rule in declared]
        form = opened.gold_format if reference else opened.format
        known = _members(opened, side)
        for item in kept:
            if counts[item.rule]:
                members = {at: known[name] for at, name in item.files.items() if name in known}
                found = [(declared[item.rule], item.found)]
                yield from located(found, members, form)


def _members(opened: Submission, side: str) -> dict[str, Member]:
    """The files of a side by their names."""
    documents = opened.gold_documents if side == REFERENCE else opened.found
    return {member.name: member for members in documents.values() for member in members}
