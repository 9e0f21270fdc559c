"""Generators of corpora for simulations: a reference and a system's output for it.

A generator is a process: its documents are independent of each other given the names of entities,
which recur across documents, a few of them in most. How well the system does varies by document.
Each takes the number of documents, a seed, and the number of the system: systems of other numbers
are as good, with other errors against the same reference. A task without a generator of its own is
simulated by `resampled` documents of its demonstration, in which things are missing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache, partial
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np
import polars as pl

from benchmarks import situation_frames, streams
from benchmarks.translations import translations
from hlteval.representation import TABLES, Corpus
from hlteval.representation.judgments import CONDITIONS, IDEAL, QUESTIONS
from hlteval.tasks import BUILTIN, load
from hlteval.validators.situations.rules import types
from hlteval.workflows.run.batches import open_sides
from hlteval.workflows.run.request import Request

Pair = tuple[Corpus, Corpus]
Generator = Callable[[int, int, int], Pair]

DEMO = Path(__file__).parents[1] / "hlteval" / "demo"
FIXTURES = Path(__file__).parents[1] / "fixtures"
DEMONSTRATIONS: Mapping[str, tuple[str, str]] = MappingProxyType(
    {
        "seedev-binary": ("reference", "system"),
        "seedev-full": ("reference", "system"),
        "speech-sf": ("speech/annotations", "speech/system.json"),
        "lorehlt-edl": ("entities/reference.tab", "entities/system.tab"),
        "hub4": ("comparison/reference.tpl", "comparison/careful.tpl"),
        **{
            name: (f"{FIXTURES}/{name}/valid/reference", f"{FIXTURES}/{name}/valid/submission")
            for name in BUILTIN
            if name.startswith("bb1")
        },
    }
)
"""A reference and a submission of each task, in the folder of the demonstration or of fixtures."""

ENTITIES = 300
PLACES = ("Osh", "Naryn", "Talas", "Batken", "Bishkek", "Jalal-Abad")


def generator(task: str) -> Generator:
    """The generator of a task."""
    return GENERATORS.get(task) or partial(resampled, task)


def sources(seed: int, number: int) -> tuple[np.random.Generator, np.random.Generator]:
    """The random numbers of the reference, and of a system."""
    return np.random.default_rng([seed, 0]), np.random.default_rng([seed, 1 + number])


def names(documents: int) -> pl.DataFrame:
    """The table of so many documents."""
    rows = pl.int_range(documents, dtype=pl.Int64, eager=True)
    return pl.DataFrame({"row": rows}).with_columns(name=pl.format("DOC_{}", pl.col("row")))


def entities(documents: int, seed: int, number: int = 0) -> Pair:
    """Mentions of entities with Zipf frequencies; a document is about 2 to 8 of them.

    The system confuses 15 % of the entities with another wherever they occur, and other mentions
    with others now and then; it misses some, and finds some that are none. It has its own names for
    entities that are not in the knowledge base.
    """
    truth, errors = sources(seed, number)
    shares = 1 / np.arange(1, ENTITIES + 1)
    shares /= shares.sum()
    fixed = np.random.default_rng(number)  # what it confuses belongs to the system
    known = np.where(fixed.random(ENTITIES) < 0.15, fixed.permutation(ENTITIES), range(ENTITIES))
    reference: list[tuple[int, int, int, int]] = []
    system: list[tuple[int, int, int, int]] = []
    for document in range(documents):
        subject = truth.choice(ENTITIES, size=truth.integers(2, 9), p=shares)
        mentions = truth.choice(subject, size=1 + truth.negative_binomial(3, 0.2))
        quality = truth.beta(6, 3)  # some documents are hard for every system
        found, right = errors.random((2, len(mentions))) < quality
        for at, entity in enumerate(mentions.tolist()):
            reference.append((document, 10 * at, 10 * at + 4, entity))
            other = int(known[entity]) if right[at] else int(errors.integers(ENTITIES))
            if found[at]:
                system.append((document, 10 * at, 10 * at + 4 + (errors.random() < 0.05), other))
        for at, entity in enumerate(errors.choice(ENTITIES, errors.poisson(4 * (1 - quality)))):
            system.append((document, 5000 + 10 * at, 5004 + 10 * at, int(entity)))
    return _mentions(documents, reference, "NIL"), _mentions(documents, system, f"NIL{number}x")


def _mentions(documents: int, rows: list[tuple[int, int, int, int]], nil: str) -> Corpus:
    number = pl.col("number")
    known, names_of_nil = number % 3 == 0, pl.format(f"{nil}{{}}", number)
    table = pl.DataFrame(
        rows, schema=dict.fromkeys(("document", "start", "end", "number"), pl.Int64), orient="row"
    )
    table = table.with_columns(
        *(pl.int_range(pl.len(), dtype=pl.Int64).alias(name) for name in ("row", "record")),
        origin=pl.lit(0, pl.Int64),
        mention=pl.lit("m"),
        label=pl.format("T{}", number % 4),
        entity=pl.when(known).then(pl.format("{}", number)).otherwise(names_of_nil),
    )
    return Corpus(documents=names(documents), mentions=table.drop("number"))


def speech(documents: int, seed: int, number: int = 0) -> Pair:
    """Segments with up to three situations; a system's frames, the right ones more confident.

    Systems of odd numbers are as sure of right frames beside wrong ones, but less sure of all.
    """
    truth, errors = sources(seed, number)
    labels = types()
    reference: list[tuple[int, str, str, float | None]] = []
    system: list[tuple[int, str, str, float | None]] = []
    for document in range(documents):
        actual = {str(label): str(truth.choice(PLACES)) for label in _some(labels, truth)}
        reference += [(document, label, place, None) for label, place in actual.items()]
        quality = truth.beta(6, 3)
        for label in labels:
            right = label in actual
            if errors.random() < (quality if right else 0.4 * (1 - quality)):
                sure = errors.beta(4, 2) if right else errors.beta(2, 3)
                place = actual[label] if right and errors.random() < quality else "Bishkek"
                system.append((document, label, place, round(float(sure) / (1 + number % 2), 4)))
    return _frames(documents, reference), _frames(documents, system)


def frames(documents: int, seed: int, number: int = 0) -> Pair:
    """About five situation frames of a text with their sentiments, at six places."""
    truth, errors = sources(seed, number)
    each = list(situation_frames.documents(documents, 5, len(PLACES), truth))
    system = [list(situation_frames.found(own, len(PLACES), errors)) for own in each]
    return _situations(documents, each), _situations(documents, system)


def _situations(documents: int, each: list[list[dict[str, Any]]]) -> Corpus:
    own = [(document, row) for document, rows in enumerate(each) for row in rows]
    felt = [(at, *pair) for at, (_, row) in enumerate(own) for pair in enumerate(row["sec"], 1)]
    return Corpus(
        documents=names(documents),
        frames=[
            {name: row.get(name) for name in ("label", "status", "scope", "severity")}
            | {"row": at, "document": document, "origin": 0, "record": at + 1}
            | {"kind": "situation", "place_kb": row["place"], "resolution": row["resolution"]}
            | {"frame": str(at), "confidence": row.get("confidence")}
            | {"urgent": str(row["urgent"]).lower() if "urgent" in row else None}
            for at, (document, row) in enumerate(own)
        ],
        sentiments=[
            {name: sec[name] for name in ("value", *situation_frames.EMOTIONS)}
            | {"row": at, "document": own[frame][0], "origin": 0, "record": at + 1}
            | {"frame_row": frame, "item": item, "holder_kb": sec["holder"]}
            for at, (frame, item, sec) in enumerate(felt)
        ],
    )


def annotated(task: str, documents: int, seed: int, number: int = 0) -> Pair:
    """Streams of about 12 segments with what a task of CCU is about; how well a system does varies.

    Args:
        task: `nd`, `ed`, `vd`, `ad` or `cd`.
        documents: how many there are.
        seed: of the random numbers.
        number: of the system.
    """
    truth, errors = sources(seed, number)
    each = list(streams.streams(documents, 12, truth))
    table = load(f"ccu-{task}").scored_table
    listed = [
        {
            "row": at,
            "name": f"DOC_{at}",
            "modality": stream.modality,
            "length": float(stream.length),
        }
        for at, stream in enumerate(each)
    ]
    judged = _rows_of(streams.judgments(task, stream) for stream in each)
    regions = _rows_of(map(streams.regions, each))
    found = _rows_of(streams.answers(task, stream, errors) for stream in each)
    reference = Corpus(documents=listed, regions=regions, **{table: judged})
    return reference, Corpus(documents=listed, **{table: found})


def _rows_of(each: Iterable[Iterable[Mapping[str, Any]]]) -> list[dict[str, Any]]:
    """The rows of documents as those of a table."""
    own = ((document, row) for document, rows in enumerate(each) for row in rows)
    return [
        {"row": at, "document": document, "origin": 0, "record": at + 1, **row}
        for at, (document, row) in enumerate(own)
    ]


def dialogues(documents: int, seed: int, number: int = 0) -> Pair:
    """Interactions in a condition each, and the answers of both speakers to all questions.

    How well an interaction succeeds varies; one answer in twenty is missing. There is no reference.
    """
    truth, answers = sources(seed, number)
    ideal = dict(zip(CONDITIONS, ((8, 2), (6, 4), (5, 5), (3, 7)), strict=True))
    rows = []
    for document in range(documents):
        condition = CONDITIONS[truth.integers(len(CONDITIONS))]
        success = answers.beta(*ideal[condition])
        rows += [
            {"document": document, "condition": condition, "speaker": speaker, "question": question}
            | {"response": IDEAL if answers.random() < success else "Mostly Agree"}
            for speaker in ("operator", "interlocutor")
            for question in QUESTIONS
            if answers.random() < 0.95
        ]
    numbered = [row | {"row": at, "origin": 0, "record": at + 1} for at, row in enumerate(rows)]
    listed = names(documents)
    return Corpus(documents=listed), Corpus(documents=listed, responses=numbered)


def _some(labels: Sequence[str], random: np.random.Generator) -> Iterable[str]:
    """At most three of them."""
    return (str(label) for label in random.choice(labels, random.integers(0, 4), replace=False))


def _frames(documents: int, rows: list[tuple[int, str, str, float | None]]) -> Corpus:
    schema = {"document": pl.Int64, "label": pl.String, "place": pl.String}
    table = pl.DataFrame(rows, schema={**schema, "confidence": pl.Float64}, orient="row")
    table = table.with_columns(
        *(pl.int_range(pl.len(), dtype=pl.Int64).alias(name) for name in ("row", "record")),
        origin=pl.lit(0, pl.Int64),
        kind=pl.lit("situation"),
    )
    return Corpus(documents=names(documents), frames=table)


def resampled(task: str, documents: int, seed: int, number: int = 0) -> Pair:
    """Documents of the demonstration of a task, of which each lacks other things on either side."""
    sides = demonstration(task)
    known = sides[0].documents["name"].sort().to_list()
    truth, errors = sources(seed, number)
    chosen = [known[at] for at in truth.integers(len(known), size=documents)]
    quality = (truth.beta(8, 2, documents), truth.beta(6, 3, documents))
    scored = load(task).scored_table
    first, second = (
        _thinned(_copied(corpus, chosen), scored, rates, random)
        for corpus, rates, random in zip(sides, quality, (truth, errors), strict=True)
    )
    return first, second


def facts(task: str, documents: int, seed: int, number: int = 0) -> Pair:
    """Documents as `resampled`, each with taxa of its own: a knowledge base has each fact once."""
    own = pl.when(label="NCBI_Taxonomy").then(pl.format("{}.{}", "value", "document"))
    sides = (
        corpus.replace(modifiers=corpus.modifiers.with_columns(value=own.otherwise("value")))
        for corpus in resampled(task, documents, seed, number)
    )
    first, second = sides
    return first, second


@cache
def demonstration(task: str) -> Pair:
    """The reference and the submission of a task in the demonstration, or else in the fixtures."""
    files = [DEMO / name for name in DEMONSTRATIONS.get(task, ())] or [
        next((FIXTURES / task / "valid").glob(f"{side}*")) for side in ("reference", "submission")
    ]
    reference, system = map(str, files)
    (pair,) = open_sides(Request(task, system), reference, {}).pairs(10_000)
    return pair.reference.corpus, pair.system.corpus


def _copied(corpus: Corpus, chosen: list[str]) -> Corpus:
    """A corpus of copies of the named documents."""
    rows = corpus.documents.select("name", "row")
    picks = pl.DataFrame({"name": chosen}).with_row_index("copy").join(rows, on="name")
    picks = picks.select(pl.col("copy").cast(pl.Int64), old="row")
    step = 1 + max(frame["row"].max() or 0 for _, frame in corpus.tables() if frame.height)  # type: ignore[type-var]
    tables = {"documents": names(len(chosen)), "sources": corpus.sources}
    for name, frame in corpus.tables():
        references = dict(TABLES[name].references)
        if references.get("document") != "documents":
            continue
        inner = [c for c, table in references.items() if table not in {"documents", "sources"}]
        copied = frame.join(picks, left_on="document", right_on="old", maintain_order="left")
        shifted = (pl.col(c) + pl.col("copy") * step for c in ("row", *inner))
        tables[name] = copied.with_columns(*shifted, document="copy").drop("copy").sort("row")
    return Corpus(**tables)


def _thinned(corpus: Corpus, table: str, rates: np.ndarray, random: np.random.Generator) -> Corpus:
    """A corpus in which each document keeps a share of the rows of a table."""
    rows: pl.DataFrame = getattr(corpus, table)
    keeps = random.random(rows.height) < rates[rows["document"].to_numpy()]
    gone = rows.filter(pl.Series(~keeps, dtype=pl.Boolean))["row"].implode()
    kept = {table: rows.filter(pl.Series(keeps, dtype=pl.Boolean))}
    for name, frame in corpus.tables():
        for column, target in TABLES[name].references:
            if target == table:
                kept[name] = frame.filter(~pl.col(column).is_in(gone))
    return corpus.replace(**kept)


GENERATORS: Mapping[str, Generator] = MappingProxyType(
    {
        "lorehlt-edl": entities,
        "speech-sf": speech,
        "lorehlt-sf": frames,
        "ccu-ta2": dialogues,
        **{f"bb19-{task}": partial(facts, f"bb19-{task}") for task in ("kb", "kb-ner")},
        "lorehlt-mt": translations,
        **{f"ccu-{task}": partial(annotated, task) for task in ("nd", "ed", "vd", "ad", "cd")},
    }
)
"""The generators of the tasks that have one."""
