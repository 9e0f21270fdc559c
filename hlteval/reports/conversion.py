"""The output formats of a conversion."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType

import msgspec
from rich.console import RenderableType

from hlteval.reports.escapes import escaped, printable
from hlteval.reports.findings import render
from hlteval.results.conversion import Conversion


def text(conversion: Conversion) -> str | RenderableType:
    """The findings; nothing if there are none."""
    return render(conversion.verdict) if conversion.findings else ""


def json(conversion: Conversion) -> str:
    """The conversion as one JSON object."""
    return escaped(msgspec.json.encode(printable(conversion.to_dict()))).decode() + "\n"


FORMATS: Mapping[str, Callable[[Conversion], str | RenderableType]] = MappingProxyType(
    {"text": text, "json": json}
)
"""The output formats by name."""
