"""Arguments: held to the signature of their function, options of tasks, inputs and defaults.

A parameter is declared by its annotation: a plain type, a `Literal`, or `Annotated` with the checks
of its values. Inputs are checked where they are opened, by `sources.inputs.as_path`.
"""

import inspect
import numbers
import operator
import os
import re
import reprlib
import types
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import partial, wraps
from typing import (
    TYPE_CHECKING,
    Annotated,
    Any,
    Literal,
    ParamSpec,
    SupportsIndex,
    TypeAlias,
    TypeVar,
    Union,
    cast,
    get_args,
    get_origin,
    get_type_hints,
)

import msgspec

from hlteval import converters
from hlteval.findings import Finding, Findings, Severity, finding
from hlteval.findings.suggest import did_you_mean
from hlteval.representation import Corpus
from hlteval.results.config import Config, with_defaults
from hlteval.results.systems import Leaderboard
from hlteval.results.verdict import Defaults, Verdict
from hlteval.sources import Source, open_source
from hlteval.sources.decoding import check_encoding
from hlteval.sources.inputs import Input, WrongArgument, as_path, is_frame
from hlteval.sources.opening import OpenInput
from hlteval.tasks import is_file, is_known, load, task_names
from hlteval.tasks.generic.declaration import WrongTask
from hlteval.tasks.options import by_name, unknown
from hlteval.tasks.task import Task, WrongOption
from hlteval.workflows.evaluation.manifests import CampaignManifest
from hlteval.workflows.run.request import Request, Selection

P = ParamSpec("P")
R = TypeVar("R")
Check = Callable[[str, Any], None]
"""Raises `WrongArgument` for a value of the right type; the first argument is the parameter."""


@dataclass(frozen=True, slots=True)
class Known:
    """A name of something declared.

    Attributes:
        what: what it names, for messages.
        names: returns the names.
    """

    what: str
    names: Callable[[], Iterable[str]]

    def __call__(self, argument: str, value: str) -> None:
        """Hold that the name is known."""
        names = list(self.names())
        if value not in names:
            hint = did_you_mean(value, names, f"use one of {', '.join(names)}")
            raise WrongArgument(f"{argument}: unknown {self.what} {describe_value(value)}; {hint}")


@dataclass(frozen=True, slots=True)
class Between:
    """A number between two others, which may be the lower of them unless `above`."""

    low: float
    high: float = float("inf")
    above: bool = False

    def __call__(self, argument: str, value: float) -> None:
        """Hold that the number is in the range."""
        if not (self.low < value if self.above else self.low <= value) or not value < self.high:
            least = f"above {self.low:g}" if self.above else f"{self.low:g} or more"
            most = "" if self.high == float("inf") else f" and below {self.high:g}"
            raise WrongArgument(f"{argument}: expected a number {least}{most}, got {value}")


def _is_task(argument: str, value: str) -> None:
    if not is_file(value):
        Known("task", task_names)(argument, value)
        return
    try:
        load(value)
    except WrongTask as error:
        refuse_errors(argument, error.findings)


def _has_metric(argument: str, value: str) -> None:
    if load(value).metric is None:
        raise WrongArgument(f"{argument}: {value} cannot be scored: it supports validation only")


def _is_encoding(argument: str, value: str) -> None:
    try:
        check_encoding(value)
    except LookupError as error:
        from encodings.aliases import aliases

        hint = did_you_mean(value, sorted({*aliases.values()}), "use a name such as latin-1")
        reason = str(error).replace(value, describe_value(value))
        raise WrongArgument(f"{argument}: {reason}; {hint}") from error


if TYPE_CHECKING:
    AnyTask: TypeAlias = str | os.PathLike[str] | Task
    ScoredTask: TypeAlias = str | os.PathLike[str] | Task
else:
    AnyTask: TypeAlias = Annotated[str, _is_task]
    ScoredTask: TypeAlias = Annotated[str, _is_task, _has_metric]
"""A task: its name, as `hlteval tasks` lists it, the path of a file that declares it, or a `Task`.

The second one can be scored. A function that is called has the name.
"""
FormatName: TypeAlias = Annotated[str, Known("format", converters.known)]
"""The name of a format, as `hlteval formats` lists them."""
Profile: TypeAlias = Literal["plan", "official"]
"""The written specification, or the official software with its bugs."""
Encoding: TypeAlias = Annotated[str, _is_encoding]
"""The name of an encoding that Python knows."""
Count: TypeAlias = Annotated[int, Between(0)]
"""An integer, 0 or more."""
Positive: TypeAlias = Annotated[int, Between(1)]
"""An integer, 1 or more."""
Share: TypeAlias = Annotated[float, Between(0, 1, above=True)]
"""A number above 0 and below 1."""


