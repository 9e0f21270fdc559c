"""Hover: the page of `hlteval explain` for the findings at a position, as Markdown."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from hlteval.findings import Entry, Finding, entry
from hlteval.lsp.orders import EditorFinding
from hlteval.reports.display import visible
from hlteval.reports.explain import examples, paragraphs, prose, status

_FINDINGS = 3
"""Most findings that are explained at once."""
_SPECIAL = re.compile(r"([\\`*_{}\[\]<>()#+!|~$&])")


def hover(findings: Iterable[EditorFinding], docs: str = "", *, markdown: bool = True) -> str:
    """What is wrong at a position, why it matters and how to fix it; empty if nothing is.

    Args:
        findings: the findings there.
        docs: address of the documentation, for links to the pages of codes; empty for none.
        markdown: whether the editor shows Markdown; else it is plain text.

    Examples:
        >>> from hlteval.findings import finding
        >>> from hlteval.lsp.text import NOWHERE
        >>> found = finding("SRC202", file="a.tab")
        >>> print(hover([EditorFinding(found, NOWHERE)]).splitlines()[0])
        **SRC202**: Byte order mark
    """
    by_code: dict[str, list[Finding]] = {}
    for item in findings:
        by_code.setdefault(item.finding.code, []).append(item.finding)
    parts = [
        "\n\n".join(_explained(entry(code), findings, docs, markdown=markdown))
        for code, findings in list(by_code.items())[:_FINDINGS]
    ]
    return "\n\n---\n\n".join(parts)


def page(code: str, docs: str) -> str:
    """The address of the page of a code.

    Examples:
        >>> page("STD302", "https://example.org/hlteval/")
        'https://example.org/hlteval/codes/std302/'
    """
    return f"{docs.rstrip('/')}/codes/{code.lower()}/"


def _explained(
    declared: Entry, findings: Iterable[Finding], docs: str, *, markdown: bool
) -> Iterator[str]:
    """The paragraphs of one code."""
    bold = "**" if markdown else ""
    text = escape if markdown else visible
    yield f"{bold}{declared.code}{bold}: {text(declared.title)}"
    for found in dict.fromkeys((item.message, item.help) for item in findings):
        yield "\n\n".join(text(line) for line in found if line)
    yield text(status(declared))
    for label, written in prose(declared):
        first, *rest = paragraphs(written)
        yield "\n\n".join([f"{bold}{label}{bold}: {text(first)}", *map(text, rest)])
    for label, example in examples(declared):
        shown = "\n".join(map(visible, example.split("\n")))
        yield f"{bold}{label}{bold}\n\n{_block(shown) if markdown else shown}"
    if docs:
        address = page(declared.code, docs)
        yield f"[{address}]({address})" if markdown else address


def escape(text: str) -> str:
    r"""A text as Markdown that shows it as it is.

    Examples:
        >>> print(escape("unknown type <b>_x_"))
        unknown type \<b\>\_x\_
    """
    return _SPECIAL.sub(r"\\\1", visible(text))


def _block(text: str) -> str:
    """A block of text, fenced by more backticks than it has."""
    longest = max((len(run) for run in re.findall("`+", text)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}text\n{text}\n{fence}"
