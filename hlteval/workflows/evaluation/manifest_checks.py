"""Whether the submissions of an evaluation agree with its manifest."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from itertools import product
from pathlib import Path

import msgspec

from hlteval.findings import Finding, Findings, finding
from hlteval.findings.counts import counted
from hlteval.findings.suggest import did_you_mean
from hlteval.results.evaluation import (
    PARTS,
    Ensemble,
    Evaluation,
    Limit,
    TaskSettings,
    name_pattern,
)
from hlteval.results.verdict import Verdict
from hlteval.sources.archives import shown_names
from hlteval.sources.names import printable
from hlteval.tasks import known, load
from hlteval.tasks.options import check_values, merged
from hlteval.tasks.task import Task, WrongOption
from hlteval.workflows.evaluation.deposits import (
    Deposit,
    deposits,
    named_parts,
    shown,
    stem_of,
    undeclared,
)
from hlteval.workflows.evaluation.manifests import Manifest, read_manifest
from hlteval.workflows.evaluation.pipeline_state import Records

_COMPARABLE = tuple(part for part in PARTS if part != "checkpoint")
"""The parts in which submissions of an ensemble do not differ."""
_NOT_COUNTED = frozenset({"invalid", "failed", "not scored"})
"""Statuses of submissions that no limit counts."""


def check_root(manifest: Manifest, root: Path) -> tuple[Finding, ...]:
    """All findings about the submissions of a root beside its manifest.

    Args:
        manifest: the manifest, which has no errors itself.
        root: the folder of the evaluation, on which a pipeline may have worked.

    Raises:
        FileNotFoundError: if it has no folder `submissions`.
    """
    if manifest.evaluation is None:
        return ()
    return tuple(_Beside(manifest, manifest.evaluation, root).findings())


class _Beside:
    """The checks of a manifest beside a root."""

    def __init__(self, manifest: Manifest, evaluation: Evaluation, root: Path) -> None:
        self.manifest, self.evaluation, self.root = manifest, evaluation, root
        self.at = manifest.finding

    @cached_property
    def deposits(self) -> Mapping[str, Deposit]:
        """All submissions by the names of their files."""
        return {each.name: each for each in deposits(self.root, self.evaluation)}

    @cached_property
    def status(self) -> Mapping[str, str]:
        """The status of each submission, if a pipeline has written one."""
        records = Records(self.root)
        found = {name: records.read(each, "status") for name, each in self.deposits.items()}
        return {name: values.get("status", "") for name, values in found.items()}

    @cached_property
    def counted(self) -> list[Deposit]:
        """The submissions that count: those that are not known to be invalid."""
        return [
            each
            for name, each in self.deposits.items()
            if each.problem is None and self.status[name] not in _NOT_COUNTED
        ]

    def findings(self) -> Iterator[Finding]:
        """All findings, of submissions first."""
        for deposit in self.deposits.values():
            yield from self.name(deposit)
        yield from self.listed()
        for index, limit in enumerate(self.evaluation.limits):
            yield from self.most(index, limit)
            yield from self.least(limit)
        yield from self.checkpoints()
        for index, ensemble in enumerate(self.evaluation.ensembles):
            yield from self.ensemble(index, ensemble)
        yield from self.missing_ensembles()

    def name(self, deposit: Deposit) -> Iterator[Finding]:
        """What is wrong with the name of a submission."""
        file, name = str(self.root / shown(deposit.name)), printable(deposit.name)
        if deposit.problem is not None and deposit.problem.code == "PIP102":
            yield msgspec.structs.replace(deposit.problem, file=file)
        elif not deposit.task or (self.evaluation.teams and not deposit.team):
            yield finding("MAN204", file=file, name=name)
        for part, value, hint in undeclared(deposit, self.evaluation):
            yield finding("MAN205", file=file, name=name, part=part, value=value, hint=hint)

    def listed(self) -> Iterator[Finding]:
        """Listed submissions that are not there, or have another name."""
        for index, entry in enumerate(self.evaluation.submissions):
            if entry.file not in self.deposits:
                yield self.absent("MAN201", entry.file, "submissions", index, "file")
                continue
            named = named_parts(stem_of(entry.file), self.evaluation)
            for part, value in entry.parts.items():
                if named.get(part, value) != value:
                    path = ("submissions", index, part)
                    other = printable(named[part])
                    yield self.at(
                        "MAN206", *path, part=part, file=entry.file, value=value, other=other
                    )

    def absent(self, code: str, file: str, *path: str | int) -> Finding:
        """The finding about a submission that is not there."""
        hint = did_you_mean(file, self.deposits, "correct the name, or remove it")
        return self.at(code, *path, file=file, hint=printable(hint))

    def most(self, index: int, limit: Limit) -> Iterator[Finding]:
        """Groups that are over a limit."""
        groups: dict[tuple[str, ...], list[str]] = {}
        for deposit in self.counted:
            if (group := limit.group(deposit.parts)) is not None:
                groups.setdefault(group, []).append(printable(deposit.name))
        for group, names in sorted(groups.items()):
            if limit.most is not None and len(names) > limit.most:
                yield self.at(
                    "MAN202", "limits", index, "most", count=len(names), group=_shown(group),
                    most=limit.most, names=shown_names(names[limit.most :]),
                )  # fmt: skip

    def least(self, limit: Limit) -> Iterator[Finding]:
        """Groups with too few submissions, of the teams and their tasks."""
        counts = Counter(limit.group(deposit.parts) for deposit in self.counted)
        for parts in self.expected() if limit.least else ():
            group = limit.group(parts)
            if group is not None and counts[group] < limit.least:
                number = counts[group]
                found = counted(number, "submission") if number else "no submissions"
                path = ("teams", parts["team"])
                yield self.at(
                    "MAN203",
                    *path,
                    of_key=True,
                    found=found,
                    group=_shown(group),
                    least=limit.least,
                )
                counts[group] = limit.least  # reported once

    def expected(self) -> Iterator[dict[str, str]]:
        """The parts of all submissions that teams could make for their tasks."""
        evaluation = self.evaluation
        rest = [evaluation.declared(part) or ("",) for part in PARTS[2:]]
        for name, team in evaluation.teams.items():
            for task, *others in product(team.tasks, *rest):
                yield dict(zip(PARTS, (name, task, *others), strict=True))

    def checkpoints(self) -> Iterator[Finding]:
        """Checkpoints at which a team has nothing, but has at others."""
        groups: dict[tuple[str, ...], set[str]] = {}
        for deposit in self.counted:
            if deposit.team and (checkpoint := deposit.parts.get("checkpoint", "")):
                group = tuple(deposit.parts.get(part, "") for part in _COMPARABLE)
                groups.setdefault(group, set()).add(checkpoint)
        for group, present in sorted(groups.items()):
            for checkpoint in self.evaluation.checkpoints:
                if checkpoint not in present:
                    others = ", ".join(sorted(present))
                    path = ("teams", group[0]) if self.evaluation.teams else ("checkpoints",)
                    yield self.at(
                        "MAN212", *path, of_key=True, group=_shown(group), checkpoint=checkpoint,
                        others=others,
                    )  # fmt: skip

    def ensemble(self, index: int, ensemble: Ensemble) -> Iterator[Finding]:
        """What is wrong with an ensemble."""
        name = f" {ensemble.name}" if ensemble.name else ""
        path = ("ensembles", index, "submissions")
        for number, file in enumerate(ensemble.submissions):
            if file not in self.deposits:
                yield self.absent("MAN209", file, *path, number)
            elif self.status[file] in _NOT_COUNTED:
                status = self.status[file]
                yield self.at("MAN213", *path, number, file=file, name=name, status=status)
        members = [self.deposits[each] for each in ensemble.submissions if each in self.deposits]
        for part in _COMPARABLE:
            values = sorted({member.parts.get(part, "") or "unknown" for member in members})
            if len(values) > 1:
                listed = printable(", ".join(values))
                yield self.at("MAN208", *path, name=name, part=part, values=listed)
        if len(members) == len(ensemble.submissions):
            yield from self.at_checkpoints(members, name, path)

    def at_checkpoints(
        self, members: list[Deposit], name: str, path: tuple[str | int, ...]
    ) -> Iterator[Finding]:
        """Checkpoints with none or several submissions of an ensemble."""
        for checkpoint in self.evaluation.checkpoints:
            files = [each.name for each in members if each.parts.get("checkpoint") == checkpoint]
            if not files:
                yield self.at("MAN207", *path, name=name, checkpoint=checkpoint)
            elif len(files) > 1:
                yield self.at(
                    "MAN210", *path, name=name, checkpoint=checkpoint, count=len(files),
                    files=shown_names([printable(file) for file in files]),
                )  # fmt: skip

    def missing_ensembles(self) -> Iterator[Finding]:
        """Teams that have to name a complete ensemble, and do not."""
        complete = set(map(self.group_of, self.evaluation.ensembles))
        wanted = dict.fromkeys(
            tuple(parts[part] for part in _COMPARABLE)
            for parts in self.expected()
            if parts["condition"] in self.evaluation.ensembles_for
        )
        for group in wanted:
            if group not in complete:
                path = ("teams", group[0])
                yield self.at("MAN211", *path, of_key=True, group=_shown(group))

    def group_of(self, ensemble: Ensemble) -> tuple[str, ...]:
        """The comparable parts of a complete ensemble; nothing of another one."""
        members = [self.deposits.get(file) for file in ensemble.submissions]
        there = [member for member in members if member is not None]
        groups = {tuple(each.parts.get(part, "") for part in _COMPARABLE) for each in there}
        present = {each.parts.get("checkpoint", "") for each in there}
        if len(there) < len(members) or len(groups) > 1:
            return ()
        return groups.pop() if present >= set(self.evaluation.checkpoints) else ()


def _shown(group: tuple[str, ...]) -> str:
    """The parts of a group, without those that are unknown."""
    return printable(", ".join(filter(None, group)))


def check_manifest(manifest: Manifest) -> tuple[Finding, ...]:
    """All findings about a manifest by itself.

    Args:
        manifest: the manifest, as it was read.
    """
    if manifest.evaluation is None:
        return manifest.findings
    return (*manifest.findings, *Checking(manifest, manifest.evaluation).findings())


class Checking:
    """The checks of one manifest."""

    def __init__(self, manifest: Manifest, evaluation: Evaluation) -> None:
        self.manifest, self.evaluation = manifest, evaluation
        self.at = manifest.finding

    def findings(self) -> Iterator[Finding]:
        """All findings, part by part."""
        for name, settings in self.evaluation.tasks.items():
            yield from self.task(name, settings)
        for name, team in self.evaluation.teams.items():
            yield from self.names("task", team.tasks, "teams", name, "tasks")
        yield from self.names("condition", self.evaluation.ensembles_for, "ensembles_for")
        yield from self.limits()
        yield from self.submissions()

    def names(self, part: str, names: Sequence[str], *path: str | int) -> Iterator[Finding]:
        """Names of a list that are not declared."""
        for index, name in enumerate(names):
            yield from self.name(part, name, *path, index)

    def name(self, part: str, name: str, *path: str | int) -> Iterator[Finding]:
        """A name that is not declared; where nothing is, any name is right."""
        declared = self.evaluation.declared(part)
        if declared and name not in declared:
            hint = did_you_mean(name, declared, f"use {', '.join(declared)}, or declare it")
            yield self.at("MAN107", *path, part=part, name=name, hint=hint)

    def task(self, name: str, settings: TaskSettings) -> Iterator[Finding]:
        """What is wrong with a task and its settings."""
        if name not in known():
            hint = did_you_mean(name, known(), "`hlteval tasks` lists them")
            yield self.at("MAN106", "tasks", name, of_key=True, task=name, hint=hint)
            return
        for key in ("reference", "against"):
            yield from self.paths(getattr(settings, key), "tasks", name, key)
        yield from self.settings(name, settings)
        if settings.names:
            yield from self.pattern(settings.names, "tasks", name, "names")

    def paths(self, given: str | Mapping[str, str], *path: str) -> Iterator[Finding]:
        """Paths that do not exist, and languages that are not declared."""
        each = {"": given} if isinstance(given, str) else given
        for language, written in each.items():
            place = (*path, language) if language else path
            if language:
                yield from self.name("language", language, *place)
            if written and not (Path(self.manifest.path).parent / written).exists():
                yield self.at("MAN108", *place, path=written)

    def settings(self, name: str, settings: TaskSettings) -> Iterator[Finding]:
        """A profile, metric or option that the task does not have."""
        task = load(name)
        if settings.profile not in task.profiles:
            reason = f"{name} has no profile {settings.profile}"
            yield self.at("MAN110", "tasks", name, "profile", reason=reason, task=name)
        if settings.metric and task.statistic(settings.metric) is None:
            reason = f"{name} has no metric {settings.metric}"
            yield self.at("MAN110", "tasks", name, "metric", reason=reason, task=name)
        for option, value in settings.options.items():
            try:
                values = merged(task, {option.replace("-", "_"): value})
                check_values(task, values)
                _check_choices(task, values)
            except WrongOption as error:
                path = ("tasks", name, "options", option)
                yield self.at("MAN110", *path, reason=str(error), task=name)

    def pattern(self, written: str, *path: str) -> Iterator[Finding]:
        """A pattern of names that is wrong, or does not say the team."""
        try:
            missing = "team" not in name_pattern(written).groupindex
            reason = "it does not say the team; add {team}" if missing else ""
        except ValueError as error:
            reason = str(error)
        if reason:
            yield self.at("MAN111", *path, pattern=written, reason=reason)

    def limits(self) -> Iterator[Finding]:
        """Limits of undeclared tasks, or that no number keeps."""
        for index, limit in enumerate(self.evaluation.limits):
            yield from self.names("task", limit.tasks, "limits", index, "tasks")
            if limit.most is not None and limit.least > limit.most:
                path = ("limits", index, "least")
                yield self.at("MAN109", *path, least=limit.least, most=limit.most)

    def submissions(self) -> Iterator[Finding]:
        """Submissions that are listed twice, or with undeclared parts."""
        seen: set[str] = set()
        for index, entry in enumerate(self.evaluation.submissions):
            if entry.file in seen:
                yield self.at("MAN112", "submissions", index, "file", file=entry.file)
            seen.add(entry.file)
            for part, name in entry.parts.items():
                yield from self.name(part, name, "submissions", index, part)


def _check_choices(task: Task, values: Mapping[str, str]) -> None:
    """Check the values of options that have only a few.

    Raises:
        WrongOption: for any other value.
    """
    for option in task.options:
        if option.name in values:
            option.check(values[option.name])


def check(path: str, root: Path | None = None) -> Verdict:
    """Check a manifest, and whether the submissions of a folder agree with it.

    Args:
        path: of the manifest.
        root: the folder of the evaluation; only looked into if the manifest can be read.

    Raises:
        FileNotFoundError: if the manifest does not exist, or the folder has no submissions.
        WrongManifest: if the manifest is not a file.
    """
    manifest = read_manifest(path)
    findings = check_manifest(manifest)
    if root is not None and not any(finding.blocking for finding in findings):
        findings = (*findings, *check_root(manifest, root))
    passed = not any(finding.severity == "error" for finding in findings)
    return Verdict("", "", passed, Findings(findings))
