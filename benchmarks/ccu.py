"""CCU phase 1: norms, emotions, levels and change points of many documents, and of a long one.

A document has about 40 segments. The commands of each task run on one reference and a submission of
its own; `score` validates too.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import partial
from pathlib import Path

import numpy as np

from benchmarks.measuring import Benchmark, Step, hlteval
from benchmarks.streams import Row, Stream, found, streams

TASKS = ("nd", "ed", "vd", "ad", "cd")
SEGMENTS = 40
SIZES = (1, 50, 200, 1_000, 5_000)
_COLUMNS = {
    "nd": "file_id norm start end status llr",
    "ed": "file_id emotion start end llr",
    "vd": "file_id start end valence_continuous",
    "ad": "file_id start end arousal_continuous",
    "cd": "file_id timestamp llr direction_impact strength_impact",
}
_INFO = "catalog_id version file_uid type length"
_RATED = "user_id file_id segment_id valence_continuous valence_binned arousal_continuous"


def steps(size: int, folder: Path, *, single: bool = False) -> Iterator[Step]:
    """Read both, then validate and score each task, one also in `official`."""
    documents = streams(1 if single else size, size if single else SEGMENTS, _random(0))
    reference, systems = _write(documents, folder)
    for task in TASKS:
        system = systems / f"CCU_P1_TA1_{task.upper()}_NIST_LDC2022R17-V1_20230101_000000"
        sides, words = [reference, system], ("-r", reference, "-s", system)
        if task == "vd":
            validate = hlteval("validate", f"ccu-{task}", system, "--against", reference)
            yield Step(f"validate ccu-{task}", validate, sides)
        score = hlteval("score", f"ccu-{task}", *words)
        yield Step(f"score ccu-{task}", score, sides)
        yield Step(f"score ccu-{task}, official", (*score, "--profile", "official"), sides)


def _random(side: int) -> np.random.Generator:
    return np.random.default_rng([7, side])


def _write(documents: Iterable[Stream], folder: Path) -> tuple[Path, Path]:
    """The reference, and the folder of the submissions."""
    reference, systems, errors = folder / "reference", folder / "submissions", _random(1)
    rows: dict[str, list[Row]] = {name: [] for name in _REFERENCE}
    for document in documents:
        for name, lines in _annotation(document):
            rows[name] += lines
        for task in TASKS:
            place = systems / f"CCU_P1_TA1_{task.upper()}_NIST_LDC2022R17-V1_20230101_000000"
            own = [(document.name, *row) for row in found(task, document, errors)]
            _table(place / f"{document.name}.tab", _COLUMNS[task], own)
    for name, columns in _REFERENCE.items():
        _table(reference / name, columns, rows[name])
    listed = [(name, "True", "", f"{name}.tab") for (name,) in rows[_INDEX]]
    for place in systems.iterdir():
        _table(place / "system_output.index.tab", "file_id is_processed message file_path", listed)
    return reference, systems


_INDEX = "index_files/synthetic.system_input.index.tab"
_REFERENCE = {
    _INDEX: "file_id",
    "docs/file_info.tab": _INFO,
    "docs/segments.tab": "file_id segment_id start end",
    "docs/versions_per_file.tab": "file_id emotions_count valence_arousal_count norms_count "
    "changepoint_count",
    "data/norms.tab": "user_id file_id segment_id norm status",
    "data/emotions.tab": "user_id file_id segment_id emotion multi_speaker",
    "data/valence_arousal.tab": f"{_RATED} arousal_binned",
    "data/changepoint.tab": "user_id file_id timestamp direction_impact strength_impact evidence",
}
"""The tables of the reference, with their columns."""


def _annotation(document: Stream) -> Iterator[tuple[str, list[Row]]]:
    """The rows of a document in each table of the reference."""
    name, spans = document.name, document.segments
    ids = [f"{name}_{number:04}" for number in range(1, 1 + len(spans))]
    yield _INDEX, [(name,)]
    yield "docs/file_info.tab", [("SYN", "V1.0", name, document.modality, document.length)]
    yield "docs/segments.tab", [(name, ids[at], *span) for at, span in enumerate(spans)]
    yield "docs/versions_per_file.tab", [(name, 3, 3, 1, 1)]
    yield "data/norms.tab", [(1001, name, ids[at], *row) for at, *row in document.norms]
    yield (
        "data/emotions.tab",
        [
            (who, name, ids[at], label, "EMPTY_NA" if label == "none" else "FALSE")
            for who, at, label in document.emotions
        ],
    )
    levels = []
    for who, at, *both in document.levels:
        cells = [(level, 1 + (level - 1) // 200) if level else ("noann",) * 2 for level in both]
        levels.append((who, name, ids[at], *cells[0], *cells[1]))
    yield "data/valence_arousal.tab", levels
    points = [(1001, name, int(at), "negative", impact, "-") for at, impact in document.changes]
    yield "data/changepoint.tab", points


def _table(path: Path, columns: str, rows: Iterable[Row]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    lines = [columns.split(), *rows]
    path.write_text("".join("\t".join(map(str, line)) + "\n" for line in lines), "utf-8")


BENCHMARKS = (
    Benchmark("ccu", "documents", SIZES, (1, 20), steps),
    Benchmark(
        "ccu",
        "segments in one document",
        (1, 100, 1_000, 10_000),
        (1, 50),
        partial(steps, single=True),
    ),
)
