r"""Translations as plain text: a line per segment, beside a list of the segments.

Format:
    A folder. `segments.ids` has a segment per line: document and segment, separated by a tab. A
    text has a line for each: `source.txt`, `reference.txt` or `system.txt`, or with the name of a
    set `system.run-7.txt`; any other `run-7.txt` is that of the system `run-7`. A text with another
    list of segments has it beside it, `system.run-7.ids`.

Conventions:
    Only line feeds end a line. `\t`, `\n`, `\r` and `\\` in the list encode a tab, line breaks and
    a backslash. A record is a line of a text.

Example lines:
    EPO_NW_1	segment-0
    EPO_NW_1	segment-1

Codes raised: MTF4xx.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from pathlib import Path

import polars as pl

from hlteval.converters.declarations import declaration
from hlteval.converters.format import ReadResult
from hlteval.converters.mt.texts import (
    ROLES,
    SYSTEM,
    Collected,
    SegmentList,
    Set,
    Text,
    ids,
    keys,
    lines_of,
    lost,
    read_ids,
    sets,
    with_sources,
    wrong_length,
)
from hlteval.findings import Finding, finding
from hlteval.representation import Corpus
from hlteval.sources import Member, Source

TEXT, LIST = ".txt", ".ids"
COMMON = f"segments{LIST}"
#: What can be part of the name of a file anywhere.
_NAME = r"^[^\x00-\x1f/\\:*?\"<>|]{1,100}$"
_BREAK = r"[\r\n]"
#: Different lists of segments that are not read again where they are repeated.
_ALIKE = 100


def members(source: Source) -> tuple[Member, ...]:
    """The files that are read; without any list all texts, which have a finding then."""
    texts = (member for member in source.members if member.basename.endswith(TEXT))
    return _listed(source) or tuple(texts)


def _listed(source: Source) -> tuple[Member, ...]:
    """The texts that have a list, each after its list."""
    files = {member.name or member.basename: member for member in source.members}
    found: dict[str, Member] = {}
    for name, member in files.items():
        if name.endswith(TEXT) and (beside := _list_of(name, files)):
            found[beside] = files[beside]
            found[name] = member
    return tuple(found.values())


def _list_of(text: str, files: Mapping[str, Member]) -> str:
    """The name of the list of a text: its own, or that of its folder; empty if there is none."""
    folder, slash, _ = text.rpartition("/")
    own, common = f"{text.removesuffix(TEXT)}{LIST}", f"{folder}{slash}{COMMON}"
    return next((name for name in (own, common) if name in files), "")


def sniff(source: Source) -> bool:
    """Whether there is a text with a list of segments."""
    return bool(_listed(source))


def read(source: Source) -> Iterator[ReadResult]:
    """All texts as one batch."""
    collected = Collected(source, FORMAT.name)
    findings: list[Finding] = []
    lists: dict[str, SegmentList] = {}
    read_list = lru_cache(_ALIKE)(read_ids)  # many texts may have equal lists of their own
    files = {member.name or member.basename: member for member in source.members}
    for member in members(source):
        content = collected.open(member)
        name = member.name or member.basename
        if content is None:
            continue
        if name.endswith(LIST):
            lists[name] = read_list(content)
            findings += lists[name].table.findings(member)
        elif (beside := _list_of(name, files)) in lists:
            findings += _add(collected, member, content, lists[beside], beside)
    if source.members and not any(name.endswith(LIST) for name in files):
        findings.append(finding("MTF403", file=source.path))
    yield collected.result(findings)


def _add(
    collected: Collected, member: Member, content: str, listed: SegmentList, beside: str
) -> list[Finding]:
    """Add the lines of a text; a line whose segment cannot be read is passed over."""
    role, name = _set_of(member.basename)
    lines = lines_of(content)
    for record, document, segment in listed.rows.iter_rows():
        if record <= len(lines):
            row = collected.document(document)
            collected.add(row, record, Text(segment, role, lines[record - 1], name))
    return wrong_length(content, listed.text, member.display, beside)


def _set_of(file: str) -> tuple[str, str | None]:
    """The role of a text and the name of its set, by the name of its file.

    Examples:
        >>> _set_of("source.txt"), _set_of("reference.a.b.txt"), _set_of("run-7.txt")
        (('source', None), ('reference', 'a.b'), ('system', 'run-7'))
    """
    role, dot, name = file.removesuffix(TEXT).partition(".")
    if role in ROLES:
        return role, name if dot else None
    return SYSTEM, file.removesuffix(TEXT)


def write(corpora: Iterable[Corpus], path: Path) -> None:
    """A folder with a text for each set, and a list of segments; others where they differ."""
    path.mkdir(parents=True, exist_ok=True)
    corpus = with_sources(Corpus.concat(corpora))
    listed = keys(corpus)
    (path / COMMON).write_text(ids(corpus, listed), "utf-8", newline="")
    for each in sets(corpus):
        if each.name is None or re.search(_NAME, each.name):
            _write(corpus, each, listed, path)


def _write(corpus: Corpus, each: Set, listed: Sequence[tuple[int, str]], path: Path) -> None:
    stem = each.role if each.name is None else f"{each.role}.{each.name}"
    own = [key for key in listed if key in each.texts]
    if len(own) < len(listed):
        (path / f"{stem}{LIST}").write_text(ids(corpus, own), "utf-8", newline="")
    texts = (re.sub(_BREAK, " ", each.texts[key]) for key in own)
    content = "".join(f"{text}\n" for text in texts)
    (path / f"{stem}{TEXT}").write_text(content, "utf-8", newline="")


def count_losses(corpus: Corpus) -> Mapping[str, int]:
    """The counts of what the texts cannot represent."""
    nameless = corpus.translations.filter(~pl.col("set").str.contains(_NAME).fill_null(value=True))
    kept = corpus.translations.join(nameless, on="row", how="anti")
    return {
        "texts of sets whose name is not part of a valid file name": nameless.height,
        **lost(corpus.replace(translations=kept), pl.col("text").str.contains(_BREAK)),
    }


FORMAT = declaration(__name__)