_NAMES: Mapping[str, Any] = {"Corpus": Corpus}
"""Names in annotations such as `Input` that the module of a function need not import."""


def task_name(task: str | os.PathLike[str] | Task) -> str:
    """The name of a task, which is the path of a declared one."""
    return task.name if isinstance(task, Task) else os.fspath(task)


def check_arguments(function: Callable[P, R]) -> Callable[P, R]:
    """Return a function whose arguments are held to its signature when it is called.

    Raises:
        TypeError: for an argument of another type, a missing or an unknown one.
        WrongArgument: for a value that the argument cannot have.

    Examples:
        >>> @check_arguments
        ... def twice(count: Count) -> int:
        ...     return 2 * count
        >>> twice(-1)
        Traceback (most recent call last):
        hlteval.sources.inputs.WrongArgument: count: expected a number 0 or more, got -1
    """
    signature = inspect.signature(function)
    task = signature.parameters.get("task")
    of_one_task = task is not None and task.default is task.empty  # others read `defaults`

    @wraps(function)
    def call(*arguments: P.args, **keywords: P.kwargs) -> R:
        try:
            bound = signature.bind(*arguments, **keywords)
        except TypeError as error:
            raise TypeError(f"{function.__name__}(): {error}") from None
        hints = get_type_hints(function, localns=_NAMES, include_extras=True)
        for name, value in bound.arguments.items():
            if name == "task" and isinstance(value, Task | os.PathLike):
                value = task_name(value)  # noqa: PLW2901
            if signature.parameters[name].kind is not inspect.Parameter.VAR_KEYWORD:
                bound.arguments[name] = checked_value(name, hints[name], value)
        if bound.arguments.get("defaults") is None or not of_one_task:
            return function(*bound.args, **bound.kwargs)
        return _with_config(function, bound)

    return call


def checked_value(argument: str, hint: Any, value: object) -> object:
    """Return a value as its annotation has it; integers and numbers of other libraries become ours.

    Raises:
        TypeError: for another type.
        WrongArgument: for a value that the argument cannot have.

    Examples:
        >>> checked_value("seed", int | None, None), checked_value("confidence", float, 1)
        (None, 1.0)
    """
    origin, parts = get_origin(hint), get_args(hint)
    if origin is Annotated:
        value = checked_value(argument, parts[0], value)
        for check in parts[1:]:
            check(argument, value)
        return value
    if origin is Literal:
        if not isinstance(value, str):
            raise _wrong_type(argument, "text", value)
        if value not in parts:
            hint = did_you_mean(value, parts, f"use {' or '.join(parts)}")
            raise WrongArgument(f"{argument}: unknown {argument} {describe_value(value)}; {hint}")
        return value
    if origin in (Union, types.UnionType) and type(None) in parts:
        rest = tuple(part for part in parts if part is not type(None))
        return None if value is None else checked_value(argument, Union[rest], value)  # noqa: UP007
    kind = origin or hint
    return _plain(argument, kind, value) if kind in _EXPECTED else value  # `as_path` checks inputs


def _plain(argument: str, kind: Any, value: object) -> object:
    """Return a value of a plain type."""
    is_number = not isinstance(value, bool)
    if kind is int and is_number:
        with suppress(TypeError):
            return operator.index(cast(SupportsIndex, value))
    if kind is float and is_number and isinstance(value, numbers.Real):
        return float(value)
    if kind not in (int, float) and isinstance(value, kind):
        return value
    raise _wrong_type(argument, _EXPECTED[kind], value)


_EXPECTED: Mapping[object, str] = {
    str: "text",
    bool: "True or False",
    int: "an integer",
    float: "a number",
    Mapping: "a mapping of names to values",
}
"""The plain types in words."""


def _wrong_type(argument: str, expected: str, value: object) -> TypeError:
    kind = type(value).__name__
    return TypeError(f"{argument}: expected {expected}, got {describe_value(value)} ({kind})")


