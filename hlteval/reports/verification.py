"""The output formats of a verification."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any

import msgspec
from rich.console import Group, RenderableType
from rich.text import Text

from hlteval.findings.counts import counted
from hlteval.reports.display import visible
from hlteval.reports.escapes import escaped, printable
from hlteval.results.verification import Outcome, Part, Verification
from hlteval.results.versions import head

_STYLES: Mapping[Outcome, str] = MappingProxyType(
    {"same": "green", "differs": "bold red", "not checked": "yellow"}
)


def text(verification: Verification) -> RenderableType:
    """A line per part, a line per number that differs, and a summary."""
    numbers = [part for part in verification.numbers if part.outcome != "same"]
    parts = [*verification.parts, *numbers]
    width = max(len(visible(part.name)) for part in parts)
    return Group(*(_line(part, width) for part in parts), _summary(verification))


def _line(part: Part, width: int) -> Text:
    outcome, name = part.outcome.ljust(len("not checked")), visible(part.name).ljust(width)
    line = Text(outcome, style=_STYLES[part.outcome])
    return line.append(f"  {name}  {', '.join(_details(part))}".rstrip(), style="not bold default")


def _details(part: Part) -> Iterator[str]:
    if part.outcome == "differs" and part.expected != part.found:
        yield f"expected {_value(part.expected)}"
        yield f"found {_value(part.found)}"
    elif part.expected is not None:
        yield _value(part.expected)
    if part.reason:
        yield part.reason


def _value(value: str | None) -> str:
    return "nothing" if value is None else visible(value)


def _summary(verification: Verification) -> Text:
    names = dict.fromkeys(visible(part.name) for part in verification.differing)
    if names:
        return Text(f"differs: {', '.join(names)}", style="bold red")
    parts, numbers = map(_same, (verification.parts, verification.numbers))
    unchecked = sum(part.outcome == "not checked" for part in verification.parts)
    also = f" and {counted(numbers, 'number')}" if numbers else ""
    rest = f", {unchecked} not checked" if unchecked else ""
    return Text(f"same: {counted(parts, 'part')}{also}{rest}", style="bold green")


def _same(parts: Sequence[Part]) -> int:
    return sum(part.outcome == "same" for part in parts)


def json(verification: Verification) -> str:
    """The verification as one JSON object; values are null where there are none."""
    built: dict[str, Any] = head("verification")
    built |= {"verdict": "same" if verification.agrees else "differs"}
    built |= {"differing": [part.name for part in verification.differing]}
    built |= msgspec.structs.asdict(verification)
    return escaped(msgspec.json.encode(printable(msgspec.to_builtins(built)))).decode() + "\n"


FORMATS: Mapping[str, Callable[[Verification], str | RenderableType]] = MappingProxyType(
    {"text": text, "json": json}
)
"""The output formats by name."""
