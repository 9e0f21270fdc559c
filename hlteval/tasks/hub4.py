"""What the options of HUB-4 name in files: texts, global maps, lexicons and allowed slots."""

import re
from collections.abc import Mapping
from dataclasses import replace

from hlteval.converters import load
from hlteval.converters.corpus.memory import in_memory, load_corpus
from hlteval.converters.hub4.global_map import read_map
from hlteval.findings import Finding, Problem
from hlteval.representation.global_map import GlobalMap, Rule
from hlteval.scoring.hub4.text_columns import Text
from hlteval.scoring.hub4.word_alignment import Lexicon
from hlteval.sources import Source
from hlteval.tasks.option_files import FileValue, files, read_corpus, read_names

#: The options that are settings of both corpora.
_SETTINGS = ("document_tag", "id_tag", "line_ends")
#: A TYPE or TYPE.SLOT.
_NAME = re.compile(r"""[^\s<>.,:;"']+(?:\.[A-Za-z0-9_-]+)?""")
#: Most names in one line for which a hint repeats them.
_MOST_NAMES = 3


def reference_texts(
    source: Source, given: Mapping[str, str], *, concatenated: bool = False
) -> FileValue:
    """A function that returns the texts of the reference by document.

    Args:
        source: a corpus in SGML.
        given: the options.
        concatenated: whether there is one text under the empty name.
    """
    settings = {name.replace("_", "-"): given[name] for name in _SETTINGS if name in given}
    if concatenated:
        settings["unsegmented"] = "yes"
    source = load_corpus(source)
    form = in_memory(source) or load("sgml-corpus").with_settings(settings)
    corpus, findings = read_corpus(form, source)
    texts = {
        "" if concatenated else document: Text(text or "", start or 0)
        for document, text, start in corpus.documents.select("name", "text", "start").iter_rows()
    }
    return FileValue(lambda: texts, findings, corpus)


def system_texts(source: Source, given: Mapping[str, str]) -> FileValue:
    """A function that returns the texts of the system; unsegmented, one under the empty name."""
    return reference_texts(source, given, concatenated="unsegmented" in given)


def global_maps(source: Source, _: Mapping[str, str]) -> FileValue:
    """The global maps of a file for the reference and for the system."""
    sides: list[GlobalMap] = []
    findings: list[Finding] = []
    for side in ("ref", "hyp"):
        rules: list[Rule] = []
        last = GlobalMap(())
        for member in source.members:
            last, problems = read_map(member, side)
            findings += problems
            rules += last.rules
        sides.append(replace(last, rules=tuple(rules)))
    return FileValue(tuple(sides), list(dict.fromkeys(findings)))


def lexicon(source: Source, _: Mapping[str, str]) -> FileValue:
    """A lexicon of phones: per line a word and its phones, separated by spaces.

    Lines that begin with `;;;` or `#` are comments; `word(2)` is another pronunciation of `word`.
    """
    entries: list[tuple[str, list[str]]] = []
    findings: list[Finding] = []
    for file in files(source):
        findings += file.findings
        for number, line in enumerate(file.text.split("\n"), start=1):
            if line.startswith((";;;", "#")) or not line.strip():
                continue
            word, *phones = line.split()
            if not phones:
                whole = line.rstrip("\r")
                problem = Problem("OPT108", number, 0, len(whole))
                findings.append(problem.in_line(file.member.display, whole))
                continue
            name, bracket, rest = word.rpartition("(")
            entries.append((name if bracket and rest[:-1].isdigit() else word, phones))
    return FileValue(Lexicon.of(entries), findings)


def allowed_slots(source: Source, _: Mapping[str, str]) -> FileValue:
    """The types and slots of a file, in its order.

    Args:
        source: a file with one `TYPE` or `TYPE.SLOT` per line; from a `#` on, a line is a comment.
    """

    def hint(line: str) -> str:
        """Return the names that a line may mean, or how to write them."""
        names = [name for name in re.split(r"[\s<>,:;\"']+", line) if name]
        if names and len(names) <= _MOST_NAMES and all(map(_NAME.fullmatch, names)):
            return f"write {' and '.join(names)}" + ", each on its own line" * (len(names) > 1)
        return "write TYPE or TYPE.SLOT, such as BREAD.KIND"

    return read_names(
        source,
        lambda line: line.partition("#")[0],
        hint,
        accepts=lambda name: _NAME.fullmatch(name) is not None,
        code="OPT111",
        title="types and slots, one per line",
    )