def describe_value(value: object) -> str:
    """Return a value for a message, in one line of moderate length."""
    return value if isinstance(value, str) and value.isprintable() else reprlib.repr(value)


def system_paths(
    systems: Iterable[Input] | Mapping[str, Input], table: str, *, existing: bool, argument: str
) -> list[str]:
    """The submissions of a comparison, or other inputs, each with a name of its own.

    Args:
        systems: the submissions.
        table: the table that a single data frame is.
        existing: whether all paths must exist; paths that do not are kept otherwise.
        argument: the name of the argument, for messages.

    Raises:
        TypeError: for a single submission, or names that are not text.
        WrongArgument: if there are none.
    """
    single = isinstance(systems, str | os.PathLike) or hasattr(systems, "read")
    if single or is_frame(systems) or not isinstance(systems, Iterable):
        kind = type(systems).__name__
        what = "submissions" if argument == "systems" else argument
        raise TypeError(f"{argument}: expected a list or a mapping of {what}, got {kind}")
    if isinstance(systems, Mapping):
        paths = [_with_name(n, _path(argument, s, table, existing)) for n, s in systems.items()]
    else:
        paths = with_distinct_names([_path(argument, s, table, existing) for s in systems])
    if not paths:
        what = "submission" if argument == "systems" else "annotation"
        raise WrongArgument(f"{argument}: expected at least one {what}, got none")
    return paths


def _path(argument: str, system: Input, table: str, existing: bool) -> str:
    try:
        return as_path(argument, system, table=table)
    except FileNotFoundError as reason:
        if existing:
            raise
        return str(reason.filename)


def with_distinct_names(paths: list[str]) -> list[str]:
    """Inputs with names that differ where they are not paths: `<corpus>`, `<corpus> 2`."""
    count: Counter[str] = Counter()
    named = []
    for path in paths:
        count[path] += 1
        several = isinstance(path, OpenInput) and count[path] > 1
        named.append(_with_name(f"{path} {count[path]}", path) if several else path)
    return named


def _with_name(name: object, path: str) -> str:
    """A submission under the name that it has in a mapping."""
    if not isinstance(name, str) or not name:
        raise TypeError(f"systems: expected names as text, got {name!r}")
    try:
        source = open_source(path)
    except FileNotFoundError:
        source = Source(path, "file", (), findings=(finding("LDB201", file=path),))
    return OpenInput(source, name=name)


OptionValue: TypeAlias = Input | bool | float | Sequence[str | os.PathLike[str] | float] | None
"""What an option can be: text, a number, a boolean for a switch, a list, or an input for a file."""

_FLAG = re.compile(r"--([a-z][a-z-]*)")
_ARGUMENTS = {"from": "from_format", "to": "to_format", "set": "settings"}
"""Arguments that have other names on the command line."""
_SAME = (
    *("against", "bootstrap", "encoding", "force", "lenient", "max-memory", "metric", "profile"),
    "strict-loss",
)
"""Arguments of which only the notation differs."""


def reference_path(task: str, given: Input | None) -> str:
    """The path of a reference; empty for a task without references.

    Raises:
        WrongArgument: if there is none and the task needs one, or the reverse.
    """
    declared = load(task)
    if declared.scored_alone != (given is None):
        needs = "has no reference; pass None" if declared.scored_alone else "needs a reference"
        raise WrongArgument(f"reference: {task} {needs}")
    return "" if given is None else as_path("reference", given, table=declared.scored_table)


def task_options(
    task: str,
    function: Callable[..., Any],
    options: Mapping[str, Any] | None,
    keywords: Mapping[str, Any],
) -> Mapping[str, Any]:
    """The options of a task, as `merged` takes them: inputs have become names.

    Args:
        task: name of the task.
        function: the function whose options they are, named after its command. Its parameters are
            suggested too.
        options: by name, with hyphens or underscores; None is an option that is not set.
        keywords: the same as keyword arguments.

    Raises:
        WrongOption: for an unknown option.
        WrongArgument: for an option that is there twice.
        TypeError: for names that are not text.
    """
    command, parameters = function.__name__, tuple(inspect.signature(function).parameters)
    declared = load(task)
    declared_options = by_name(declared.options)
    values: dict[str, object] = {}
    for source in (options or {}, keywords):
        for written, value in source.items():
            if not isinstance(written, str):
                raise TypeError(f"options: expected names as text, got {written!r}")
            name = written.replace("-", "_")
            option = declared_options.get(name)
            if option is None:
                names = [each.key for each in declared.options if each.available_in(command)]
                raise unknown(name, declared, names, also=parameters)
            if not option.available_in(command):
                reason = _spell(option.elsewhere(task, command), _flags(task))
                raise WrongOption(f"{name}: {reason}")
            if option.name in values:
                raise WrongArgument(f"{name}: set twice, as an argument and in options")
            if value is None:
                continue
            if option.is_input and option.repeatable:
                several = value if isinstance(value, list | tuple) else [value]
                value = [as_path(name, item) for item in several]  # noqa: PLW2901
            elif option.is_input:
                value = as_path(name, value, files_only=not option.format)  # noqa: PLW2901
            values[option.name] = value
    return values


