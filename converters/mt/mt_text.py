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

import re
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from pathlib import Path

import polars as pl

from hlteval.converters.declarations import declaration
from hlteval.converters.format import ReadResult
from hlteval.converters.mt import texts as mt_texts
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
    return _texts_with_lists(source) or tuple(texts)


def _texts_with_lists(source: Source) -> tuple[Member, ...]:
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
    return bool(_texts_with_lists(source))


def read(source: Source) -> Iterator[ReadResult]:
    """All texts as one batch."""
    collected = mt_texts.Collected(source, FORMAT.name)
    findings: list[Finding] = []
    lists: dict[str, mt_texts.SegmentList] = {}
    read_list = lru_cache(_ALIKE)(mt_texts.read_ids)  # many texts may have equal lists of their own
    files = {member.name or member.basename: member for member in source.members}
    for member in members(source):
        content = collected.files.open(member)
        name = member.name or member.basename
        if content is None:
            continue
        if name.endswith(LIST):
            lists[name] = read_list(content)
            findings += lists[name].table.findings(member)
        elif (beside := _list_of(name, files)) in lists:
            stem = member.basename.removesuffix(TEXT)
            role, dot, own = stem.partition(".")
            named = (role, own if dot else None)
            column = named if role in mt_texts.ROLES else (mt_texts.SYSTEM, stem)
            findings += mt_texts.add_lines(collected, content, lists[beside], beside, [column])
    if source.members and not any(name.endswith(LIST) for name in files):
        findings.append(finding("MTF403", file=source.path))
    yield collected.result(findings)


def write(corpora: Iterable[Corpus], path: Path) -> None:
    """A folder with a text for each set, and a list of segments; others where they differ."""
    path.mkdir(parents=True, exist_ok=True)
    corpus = mt_texts.with_sources(Corpus.concat(corpora))
    all_keys = mt_texts.keys(corpus)
    (path / COMMON).write_text(mt_texts.ids(corpus, all_keys), "utf-8", newline="")
    for role, name, texts in mt_texts.sets(corpus):
        if name is None or re.search(_NAME, name):
            stem = role if name is None else f"{role}.{name}"
            own = [key for key in all_keys if key in texts]
            if len(own) < len(all_keys):
                (path / f"{stem}{LIST}").write_text(mt_texts.ids(corpus, own), "utf-8", newline="")
            lines = (re.sub(_BREAK, " ", texts[key]) + "\n" for key in own)
            (path / f"{stem}{TEXT}").write_text("".join(lines), "utf-8", newline="")


def count_losses(corpus: Corpus) -> Mapping[str, int]:
    """The counts of rows that the texts cannot represent."""
    nameless = corpus.translations.filter(~pl.col("set").str.contains(_NAME).fill_null(value=True))
    kept = corpus.translations.join(nameless, on="row", how="anti")
    return {
        "texts of sets whose name is not part of a valid file name": nameless.height,
        **mt_texts.lost(corpus.replace(translations=kept), pl.col("text").str.contains(_BREAK)),
    }


FORMAT = declaration(__name__)
