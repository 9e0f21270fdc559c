"""Commands and their process: options, exit codes in the help, standard streams and signals."""

import errno
import io
import os
import signal
import sys
import tomllib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from importlib import resources
from types import FrameType, MappingProxyType
from typing import Any, ClassVar, NoReturn

from typer import BadParameter
from typer.core import TyperCommand, TyperGroup


@cache
def declarations() -> Mapping[str, Any]:
    """Return the declarations of commands and options, as `commands.toml` has them."""
    text = resources.files("hlteval.cli").joinpath("commands.toml").read_text("utf-8")
    return MappingProxyType(tomllib.loads(text))


def exit_codes(command: str) -> Mapping[int, str]:
    """The exit codes of a command with their meanings, in order.

    Args:
        command: its name, without `hlteval`; `validate` for all of `validate TASK`.

    Examples:
        >>> exit_codes("verify")[1]
        'At least one part of the signature differs.'
    """
    tables = declarations()
    own = tables.get(command, tables["hlteval"])["exits"]
    return {**dict(enumerate(own)), **dict(enumerate(tables["hlteval"]["always"], 2))}


def epilog(command: str) -> str:
    """The exit codes of a command as its epilog, one per line.

    Examples:
        >>> epilog("tasks").splitlines()[0]
        '0 The list was printed, or the declaration has no errors.'
    """
    return "\n".join(f"{code} {meaning}" for code, meaning in exit_codes(command).items())


class _WithExitCodes:
    """A command whose epilog is the list of its exit codes."""

    epilog: str | None

    def format_epilog(self, ctx: Any, formatter: Any) -> None:  # noqa: ARG002
        """Write the exit codes as a section of the help."""
        if self.epilog:
            lines = self.epilog.splitlines()
            with formatter.section("Exit codes"):
                formatter.write_dl([tuple(line.split(" ", 1)) for line in lines])


