"""Subjects of fuzzing: the fixtures of each readable format, and the tasks that read it.

Formats and tasks are found by their declarations, fixtures in `fixtures/<format>/`; a new format
with fixtures there needs no entry here.
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
from hlteval.converters.corpus.jsonl import write_jsonl
from hlteval.converters.corpus.parquet import save
from hlteval.representation import Corpus
from hlteval.sources import open_source

FIXTURES = Path(__file__).parents[1] / "fixtures"
ELSEWHERE: Mapping[str, tuple[str, ...]] = {
    "brat": ("brat/valid/*", "brat/invalid/*", "brat-conf/valid/*", "brat-conf/invalid/*"),
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
"""The fixtures of formats that are in other folders, such as those of tasks."""

Tree = Mapping[str, bytes]
"""The content of files by path in a folder."""


class Seed(NamedTuple):
    """A fixture: its files, and whether it is a single file and not a folder."""

    files: Tree
    single: bool


class Use(NamedTuple):
    """A use of a format by a task: for its `submission`, for `against`, or for an option."""

    task: str
    role: str


class Context(NamedTuple):
    """The other inputs of a task in a trial: paths in the folder of fixtures."""

    submission: str
    against: str = ""
    options: Mapping[str, str] = {}


_CONTEXTS: Mapping[str, Context] = {
    "seedev-binary": Context("standoff/valid/binary", "standoff/valid/binary"),
    "seedev-full": Context("standoff/valid/full", "standoff/valid/full"),
    "speech-sf": Context("speech-sf/valid/submission.json", "speech-sf/valid/segments.list"),
    "lorehlt-sf": Context(
        "lorehlt-sf/valid/submission",
        "lorehlt-sf/valid/texts.jsonl",
        {"kb": "lorehlt-edl/valid/kb.tab", "documents": "lorehlt-sf/valid/documents.list"},
    ),
    "lorehlt-edl": Context(
        "lorehlt-edl/valid/submission.tab",
        "lorehlt-edl/valid/texts.jsonl",
        {"kb": "lorehlt-edl/valid/kb.tab", "documents": "lorehlt-edl/valid/documents.list"},
    ),
    "ltf": Context("ltf/valid", "rsd/valid"),
    "laf": Context("laf/valid", "rsd/valid"),
    "lorehlt-mt": Context("lorehlt-mt/valid", "mt/valid/ltf"),
    **{
        f"ccu-{task}": Context(f"ccu-submission/valid/{task}", "ccu-reference/valid/annotation")
        for task in ("nd", "ed", "vd", "ad", "cd", "ndmap")
    },
    "ccu-reference": Context("ccu-reference/valid/annotation"),
    "ccu-ta2": Context("ccu-ta2/valid/responses.tsv"),
    "hub4": Context("hub4/valid/system.tpl", "", {"corpus": "hub4/valid/corpus.sgml"}),
}
"""Those of tasks whose inputs are elsewhere than `_context` expects, or are more."""


def _context(task: str) -> Context:
    """The files `submission` and `reference` of the valid fixtures of a task."""
    names = [path.name for path in sorted(FIXTURES.glob(f"{task}/valid/*"))]
    sides = (
        next((f"{task}/valid/{name}" for name in names if name.startswith(side)), "")
        for side in ("submission", "reference")
    )
    return Context(*sides)


CONTEXTS: Mapping[str, Context] = {
    name: _CONTEXTS[name] if name in _CONTEXTS else _context(name) for name in tasks.BUILTIN
}
"""The other inputs in a trial, by task; tasks of other packages have none."""


def readers() -> list[str]:
    """The names of the readable formats."""
    return [name for name in known() if load(name).reads]


@cache
def seeds(name: str) -> tuple[Seed, ...]:
    """The valid and invalid fixtures of a format, sorted by name.

    Raises:
        LookupError: if the format has no fixtures.
    """
    if name == "corpus":
        return (_as_parquet(FIXTURES / "conversion/invalid/CNV101-sentences.jsonl"),)
    patterns = ELSEWHERE.get(name, (f"{name}/valid/*", f"{name}/invalid/*"))
    found = [path for pattern in patterns for path in sorted(FIXTURES.glob(pattern))]
    result = [_seed(path) for path in found]
    if name == "jsonl":  # a corpus of any format
        others = [other for other in readers() if other not in {"jsonl", "corpus"}]
        result += [_as_jsonl(other) for other in others]
    if not result:
        raise LookupError(f"{name} has no fixtures: add them, or list others in ELSEWHERE")
    return tuple(seed for seed in result if seed.files)


def _seed(path: Path) -> Seed:
    if path.is_file():
        return Seed({path.name: path.read_bytes()}, single=True)
    inner = sorted(file for file in path.rglob("*") if file.is_file())
    return Seed({f.relative_to(path).as_posix(): f.read_bytes() for f in inner}, single=False)


def _as_jsonl(name: str) -> Seed:
    """The first fixture of another format as JSON Lines."""
    with TemporaryDirectory() as folder:
        for path, content in seeds(name)[0].files.items():
            file = Path(folder, path)
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(content)
        stream = BytesIO()
        results = load(name).read(open_source(folder))
        write_jsonl(Corpus.concat(result.corpus for result in results), stream)
    return Seed({f"{name}.jsonl": stream.getvalue()}, single=True)


def _as_parquet(path: Path) -> Seed:
    """A corpus as Parquet, whose bytes depend on the version of its library."""
    with TemporaryDirectory() as folder:
        results = load("jsonl").read(open_source(str(path)))
        save(Corpus.concat(result.corpus for result in results), Path(folder))
        return _seed(Path(folder))


@cache
def uses(name: str) -> tuple[Use, ...]:
    """The uses of a format by tasks."""
    return tuple(use for task in tasks.task_names() for use in _uses(name, task))


def _uses(name: str, task: str) -> Iterator[Use]:
    declaration = tasks.load(task)
    if name in (declaration.format, *declaration.submitted):
        yield Use(task, "submission")
    if name in (declaration.references or (declaration.format,)):
        yield Use(task, "against")
    for option in declaration.options:
        if name in (option.format, option.reference_format) and "validate" in option.commands:
            yield Use(task, option.name)
