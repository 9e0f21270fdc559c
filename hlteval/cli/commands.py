"""Commands: their options as `commands.toml` declares them, completion, and a command per task.

A command is a function whose parameters are its options, by name. Of a command that each task has,
a parameter may also take several options as one value: a `Request`, or `Outputs`.

Each function of the completion takes the beginning of a word and returns the words that it can
become, with their meanings. None reads a file of the user, and none imports a heavy library.
"""

import inspect
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from functools import cached_property, wraps
from glob import escape
from importlib import resources
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal, get_origin

import typer
from typer.main import get_command

from hlteval.cli import defaults
from hlteval.cli.output import Outputs
from hlteval.cli.process import HelpfulCommand, HelpfulGroup, declarations, epilog, usage
from hlteval.extensions import resolve
from hlteval.findings.finding import Severity
from hlteval.tasks import SUFFIX, is_file, is_known, load, task_names
from hlteval.tasks.options import check_effect, merge_options
from hlteval.tasks.task import Option, Task
from hlteval.workflows.run.request import Intervals, Request

#: The output formats of commands with two.
Form = Literal["text", "json"]
#: Words that a shell offers, each with what it means.
Words = list[tuple[str, str]]
#: Set in a context whose group lists its tasks: their commands are not built.
LISTED = "hlteval.listed"


def _completions(incomplete: str, words: Iterable[tuple[str, str]]) -> Words:
    """Return the words that begin with something; of equal ones the first."""
    found: dict[str, str] = {}
    for word, meaning in words:
        if word.startswith(incomplete):
            found.setdefault(word, meaning)
    return [*found.items()]


def tasks(incomplete: str) -> Words:
    """Names of tasks.

    Examples:
        >>> [name for name, _ in tasks("lorehlt-e")]
        ['lorehlt-edl']
    """
    names = [(name, load(name).title) for name in task_names() if name.startswith(incomplete)]
    return names + task_files(incomplete)


def task_files(incomplete: str) -> Words:
    """Paths of declarations of tasks, and of the folders that may have some.

    Examples:
        >>> task_files("no-such-folder/")
        []
    """
    before, slash, last = incomplete.rpartition("/")
    folder = Path(before or slash or ".")
    paths = sorted(folder.glob(f"{escape(last)}*")) if folder.is_dir() else []
    return [
        (f"{before}{slash}{path.name}{'/' if path.is_dir() else ''}", "")
        for path in paths
        if path.name.endswith(SUFFIX) or (slash and path.is_dir())
    ]


def formats(incomplete: str) -> Words:
    """Names of formats.

    Examples:
        >>> formats("rsd")[0][0]
        'rsd'
    """
    from hlteval.converters import summaries

    return _completions(incomplete, ((name, form.title) for name, form in summaries().items()))


def settings(incomplete: str) -> Words:
    """Settings of formats, up to the equals sign.

    Examples:
        >>> [name for name, _ in settings("off")]
        ['offsets=']
    """
    from hlteval.converters import summaries

    every = (setting for form in summaries().values() for setting in form.settings)
    return _completions(incomplete, ((f"{setting.name}=", setting.help) for setting in every))


def schemas(incomplete: str) -> Words:
    """Names of schemas.

    Examples:
        >>> schemas("scor")
        [('scores', 'Scores of a submission')]
    """
    from hlteval.reports.lists import SCHEMAS

    return _completions(incomplete, ((name, schema.title) for name, schema in SCHEMAS.items()))


def codes(incomplete: str) -> Words:
    """Codes of findings; in a list separated by commas, the last one.

    Examples:
        >>> [name for name, _ in codes("STD3,SRC20")]
        ['STD3,SRC201', 'STD3,SRC202', 'STD3,SRC203', 'STD3,SRC204', 'STD3,SRC205']
    """
    before, comma, last = incomplete.rpartition(",")
    files = (resources.files("hlteval.findings") / "codes").iterdir()
    texts = [file.read_text("utf-8") for file in files if file.name.startswith(last[:3])]
    entries = (item for text in texts for item in tomllib.loads(text).items())
    words = ((code, entry["title"]) for code, entry in entries if code.startswith(last))
    return sorted((before + comma + code, title) for code, title in words)


