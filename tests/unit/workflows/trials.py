"""Every task on its fixtures: what validation and scoring give, as values to be compared.

Run as a program, it prints them as JSON; `--columns` first adds columns to the representation.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import MappingProxyType
from typing import Any, Literal, NamedTuple

from tests.effort import share

ROOT = Path(__file__).parents[3]
FIXTURES = ROOT / "fixtures"
FULL = FIXTURES / "standoff" / "valid" / "full"
INDEX = "valid/reference/index_files/mini.ND.scoring.index.tab"


class Trial(NamedTuple):
    """A submission to a task with what it is checked against and scored against."""

    task: str
    submission: Path
    against: Path | None = None
    options: Mapping[str, str] = MappingProxyType({})
    scored: bool = False
    role: Literal["submission", "reference"] = "submission"

    @property
    def name(self) -> str:
        """The trial in one line."""
        against = self.against.name if self.against else "nothing"
        names = [self.task, self.submission.name, "against", against, *self.options]
        return " ".join(names if self.role == "submission" else [*names, "as", self.role])


def trials(folder: Path) -> Iterator[Trial]:
    """Every task on its fixtures, those of many kinds of errors joined into one submission.

    Args:
        folder: an empty folder, where these are written.
    """
    made = list(joined(folder))
    yield from made
    yield from others({trial.task for trial in made})


def joined(folder: Path) -> Iterator[Trial]:
    """The tasks whose fixtures are joined, or are in several folders."""
    for task in ("seedev-full", "seedev-binary"):
        room = FIXTURES / "scores" / task
        yield Trial(task, room / "system", room / "reference", scored=True)
    yield Trial("seedev-binary", FIXTURES / "standoff/valid/binary")
    own, sentences = FIXTURES / "standoff/valid/binary", FIXTURES / "seedev-sentences/valid"
    options = {"sentences": str(sentences / "sentences.tsv")}
    yield Trial("seedev-binary", own, own, options, scored=True)
    yield Trial("seedev-full", FIXTURES / "seedev/invalid/SEE103-binary-names", FULL)
    reference, system = standoff(folder)
    yield Trial("seedev-full", system, reference, scored=True)
    yield from packs(folder)
    yield from situations(folder)
    yield from frames_of_texts(folder)
    room = FIXTURES / "scores" / "lorehlt-sf"
    yield Trial("lorehlt-sf", room / "system", room / "reference", scored=True)
    room = FIXTURES / "scores" / "lorehlt-mt"
    yield Trial("lorehlt-mt", room / "system", room / "reference", scored=True)
    yield from mentions(folder)
    yield from templettes(folder)
    yield from translations(folder)
    yield from streams()


def others(tried: set[str]) -> Iterator[Trial]:
    """The tasks that are not tried yet, on the fixtures that are named by them."""
    from hlteval.tasks import BUILTIN, load

    for name in BUILTIN:
        room = FIXTURES / name / "valid"
        if name not in tried:
            reference = next(iter(sorted(room.glob("reference*"))), None)
            submission = next(iter(sorted(room.glob("submission*"))))
            scored = reference is not None and load(name).metric is not None
            yield Trial(name, submission, reference, scored=scored)


def write(file: Path, content: str) -> Path:
    """A new file."""
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(content.encode())
    return file


def standoff(folder: Path) -> tuple[Path, Path]:
    """A reference and a submission of the documents of the fixtures, a document for each code."""
    reference, system = folder / "joined-reference", folder / "joined"
    paths = sorted(FIXTURES.glob("*/invalid/S[TE][DE][123]*"), reverse=True)
    for path in {path.name[:6]: path for path in paths if path.is_dir()}.values():
        if path.name.startswith("SEE103"):
            continue  # that a submission is to the other task depends on all of it
        own = path if (path / "seed-1.txt").exists() else FULL
        for source in (own / "seed-1.txt", own / "seed-1.a1", own / "seed-1.a2"):
            write(reference / f"{path.name}{source.suffix}", source.read_bytes().decode())
        write(system / f"{path.name}.a2", (path / "seed-1.a2").read_bytes().decode())
    return reference, system


def packs(folder: Path) -> Iterator[Trial]:
    """Documents of language packs: alone, and beside texts in several files and in one."""
    from hlteval import convert

    for task in ("ltf", "laf"):
        paths = sorted((FIXTURES / task).rglob(f"*.{task}.xml"), reverse=True)
        for path in {path.name[:7]: path for path in paths}.values():
            if path.name.startswith("LTF201"):
                continue  # it is another file of a document that is there already
            write(folder / task / path.name, path.read_bytes().decode())
    texts = folder / "texts"
    for path in sorted((FIXTURES / "ltf" / "valid").iterdir()):
        write(texts / path.name, path.read_bytes().decode())
    joined = folder / "texts.jsonl"
    convert(str(texts), str(joined))
    yield Trial("ltf", folder / "ltf")
    for task in ("ltf", "laf"):
        yield from (Trial(task, folder / task, against) for against in (texts, joined))


def translations(folder: Path) -> Iterator[Trial]:
    """Translated documents beside their texts, a document for each code and one more."""
    texts, name = FIXTURES / "mt" / "valid" / "ltf", "EPO_NW_2"
    for path in sorted(FIXTURES.glob("lorehlt-mt/invalid/MTV[23]*")):
        file = path / f"{name}.ltf.xml"
        if file.is_file():
            content = file.read_bytes().decode().replace(name, path.name)
            write(folder / "translated" / f"{path.name}.ltf.xml", content)
        text = (texts / f"{name}.ltf.xml").read_bytes().decode().replace(name, path.name)
        write(folder / "to-translate" / f"{path.name}.ltf.xml", text)
    yield Trial("lorehlt-mt", folder / "translated")
    yield Trial("lorehlt-mt", folder / "translated", folder / "to-translate")


def situations(folder: Path) -> Iterator[Trial]:
    """A submission of situations against segments, frames, and a folder of annotations."""
    room = FIXTURES / "speech-sf"
    paths = sorted([*room.glob("invalid/*.json"), *FIXTURES.glob("speech-sf-json/invalid/SFJ2*")])
    frames = [frame for path in paths for frame in json.loads(path.read_text("utf-8"))]
    submission = write(folder / "frames.json", json.dumps(frames))
    yield Trial("speech-sf", submission)
    yield Trial("speech-sf", submission, room / "valid" / "segments.list")
    yield Trial("speech-sf", submission, room / "valid" / "reference.json", scored=True)
    yield Trial("speech-sf", submission, FIXTURES / "appen" / "valid", scored=True)


def frames_of_texts(folder: Path) -> Iterator[Trial]:
    """A submission of situations of LoReHLT with its EDL output, and annotations."""
    room, gold = FIXTURES / "lorehlt-sf", FIXTURES / "lorehlt-sf-reference"
    paths = sorted(
        [*room.glob("invalid/LSF[34]*.json"), *FIXTURES.glob("lorehlt-sf-json/invalid/LSF2*.json")]
    )
    items = [json.loads(path.read_text("utf-8")) for path in paths]
    joined = [frame for item in items for frame in (item if isinstance(item, list) else [item])]
    submission = folder / "frames-of-texts"
    write(submission / "system_output.json", json.dumps(joined))
    entities = room / "valid/submission/edl.tab"
    write(submission / "edl.tab", entities.read_bytes().decode())
    options = {"documents": str(room / "valid/documents.list")}
    options["kb"] = str(FIXTURES / "lorehlt-edl/valid/kb.tab")
    yield Trial("lorehlt-sf", submission)
    yield Trial("lorehlt-sf", submission, room / "valid" / "texts.jsonl", options)
    yield Trial("lorehlt-sf", submission, gold / "valid" / "annotation")
    for path in sorted([*room.glob("invalid/LSF51*"), gold / "valid" / "annotation"]):
        yield Trial("lorehlt-sf", path, role="reference")


def mentions(folder: Path) -> Iterator[Trial]:
    """A submission of mentions with texts, lists and a knowledge base."""
    room = FIXTURES / "lorehlt-edl"
    lines = [path.read_bytes().decode() for path in sorted(room.glob("invalid/EDL[2345]*.tab"))]
    submission = write(folder / "mentions.tab", "".join(lines))
    options = {"kb": str(room / "valid" / "kb.tab")}
    options["documents"] = str(room / "valid" / "documents.list")
    yield Trial("lorehlt-edl", submission)
    yield Trial("lorehlt-edl", submission, room / "valid" / "texts.jsonl", options)
    yield Trial("lorehlt-edl", submission, room / "valid" / "submission.tab", scored=True)
    scores = FIXTURES / "scores" / "lorehlt-edl"
    yield Trial("lorehlt-edl", scores / "system.tab", scores / "texts")
    reference = scores / "reference.tab"
    for options in ({}, {"texts": str(scores / "texts")}):
        yield Trial("lorehlt-edl", scores / "system.tab", reference, options, scored=True)


def templettes(folder: Path) -> Iterator[Trial]:
    """Template sets beside the corpus, alone, and scored with the texts aligned."""
    room = FIXTURES / "hub4"
    corpus = str(room / "valid" / "corpus.sgml")
    lines = [path.read_bytes().decode() for path in sorted(room.glob("invalid/HUB[23]*.tpl"))]
    joined = write(folder / "joined.tpl", "".join(lines))
    reference = room / "valid" / "reference.tpl"
    aligned = {"corpus": corpus, "hyp_corpus": corpus, "align": "yes"}
    yield Trial("hub4", joined, None, {"corpus": corpus})
    yield Trial("hub4", joined, role="reference")
    for options in ({}, {"corpus": corpus}, aligned):
        yield Trial("hub4", room / "valid" / "system.tpl", reference, options, scored=True)


def streams() -> Iterator[Trial]:
    """Norms, emotions, levels and changes beside the annotation, that itself, and questionnaires.

    Of submissions and annotations with an error, there is one for each ten of codes.
    """
    room, scores = FIXTURES / "ccu", FIXTURES / "scores"
    gold, indexed = room / "valid/reference", {"index": str(room / INDEX)}
    for task in ("nd", "ed", "vd", "ad", "cd"):
        name = f"ccu-{task}"
        yield Trial(name, scores / name / "system", scores / "ccu/reference", scored=True)
        yield Trial(name, room / "valid" / task, gold, indexed, scored=True)
    yield Trial("ccu-ndmap", room / "valid/ndmap", gold)
    yield Trial("ccu-reference", gold)
    paths = sorted(room.glob("invalid/CCU[3-8]*"))
    for path in {path.name[:5]: path for path in paths if path.is_dir()}.values():
        if path.name.startswith("CCU8"):
            yield Trial("ccu-reference", path)
        elif (path / "nd.map.tab").exists():
            yield Trial("ccu-ndmap", path, gold)
        else:
            task = {"CCU6": "vd", "CCU7": "cd"}.get(path.name[:4], "nd")
            yield Trial(f"ccu-{task}", path, gold)
    yield Trial("ccu-ta2", scores / "ccu-ta2/system/responses.tsv", scored=True)


def outcome(trial: Trial, batch: int) -> dict[str, Any]:
    """What validation and scoring give for a trial, with batches of some size."""
    sys.path.insert(0, str(Path(__file__).parents[3]))  # it is run as a program
    from tests.runs import score, validate

    against, system = trial.against and str(trial.against), str(trial.submission)
    found: dict[str, Any] = {}
    if not (trial.scored and "corpus" in trial.options):
        given = {"against": against, "options": trial.options, "role": trial.role}
        verdict = validate(trial.task, system, **given, batch=batch)
        found["findings"] = sorted(
            [f.code, f.file or "", repr(f.span), f.message, f.help or ""] for f in verdict.findings
        )
    if trial.scored:  # tasks that are scored alone have nothing that it is against
        scores = score(
            trial.task, against or "", system, lenient=True, options=trial.options, batch=batch
        )
        found |= {"metrics": dict(scores.metrics), "signature": scores.signature}
        found |= {"notes": list(scores.notes), "files": dict(scores.files)}
        found["tables"] = {
            name: sorted(map(repr, table.rows())) for name, table in scores.tables.items()
        }
    return found


def add_columns(names: list[str]) -> dict[str, list[str]]:
    """Declare columns of these names in every table, before all imports; those added, by table."""
    schema = loaded("schema")
    added = {
        table.name: [name for name in names if name not in table.schema]
        for table in schema.TABLES.values()
    }
    schema.TABLES = MappingProxyType(
        {
            name: replace(table, columns=(*table.columns, *map(later(schema), added[name])))
            for name, table in schema.TABLES.items()
        }
    )
    return added


def loaded(module: str) -> Any:
    """A module of the representation without the package, which imports all of them."""
    name = f"hlteval.representation.{module}"
    spec = spec_from_file_location(name, ROOT / "hlteval" / "representation" / f"{module}.py")
    assert spec
    assert spec.loader
    found = sys.modules[name] = module_from_spec(spec)
    spec.loader.exec_module(found)
    return found


def later(schema: Any) -> Callable[[str], Any]:
    """Declares a column of a name."""
    return lambda name: schema.Column(name, schema.pl.String, "a later column", nullable=True)


def outcomes(folder: Path) -> dict[str, Any]:
    """What every trial gives, by name."""
    return {trial.name: outcome(trial, 500) for trial in share(trials(folder), 12)}


def everything() -> Any:
    """A corpus with a row in every table, whose columns that may be null are filled."""
    from hlteval.representation import TABLES, Corpus

    values = {"Int64": 0, "String": "x", "Float64": 0.5, "Boolean": True}
    part = [{"start": 0, "end": 1}]
    return Corpus(
        **{
            name: [{column: values.get(str(kind), part) for column, kind in table.schema.items()}]
            for name, table in TABLES.items()
        }
    )


def exchange(now: Path, later: Path, added: Mapping[str, list[str]]) -> str:
    """Read what was saved without the added columns, and save a corpus that has them."""
    from hlteval.converters import load
    from hlteval.representation import Corpus, align
    from hlteval.sources import open_source

    form, corpus = load(now.suffix[1:]), everything()
    assert form.write
    form.write([corpus], later)
    (result,) = form.read(open_source(str(now)))
    odd = {"COR107", "COR109"}  # the one rejected record, and offsets that no text has
    assert {found.code for found in result.findings} <= odd
    for name, frame in result.corpus.tables():
        own = frame.columns[: len(frame.columns) - len(added[name])]
        assert frame.select(own).equals(getattr(corpus, name).select(own))
        assert all(frame[column].null_count() == 1 for column in added[name])
    other = Corpus(documents=[{"row": 0, "name": "a"}])
    _, aligned = align(other, corpus)  # it renumbers documents, and keeps all else
    assert aligned.documents.drop("row").equals(corpus.documents.drop("row"))
    assert aligned.frames.drop("document").equals(corpus.frames.drop("document"))
    return "same"


if __name__ == "__main__":
    command, first, *rest = sys.argv[1:]
    if command == "exchange":
        added = add_columns(rest[1:])
        sys.stdout.write(exchange(Path(first), Path(rest[0]), added))
    else:
        add_columns(rest)
        sys.stdout.write(json.dumps(outcomes(Path(first))))
