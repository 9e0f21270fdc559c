"""Units: the submission or reference that a document belongs to, and how it is validated."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from hlteval.converters import WrongSetting
from hlteval.converters import known as formats
from hlteval.converters import load as load_format
from hlteval.findings import REFERENCE, SUBMISSION, Finding, entry
from hlteval.findings.suggest import did_you_mean
from hlteval.lsp.documents import NOWHERE, Buffer, OpenFiles, Range, Text, Units, absolute, is_path
from hlteval.lsp.orders import EditorFinding, Order, UnitResult
from hlteval.sources import OpenInput, Source, Unreadable, open_source
from hlteval.tasks import known, load
from hlteval.tasks.task import Task, WrongOption
from hlteval.workflows.config import OWN, SHARED, find, read_config, shown, start_of
from hlteval.workflows.convert.inputs import UnknownFormat, detected
from hlteval.workflows.evaluation.manifests import broken
from hlteval.workflows.run.batches import NothingGiven
from hlteval.workflows.run.engine import validate_all
from hlteval.workflows.run.request import Request, Role, Selection, UnknownCode
from hlteval.workflows.run.verdicts import submissions

_HOW = (
    f'write task = "…" in {OWN} above the submission, set "task" in the settings of the editor, '
    "or start `hlteval lsp TASK`"
)


class NoUnit(ValueError):
    """Why a document is not validated; an empty reason for what nobody expects to be.

    Attributes:
        reason: for the user.
        config: the file of defaults that has errors, with findings about it.
    """

    def __init__(self, reason: str, config: str = "", findings: Sequence[Finding] = ()) -> None:
        super().__init__(reason)
        self.reason, self.config, self.findings = reason, config, tuple(findings)


@dataclass(frozen=True)
class Unit:
    """What is validated as one.

    Attributes:
        task: the task.
        path: its key: that of a file, or of the folder of a document.
        role: `submission`, or `reference` for what others are compared with.
        values: settings, by the keys of a file of defaults.
    """

    task: Task
    path: str
    role: Role = SUBMISSION
    values: Mapping[str, Any] = field(default_factory=dict)

    @property
    def encoding(self) -> str:
        """The encoding of its files."""
        return str(self.values.get("encoding", "utf-8"))

    @property
    def selection(self) -> Selection:
        """The findings that are wanted.

        Raises:
            UnknownCode: for a code that there is not.
        """
        levels = [f"{code}={level}" for code, level in self.values.get("severity", {}).items()]
        return Selection.parse(self.values.get("select", ()), self.values.get("ignore", ()), levels)

    @property
    def inputs(self) -> tuple[str, ...]:
        """The keys of what is read, and of the files of defaults that may apply."""
        options = {option.name for option in self.task.options if option.is_input}
        named = [self.values.get("against") if self.role == SUBMISSION else None]
        named += [
            value
            for name, value in self.values.get("options", {}).items()
            if name.replace("-", "_") in options
        ]
        paths = [absolute(value) for value in named if isinstance(value, str) and value]
        return (self.path, *paths, *configs(self.path))

    def arguments(self, files: OpenFiles) -> dict[str, Any]:
        """The fields of a request but for the task, with buffers in place of files.

        Raises:
            FileNotFoundError: if the unit, or what it is checked against, does not exist.
        """
        named = {option.name for option in self.task.options if option.available_in("validate")}
        options = {
            name.replace("-", "_"): value
            for name, value in self.values.get("options", {}).items()
            if name.replace("-", "_") in named
        }
        against = None if self.role == REFERENCE else self.values.get("against")
        return {
            "system": files.input(self.path),
            "against": files.input(absolute(against)) if against else None,
            "role": self.role,
            "profile": self.values.get("profile", "plan"),
            "encoding": self.encoding,
            "options": options,
        }


def configs(path: str) -> tuple[str, ...]:
    """The keys of the files of defaults that may apply to a document.

    Examples:
        >>> configs("/runs/a.tab")
        ('/runs/hlteval.toml', '/runs/pyproject.toml', '/hlteval.toml', '/pyproject.toml')
    """
    folders = Path(path).parents if is_path(path) else ()
    return tuple(str(folder / name) for folder in folders for name in (OWN, SHARED))


def unit_of(path: str, files: OpenFiles, given: Mapping[str, Any], before: str = "") -> Unit:
    """The unit of a document.

    Args:
        path: the key of the document.
        files: the buffers.
        given: settings of the command line or of the editor, by the keys of a file of defaults;
            they override the file.
        before: the task that it belonged to before, if only its format shows it.

    Raises:
        NoUnit: if it is not known which task it belongs to, or if it belongs to none.
    """
    values = _values(path, files, given)
    name = values.get("task", "") or before or _only_task(path, files)
    if name not in known():
        hint = did_you_mean(name, [*known()], "`hlteval tasks` lists them")
        raise NoUnit(f"unknown task {name}; {hint}")
    task = load(name)
    if (role := _role(path, values)) is None:
        raise NoUnit("")
    if role == REFERENCE:
        return Unit(task, _reference_of(path, values), role, values)
    if not is_path(path):
        return Unit(task, path, role, values)
    (unit,) = submissions(name, [path])
    config = find(Path(path).parent) if Path(unit).is_dir() else None
    if config is not None and config.is_relative_to(unit):
        # Nothing inside of a submission says how it is unit_results.
        values = {**_of_file(find(start_of(unit)), files, name), **given, "task": name}
    if not _fits(task, path, files):
        raise NoUnit("")
    return Unit(task, unit, role, values)


def _values(path: str, files: OpenFiles, given: Mapping[str, Any]) -> Mapping[str, Any]:
    """The settings for a document.

    Raises:
        NoUnit: if those of the editor, or of the file of defaults, have errors.
    """
    for wrong in broken(given, "config", "CFG"):
        message = entry(wrong.code).finding(wrong.values).message
        raise NoUnit(f"settings of the editor: {message}")
    config = find(Path(path).parent if is_path(path) else Path.cwd())
    return {**_of_file(config, files, str(given.get("task", ""))), **given}


def _of_file(config: Path | None, files: OpenFiles, task: str) -> Mapping[str, Any]:
    """The settings of a file of defaults; none if it is for another task.

    Raises:
        NoUnit: if it has errors.
    """
    if config is None:
        return {}
    read = read_config(OpenInput(files.source(str(config)), name=shown(config)), task)
    if any(finding.severity == "error" for finding in read.findings):
        reason = f"{config.name} has errors, so that nothing is validated"
        raise NoUnit(reason, str(config), read.findings)
    return read.values if not task or read.task in {"", task} else {}


def _only_task(path: str, files: OpenFiles) -> str:
    """The only task whose submissions have the format of a document.

    Raises:
        NoUnit: if there is none, or several.
    """
    try:
        form = detected(files.source(path))
    except UnknownFormat:
        raise NoUnit(f"the task of this file is unknown; {_HOW}") from None
    tasks = [name for name in known() if form.name in {load(name).format, *load(name).submitted}]
    if len(tasks) == 1:
        return tasks[0]
    what = f"may belong to {', '.join(tasks)}" if tasks else "belongs to no task"
    raise NoUnit(f"a file of the format {form.name} {what}; {_HOW}")


def _role(path: str, values: Mapping[str, Any]) -> Role | None:
    """The role of a document; None for the file of an option, which is no submission."""
    task = load(values["task"]) if values.get("task") in known() else None
    names = {option.name for option in task.options if option.is_input} if task else set()
    options = values.get("options", {}).items()
    inputs = [value for name, value in options if name.replace("-", "_") in names]
    if any(_is_within(path, value) for value in inputs if isinstance(value, str)):
        return None
    return REFERENCE if _reference_of(path, values) else SUBMISSION


def _reference_of(path: str, values: Mapping[str, Any]) -> str:
    """The reference that a document belongs to; empty if it belongs to none."""
    for key in ("reference", "against"):
        value = values.get(key)
        if isinstance(value, str) and value and _is_within(path, value):
            return absolute(value)
    return ""


def _is_within(path: str, other: str) -> bool:
    """Whether a document is a file, or in a folder, that has no file of defaults inside."""
    root = Path(absolute(other))
    holds_defaults = (root / OWN).exists() or (root / SHARED).exists()
    return is_path(path) and Path(path).is_relative_to(root) and not holds_defaults


def _fits(task: Task, path: str, files: OpenFiles) -> bool:
    """Whether a document may be a file of a submission: a README beside it is none."""
    every = tuple(suffix for name in formats() for suffix in load_format(name).suffixes)
    if path.endswith(every):
        return True
    forms = (load_format(name) for name in (task.format, *task.submitted))
    return any(form.sniff(files.source(path)) for form in forms)


USAGE = (FileNotFoundError, LookupError, NothingGiven, UnknownCode, WrongOption, WrongSetting)
"""Errors in settings: nothing can be validated then."""


def unit_results(order: Order, buffers: Mapping[str, Buffer]) -> Iterator[UnitResult]:
    """The findings of the units of documents, each unit once.

    Args:
        order: with the documents.
        buffers: by key.
    """
    groups: dict[str, list[tuple[str, Unit]]] = {}
    for path in order.paths:
        if Path(path).name == OWN and is_path(path):
            yield _of_config(path, buffers, order.units)
            continue
        try:
            unit = unit_of(path, OpenFiles(buffers), order.given, order.tasks.get(path, ""))
        except NoUnit as error:
            yield _not_judged(path, error, buffers, order.units)
        except USAGE as error:
            note = f"not validated: {error}"
            yield UnitResult(path, (path,), note=note, inputs=configs(path))
        else:
            groups.setdefault(unit.path, []).append((path, unit))
    for group in groups.values():
        yield _of_unit(group[0][1], tuple(path for path, _ in group), buffers, order.units)


def _of_unit(
    unit: Unit, paths: tuple[str, ...], buffers: Mapping[str, Buffer], units: Units
) -> UnitResult:
    files = OpenFiles(buffers, unit.encoding)
    try:
        arguments = unit.arguments(files)
        inputs = [arguments["system"], arguments["against"]]
        sources = {str(item): open_source(item) for item in inputs if item is not None}
        request = Request(unit.task.name, selection=unit.selection, **arguments)
        verdict = validate_all(request, [request.system])
    except USAGE as error:
        note = f"not validated: {error}"
        return UnitResult(unit.path, paths, note=note, task=unit.task.name, inputs=unit.inputs)
    places = Places(files, sources, units)
    findings = places.by_path(verdict.findings, paths[0])
    return UnitResult(unit.path, paths, findings, task=unit.task.name, inputs=unit.inputs)


def _of_config(path: str, buffers: Mapping[str, Buffer], units: Units) -> UnitResult:
    """The findings about a file of defaults."""
    files = OpenFiles(buffers)
    source = files.source(path)
    findings = read_config(OpenInput(source, name=shown(Path(path)))).findings
    return UnitResult(path, (path,), Places(files, {path: source}, units).by_path(findings, path))


def _not_judged(
    path: str, error: NoUnit, buffers: Mapping[str, Buffer], units: Units
) -> UnitResult:
    """Why a document is not validated, with what is wrong with its file of defaults."""
    if not error.config:
        return UnitResult(path, (path,), note=error.reason, inputs=configs(path))
    files = OpenFiles(buffers)
    places = Places(files, {error.config: files.source(error.config)}, units)
    findings = places.by_path(error.findings, error.config)
    return UnitResult(path, (path,), findings, error.reason, inputs=(error.config,))


class Places:
    """Where findings are, in documents and in the units of the client.

    Args:
        files: the buffers.
        sources: what was read, by key.
        units: what the columns of the client count.
    """

    def __init__(self, files: OpenFiles, sources: Mapping[str, Source], units: Units) -> None:
        self.files, self.sources, self.units = files, sources, units
        self.texts: dict[str, Text | None] = {}

    @cached_property
    def keys(self) -> Mapping[str, str]:
        """The keys of files by their names in findings."""
        found: dict[str, str] = {}
        for root, source in self.sources.items():
            for member in source.members if source.kind in {"file", "folder", "stdin"} else ():
                found[member.display] = f"{root.rstrip('/')}/{member.name}" if member.name else root
        return found

    def key(self, finding: Finding) -> str | None:
        """The key of the file of a finding; None if it is about no file that an editor opens."""
        if finding.file is None:
            return None
        if finding.file in self.keys:
            return self.keys[finding.file]
        path = absolute(finding.file)
        return path if Path(path).is_file() and not _is_archive(path) else None

    def text(self, path: str) -> Text | None:
        """The text of a document as the editor has it; None if it cannot be read."""
        if path not in self.texts:
            self.texts[path] = self._read(path)
        return self.texts[path]

    def _read(self, path: str) -> Text | None:
        if path in self.files.buffers:
            return Text.of(self.files.buffers[path].text, self.units)
        try:
            content = self.files.content(path)
        except (Unreadable, OSError, ValueError):
            return None
        return Text.of(content.decode(self.files.encoding, "replace"), self.units)

    def range(self, path: str, finding: Finding) -> Range:
        """The range of a finding in its document."""
        if finding.span is None:
            return NOWHERE
        text = self.text(path)
        return text.range(finding.span) if text else NOWHERE

    def by_path(
        self, findings: Sequence[Finding], otherwise: str
    ) -> Mapping[str, tuple[EditorFinding, ...]]:
        """The findings at their ranges, by key; those of no document at another one."""
        found: dict[str, list[EditorFinding]] = {}
        for finding in findings:
            path = self.key(finding)
            place = NOWHERE if path is None else self.range(path, finding)
            found.setdefault(path or otherwise, []).append(EditorFinding(finding, place))
        return {path: tuple(findings) for path, findings in found.items()}


def _is_archive(path: str) -> bool:
    from hlteval.sources.names import archive_suffix

    return archive_suffix(path) is not None