def levels(incomplete: str) -> Words:
    """Codes with the severities that they can get.

    Examples:
        >>> [name for name, _ in levels("SRC201=w")]
        ['SRC201=warning']
    """
    code, equals, _ = incomplete.partition("=")
    if not equals:
        return [(f"{name}=", title) for name, title in codes(incomplete)]
    return _completions(incomplete, ((f"{code}={level}", "") for level in Severity))


def metrics(ctx: typer.Context, incomplete: str) -> Words:
    """Names of the metrics of a command's task; in a list separated by commas, the last one."""
    task = str(ctx.info_name)
    before, comma, last = incomplete.rpartition(",")
    names: Iterable[str] = load(task).metrics if is_known(task) else ()
    return [(before + comma + name, "") for name in names if name.startswith(last)]


def options(incomplete: str) -> Words:
    """Options of tasks, for commands that take them as NAME=VALUE."""
    every = (option for name in task_names() for option in load(name).options)
    return _completions(incomplete, ((f"{option.flag}=", option.help) for option in every))


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


#: The keys of a declaration that are not settings of typer.
_OWN = frozenset(
    {"as", "help", "default", "choices", "forms", "needs", "without", "reason", "formerly"}
)


def declaration(command: str, name: str) -> Mapping[str, Any]:
    """Return the declaration of an option of a command, which completes that of all commands.

    Examples:
        >>> declaration("score", "encoding")["help"]
        'Encoding of the input files.'
    """
    tables = declarations()
    return {**tables["options"].get(name, {}), **tables[command].get("options", {}).get(name, {})}


def declare(notation: str, text: str, settings: Mapping[str, Any]) -> Any:
    """Declare an option or an argument for typer.

    Args:
        notation: the names of an option and the placeholder of its value, as in `-o --output DIR`;
            the placeholder of an argument.
        text: its help.
        settings: further settings of `typer.Option`, or `typer.Argument`.
    """
    words = notation.split()
    names = [word for word in words if word.startswith("-")]
    metavar = next((word for word in words if not word.startswith("-")), None)
    make: Any = typer.Option if names else typer.Argument
    return make(*names, metavar=metavar, help=text, **settings)


def typer_parameter(command: str, parameter: inspect.Parameter) -> inspect.Parameter:
    """Return a parameter as typer takes it; one that is declared in its annotation stays."""
    hint: Any = parameter.annotation
    if get_origin(hint) is Annotated or hint is typer.Context:
        return parameter
    entry = declaration(command, parameter.name)
    settings = {key: entry[key] for key in entry if key not in _OWN}
    for key in {"autocompletion", "callback"} & {*settings}:
        settings[key] = resolve(f"{__name__}:{settings[key]}")
    default = entry.get("default", parameter.default)
    if choices := tuple(entry.get("choices", ())):
        hint = Literal[choices]
        hint = hint | None if default is None else hint
    info = declare(entry["as"], entry["help"], settings)
    return parameter.replace(
        kind=inspect.Parameter.KEYWORD_ONLY, default=default, annotation=Annotated[hint, info]
    )


def with_parameters(
    function: Callable[..., None], parameters: Iterable[inspect.Parameter]
) -> Callable[..., None]:
    """Return a function whose signature, from which typer makes options, has these parameters."""
    signature = inspect.Signature([*parameters])

    @wraps(function)
    def command(**arguments: object) -> None:
        function(**arguments)

    command.__signature__ = signature  # type: ignore[attr-defined]
    command.__annotations__ = {p.name: p.annotation for p in signature.parameters.values()}
    return command


def build_command(
    name: str, function: Callable[..., None], text: str, exits: str, settings: Mapping[str, Any]
) -> Any:
    """Return a command of which typer makes the options from the signature of a function.

    Args:
        name: of the command.
        function: what it does.
        text: what the list of commands says of it.
        exits: its exit codes.
        settings: further settings of typer.
    """
    app = typer.Typer(add_completion=False, rich_markup_mode=None)
    app.command(name, cls=HelpfulCommand, short_help=text, epilog=exits, **settings)(function)
    return get_command(app)


