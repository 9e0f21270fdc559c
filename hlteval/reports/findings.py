"""The output formats of a verdict: text for people, the others for programs.

Only `text` limits the number of findings; all other formats report every finding, in order.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType

import msgspec
from rich.console import RenderableType

from hlteval.extensions import lazy
from hlteval.findings import SUBMISSION, Finding, Item
from hlteval.reports.display import visible
from hlteval.reports.escapes import escaped, printable
from hlteval.reports.github import github
from hlteval.reports.text import MAX_FINDINGS, text
from hlteval.results.verdict import Verdict
from hlteval.results.versions import head

_BEGIN = re.compile(rb"^\{", re.M)
"""Where each line of JSON begins."""


def concise(verdict: Verdict) -> str:
    """One line per finding: `path:line:column: error[CODE] message`.

    Examples:
        >>> concise(Verdict("seedev-binary", "plan", passed=True))
        ''
    """
    return "".join(map(_concise, verdict.findings))


def _concise(finding: Finding) -> str:
    head = f"{visible(finding.file)}{finding.position}: " if finding.file else ""
    whose = "" if finding.side == SUBMISSION else f"{visible(finding.side)}: "
    return f"{head}{finding.severity}[{finding.code}] {whose}{visible(finding.message)}\n"


def json(verdict: Verdict, *, schema: str = "verdict", outcome: str = "", **more: object) -> str:
    """One object with task, profile, verdict, counts and findings, one finding per line.

    Args:
        verdict: the verdict.
        schema: name of the schema of the whole.
        outcome: replaces that of the verdict.
        **more: further members after the verdict, by name.

    Examples:
        >>> json(Verdict("seedev-binary", "plan", passed=True))[:66]
        '{"schema":"verdict","version":1,"task":"seedev-binary","profile":"'
    """
    first = msgspec.json.encode(
        head(schema)
        | {"task": verdict.task, "profile": verdict.profile, "verdict": outcome or verdict.outcome}
        | printable(msgspec.to_builtins(more))
        | {"side": verdict.side, "documents": verdict.documents, "records": verdict.records}
        | {key: printable(msgspec.to_builtins(value)) for key, value in verdict.more.items()}
        | {"counts": verdict.counts}
    )
    # Encoded findings contain no line break, so a comma before each one makes the lines an array.
    lines = _lines(verdict.findings)
    if lines:
        lines = b"\n" + lines.removesuffix(b"\n").replace(b"\n", b",\n") + b"\n"
    return escaped(first.removesuffix(b"}") + b',"findings":[' + lines + b"]}\n").decode()


def jsonl(verdict: Verdict) -> str:
    """One object per finding and line, which begins with its schema and version.

    Examples:
        >>> jsonl(Verdict("seedev-binary", "plan", passed=True))
        ''
    """
    begin = msgspec.json.encode(head("finding")).removesuffix(b"}") + b","
    return escaped(_BEGIN.sub(begin, _lines(verdict.findings))).decode()


def _lines(findings: Sequence[Finding]) -> bytes:
    items = list(map(Item.of, findings))
    encoder = msgspec.json.Encoder()
    try:
        return encoder.encode_lines(items)
    except UnicodeEncodeError:  # a lone surrogate, as in a file name that is not UTF-8
        return encoder.encode_lines(map(_without_surrogates, items))


def _without_surrogates(item: Item) -> Item:
    return msgspec.structs.replace(item, **printable(msgspec.structs.asdict(item)))


FORMATS: Mapping[str, Callable[[Verdict], str | RenderableType]] = MappingProxyType(
    {
        "text": text,
        "concise": concise,
        "json": json,
        "jsonl": jsonl,
        "sarif": lazy("hlteval.reports.sarif:sarif"),
        "github": github,
        "junit": lazy("hlteval.reports.junit:junit"),
    }
)
"""The output formats by name."""


def render(
    verdict: Verdict, form: str = "text", max_findings: int = MAX_FINDINGS
) -> str | RenderableType:
    """A verdict in one of the output formats.

    Args:
        verdict: the verdict.
        form: name of the format, a key of `FORMATS`.
        max_findings: maximum number of findings per file in `text`; 0 for all.

    Raises:
        KeyError: for an unknown format.
    """
    return text(verdict, max_findings) if form == "text" else FORMATS[form](verdict)
