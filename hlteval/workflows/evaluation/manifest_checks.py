"""Checks of an evaluation: the submissions in its folder beside its manifest."""

from collections import Counter
from collections.abc import Iterator
from itertools import product
from pathlib import Path

import msgspec

from hlteval.findings import Finding, Findings, finding
from hlteval.findings.counts import count_of
from hlteval.findings.sequence import lists_by_key
from hlteval.findings.suggest import did_you_mean
from hlteval.results.evaluation import PARTS, Ensemble, Limit
from hlteval.results.verdict import Verdict
from hlteval.sources.archives import first_names
from hlteval.sources.names import printable
from hlteval.workflows.evaluation.deposits import (
    Deposit,
    deposits,
    display_path,
    named_parts,
    stem_of,
    undeclared_parts,
)
from hlteval.workflows.evaluation.manifests import Manifest, read_manifest
from hlteval.workflows.evaluation.pipeline_state import Records

#: The parts in which submissions of an ensemble do not differ.
_COMPARABLE = tuple(part for part in PARTS if part != "checkpoint")
#: Statuses of submissions that no limit counts.
_NOT_COUNTED = frozenset({"invalid", "failed", "not scored"})


def check(path: str, root: Path | None = None) -> Verdict:
    """Check a manifest, and whether the submissions of a folder agree with it.

    Args:
        path: of the manifest.
        root: the folder of the evaluation, on which a pipeline may have worked; only looked into
            if the manifest can be read.

    Raises:
        FileNotFoundError: if the manifest does not exist, or the folder has no submissions.
        NotToml: if the manifest is not a file.
    """
    manifest = read_manifest(path)
    findings = manifest.check()
    if root and manifest.content is not None and not any(each.blocking for each in findings):
        findings = (*findings, *_Check(manifest, root).findings())
    passed = not any(finding.severity == "error" for finding in findings)
    return Verdict("", "", passed, Findings(findings))