def with_options(name: str, function: Callable[..., None]) -> Callable[..., None]:
    """Return the function of a command with its options as they are declared."""
    parameters = inspect.signature(function, eval_str=True).parameters.values()
    return with_parameters(function, [typer_parameter(name, each) for each in parameters])


Command = Literal["validate", "score", "compare", "leaderboard", "agreement", "pack", "platform"]
#: How the names of parameters begin that are former names of others.
_OLD = "old_"
#: The commands that tasks without a metric have, too.
_WITHOUT_METRIC = frozenset({"pack", "validate"})


@dataclass(frozen=True)
class _Shared:
    """Options that several commands have, but for the fields of `Request` and `Outputs`."""

    reference: str
    max_per_code: int | None = None
    bootstrap: int | None = None
    confidence: float = Intervals.confidence
    seed: int = Intervals.seed
    defaults_file: str | None = None


class TaskCommand:
    """A command that tasks have, with the options that it has of any task.

    Args:
        name: of the command, which selects the options of the tasks.
        run: its body. Its parameters are a `Request`, `Outputs`, and options.
        takes: the names of its options; by default as `commands.toml` declares them.
    """

    def __init__(
        self, name: Command, run: Callable[..., None], takes: Sequence[str] | None = None
    ) -> None:
        self.name, self.run = name, run
        self.takes = declarations()[name]["takes"].split() if takes is None else takes
        self.takes_defaults = "defaults_file" in self.takes
        self.body = inspect.signature(run, eval_str=True).parameters

    @cached_property
    def parameters(self) -> Mapping[str, inspect.Parameter]:
        """The options that it has of any task, by name."""
        known: dict[str, inspect.Parameter] = {}
        for kind in (Request, Outputs, _Shared):
            known |= inspect.signature(kind, eval_str=True).parameters
        known |= self.body
        return {name: typer_parameter(self.name, known[name]) for name in self.takes}

    def of(self, task: Task) -> Callable[..., None]:
        """Return the function for a task, with the signature from which typer makes its options."""

        def command(context: typer.Context, **arguments: object) -> None:
            self._run(task, context, arguments)

        context = inspect.signature(command, eval_str=True).parameters["context"]
        return with_parameters(command, [context, *self._options(task)])

    def _options(self, task: Task) -> Iterator[inspect.Parameter]:
        """Give the options of any task, then those of a task.

        Options of its other commands, and -r of tasks without references, are hidden: they are
        there to be refused with a reason. So are old names. That of an option which lists what is
        computed is all that is there of it where the command has an option of the present name.
        """
        for parameter in self.parameters.values():
            if parameter.name == "reference" and task.scored_alone:
                hidden = Annotated[str, typer.Option("-r", "--reference", hidden=True)]
                parameter = parameter.replace(default="", annotation=hidden)  # noqa: PLW2901
            yield parameter
            entry = declaration(self.name, parameter.name)
            if old := entry.get("formerly"):
                yield _old_name(f"{_OLD}{parameter.name}", old, _long(entry["as"]))
        own = {_long(declaration(self.name, name)["as"]) for name in self.parameters}
        for each in task.options:
            here, flag = each.available_in(self.name), f"--{each.flag}"
            if each.name in self.parameters:  # it sets the option of the task, too
                continue
            if flag not in own:
                yield _option_of_task(each, hidden=not here)
            if each.old_flag and here:
                name = each.name if flag in own else f"{_OLD}{each.name}"
                yield _old_name(name, f"--{each.old_flag}", flag, several=each.repeatable)

    def _run(self, task: Task, context: typer.Context, arguments: dict[str, object]) -> None:
        """Run the body; all options that are written have an effect, and no input is replaced."""
        from hlteval.cli.output import check_inputs_stay

        for name in [each for each in arguments if each.startswith(_OLD)]:
            new = name.removeprefix(_OLD)
            if value := arguments.pop(name):
                if defaults.source(context, new) == defaults.WRITTEN:
                    raise typer.BadParameter("an option is given by its old name, too; remove that")
                arguments[new] = value
        names = [o.name for o in task.options if o.name not in self.parameters]
        options = {name: value for name in names if (value := arguments.pop(name, None))}
        own = {n: v for n, v in options.items() if defaults.source(context, n) != defaults.FILE}
        every = {**arguments, **options}
        with usage():
            for name in declarations()[self.name].get("checks", "").split():
                if defaults.source(context, name) == defaults.WRITTEN:
                    for reason in self._without_effect(name, task, arguments):
                        raise typer.BadParameter(f"{_flags([name])} has no effect {reason}")
            present = {*merge_options(task, own), *(name for name, value in every.items() if value)}
            if every.get("output") or every.get("report") or "json" in _forms(every):
                present.add("tables")
            check_effect(task, self.name, own, present)
            config = context.meta.get(defaults.KEY)
            check_inputs_stay(every, task.options, [config.path] if config else ())
        arguments["outputs"] = self._outputs(task, context, arguments)
        arguments["request"] = Request.of(task, arguments, options)
        self.run(**{name: arguments[name] for name in self.body})

    def _without_effect(self, name: str, task: Task, values: Mapping[str, object]) -> Iterator[str]:
        """Give the reasons why an option has no effect beside the others."""
        entry = declaration(self.name, name)
        needs, without, wanted = (entry.get(key, []) for key in ("needs", "without", "forms"))
        if wanted and _forms(values).isdisjoint(wanted):
            most = ", ".join(wanted[:-1])
            yield f"without --format {f'{most} or ' if most else ''}{wanted[-1]}"
        drawn = name == "seed" and "reference" in self.takes
        drawn = drawn and any(option.follows_seed for option in task.options)
        if needs and not (drawn or any(values[each] for each in needs)):
            yield entry.get("reason") or f"without {_flags(needs)}"
        for each in without:
            other, _, value = each.partition("=")
            if values[other] == value if value else values[other]:
                yield entry.get("reason") or f"with {_flags(without)}"

    def _outputs(self, task: Task, context: typer.Context, values: Mapping[str, Any]) -> Outputs:
        """Return the outputs that the values of options make."""
        names = {each.name for each in fields(Outputs)}
        own = {name: value for name, value in values.items() if name in names}
        taken = defaults.applied_defaults(context, task) if self.takes_defaults else None
        return Outputs(
            **own, defaults=taken, forms=declaration(self.name, "form").get("choices", ())
        )


