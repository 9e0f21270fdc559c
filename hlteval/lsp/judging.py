"""Units: the submission or reference that a document belongs to, and how it is validated."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cached_property
from operator import attrgetter, methodcaller
from pathlib import Path
from typing import Any

from hlteval.converters import WrongSetting
from hlteval.converters import known as formats
from hlteval.converters import load as load_format
from hlteval.findings import REFERENCE, SUBMISSION, Finding
from hlteval.findings.suggest import did_you_mean
from hlteval.lsp.documents import NOWHERE, Buffer, OpenFiles, Text, Units, absolute, is_path
from hlteval.lsp.session import EditorFinding, Order, UnitResult
from hlteval.sources import OpenInput, Source, Unreadable, open_source
from hlteval.sources.names import archive_suffix
from hlteval.tasks import GENERIC, is_known, load, task_names
from hlteval.tasks.task import Option, Task, WrongOption
from hlteval.tasks.toml_file import TomlFile
from hlteval.workflows.config import OWN, SHARED, find, read_config, relative_path, start_of
from hlteval.workflows.convert.inputs import UnknownFormat, detect_format
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
    """A submission or reference that is validated as one.

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
        values = [self.values.get("against") if self.role == SUBMISSION else None]
        values += _options(self.task, self.values, attrgetter("is_input")).values()
        paths = [absolute(value) for value in values if isinstance(value, str) and value]
        return (self.path, *paths, *configs(self.path))

    def request(self, buffers: Mapping[str, Buffer]) -> Request:
        """The request that validates it, with buffers in place of files.

        Raises:
            FileNotFoundError: if the unit, or what it is checked against, does not exist.
        """
        files = OpenFiles(buffers, self.encoding)
        against = None if self.role == REFERENCE else self.values.get("against")
        return Request(
            self.task.name,
            files.input(self.path),
            against=files.input(absolute(against)) if against else None,
            role=self.role,
            profile=self.values.get("profile", "plan"),
            encoding=self.encoding,
            options=_options(self.task, self.values, methodcaller("available_in", "validate")),
        )


def _options(
    task: Task, values: Mapping[str, Any], wanted: Callable[[Option], bool]
) -> Mapping[str, Any]:
    """The values of those options of a task that are wanted."""
    names = {option.name for option in task.options if wanted(option)}
    options = {name.replace("-", "_"): value for name, value in values.get("options", {}).items()}
    return {name: value for name, value in options.items() if name in names}


def configs(path: str) -> tuple[str, ...]:
    """The keys of the files of defaults that may apply to a document.

    Examples:
        >>> configs("/runs/a.tab")
        ('/runs/hlteval.toml', '/runs/pyproject.toml', '/hlteval.toml', '/pyproject.toml')
    """
    folders = Path(path).parents if is_path(path) else ()
    return tuple(str(folder / name) for folder in folders for name in (OWN, SHARED))


def unit_of(path: str, order: Order) -> Unit:
    """The unit of a document, by the settings of an order, which override a file of defaults.

    If only its format shows its task, it is the one of before.

    Raises:
        NoUnit: if it is not known which task it belongs to, or if it belongs to none.
    """
    files, given = OpenFiles(order.buffers), order.given
    if Path(path).name == OWN and is_path(path):
        read = read_config(OpenInput(files.source(path), name=relative_path(Path(path))))
        raise NoUnit("", path, read.findings)
    for wrong in TomlFile("").schema_findings(given, "config", "CFG"):
        raise NoUnit(f"settings of the editor: {wrong.message}")
    config = find(Path(path).parent if is_path(path) else Path.cwd())
    values = {**_of_file(config, files, str(given.get("task", ""))), **given}
    name = values.get("task") or order.tasks.get(path) or _only_task(path, files)
    if not is_known(name):
        hint = did_you_mean(name, [*task_names()], "`hlteval tasks` lists them")
        raise NoUnit(f"unknown task {name}; {hint}")
    task = load(name)
    inputs = _options(task, values, attrgetter("is_input")) if values.get("task") else {}
    if any(_is_within(path, value) for value in inputs.values()):
        raise NoUnit("")  # the file of an option
    for side in ("reference", "against"):
        if _is_within(path, values.get(side)):
            return Unit(task, absolute(values[side]), REFERENCE, values)
    if not is_path(path):
        return Unit(task, path, SUBMISSION, values)
    (unit,) = submissions(name, [path])
    config = find(Path(path).parent) if Path(unit).is_dir() else None
    if config is not None and config.is_relative_to(unit):
        # Nothing inside of a submission says how it is validated.
        values = {**_of_file(find(start_of(unit)), files, name), **given, "task": name}
    every = tuple(suffix for form in formats() for suffix in load_format(form).suffixes)
    forms = (load_format(form) for form in (task.format, *task.submitted))
    if not path.endswith(every) and not any(form.sniff(files.source(path)) for form in forms):
        raise NoUnit("")  # such as a README beside the files of a submission
    return Unit(task, unit, SUBMISSION, values)