@contextmanager
def request_of(
    function: Callable[..., Any], arguments: Mapping[str, Any]
) -> Iterator[tuple[Request, list[str]]]:
    """Give the request that arguments make, and the paths of several systems or annotations.

    Inside, messages have the names of arguments.

    Args:
        function: whose arguments they are, named after its command.
        arguments: by name; None is not set. Those of a leaderboard have an output: its systems need
            not exist.
    """
    task, paths, several = load(arguments["task"]), dict[str, str | None](), list[str]()
    for name, value in arguments.items():
        if name == "reference":
            paths[name] = reference_path(task.name, value)
        elif name in {"system", "submission"}:
            paths[name] = as_path(name, value, table=task.scored_table)
        elif name in {"systems", "annotations"}:
            existing = "output" not in arguments
            several = system_paths(value, task.scored_table, argument=name, existing=existing)
            paths |= {name: several[0]} if existing else {}
        elif name in {"names", "output"}:
            paths[name] = value
        elif name == "against" and value is not None:
            paths[name] = as_path(name, value, table="" if several else task.scored_table)
    options = task_options(task.name, function, arguments["options"], arguments["task_option"])
    system = paths.get("system") or paths.get("submission")
    request = Request.of(task, {**arguments, **paths, "system": system}, options)
    with python_names({**paths, **request.options}, task.name):
        yield request, several


@contextmanager
def python_names(inputs: Mapping[str, object], task: str = "") -> Iterator[None]:
    """Messages of errors have the names of arguments, not those of the command line.

    Args:
        inputs: paths by argument: a message about one of them begins with the argument.
        task: the task whose options there are.
    """
    flags = _flags(task)
    try:
        yield
    except ValueError as error:
        message = _spell(str(error), flags)
        error.args = (f"{_about(message, inputs)}{message}", *error.args[1:])
        if isinstance(fix := getattr(error, "fix", None), str):
            error.__dict__["fix"] = _spell(fix, flags)
        raise
    except OSError as error:
        if error.errno is None and "output" in inputs:  # of ours: the folder or file is in the way
            message = _spell(str(error), flags)
            error.args = (f"{_about(message, inputs) or 'output: '}{message}",)
        raise


def _flags(task: str) -> dict[str, str]:
    """The arguments by their names on the command line."""
    options = load(task).options if task else ()
    flags = {option.flag: option.key for option in options}
    return {name: name.replace("-", "_") for name in _SAME} | _ARGUMENTS | flags


def _spell(message: str, flags: Mapping[str, str]) -> str:
    return _FLAG.sub(lambda match: flags.get(match[1], match[0]), message)


def _about(message: str, inputs: Mapping[str, object]) -> str:
    """The argument whose path a message names, as its beginning; empty if there is none."""
    for argument, path in inputs.items():
        if isinstance(path, str) and path and argument not in message:
            named = re.search(rf"(?<!\S){re.escape(path)}(?=[/:,\s]|$)", message)
            if named:
                return f"{argument}: "
    return ""


_SETTINGS = ("against", "profile", "encoding")
"""The keys of a file that are arguments of functions, too."""
_OF_VERDICTS = ("select", "ignore", "severity", "fail-on")
"""The keys on which findings and verdicts depend."""