def _flags(names: Iterable[str]) -> str:
    """Return options as a message names them."""
    return " or ".join(f"--{name.replace('_', '-')}" for name in names)


def _forms(values: Mapping[str, Any]) -> set[str]:
    """Return the output formats of a command, printed and in files, from its options."""
    files = values.get("output_file") or ()
    return {values.get("form", ""), *(file.partition("=")[0] for file in files)}


def _long(notation: str) -> str:
    """Return the long name in the notation of an option; empty for an argument."""
    return next((word for word in notation.split() if word.startswith("--")), "")


def _old_name(name: str, flag: str, present: str, *, several: bool = False) -> inspect.Parameter:
    """Return the hidden parameter of an old name of an option, whose use prints a note."""

    def remark(context: typer.Context, value: Any) -> Any:
        if value and defaults.source(context, name) == defaults.WRITTEN:
            defaults.show_note(
                f"{flag} is now {present}; the old name works until the next release"
            )
        return value

    info = declare(f"{flag} NAME,…", "", {"hidden": True, "callback": remark})
    hint = Annotated[(list[str] if several else str) | None, info]  # type: ignore[valid-type]
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=None, annotation=hint)


def _option_of_task(declared: Option, *, hidden: bool) -> inspect.Parameter:
    """Return the parameter of an option of a task."""

    def complete(incomplete: str) -> list[str]:
        return [choice for choice in declared.choices if choice.startswith(incomplete)]

    settings: dict[str, object] = {"hidden": hidden}
    kind: Any = bool
    if not declared.switch:
        kind = (list[str] if declared.repeatable else str) | None
        settings["autocompletion"] = complete if declared.choices else None
    short = f"-{declared.short} " if declared.short and not (hidden or declared.switch) else ""
    info = declare(f"{short}--{declared.flag} {declared.placeholder}", declared.help, settings)
    hint, default = Annotated[kind, info], False if declared.switch else None
    return inspect.Parameter(
        declared.name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=hint
    )


