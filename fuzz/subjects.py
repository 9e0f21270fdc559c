"""What is damaged: the fixtures of each format that is read, and the tasks that read it.

Formats and tasks come from their declarations, fixtures from `fixtures/<format>/`; a new format
with fixtures of its own is damaged without a line here.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from io import BytesIO
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

from hlteval import tasks
from hlteval.converters import known, load
from hlteval.representation import Corpus, read_jsonl, write_jsonl
from hlteval.representation.store import save
from hlteval.sources import open_source

FIXTURES = Path(__file__).parents[1] / "fixtures"
ELSEWHERE: Mapping[str, tuple[str, ...]] = {
    "document-list": ("lorehlt-edl/valid/documents.list", "speech-sf/valid/segments.list"),
    "edl-tab": ("lorehlt-edl/valid/submission.tab", "lorehlt-edl/invalid/*.tab"),
    "hub4": ("hub4/valid/reference.tpl", "hub4/valid/system.tpl", "hub4/invalid/*.tpl"),
    "jsonl": ("lorehlt-edl/valid/texts.jsonl", "conversion/invalid/*.jsonl", "jsonl/invalid/*"),
    "kb-tab": ("lorehlt-edl/valid/kb.tab", "kb-tab/invalid/*"),
    "sgml-corpus": ("sgml-corpus/valid/*", "hub4/valid/corpus.sgml", "sgml-corpus/invalid/*"),
    "speech-sf-json": (
        *("speech-sf-json/valid/*", "speech-sf/valid/*.json"),
        *("speech-sf-json/invalid/*", "speech-sf/invalid/*.json"),
    ),
    "standoff": ("standoff/valid/*", "standoff/invalid/*", "seedev/invalid/*[!p]"),
    "text": ("rsd/valid/*",),
}
"""The fixtures of formats that have them, also, in the rooms of tasks."""

Tree = Mapping[str, bytes]
"""Files by their path below a folder."""


class Seed(NamedTuple):
    """A fixture: its files; a single one is given as a file, several as their folder."""

    files: Tree
    single: bool


class Use(NamedTuple):
    """How a task reads a format: its submission, what it is checked against, or an option."""

    task: str
    role: str


class Beside(NamedTuple):
    """What a task is tried with where it is not what is damaged: paths below the fixtures."""

    submission: str
    against: str = ""
    options: Mapping[str, str] = {}


BESIDE: Mapping[str, Beside] = {
    "seedev-binary": Beside("standoff/valid/binary", "standoff/valid/binary"),
    "seedev-full": Beside("standoff/valid/full", "standoff/valid/full"),
    "speech-sf": Beside("speech-sf/valid/submission.json", "speech-sf/valid/segments.list"),
    "lorehlt-edl": Beside(
        "lorehlt-edl/valid/submission.tab",
        "lorehlt-edl/valid/texts.jsonl",
        {"kb": "lorehlt-edl/valid/kb.tab", "documents": "lorehlt-edl/valid/documents.list"},
    ),
    "ltf": Beside("ltf/valid", "rsd/valid"),
    "laf": Beside("laf/valid", "rsd/valid"),
    "hub4": Beside("hub4/valid/system.tpl", "", {"corpus": "hub4/valid/corpus.sgml"}),
}
"""The partners of what is damaged, by task; a task that is not named is tried alone."""


def readers() -> list[str]:
    """The formats that are read, by name."""
    return [name for name in known() if load(name).reads]


@cache
def seeds(name: str) -> tuple[Seed, ...]:
    """The fixtures of a format, valid and not, sorted by name.

    Raises:
        LookupError: if it has none.
    """
    if name == "corpus":
        return (_stored(FIXTURES / "conversion/invalid/CNV101-sentences.jsonl"),)
    patterns = ELSEWHERE.get(name, (f"{name}/valid/*", f"{name}/invalid/*"))
    found = [path for pattern in patterns for path in sorted(FIXTURES.glob(pattern))]
    listed = [_seed(path) for path in found]
    if name == "jsonl":  # whatever a corpus can hold
        others = [other for other in readers() if other not in {"jsonl", "corpus"}]
        listed += [_told(other) for other in others]
    if not listed:
        raise LookupError(f"{name} has no fixtures to damage: give it some, or name some here")
    return tuple(seed for seed in listed if seed.files)


def _seed(path: Path) -> Seed:
    if path.is_file():
        return Seed({path.name: path.read_bytes()}, single=True)
    inner = sorted(file for file in path.rglob("*") if file.is_file())
    return Seed({f.relative_to(path).as_posix(): f.read_bytes() for f in inner}, single=False)


def _told(name: str) -> Seed:
    """The first fixture of another format as JSON Lines."""
    with TemporaryDirectory() as folder:
        for path, content in seeds(name)[0].files.items():
            file = Path(folder, path)
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(content)
        stream = BytesIO()
        readings = load(name).read(open_source(folder))
        write_jsonl(Corpus.concat(reading.corpus for reading in readings), stream)
    return Seed({f"{name}.jsonl": stream.getvalue()}, single=True)


def _stored(path: Path) -> Seed:
    """A corpus as Parquet: bytes that no fixture should hold."""
    with TemporaryDirectory() as folder:
        save(read_jsonl(path.read_bytes()), Path(folder))
        return _seed(Path(folder))


@cache
def uses(name: str) -> tuple[Use, ...]:
    """How tasks read a format."""
    return tuple(use for task in tasks.known() for use in _uses(name, task))


def _uses(name: str, task: str) -> Iterator[Use]:
    declared = tasks.load(task)
    if name in (declared.format, *declared.submitted):
        yield Use(task, "submission")
    if name in (declared.references or (declared.format,)):
        yield Use(task, "against")
    for option in declared.options:
        if name in (option.format, option.reference_format) and "validate" in option.commands:
            yield Use(task, option.name)
