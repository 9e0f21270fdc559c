"""Arguments: held to the signature of the function that has them, before anything is done.

A parameter is declared by its annotation: a plain type, a `Literal`, or `Annotated` with the checks
of its values. Inputs are checked where they are opened, by `sources.inputs.as_path`.
"""

from __future__ import annotations

import inspect
import numbers
import operator
import reprlib
import types
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import wraps
from typing import (
    Annotated,
    Any,
    Literal,
    ParamSpec,
    TypeAlias,
    TypeVar,
    Union,
    get_args,
    get_origin,
    get_type_hints,
)

from hlteval import converters, tasks
from hlteval.findings.suggest import did_you_mean
from hlteval.representation import Corpus
from hlteval.sources.decoding import check_encoding
from hlteval.sources.inputs import WrongArgument

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
            raise WrongArgument(f"{argument}: unknown {self.what} {shown(value)}; {hint}")


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


def _has_metric(argument: str, value: str) -> None:
    if tasks.load(value).metric is None:
        raise WrongArgument(f"{argument}: {value} cannot be scored: it supports validation only")


def _is_encoding(argument: str, value: str) -> None:
    try:
        check_encoding(value)
    except LookupError as error:
        from encodings.aliases import aliases

        hint = did_you_mean(value, sorted({*aliases.values()}), "use a name such as latin-1")
        reason = str(error).replace(value, shown(value))
        raise WrongArgument(f"{argument}: {reason}; {hint}") from error


AnyTask: TypeAlias = Annotated[str, Known("task", tasks.known)]
"""The name of a task, as `hlteval tasks` lists them."""
ScoredTask: TypeAlias = Annotated[str, Known("task", tasks.known), _has_metric]
"""The name of a task that can be scored."""
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


_NAMES: Mapping[str, Any] = types.MappingProxyType({"Corpus": Corpus})
"""Names in annotations such as `Input` that the module of a function need not import."""


def checked(function: Callable[P, R]) -> Callable[P, R]:
    """A function whose arguments are held to its signature when it is called.

    Raises:
        TypeError: for an argument of another type, a missing or an unknown one.
        WrongArgument: for a value that the argument cannot have.

    Examples:
        >>> @checked
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
            if signature.parameters[name].kind is not inspect.Parameter.VAR_KEYWORD:
                bound.arguments[name] = checked_value(name, hints[name], value)
        if bound.arguments.get("defaults") is None or not of_one_task:
            return function(*bound.args, **bound.kwargs)
        return _with_config(function, bound)

    return call


def _with_config(function: Callable[..., R], bound: inspect.BoundArguments) -> R:
    """What a function returns with the defaults of its argument `defaults`."""
    from hlteval.api.configs import Configured

    configured = Configured.of(bound, function.__name__)
    bound.arguments |= {**configured.added, "defaults": configured.defaults}
    result: R = configured.named(function(*bound.args, **bound.kwargs))
    return result


def checked_value(argument: str, hint: Any, value: object) -> object:
    """A value as its annotation has it; integers and numbers of other libraries become ours.

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
        return _choice(argument, parts, value)
    if origin in (Union, types.UnionType) and type(None) in parts:
        return None if value is None else checked_value(argument, _without_none(parts), value)
    if (named := _SIMPLE.get(origin or hint)) is None:
        return value  # an input: `as_path` checks it
    expected, convert = named
    try:
        return convert(value)
    except TypeError:
        kind = type(value).__name__
        message = f"{argument}: expected {expected}, got {shown(value)} ({kind})"
        raise TypeError(message) from None


def _without_none(parts: tuple[Any, ...]) -> Any:
    rest = tuple(part for part in parts if part is not type(None))
    return Union[rest]  # noqa: UP007 - made of what is known at run time


def _choice(argument: str, choices: tuple[str, ...], value: object) -> object:
    if not isinstance(value, str):
        raise TypeError(f"{argument}: expected text, got {shown(value)} ({type(value).__name__})")
    if value not in choices:
        hint = did_you_mean(value, choices, f"use {' or '.join(choices)}")
        raise WrongArgument(f"{argument}: unknown {argument} {shown(value)}; {hint}")
    return value


def _instance(kind: type) -> Callable[[Any], Any]:
    def same(value: Any) -> Any:
        if not isinstance(value, kind):
            raise TypeError
        return value

    return same


def _integer(value: Any) -> int:
    if isinstance(value, bool):
        raise TypeError
    return operator.index(value)


def _number(value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, numbers.Real):
        raise TypeError
    return float(value)


_SIMPLE: Mapping[Any, tuple[str, Callable[[Any], Any]]] = types.MappingProxyType(
    {
        str: ("text", _instance(str)),
        bool: ("True or False", _instance(bool)),
        int: ("an integer", _integer),
        float: ("a number", _number),
        Mapping: ("a mapping of names to values", _instance(Mapping)),
    }
)
"""What each plain type is in words, and the function that converts to it or raises TypeError."""


def shown(value: object) -> str:
    """A value for a message, in one line of moderate length."""
    return value if isinstance(value, str) and value.isprintable() else reprlib.repr(value)