def config_file(given: Input, task: str) -> Config:
    """A file of defaults for a task; an empty task means that of the file.

    Raises:
        FileNotFoundError: if there is none.
        TypeError: for anything but a file.
        WrongArgument: if it has errors, or is for another task.
    """
    from hlteval.tasks.toml_file import NotToml
    from hlteval.workflows.config import read_config

    path = as_path("defaults", given, files_only=True)
    try:
        config = read_config(path, task)
    except NotToml as error:
        raise WrongArgument(f"defaults: {error}") from error
    refuse_errors("defaults", config.findings)
    if task and config.task not in {"", task}:
        raise _of_another(config, task)
    return config


def refuse_errors(argument: str, findings: Iterable[Finding], *, placed: bool = True) -> None:
    """Refuse an argument whose file has errors.

    Args:
        argument: its name.
        findings: about the file.
        placed: whether the message says where the error is.

    Raises:
        WrongArgument: for the first error.
    """
    for found in findings:
        if found.severity == "error":
            place = f"{found.file}{found.position}: " if placed else ""
            raise WrongArgument(f"{argument}: {place}{found.message} ({found.code})")


def _of_another(config: Config, tasks: str) -> WrongArgument:
    return WrongArgument(f"defaults: {config.path} has defaults for {config.task}, not for {tasks}")


def campaign_configs(given: Input | None, manifest: CampaignManifest) -> dict[str, Config]:
    """A file of defaults for each task of a campaign that it is for; none without a file.

    Raises:
        FileNotFoundError, TypeError, WrongArgument: as for `config_file`.
    """
    if given is None or manifest.campaign is None:
        return {}
    config = config_file(given, "")
    names = [name for name in manifest.campaign.tasks if is_known(name)]
    kept = [name for name in names if config.task in {"", name}]
    if names and not kept:
        raise _of_another(config, ", ".join(names))
    return {name: config_file(config.path, name) for name in kept}


def pipeline_config(given: Input, task: str, manifest: str | None) -> Config:
    """A file of defaults for a pipeline.

    Args:
        given: the file.
        task: the task of all submissions; empty for none.
        manifest: the path of the manifest, if there is one.

    Raises:
        FileNotFoundError, TypeError, WrongArgument: as for `config_file`.
    """
    from hlteval.workflows.evaluation.pipeline import other_tasks

    config = config_file(given, task)
    if others := other_tasks(config, manifest):
        raise _of_another(config, ", ".join(others))
    return config


def name_defaults(given: object) -> Callable[[Leaderboard], Leaderboard]:
    """Return what lets a leaderboard name the argument `defaults`, which is read by now."""
    return partial(with_defaults, defaults=given if isinstance(given, Defaults) else None)


def _with_config(function: Callable[..., R], bound: inspect.BoundArguments) -> R:
    """Call a function with the defaults of its argument `defaults`; what is given wins.

    The result names the defaults; a verdict is over the findings that they select.
    """
    given, command = bound.arguments, function.__name__
    config = config_file(given["defaults"], given["task"])
    values = config.values
    added: dict[str, object] = {
        key: values[key]
        for key in _SETTINGS
        if key in values and key in bound.signature.parameters and given.get(key) is None
    }
    profile = added.get("profile") or given.get("profile", "plan")
    written = (*(given.get("options") or {}), *given.get("task_option", {}))
    present = {str(name).replace("-", "_") for name in written}
    declared = [each for each in load(given["task"]).options if each.available_in(command)]
    own = {option.key for option in declared if present.isdisjoint({option.key, option.name})}
    options = {name: value for name, value in config.options.items() if name in own}
    names = [*added, *(key for key in _OF_VERDICTS if key in values and command == "validate")]
    names += [f"options.{name}" for name in options]
    if options:
        added["options"] = {**(given.get("options") or {}), **options}
    defaults = Defaults(config.path, tuple(names)) if names else None
    bound.arguments |= {**added, "defaults": defaults}
    result: Any = function(*bound.args, **bound.kwargs)
    if isinstance(result, Verdict):
        levels = [f"{code}={level}" for code, level in values.get("severity", {}).items()]
        selection = Selection.parse(values.get("select", ()), values.get("ignore", ()), levels)
        findings = Findings(selection.of(result.findings))
        result = msgspec.structs.replace(result, findings=findings)
        if profile != "official" and result.decided:
            lowest = Severity(values.get("fail-on", "error"))
            result = msgspec.structs.replace(result, passed=not result.reaches(lowest))
    if not isinstance(result, Leaderboard):  # which names them before it is written
        result = with_defaults(result, defaults)
    return cast(R, result)
