"""Agreement of annotators by task: its units and categories, and the measures for pairs of them.

The annotation of one annotator becomes the output of a system, with what only systems have.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

import msgspec
import polars as pl

from hlteval.extensions import lazy
from hlteval.representation import Corpus
from hlteval.scoring.agreement.units import Marked, Present, Unit

_NO_INSTANCE = ("none", "noann", "EMPTY_NA")


def _as_it_is(corpus: Corpus) -> Corpus:
    """Return an annotation that a metric takes for the output of a system as it is."""
    return corpus


@dataclass(frozen=True, slots=True)
class Agreement:
    """How agreement between annotators of a task is measured.

    Attributes:
        units: what annotators judge.
        measures: the metrics of the task by which one annotator is scored against another; the one
            that ranks if there are none here.
        as_system: makes the annotation of one annotator the output of a system.
        as_judged: makes of an annotation what is judged in it.
        with_options: what is judged with options of the metric, where these change it.
        options: values of options of the task, by name: what scoring a single annotator needs, and
            that only these measures are counted.
        why: why there are no units, after "no coefficients: "; empty where there are.
    """

    units: tuple[Unit, ...] = ()
    measures: tuple[str, ...] = ()
    as_system: Callable[[Corpus], Corpus] = _as_it_is
    as_judged: Callable[[Corpus], Corpus] = _as_it_is
    with_options: "Callable[[Agreement, Any], Agreement] | None" = None
    options: Mapping[str, str] = field(default_factory=dict)
    why: str = ""


def make_agreement(
    units: Iterable[Mapping[str, Any]],
    measures: tuple[str, ...] = (),
    as_system: str = "",
    with_options: str = "",
    options: Mapping[str, str] = MappingProxyType({}),
    why: str = "",
) -> Agreement:
    """Return the agreement that the file of a task declares."""
    return Agreement(
        tuple(map(_unit, units)),
        measures,
        lazy(as_system) if as_system else _as_it_is,
        with_options=lazy(with_options) if with_options else None,
        options=dict(options),
        why=why,
    )


def _unit(table: Mapping[str, Any]) -> Unit:
    """Return a unit that a file declares: its class knows the names and types of its fields."""
    kind: type[Unit] = {"marked": Marked, "present": Present}[table["kind"]]
    unit = kind(**{name: value for name, value in table.items() if name != "kind"})
    return msgspec.convert(vars(unit), kind)


def detections(corpus: Corpus) -> Corpus:
    """Norms, emotions and change points with equal detection scores, without segments of none."""
    instances = corpus.instances.filter(~pl.col("label").is_in(_NO_INSTANCE))
    return corpus.replace(
        instances=instances.with_columns(llr=pl.lit(1.0)),
        changes=corpus.changes.with_columns(llr=pl.lit(1.0)),
    )


def translations(corpus: Corpus) -> Corpus:
    """The translations of a person in the place of those of a system."""
    role = pl.when(pl.col("role") == "reference").then(pl.lit("system")).otherwise("role")
    return corpus.replace(translations=corpus.translations.with_columns(role=role))


def situations(corpus: Corpus) -> Corpus:
    """Frames of equal confidence, each a record of its own, as a system writes them."""
    frames = corpus.frames
    record = pl.int_range(1, pl.len() + 1, dtype=pl.Int64)
    return corpus.replace(frames=frames.with_columns(record=record, confidence=pl.lit(1.0)))


def templettes(corpus: Corpus) -> Corpus:
    """The fills that an annotator requires of a system, in its notation.

    Optional instances and slots are left out, and so are alternatives but the first, and minimal
    strings.
    """
    frames = corpus.frames.filter(~pl.col("optional").fill_null(False))
    dropped = corpus.frames.join(frames, on="row", how="anti").select("document", target="frame")
    fills = corpus.fills.filter(
        pl.col("alternative") == 1,
        ~pl.col("optional"),
        pl.col("frame_row").is_in(frames["row"].implode()),
    )
    fills = fills.join(dropped, on=["document", "target"], how="anti", maintain_order="left")
    brackets = pl.lit(None, corpus.fills.schema["brackets"])
    return corpus.replace(
        frames=frames,
        fills=fills.with_columns(extents=pl.col("extents").list.head(1), brackets=brackets),
    )
