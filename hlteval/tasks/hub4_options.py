"""What the options of HUB-4 name in files: texts, global maps and lexicons."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import partial

from hlteval.converters import load
from hlteval.converters.hub4.global_map import read_map
from hlteval.findings import Finding
from hlteval.representation.global_map import GlobalMap, Rule
from hlteval.scoring.hub4.phones import Lexicon
from hlteval.scoring.hub4.text_columns import Text
from hlteval.sources import open_source
from hlteval.tasks.option_readers import texts
from hlteval.tasks.task import WrongOption

_SETTINGS = ("document_tag", "id_tag", "line_ends")
"""The options that are settings of both corpora."""


def reference_texts(path: str, given: Mapping[str, str]) -> Callable[[], dict[str, Text]]:
    """Reads the texts of the reference by document, where they are needed.

    Args:
        path: a corpus in SGML.
        given: the options, and the `encoding` of their files.
    """
    return partial(_texts, path, given)


def system_texts(path: str, given: Mapping[str, str]) -> Callable[[], dict[str, Text]]:
    """Reads the texts of the system; unsegmented, as one text under the empty name."""
    return partial(_texts, path, given, whole="unsegmented" in given)


def _texts(path: str, given: Mapping[str, str], *, whole: bool = False) -> dict[str, Text]:
    settings = {name.replace("_", "-"): given[name] for name in _SETTINGS if name in given}
    if whole:
        settings["unsegmented"] = "yes"
    corpus = open_source(path, encoding=given["encoding"])
    found = {}
    for batch in load("sgml-corpus").with_settings(settings).read(corpus):
        for finding in batch.findings:
            _raise_error(path, finding)
        documents = batch.corpus.documents.select("name", "text", "start")
        for document, text, start in documents.iter_rows():
            found["" if whole else document] = Text(text or "", start or 0)
    return found


def global_maps(path: str, _: Mapping[str, str]) -> tuple[GlobalMap, GlobalMap]:
    """The global maps of a file for the reference and for the system.

    Raises:
        WrongOption: for the first error in the file.
    """
    return _global_map(path, "ref"), _global_map(path, "hyp")


def _global_map(path: str, side: str) -> GlobalMap:
    rules: list[Rule] = []
    found = GlobalMap(())
    for member in open_source(path).members:
        found, findings = read_map(member, side)
        for finding in findings:
            _raise_error(path, finding)
        rules += found.rules
    return GlobalMap(tuple(rules), found.case_sensitive)


def _raise_error(path: str, finding: Finding) -> None:
    if finding.severity == "error":
        where = f":{finding.span.line}" if finding.span else ""
        raise WrongOption(f"{path}{where}: {finding.message} ({finding.code})")


def lexicon(path: str, _: Mapping[str, str]) -> Lexicon:
    """A lexicon of phones: per line a word and its phones, separated by spaces.

    Lines that begin with `;;;` or `#` are comments; `word(2)` is another pronunciation of `word`.

    Raises:
        WrongOption: for a line without phones, with its number, or an unreadable file.
    """
    return Lexicon.of(_entries(path))


def _entries(path: str) -> Iterator[tuple[str, list[str]]]:
    for number, line in enumerate("\n".join(texts(path)).split("\n"), start=1):
        if line.startswith((";;;", "#")) or not line.strip():
            continue
        word, *phones = line.split()
        if not phones:
            raise WrongOption(f"{path}:{number}: malformed line, expected a word and its phones")
        name, bracket, rest = word.rpartition("(")
        yield (name if bracket and rest[:-1].isdigit() else word), phones
