"""Commands of tasks: the options that commands share, their completion, and a command per task.

Each function of the completion takes the beginning of a word and returns the words that it can
become, with their meanings. None reads a file of the user, and none imports a heavy library.
"""

from __future__ import annotations

import inspect
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from importlib import resources
from types import MappingProxyType
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal, NamedTuple

import typer
from typer.main import get_command

from hlteval.cli import defaults
from hlteval.cli.defaults import with_first
from hlteval.cli.process import HelpfulCommand, HelpfulGroup, epilog, option
from hlteval.tasks import BUILTIN, load, task_modules
from hlteval.tasks.task import Option, Task
from hlteval.workflows.run.request import help_of

if TYPE_CHECKING:
    from hlteval.reports.tables import View

#: Words that a shell offers, each with what it means.
Words = list[tuple[str, str]]
#: Set in a context whose group lists its tasks: their commands are not built.
LISTED = "hlteval.listed"


def tasks(incomplete: str) -> Words:
    """Names of tasks.

    Examples:
        >>> [name for name, _ in tasks("lorehlt-e")]
        ['lorehlt-edl']
    """
    return [(name, load(name).title) for name in task_modules() if name.startswith(incomplete)]


def formats(incomplete: str) -> Words:
    """Names of formats.

    Examples:
        >>> formats("rsd")[0][0]
        'rsd'
    """
    from hlteval.converters import summaries

    listed = summaries().items()
    return [(name, form.title) for name, form in listed if name.startswith(incomplete)]


def settings(incomplete: str) -> Words:
    """Settings of formats, up to the equals sign.

    Examples:
        >>> [name for name, _ in settings("off")]
        ['offsets=']
    """
    from hlteval.converters import summaries

    found: dict[str, str] = {}
    for form in summaries().values():
        for written in form.settings:
            found.setdefault(f"{written.name}=", written.help)
    return [item for item in found.items() if item[0].startswith(incomplete)]


def schemas(incomplete: str) -> Words:
    """Names of schemas.

    Examples:
        >>> schemas("scor")
        [('scores', 'Scores of a submission')]
    """
    from hlteval.reports.schemas.declared import SCHEMAS

    listed = SCHEMAS.items()
    return [(name, schema.title) for name, schema in listed if name.startswith(incomplete)]


def codes(incomplete: str) -> Words:
    """Codes of findings; in a list separated by commas, the last one.

    Examples:
        >>> [name for name, _ in codes("STD3,SRC20")]
        ['STD3,SRC201', 'STD3,SRC202', 'STD3,SRC203', 'STD3,SRC204', 'STD3,SRC205']
    """
    before, comma, last = incomplete.rpartition(",")
    return [(before + comma + code, title) for code, title in _codes(last)]


def levels(incomplete: str) -> Words:
    """Codes with the severities that they can get.

    Examples:
        >>> [name for name, _ in levels("SRC201=w")]
        ['SRC201=warning']
    """
    code, equals, level = incomplete.partition("=")
    if not equals:
        return [(f"{name}=", title) for name, title in codes(incomplete)]
    return [
        (f"{code}={each}", "") for each in ("error", "warning", "info") if each.startswith(level)
    ]


def _codes(beginning: str) -> Iterator[tuple[str, str]]:
    """The codes that begin with something; only the files of their letters are read."""
    folder = resources.files("hlteval.findings") / "codes"
    for file in sorted(folder.iterdir(), key=lambda each: each.name):
        prefix = file.name.removesuffix(".toml")
        if prefix.startswith(beginning[:3]):
            entries = tomllib.loads(file.read_text("utf-8")).items()
            yield from ((c, entry["title"]) for c, entry in entries if c.startswith(beginning))


def metrics(ctx: typer.Context, incomplete: str) -> Words:
    """Names of the metrics of a command's task; in a list separated by commas, the last one."""
    task = str(ctx.info_name)
    before, comma, last = incomplete.rpartition(",")
    names: Iterable[str] = load(task).metrics if task in task_modules() else ()
    return [(before + comma + name, "") for name in names if name.startswith(last)]