def _of_file(config: Path | None, files: OpenFiles, task: str) -> Mapping[str, Any]:
    """The settings of a file of defaults; none if it is for another task.

    Raises:
        NoUnit: if it has errors.
    """
    if config is None:
        return {}
    read = read_config(OpenInput(files.source(str(config)), name=relative_path(config)), task)
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
        form = detect_format(files.source(path))
    except UnknownFormat:
        raise NoUnit(f"the task of this file is unknown; {_HOW}") from None
    every = ((name, load(name)) for name in task_names() if name not in GENERIC)
    tasks = [name for name, task in every if form.name in {task.format, *task.submitted}]
    if len(tasks) == 1:
        return tasks[0]
    what = f"may belong to {', '.join(tasks)}" if tasks else "belongs to no task"
    raise NoUnit(f"a file of the format {form.name} {what}; {_HOW}")


def _is_within(path: str, other: object) -> bool:
    """Whether a document is a file, or in a folder, that has no file of defaults inside."""
    if not isinstance(other, str) or not other or not is_path(path):
        return False
    root = Path(absolute(other))
    return Path(path).is_relative_to(root) and not any((root / n).exists() for n in (OWN, SHARED))


#: Errors in settings: nothing can be validated then.
USAGE = (FileNotFoundError, LookupError, NothingGiven, UnknownCode, WrongOption, WrongSetting)


def unit_results(order: Order) -> Iterator[UnitResult]:
    """The findings of the units of the documents of an order, each unit once."""
    groups: dict[str, list[tuple[str, Unit]]] = {}
    for path in order.paths:
        try:
            unit = unit_of(path, order)
        except NoUnit as error:
            files = OpenFiles(order.buffers)
            sources = {error.config: files.source(error.config)} if error.config else {}
            by_path = Places(files, sources, order.units).by_path(error.findings, error.config)
            inputs = (error.config,) if error.config else configs(path)
            yield UnitResult(path, (path,), by_path, error.reason, inputs=inputs)
        except USAGE as error:
            note = f"not validated: {error}"
            yield UnitResult(path, (path,), note=note, inputs=configs(path))
        else:
            groups.setdefault(unit.path, []).append((path, unit))
    for group in groups.values():
        unit, paths = group[0][1], tuple(path for path, _ in group)
        result = UnitResult(unit.path, paths, task=unit.task.name, inputs=unit.inputs)
        try:
            request = replace(unit.request(order.buffers), selection=unit.selection)
            paths_read = filter(None, (request.system, request.against))
            sources = {str(item): open_source(item) for item in paths_read}
            verdict = validate_all(request, [request.system])
        except USAGE as error:
            yield result._replace(note=f"not validated: {error}")
        else:
            places = Places(OpenFiles(order.buffers, unit.encoding), sources, order.units)
            yield result._replace(findings=places.by_path(verdict.findings, paths[0]))


class Places:
    """Places of findings in documents, in the units of the client.

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
        return {
            member.display: f"{root.rstrip('/')}/{member.name}" if member.name else root
            for root, source in self.sources.items()
            if source.kind in {"file", "folder", "stdin"}
            for member in source.members
        }

    def key(self, finding: Finding) -> str | None:
        """The key of the file of a finding; None if it is about no file that an editor opens."""
        if finding.file is None:
            return None
        if finding.file in self.keys:
            return self.keys[finding.file]
        path = absolute(finding.file)
        return path if Path(path).is_file() and archive_suffix(path) is None else None

    def text(self, path: str) -> Text | None:
        """The text of a document as the editor has it; None if it cannot be read."""
        if path in self.files.buffers and path not in self.texts:
            self.texts[path] = Text.of(self.files.buffers[path].text, self.units)
        elif path not in self.texts:
            self.texts[path] = None
            with suppress(Unreadable, OSError, ValueError):
                (member,) = self.files.source(path).members
                content = member.fetch().decode(self.files.encoding, "replace")
                self.texts[path] = Text.of(content, self.units)
        return self.texts[path]

    def by_path(
        self, findings: Sequence[Finding], otherwise: str
    ) -> Mapping[str, tuple[EditorFinding, ...]]:
        """The findings at their ranges, by key; those of no document at another one."""
        by_path: dict[str, list[EditorFinding]] = {}
        for finding in findings:
            path = self.key(finding)
            text = self.text(path) if path and finding.span else None
            place = text.range(finding.span) if text else NOWHERE
            by_path.setdefault(path or otherwise, []).append(EditorFinding(finding, place))
        return {path: tuple(items) for path, items in by_path.items()}
