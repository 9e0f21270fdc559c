"""The runs of the public scorer of CCU phase 1 that its authors keep, from the list of them."""

from __future__ import annotations

import re
import shlex
from functools import cache
from pathlib import Path
from typing import NamedTuple

from hlteval.converters import load
from hlteval.representation import Corpus
from hlteval.representation.corpus import of_documents
from hlteval.scoring.ccu.detections import DetectionOptions, LlrFilter
from hlteval.scoring.ccu.spans import criterion
from hlteval.sources import open_source

SWITCHES = ("-d", "-q", "-f", "-g")
NUMBERS = {
    "-aC": "collar",
    "-xC": "collar_text",
    "-aR": "merge_reference",
    "-xR": "merge_reference_text",
    "-aS": "merge_system",
    "-xS": "merge_system_text",
}
WORDS = {
    "-vR": "merge_reference_by",
    "-vS": "merge_system_by",
    "-lS": "merge_system_llr",
    "--align_hacks": "align",
    "-sf": "submission_form",
}
ROW = re.compile(r"\| (\d+) \| `(score-(\w+) .*?)` \| `(.*?)` \|")


class Run(NamedTuple):
    """A run: its number in the list, its task, its options as the scorer has them, its files."""

    number: int
    task: str
    given: dict[str, str]
    expected: Path


def runs(cases: Path, *tasks: str) -> list[Run]:
    """The runs of some tasks; the last occurrence of an option counts."""
    found = []
    for line in (cases / "INDEX.md").read_text("utf-8").splitlines():
        if (row := ROW.match(line)) and row[3] in tasks:
            found.append(Run(int(row[1]), row[3], _given(shlex.split(row[2])[1:]), cases / row[4]))
    return found


def _given(words: list[str]) -> dict[str, str]:
    given = {}
    rest = iter(words)
    for word in rest:
        given[word] = "yes" if word in SWITCHES else next(rest)
    return given


@cache
def read(form: str, path: Path) -> Corpus:
    """A corpus, read once."""
    return Corpus.concat(result.corpus for result in load(form).read(open_source(str(path))))


@cache
def reference(path: Path, index: Path) -> Corpus:
    """The documents of a reference that an index lists."""
    return of_documents(read("ccu-reference", path), read("ccu-index", index).documents["name"])


def corpora(cases: Path, run: Run) -> tuple[Corpus, Corpus]:
    """The reference and the submission of a run."""
    index = cases / run.given["-i"]
    system = read("ccu-submission", cases / run.given["-s"])
    return reference(cases / run.given["-ref"], index), system


def options(cases: Path, given: dict[str, str]) -> DetectionOptions:
    """The options of a run as ours."""
    chosen: dict[str, object] = {ours: float(given[x]) for x, ours in NUMBERS.items() if x in given}
    chosen |= {ours: given[theirs] for theirs, ours in WORDS.items() if theirs in given}
    if names := given.get("-n") or given.get("-e"):
        chosen["classes"] = frozenset((cases / names).read_text("utf-8").split())
    if "-m" in given:
        rows = read("ccu-submission", cases / given["-m"]).mappings
        chosen["mapping"] = rows.select(sys_norm="label", ref_norm="target")
    if "-t" in given:
        chosen["overlap"] = tuple(map(criterion, given["-t"].split(",")))
    if "-mv" in given:
        chosen["min_votes"] = int(given["-mv"])
    if "-fm" in given:
        chosen["file_merge"] = int(given["-fm"].rpartition("/")[2])
    if "-lf" in given:
        when, _, least = given["-lf"].split(":")
        chosen["llr_filter"] = LlrFilter(when, float(least))
    return DetectionOptions(**chosen)


def rows(text: str) -> list[list[str]]:
    """The rows of a table, sorted: the order of equal scores is not defined."""
    return sorted(line.split("\t") for line in text.splitlines())


def same(ours: str, theirs: str) -> bool:
    """Whether two cells are equal, numbers to 1e-9."""
    if ours == theirs:
        return True
    try:
        return abs(float(ours) - float(theirs)) <= 1e-9
    except ValueError:
        return False


def differences(ours: str, theirs: str) -> list[tuple[list[str], list[str]]]:
    """The rows of two tables that differ."""
    mine, other = rows(ours), rows(theirs)
    if len(mine) != len(other):
        return [(row, []) for row in mine if row not in other] + [
            ([], row) for row in other if row not in mine
        ]
    return [
        (one, two)
        for one, two in zip(mine, other, strict=True)
        if len(one) != len(two) or not all(map(same, one, two))
    ]