def options(incomplete: str) -> Words:
    """Options of tasks, for commands that take them as NAME=VALUE."""
    found: dict[str, str] = {}
    for name in task_modules():
        for declared in load(name).options:
            found.setdefault(f"{declared.flag}=", declared.help)
    return [item for item in found.items() if item[0].startswith(incomplete)]


def known_encoding(name: str | None) -> str | None:
    """The name of an encoding, if there is one.

    Raises:
        typer.BadParameter: for an unknown encoding.
    """
    from hlteval.sources.decoding import check_encoding

    try:
        check_encoding(name or "utf-8")
    except LookupError as error:
        raise typer.BadParameter(str(error)) from error
    return name


Encoding = Annotated[str, option("--encoding NAME", help_of("encoding"), callback=known_encoding)]
Reference = Annotated[str, option("-r --reference PATH", help_of("reference"))]
#: The output formats of scores and comparisons.
TableForm = Literal["text", "json", "tsv", "markdown", "latex"]
Form = Annotated[TableForm, option("--format", "Output format.")]
OutputFiles = Annotated[
    list[str] | None,
    option(
        "--output-file FORMAT=PATH",
        "Also write the result to a file, in any output format. Repeatable.",
    ),
]
Profile = Annotated[Literal["plan", "official"], option("--profile", help_of("profile"))]
Confidence = Annotated[
    float,
    option(
        "--confidence LEVEL",
        "Confidence level of the intervals (default 0.95).",
        min=0.01,
        max=0.9999,
        show_default=False,
    ),
]
Seed = Annotated[int, option("--seed N", "Random seed (default 0).", min=0, show_default=False)]
Jobs = Annotated[int, option("--jobs -j N", help_of("jobs"), min=1)]
Columns = Annotated[
    str | None, option("--columns NAME,…", "Columns of the tables to show, in this order.")
]
Wide = Annotated[bool, option("--wide", "Show all columns, even if the terminal is too narrow.")]

#: Parameters of the bodies of commands that are not options of the command line.
INTERNAL = frozenset({"task", "options", "defaults"})

Command = Literal["agreement", "compare", "leaderboard", "pack", "score", "validate"]
#: Common options of commands that set the option of a task of the same name, too.
SHARED: Mapping[str, frozenset[str]] = MappingProxyType({"leaderboard": frozenset({"metrics"})})
#: The commands that tasks without a metric have, too.
_WITHOUT_METRIC = frozenset({"pack", "validate"})


class Condition(NamedTuple):
    """When a common option of a command has an effect.

    Attributes:
        name: of the parameter.
        holds: whether it has an effect, from the values of all parameters.
        reason: why it has none, after "has no effect".
    """

    name: str
    holds: Callable[[Mapping[str, Any]], Any]
    reason: str


def forms(arguments: Mapping[str, Any]) -> set[str]:
    """The output formats of a command, printed and in files, from its parameters."""
    files = arguments.get("output_file") or ()
    return {arguments.get("form", ""), *(file.partition("=")[0] for file in files)}


#: When `--columns` and `--wide` have an effect.
VIEWS = (
    Condition(
        "columns",
        lambda given: forms(given) & {"text", "markdown", "latex"},
        "without --format text, markdown or latex",
    ),
    Condition("wide", lambda given: "text" in forms(given), "without --format text"),
    Condition("wide", lambda given: not given["columns"], "with --columns"),
)