class HelpfulCommand(_WithExitCodes, TyperCommand):
    """A command whose help lists its exit codes; an error about what is missing shows its use.

    An option that takes one value is given once: of several values all but the last would be lost.
    """

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Parse the words of the command.

        Raises:
            BadParameter: for a wrong word, an empty value, an option that is repeated though it
                takes one value, and for what is missing, with all that is required.
        """
        try:
            if args and not ctx.resilient_parsing:
                order: list[Any] = self.make_parser(ctx).parse_args([*args])[2]
                for each, times in Counter(order).items():
                    one = not (_is_argument(each) or each.multiple or each.is_flag or each.count)
                    if times > 1 and one:
                        reason = f"given {times} times, but it takes one value"
                        raise BadParameter(reason, ctx=ctx, param=each)
            rest = super().parse_args(ctx, args)
        except BadParameter as error:
            error.message = (
                error.message or f"Use: {ctx.command_path} {_usage_of_required(self.params)}"
            )
            raise
        for parameter in self.params:  # an empty path, as of an unset variable, would be `/`
            value, source = ctx.params.get(parameter.name), ctx.get_parameter_source(parameter.name)
            values = value if isinstance(value, list | tuple) else [value]
            if any(each == "" for each in values) and source and source.name != "DEFAULT":
                name = parameter.metavar if _is_argument(parameter) else parameter.opts[-1]
                raise BadParameter(f"{name} is empty; leave it out or give it a value")
        return rest


def _usage_of_required(parameters: Iterable[Any]) -> str:
    """Return the options and arguments that a command cannot do without, as in its usage."""
    needed = sorted((each for each in parameters if each.required), key=_is_argument)
    words = ([] if _is_argument(each) else [each.opts[0], each.metavar] for each in needed)
    arguments = [
        each.metavar if each.nargs == 1 or each.metavar.endswith("...") else f"{each.metavar}..."
        for each in needed
        if _is_argument(each)
    ]
    return " ".join([*(word for some in words for word in some), *arguments])


def _is_argument(parameter: Any) -> bool:
    return str(parameter.param_type_name) == "argument"


class HelpfulGroup(_WithExitCodes, TyperGroup):
    """A group of commands whose help lists its exit codes."""


@contextmanager
def usage() -> Iterator[None]:
    """Report errors in the arguments of the command line as usage errors, exit code 2."""
    try:
        yield
    except FileNotFoundError as error:
        reason = f"no such file or folder: {error.filename}" if error.filename else str(error)
        raise BadParameter(reason) from error
    except (FileExistsError, NotADirectoryError, IsADirectoryError, PermissionError) as error:
        raise BadParameter(str(error)) from error
    except Exception as error:
        if isinstance(error, _usage_errors()):
            raise BadParameter(str(error)) from error
        raise


def _usage_errors() -> tuple[type[Exception], ...]:
    """The errors in arguments; a run without any imports none of the modules that have them."""
    from hlteval.converters import WrongSetting
    from hlteval.serve.settings import CannotServe
    from hlteval.tasks.task import WrongOption
    from hlteval.tasks.toml_file import NotToml
    from hlteval.workflows.convert.conversion import WrongOutput
    from hlteval.workflows.convert.inputs import UnknownFormat
    from hlteval.workflows.evaluation.pipeline import CannotWatch, InUse
    from hlteval.workflows.evaluation.pipeline_state import NoReference
    from hlteval.workflows.run.batches import NothingGiven
    from hlteval.workflows.run.request import UnknownCode

    usual = (NothingGiven, UnknownCode, UnknownFormat, WrongOption, WrongOutput, WrongSetting)
    return (*usual, CannotServe, CannotWatch, InUse, NoReference, NotToml)


#: How the null device is opened in place of each closed stream, so that its use fails.
_CLOSED = ((0, os.O_WRONLY), (1, os.O_RDONLY), (2, os.O_RDONLY))


class OutputLost(Exception):
    """Standard output cannot be written; the message is the reason."""


class _Stream(io.FileIO):
    """A standard stream: the rest is dropped where its reader has had enough, as `head` has.

    What cannot be written to standard error is dropped, since nothing could report it.
    """

    def write(self, data: Any, /) -> int:
        try:
            return super().write(data) or 0
        except OSError as error:
            if self.fileno() == 1 and not isinstance(error, BrokenPipeError):
                closed = error.errno == errno.EBADF
                raise OutputLost("it is closed" if closed else str(error.strerror)) from error
            drop(self.fileno())
            return len(data)


def prepare() -> None:
    """Replace the standard streams of this process, unless a program has replaced them.

    The descriptor of a closed stream is occupied: the next file that is opened would get it, and
    whatever is printed would be written to that file.
    """
    for descriptor, mode in _CLOSED:
        try:
            os.fstat(descriptor)
        except OSError:
            opened = os.open(os.devnull, mode)
            if opened != descriptor:
                os.dup2(opened, descriptor)
                os.close(opened)
    if sys.stdin is None:
        sys.stdin = io.TextIOWrapper(io.BufferedReader(io.FileIO(0, closefd=False)))
    if os.name != "posix":
        for stream in (sys.stdout, sys.stderr):
            write_as_everywhere(stream)
        return
    if sys.stdout is sys.__stdout__:
        sys.stdout = _replacement(_Stream(1, "w", closefd=False), sys.stdout, "strict")
    if sys.stderr is sys.__stderr__:
        sys.stderr = _replacement(_Stream(2, "w", closefd=False), sys.stderr, "backslashreplace")


def write_as_everywhere(stream: Any) -> None:
    """Let a stream of Windows that is not a console write the bytes that other systems write.

    Otherwise a pipe or file gets the encoding of the system, which lacks most letters, and a
    carriage return at the end of each line. Streams that a program has put in place stay.
    """
    if isinstance(stream, io.TextIOWrapper) and not stream.isatty():
        stream.reconfigure(encoding="utf-8", newline="\n")


def _replacement(raw: io.FileIO, old: Any, errors: str) -> io.TextIOWrapper:
    """A stream like an old one, which may be absent, over other writing of bytes."""
    buffered = io.BufferedWriter(raw)
    return io.TextIOWrapper(
        buffered,
        encoding=getattr(old, "encoding", None),
        errors=getattr(old, "errors", None) or errors,
        line_buffering=raw.isatty() or errors == "backslashreplace",
    )


def finish() -> None:
    """Write what is still in memory, where an error can be reported.

    Raises:
        OutputLost: if it cannot be written.
    """
    sys.stdout.flush()
    sys.stderr.flush()


def drop(descriptor: int) -> None:
    """Let everything that is still written to a descriptor vanish."""
    null = os.open(os.devnull, os.O_WRONLY)
    os.dup2(null, descriptor)
    os.close(null)


_NAMES = ("SIGINT", "SIGTERM", "SIGHUP")
#: Those that are imported by compiled code.
_LIBRARIES = {"polars", "numpy"}
#: Seconds after which an exception that was dropped, or had to wait, is raised again.
_SOON = 0.01


class Interrupted(BaseException):
    """The process was interrupted by a signal.

    Attributes:
        received: the signal that interrupted this process; 0 if there was none.
    """

    received: ClassVar[int] = 0

    def __init__(self, number: int) -> None:
        super().__init__(signal.Signals(number).name)
        self.number = number


def handle_signals() -> None:
    """Let signals raise `Interrupted`, but those that the caller ignores."""
    for number in _numbers():
        if signal.getsignal(number) in {signal.SIG_DFL, signal.default_int_handler}:
            signal.signal(number, _interrupt)
    sys.unraisablehook = _raise_again


def check() -> None:
    """Raise `Interrupted` in place of an error that a library made of it.

    Raises:
        Interrupted: if there was a signal.
    """
    if Interrupted.received:
        raise Interrupted(Interrupted.received)


def _numbers() -> list[int]:
    return [getattr(signal, name) for name in _NAMES if hasattr(signal, name)]


def _interrupt(number: int, frame: FrameType | None) -> None:
    if _is_starting(frame) and sys.platform != "win32":
        _again(number)
        return
    for other in _numbers():  # a second one would interrupt the removal of what is unfinished
        signal.signal(other, signal.SIG_IGN)
    Interrupted.received = number
    raise Interrupted(number)


def _is_starting(frame: FrameType | None) -> bool:
    """Whether a module of Polars or NumPy is being looked for or run."""
    while frame is not None:
        name = ""
        if frame.f_code.co_name == "_find_and_load":
            name = frame.f_locals.get("name") or ""
        elif frame.f_code.co_name == "<module>":
            name = frame.f_globals.get("__name__") or ""
        if name.partition(".")[0] in _LIBRARIES:
            return True
        frame = frame.f_back
    return False


def _raise_again(dropped: Any) -> None:
    if not isinstance(dropped.exc_value, Interrupted | KeyboardInterrupt):
        sys.__unraisablehook__(dropped)
    elif sys.platform != "win32":
        _again(getattr(dropped.exc_value, "number", signal.SIGINT))


def _again(number: int) -> None:
    """Interrupt a moment later, where the system has timers."""
    if sys.platform == "win32":
        return
    signal.signal(signal.SIGALRM, lambda _, frame: _interrupt(number, frame))
    signal.setitimer(signal.ITIMER_REAL, _SOON)


def end(number: int) -> NoReturn:
    """End the process as the signal does, so that its caller sees it."""
    if os.name == "posix":
        signal.signal(number, signal.SIG_DFL)
        os.kill(os.getpid(), number)
    os._exit(128 + number)
