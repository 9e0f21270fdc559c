"""What the options of HUB-4 name in files: texts, global maps, lexicons and allowed slots."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace

from hlteval.converters import load
from hlteval.converters.corpus.memory import in_memory, loaded
from hlteval.converters.hub4.global_map import read_map
from hlteval.findings import Finding, Problem
from hlteval.representation import Corpus
from hlteval.representation.global_map import GlobalMap, Rule
from hlteval.scoring.hub4.phones import Lexicon
from hlteval.scoring.hub4.text_columns import Text
from hlteval.sources import Source
from hlteval.tasks.runtime.options import FileValue, TextFile, files, read_names

_SETTINGS = ("document_tag", "id_tag", "line_ends")
"""The options that are settings of both corpora."""
_NAME = re.compile(r"""[^\s<>.,:;"']+(?:\.[A-Za-z0-9_-]+)?""")
"""A TYPE or TYPE.SLOT."""
_MOST_NAMES = 3
"""Most names in one line for which a hint repeats them."""


def reference_texts(source: Source, given: Mapping[str, str]) -> FileValue:
    """A function that returns the texts of the reference by document.

    Args:
        source: a corpus in SGML.
        given: the options.
    """
    return _texts(source, given)


def system_texts(source: Source, given: Mapping[str, str]) -> FileValue:
    """The same of the system; unsegmented, as one text under the empty name."""
    return _texts(source, given, whole="unsegmented" in given)


def _texts(source: Source, given: Mapping[str, str], *, whole: bool = False) -> FileValue:
    settings = {name.replace("_", "-"): given[name] for name in _SETTINGS if name in given}
    if whole:
        settings["unsegmented"] = "yes"
    found: dict[str, Text] = {}
    findings: list[Finding] = []
    corpora: list[Corpus] = []
    source = loaded(source)
    form = in_memory(source) or load("sgml-corpus").with_settings(settings)
    for batch in form.read(source):
        findings += batch.findings
        corpora.append(batch.corpus)
        documents = batch.corpus.documents.select("name", "text", "start")
        for document, text, start in documents.iter_rows():
            found["" if whole else document] = Text(text or "", start or 0)
    return FileValue(lambda: found, findings, Corpus.concat(corpora))


def global_maps(source: Source, _: Mapping[str, str]) -> FileValue:
    """The global maps of a file for the reference and for the system."""
    sides = [_global_map(source, side) for side in ("ref", "hyp")]
    findings = dict.fromkeys(finding for _, found in sides for finding in found)
    return FileValue(tuple(rules for rules, _ in sides), list(findings))


def _global_map(source: Source, side: str) -> tuple[GlobalMap, list[Finding]]:
    rules: list[Rule] = []
    findings: list[Finding] = []
    found = GlobalMap(())
    for member in source.members:
        found, more = read_map(member, side)
        findings += more
        rules += found.rules
    return replace(found, rules=tuple(rules)), findings


def lexicon(source: Source, _: Mapping[str, str]) -> FileValue:
    """A lexicon of phones: per line a word and its phones, separated by spaces.

    Lines that begin with `;;;` or `#` are comments; `word(2)` is another pronunciation of `word`.
    """
    entries: list[tuple[str, list[str]]] = []
    findings: list[Finding] = []
    for file in files(source):
        found = list(_entries(file))
        findings += file.findings
        findings += [
            problem.in_line(file.member.display, line) for problem, line, _ in found if problem
        ]
        entries += [entry for _, _, entry in found if entry]
    return FileValue(Lexicon.of(entries), findings)


def _entries(file: TextFile) -> Iterator[tuple[Problem | None, str, tuple[str, list[str]] | None]]:
    """For each line its problem or its entry, with the line."""
    for number, line in enumerate(file.text.split("\n"), start=1):
        if line.startswith((";;;", "#")) or not line.strip():
            continue
        word, *phones = line.split()
        if not phones:
            yield Problem("OPT108", number, 0, len(line.rstrip("\r"))), line.rstrip("\r"), None
            continue
        name, bracket, rest = word.rpartition("(")
        yield None, line, (name if bracket and rest[:-1].isdigit() else word, phones)


def allowed_slots(source: Source, _: Mapping[str, str]) -> FileValue:
    """The types and slots of a file, in its order.

    Args:
        source: a file with one `TYPE` or `TYPE.SLOT` per line; from a `#` on, a line is a comment.
    """
    return read_names(
        source,
        lambda line: line.partition("#")[0],
        _line_hint,
        accepts=lambda name: _NAME.fullmatch(name) is not None,
        code="OPT111",
        title="types and slots, one per line",
    )


def _line_hint(line: str) -> str:
    """The names that a line may mean, or how to write them."""
    names = [name for name in re.split(r"[\s<>,:;\"']+", line) if name]
    if names and len(names) <= _MOST_NAMES and all(map(_NAME.fullmatch, names)):
        return f"write {' and '.join(names)}" + ", each on its own line" * (len(names) > 1)
    return "write TYPE or TYPE.SLOT, such as BREAD.KIND"