class TaskGroup(HelpfulGroup):
    """A group with one command per task, built on request: naming a task loads no other task."""

    run: ClassVar[Callable[..., None]]
    command: ClassVar[Command]
    conditions: ClassVar[Sequence[Condition]]

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Parse the words of the command; options may be before the task, as hooks put them."""
        run = type(self).run
        words = with_first(args, task_modules(), run)
        if words and not ctx.resilient_parsing:
            with usage():
                own = "" if _exists(words[0]) else defaults.task_of(words, run)
                words = [own, *words] if own else words
                if _exists(words[0]):
                    defaults.set_defaults(ctx, words, run, self.command, bool(own))
        return super().parse_args(ctx, words)

    def shell_complete(self, ctx: Any, incomplete: str) -> Any:
        """The names of the tasks that a word can become, with their titles."""
        ctx.meta[LISTED] = True
        return super().shell_complete(ctx, incomplete)

    def list_commands(self, ctx: Any) -> list[str]:  # noqa: ARG002
        """The names of the tasks, as declared; those without a metric where none is needed."""
        return [name for name in task_modules() if _has(name, self.command)]

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """The command of a task.

        Raises:
            BadParameter: if the task is unknown, or has no metric and the command needs one.
        """
        if not _exists(cmd_name):
            if cmd_name.startswith("-"):
                return None
            raise unknown_task(cmd_name, self.list_commands(ctx))
        task = load(cmd_name)
        if ctx.meta.get(LISTED):
            return HelpfulCommand(cmd_name, short_help=task.title)
        if not _has(cmd_name, self.command):
            reason = "cannot be scored: it supports validation only"
            if self.command == "agreement":
                reason = "declares nothing that annotators judge"
            raise typer.BadParameter(f"{cmd_name} {reason}")
        app = typer.Typer(add_completion=False, rich_markup_mode=None)
        app.command(
            cmd_name,
            cls=HelpfulCommand,
            help=task.title,
            short_help=task.title,
            epilog=epilog(self.command),
            no_args_is_help=True,
        )(_command(task, type(self).run, self.command, self.conditions))
        return get_command(app)


def _exists(task: str) -> bool:
    """Whether there is a task; other packages are asked only about names that are not ours."""
    return task in BUILTIN or task in task_modules()


def _has(task: str, command: Command) -> bool:
    """Whether a task has a command."""
    if command == "agreement":
        return load(task).has_agreement
    return command in _WITHOUT_METRIC or load(task).metric is not None


def table_view(columns: str | None, wide: bool, known: Callable[[], Iterable[str]]) -> View:
    """Return the view of the tables of the options `--columns` and `--wide`.

    Args:
        columns: names of columns, comma-separated; None for all.
        wide: whether all are shown, even if they do not fit.
        known: gives the names of all columns.

    Raises:
        BadParameter: if there is no such column.
    """
    from hlteval.reports.tables import UnknownColumnError, View, column_names

    try:
        return View(column_names(columns, known()) if columns else (), wide)
    except UnknownColumnError as error:
        raise typer.BadParameter(str(error)) from error


def unknown_task(name: str, names: Sequence[str]) -> typer.BadParameter:
    """The usage error for a name that is not one of the names of tasks."""
    from hlteval.findings.suggest import did_you_mean

    hint = did_you_mean(name, names, f"use one of {', '.join(names)}")
    return typer.BadParameter(f"unknown task {name}; {hint}")


def task_app(
    run: Callable[..., None], command: Command, text: str = "", conditions: Sequence[Condition] = ()
) -> typer.Typer:
    """Return a group with one command per task: the common options, then those of the task.

    Args:
        run: the body of the command. Its first parameter is the name of the task; its last,
            `options`, takes the options of the task by name.
        command: name of the command, which selects the options of the tasks.
        text: its help.
        conditions: when its common options have an effect; without one they always do.
    """
    members = {"run": staticmethod(run), "command": command, "conditions": conditions}
    group = type("Tasks", (TaskGroup,), members)
    return typer.Typer(cls=group, help=text, no_args_is_help=True)


def _command(
    task: Task, run: Callable[..., None], which: Command, conditions: Sequence[Condition]
) -> Callable[..., None]:
    """Return the function of a command, with the signature from which typer makes its options.

    It checks that all options that a user writes have an effect, and that no input is replaced.
    """

    def command(context: typer.Context, **arguments: Any) -> None:
        from hlteval.cli.output import check_inputs_stay
        from hlteval.tasks.options import check_effect, merge_options

        names = [o.name for o in task.options if o.name not in SHARED.get(which, ())]
        options = {name: value for name in names if (value := arguments.pop(name, None))}
        own = {name: v for name, v in options.items() if not defaults.from_file(context, name)}
        every = {**arguments, **options}
        with usage():
            for name, holds, reason in conditions:
                source = context.get_parameter_source(name)
                written = source is not None and source.name == "COMMANDLINE"
                if written and not holds({**arguments, "task": task.name}):
                    flag = name.replace("_", "-")
                    raise typer.BadParameter(f"--{flag} has no effect {reason}")
            present = {*merge_options(task, own), *(name for name, value in every.items() if value)}
            if every.get("output") or every.get("report") or "json" in forms(every):
                present.add("tables")
            check_effect(task, which, own, present)
            config = context.meta.get(defaults.KEY)
            check_inputs_stay(every, task.options, [config.path] if config else ())
        more = (
            {"defaults": defaults.applied_defaults(context)} if defaults.takes_defaults(run) else {}
        )
        run(task.name, **arguments, **more, options=options)

    parameters = list(_parameters(task, run, which))
    command.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    command.__annotations__ = {p.name: p.annotation for p in parameters}
    return command


def uses_seed(arguments: Mapping[str, Any]) -> bool:
    """Whether something of a run is random: resamples, or what an option of the task draws."""
    options = load(arguments["task"]).options
    return bool(arguments["bootstrap"]) or any(option.follows_seed for option in options)


def _parameters(
    task: Task, run: Callable[..., None], command: Command
) -> Iterator[inspect.Parameter]:
    """Give the parameters of a command for typer: the common ones, then the options of the task.

    Options of its other commands, and -r of tasks without references, are hidden: they are there to
    be refused with a reason.
    """
    keyword = inspect.Parameter.KEYWORD_ONLY
    yield inspect.Parameter("context", keyword, annotation=typer.Context)
    names = set()
    for parameter in inspect.signature(run, eval_str=True).parameters.values():
        if parameter.name in INTERNAL:
            continue
        names.add(parameter.name)
        if parameter.name == "reference" and task.scored_alone:
            hidden = Annotated[str, typer.Option("-r", "--reference", hidden=True)]
            parameter = parameter.replace(default="", annotation=hidden)  # noqa: PLW2901
        yield parameter.replace(kind=keyword)
    for declared in task.options:
        name = declared.name
        here = declared.available_in(command) and name not in SHARED.get(command, ())
        if here or name not in names:
            default = False if declared.switch else None
            annotation = _annotation(declared, hidden=not here)
            yield inspect.Parameter(name, keyword, default=default, annotation=annotation)


def _annotation(declared: Option, *, hidden: bool) -> Any:
    """Return the typer declaration of an option of a task."""
    if declared.switch:
        return Annotated[bool, option(f"--{declared.flag}", declared.help, hidden=hidden)]

    def complete(incomplete: str) -> list[str]:
        return [choice for choice in declared.choices if choice.startswith(incomplete)]

    short = f"-{declared.short}" if declared.short and not hidden else ""
    notation = f"{short} --{declared.flag} {declared.placeholder}"
    words = complete if declared.choices else None
    info = option(notation, declared.help, autocompletion=words, hidden=hidden)
    return Annotated[(list[str] if declared.repeatable else str) | None, info]


@contextmanager
def usage() -> Iterator[None]:
    """Report errors in the arguments of the command line as usage errors, exit code 2."""
    try:
        yield
    except FileNotFoundError as error:
        reason = f"no such file or folder: {error.filename}" if error.filename else str(error)
        raise typer.BadParameter(reason) from error
    except (FileExistsError, NotADirectoryError, IsADirectoryError, PermissionError) as error:
        raise typer.BadParameter(str(error)) from error
    except Exception as error:
        if isinstance(error, _usage_errors()):
            raise typer.BadParameter(str(error)) from error
        raise


def _usage_errors() -> tuple[type[Exception], ...]:
    """The errors in arguments; a run without any imports none of the modules that have them."""
    from hlteval.converters import WrongSetting
    from hlteval.serve.settings import CannotServe
    from hlteval.tasks.task import WrongOption
    from hlteval.workflows.convert.conversion import WrongOutput
    from hlteval.workflows.convert.inputs import UnknownFormat
    from hlteval.workflows.evaluation.manifests import WrongManifest
    from hlteval.workflows.evaluation.pipeline import CannotWatch, InUse
    from hlteval.workflows.evaluation.pipeline_state import NoReference
    from hlteval.workflows.run.batches import NothingGiven
    from hlteval.workflows.run.request import UnknownCode

    usual = (NothingGiven, UnknownCode, UnknownFormat, WrongOption, WrongOutput, WrongSetting)
    return (*usual, CannotServe, CannotWatch, InUse, NoReference, WrongManifest)