class TaskGroup(HelpfulGroup):
    """A group with one command per task, built on request: naming a task loads no other task."""

    task_command: ClassVar[TaskCommand]

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Parse the words of the command; options may be before the task, as hooks put them."""
        words = defaults.with_first(args, task_names(), self.task_command)
        if words and not ctx.resilient_parsing:
            words = [defaults.task_path(words, self.task_command), *words[1:]]
            check_file(words[0])
            with usage():
                own = "" if _exists(words[0]) else defaults.task_of(words, self.task_command)
                words = [own, *words] if own else words
                if _exists(words[0]):
                    defaults.set_defaults(ctx, words, self.task_command, bool(own))
        return super().parse_args(ctx, words)

    def shell_complete(self, ctx: Any, incomplete: str) -> Any:
        """The names of the tasks that a word can become, with their titles."""
        ctx.meta[LISTED] = True
        return super().shell_complete(ctx, incomplete)

    def list_commands(self, ctx: Any) -> list[str]:  # noqa: ARG002
        """The names of the tasks, as declared; those without a metric where none is needed."""
        return [name for name in task_names() if self._has(load(name))]

    def _has(self, task: Task) -> bool:
        """Whether a task has the command."""
        if self.task_command.name == "agreement":
            return task.has_agreement
        return self.task_command.name in _WITHOUT_METRIC or task.metric is not None

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """The command of a task.

        Raises:
            BadParameter: if the task is unknown, or has no metric and the command needs one.
        """
        if not _exists(cmd_name):
            if cmd_name.startswith("-"):
                return None
            raise unknown_task(cmd_name, self.list_commands(ctx))
        task, name = load(cmd_name), self.task_command.name
        if ctx.meta.get(LISTED):
            return HelpfulCommand(cmd_name, short_help=task.title)
        if not self._has(task):
            reason = "cannot be scored: it supports validation only"
            if name == "agreement":
                reason = "declares nothing that annotators judge"
            raise typer.BadParameter(f"{cmd_name} {reason}")
        settings = {"help": task.title, "no_args_is_help": True}
        run = self.task_command.of(task)
        return build_command(cmd_name, run, task.title, epilog(name), settings)


def _exists(task: str) -> bool:
    """Whether there is a task; other packages are asked only about names that are not ours."""
    return is_known(task)


def check_file(name: str) -> None:
    """Check the declaration of a task, if its name is the path of one; all findings are printed.

    Raises:
        BadParameter: if there is no such file.
        Exit: with status 2, if it has errors.
    """
    if not is_file(name):
        return
    from hlteval.cli.output import show_findings
    from hlteval.tasks.generic.declaration import WrongTask

    try:
        with usage():
            load(name)
    except WrongTask as error:
        show_findings(error.findings)
        raise typer.Exit(2) from error


def check_task(name: str) -> None:
    """Check that there is a task.

    Raises:
        BadParameter: for an unknown one.
        Exit: with status 2, if it is declared in a file that has errors.
    """
    check_file(name)
    if not _exists(name):
        raise unknown_task(name, task_names())


def unknown_task(name: str, names: Sequence[str]) -> typer.BadParameter:
    """The usage error for a name that is not one of the names of tasks."""
    from hlteval.converters import known
    from hlteval.findings.suggest import did_you_mean
    from hlteval.tasks import GENERIC, load

    reading = [task for task in GENERIC if name in known() and name in load(task).submitted]
    if reading:  # a format may be checked for several tasks
        return typer.BadParameter(f"{name} is a format; use a task: {', '.join(reading)}")
    hint = did_you_mean(name, names, f"use one of {', '.join(names)}")
    if Path(name).exists():
        hint = f"the task comes before the file, such as mentions; {hint}"
    return typer.BadParameter(f"unknown task {name}; {hint}")


def task_app(command: TaskCommand) -> typer.Typer:
    """Return the group of a command that tasks have: a command per task."""
    group = type("Tasks", (TaskGroup,), {"task_command": command})
    text = declarations()[command.name]["help"]
    return typer.Typer(cls=group, help=text, no_args_is_help=True)