class _Check:
    """The checks of the submissions of a root beside its manifest."""

    def __init__(self, manifest: Manifest, root: Path) -> None:
        self.evaluation, self.root, self.at = manifest.evaluation, root, manifest.finding
        each = deposits(root, self.evaluation)
        self.deposits = {deposit.name: deposit for deposit in each}
        records = Records(root)
        statuses = [records.read(deposit, "status").get("status", "") for deposit in each]
        self.status = dict(zip(self.deposits, statuses, strict=True))
        valid = [deposit for deposit in each if deposit.problem is None]
        self.counted = [each for each in valid if self.status[each.name] not in _NOT_COUNTED]

    def findings(self) -> Iterator[Finding]:
        """Yield all findings, of submissions first."""
        for deposit in self.deposits.values():
            yield from self.name(deposit)
        yield from self.listed_submissions()
        for index, limit in enumerate(self.evaluation.limits):
            yield from self.most(index, limit)
            yield from self.least(limit)
        yield from self.checkpoints()
        for index, ensemble in enumerate(self.evaluation.ensembles):
            yield from self.ensemble(index, ensemble)
        yield from self.missing_ensembles()

    def name(self, deposit: Deposit) -> Iterator[Finding]:
        """Yield findings about the name of a submission."""
        file, name = str(self.root / display_path(deposit.name)), printable(deposit.name)
        if deposit.problem is not None and deposit.problem.code == "PIP102":
            yield msgspec.structs.replace(deposit.problem, file=file)
        elif not deposit.task or (self.evaluation.teams and not deposit.team):
            yield finding("MAN204", file=file, name=name)
        for part, value, hint in undeclared_parts(deposit, self.evaluation):
            yield finding("MAN205", file=file, name=name, part=part, value=value, hint=hint)

    def listed_submissions(self) -> Iterator[Finding]:
        """Yield findings about listed submissions that are not there, or have another name."""
        for index, entry in enumerate(self.evaluation.submissions):
            path = ("submissions", index)
            if entry.file not in self.deposits:
                yield self.absent("MAN201", entry.file, *path, "file")
                continue
            named = named_parts(stem_of(entry.file), self.evaluation)
            for part, value in entry.parts.items():
                if (other := named.get(part, value)) != value:
                    yield self.at(
                        "MAN206", *path, part, part=part, file=entry.file, value=value,
                        other=printable(other),
                    )  # fmt: skip

    def absent(self, code: str, file: str, *path: str | int) -> Finding:
        """Return the finding about a submission that is not there."""
        hint = did_you_mean(file, self.deposits, "correct the name, or remove it")
        return self.at(code, *path, file=file, hint=printable(hint))

    def most(self, index: int, limit: Limit) -> Iterator[Finding]:
        """Yield findings about groups that are over a limit."""
        pairs = ((limit.group(each.parts), printable(each.name)) for each in self.counted)
        groups = lists_by_key((group, name) for group, name in pairs if group is not None)
        for group, names in sorted(groups.items()):
            if limit.most is not None and len(names) > limit.most:
                yield self.at(
                    "MAN202", "limits", index, "most", count=len(names), group=_group_name(group),
                    most=limit.most, names=first_names(names[limit.most :]),
                )  # fmt: skip

    def least(self, limit: Limit) -> Iterator[Finding]:
        """Yield findings about groups with too few submissions, of the teams and their tasks."""
        counts = Counter(limit.group(deposit.parts) for deposit in self.counted)
        for parts in self.expected_parts() if limit.least else ():
            group = limit.group(parts)
            if group is not None and (number := counts[group]) < limit.least:
                found = count_of(number, "submission") if number else "no submissions"
                yield self.at(
                    "MAN203", "teams", parts["team"], of_key=True, found=found,
                    group=_group_name(group), least=limit.least,
                )  # fmt: skip
                counts[group] = limit.least  # reported once

    def expected_parts(self) -> Iterator[dict[str, str]]:
        """Yield the parts of all submissions that teams could make for their tasks."""
        rest = [self.evaluation.names_of(part) or ("",) for part in PARTS[2:]]
        for name, team in self.evaluation.teams.items():
            for task, *others in product(team.tasks, *rest):
                yield dict(zip(PARTS, (name, task, *others), strict=True))

    def checkpoints(self) -> Iterator[Finding]:
        """Yield findings about checkpoints at which a team has nothing, but has at others."""
        pairs = ((each, each.parts.get("checkpoint", "")) for each in self.counted if each.team)
        groups = lists_by_key((_group(each), at) for each, at in pairs if at)
        for group, present in sorted(groups.items()):
            path = ("teams", group[0]) if self.evaluation.teams else ("checkpoints",)
            values = {"group": _group_name(group), "others": ", ".join(sorted({*present}))}
            for checkpoint in self.evaluation.checkpoints:
                if checkpoint not in present:
                    yield self.at("MAN212", *path, of_key=True, checkpoint=checkpoint, **values)

    def ensemble(self, index: int, ensemble: Ensemble) -> Iterator[Finding]:
        """Yield findings about an ensemble."""
        name = f" {ensemble.name}" if ensemble.name else ""
        path = ("ensembles", index, "submissions")
        for number, file in enumerate(ensemble.submissions):
            if file not in self.deposits:
                yield self.absent("MAN209", file, *path, number)
            elif (status := self.status[file]) in _NOT_COUNTED:
                yield self.at("MAN213", *path, number, file=file, name=name, status=status)
        members = [self.deposits[each] for each in ensemble.submissions if each in self.deposits]
        for part in _COMPARABLE:
            values = sorted({member.parts.get(part, "") or "unknown" for member in members})
            if len(values) > 1:
                text = printable(", ".join(values))
                yield self.at("MAN208", *path, name=name, part=part, values=text)
        if len(members) < len(ensemble.submissions):
            return
        for checkpoint in self.evaluation.checkpoints:
            files = [each.name for each in members if each.parts.get("checkpoint") == checkpoint]
            if not files:
                yield self.at("MAN207", *path, name=name, checkpoint=checkpoint)
            elif len(files) > 1:
                yield self.at(
                    "MAN210", *path, name=name, checkpoint=checkpoint, count=len(files),
                    files=first_names([printable(file) for file in files]),
                )  # fmt: skip

    def missing_ensembles(self) -> Iterator[Finding]:
        """Yield findings about teams that have to name a complete ensemble, and do not."""
        complete = set()
        for ensemble in self.evaluation.ensembles:
            members = [self.deposits[e] for e in ensemble.submissions if e in self.deposits]
            groups = set(map(_group, members))
            present = {each.parts.get("checkpoint", "") for each in members}
            if len(members) == len(ensemble.submissions) and len(groups) == 1:
                complete |= groups if present >= set(self.evaluation.checkpoints) else set()
        wanted = dict.fromkeys(
            tuple(parts[part] for part in _COMPARABLE)
            for parts in self.expected_parts()
            if parts["condition"] in self.evaluation.ensembles_for
        )
        for group in wanted:
            if group not in complete:
                yield self.at("MAN211", "teams", group[0], of_key=True, group=_group_name(group))


def _group(deposit: Deposit) -> tuple[str, ...]:
    """Return the parts in which submissions of an ensemble do not differ."""
    return tuple(deposit.parts.get(part, "") for part in _COMPARABLE)


def _group_name(group: tuple[str, ...]) -> str:
    """Return the parts of a group, without those that are unknown."""
    return printable(", ".join(filter(None, group)))
