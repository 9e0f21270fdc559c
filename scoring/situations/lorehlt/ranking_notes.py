"""What a reader of the scores of situation frames must know."""

from __future__ import annotations

from collections.abc import Iterator

import polars as pl

from hlteval.findings.counts import count_of
from hlteval.scoring.situations.lorehlt.frame_sides import Annotations
from hlteval.scoring.situations.lorehlt.knowledge_base import is_nil
from hlteval.scoring.situations.lorehlt.scored_frames import ScoredFrames

#: What is missing where the public scorer stops, by the fields of `Stops`.
_MISSING = {
    "reading": "no official score",
    "ranking": "no official scores but those of sentiments",
    "numeric": "no official ndcg_sec",
    "sentiments": "no official scores of sentiments",
}


def notes(scored: ScoredFrames) -> Iterator[str]:
    """The notes, in order."""
    annotations = scored.annotations
    yield from _stops(scored)
    yield from _unscored(annotations)
    if annotations.cropped:
        most = annotations.options.max_frames
        yield (
            f"only the {most:,} most confident frames of the submission are scored; "
            f"{annotations.cropped:,} are left out"
        )
    if annotations.several:
        yield _drawn(scored)
    if not scored.official and annotations.mentions is None:
        yield from _by_name(annotations)
    if scored.official and not scored.stopped:
        yield from _ties(scored)


def _unscored(annotations: Annotations) -> Iterator[str]:
    """The frames that are not scored, and how they would be."""
    frames = annotations.unscored_frames
    if frames.is_empty():
        return
    documents = frames["docid"].n_unique()
    were = "was" if frames.height == 1 else "were"
    note = (
        f"{count_of(frames.height, 'frame')} of {count_of(documents, 'document')} {were} not scored"
    )
    if annotations.options.scored is None:
        yield f"{note}; list documents that were annotated and are empty with --scored"
    else:
        yield f"{note}: --scored does not list {'it' if documents == 1 else 'them'}"


def _stops(scored: ScoredFrames) -> Iterator[str]:
    """Where the public scorer stops, and which scores are missing."""
    for field, reason in scored.stops._asdict().items():
        skipped = field in {"numeric", "sentiments"} and scored.annotations.options.no_sec
        if reason and not skipped:
            yield f"{_MISSING[field]}: the public scorer stops with an error, because {reason}"
        if field == "reading" and reason:
            return


def _drawn(scored: ScoredFrames) -> str:
    annotations = scored.annotations
    given = annotations.options.annotators is not None
    how = "given" if given else f"drawn with seed {annotations.seed}"
    number = annotations.several
    several = "1 document has" if number == 1 else f"{number:,} documents have"
    return f"{several} several annotators; one of each is {how}: see the table annotators"


def _by_name(annotations: Annotations) -> Iterator[str]:
    """The NIL identifiers of the system that nothing resolves, and what would resolve them."""
    options = annotations.options
    tables = {"source": annotations.drawn.system_felt, "place": annotations.system}
    if options.no_sec:
        del tables["source"]
    numbers = {
        column: table.filter(is_nil(column))[column].n_unique() for column, table in tables.items()
    }
    named = [count_of(number, f"NIL {column}") for column, number in numbers.items() if number]
    if named:
        lacking = {
            "--system-edl": annotations.system_mentions,
            "--reference-edl": options.reference_edl,
        }
        flags = [flag for flag, table in lacking.items() if table is None or table.is_empty()]
        were = "was" if sum(numbers.values()) == 1 else "were"
        resolve = "resolves" if len(flags) == 1 else "resolve"
        yield (
            f"{' and '.join(named)} of the submission {were} compared by name; "
            f"{' and '.join(flags)} {resolve} {'it' if were == 'was' else 'them'}"
        )


def _ties(scored: ScoredFrames) -> Iterator[str]:
    ties = scored.shown.system.filter(pl.len().over("gravity") > 1)
    if scored.shown.system.height > _STABLE and ties["gain"].n_unique() > 1:
        yield (
            f"{ties.height:,} situations share their gravity with others: the order of the public "
            "scorer, and with it ndcg.standard, is that of NumPy 1.17, and another one with newer "
            "versions; vindictive and forgiving do not depend on it"
        )


#: The public scorer's sort is stable up to this number of situations.
_STABLE = 16
