"""Claims: a signature, with the numbers that came with it if there are any."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec

from hlteval.results.signature import FIRST, Signature, WrongSignature
from hlteval.sources import Unreadable, open_source

_LINE = re.compile(rf"{FIRST}:[^\r\n`]*\|[^\r\n`]*")
"""A signature inside a report: alone, after `%` in LaTeX, or in backticks in Markdown."""
MAIN = "scores.json"
"""The file of scores in an output folder of `hlteval score`."""


@dataclass(frozen=True)
class Claim:
    """A signature, and the numbers that are claimed for it.

    Attributes:
        signature: the signature.
        numbers: metrics by name, and limits of their intervals as `NAME (low)` and `NAME (high)`;
            None if only the signature is known.
        source: where it was read from; empty for a signature as such.
    """

    signature: Signature
    numbers: Mapping[str, float | None] | None = None
    source: str = ""

    def only(self, name: str) -> str | None:
        """The value of a part; None if there is no such part.

        Examples:
            >>> Claim(Signature.parse("hlteval:0.1.0|task:hub4")).only("task")
            'hub4'
        """
        return next(iter(self.signature.values(name)), None)


def read_claim(given: str) -> Claim:
    """The claim that a text is, or that a file contains.

    Args:
        given: a signature; or a file or folder with the output of `hlteval score`, in JSON or any
            other format that contains the signature; or `-` for such a file on standard input.

    Raises:
        WrongSignature: if there is no signature.
        FileNotFoundError: if there is no such file.

    Examples:
        >>> read_claim("hlteval:0.1.0|task:hub4").only("task")
        'hub4'
    """
    if given.strip().startswith(f"{FIRST}:"):
        return Claim(Signature.parse(given))
    text = _text(given)
    if text.lstrip().startswith("{"):
        return _of_json(given, text)
    if match := _LINE.search(text):
        return Claim(Signature.parse(match[0]), source=given)
    raise WrongSignature(f"{given} contains no signature, a line that begins with {FIRST}:")


def _text(given: str) -> str:
    try:
        path = f"{given}/{MAIN}" if given != "-" and Path(given).is_dir() else given
        (member,) = open_source(path).members
        return member.fetch().decode(errors="replace")
    except (OSError, ValueError, Unreadable) as error:  # a long name, a null character, a device
        message = f"{given[:80]} is neither a signature, which begins with {FIRST}:, nor a file"
        raise WrongSignature(message) from error


def _of_json(name: str, text: str) -> Claim:
    try:
        scores = msgspec.json.decode(text)
        signature = Signature.parse(scores["signature"])
        numbers = dict(_numbers(scores)) if "metrics" in scores else None
    except WrongSignature:
        raise
    except (LookupError, TypeError, ValueError, AttributeError, RecursionError) as error:
        raise WrongSignature(f"{name} is not the JSON of scores with their signature") from error
    return Claim(signature, numbers, name)


def _numbers(scores: Mapping[str, Any]) -> Iterator[tuple[str, float | None]]:
    yield from _floats(scores["metrics"].items())
    for name, limits in scores.get("intervals", {}).items():
        low, high = limits or (None, None)
        yield from _floats([(f"{name} (low)", low), (f"{name} (high)", high)])


def _floats(values: Any) -> Iterator[tuple[str, float | None]]:
    """The values as numbers: a count may be written as an integer."""
    yield from ((name, None if value is None else float(value)) for name, value in values)
