"""Transcripts: error rates of words and of characters.

Texts are normalised as declared, divided into words at white space, and aligned so that the edits
are fewest (`edits`). Counts are summed over all segments, then divided (H hits, S substitutions, D
deletions, I insertions, N and P words of reference and system):

    WER = (S + D + I) / N        MER = (S + D + I) / (H + S + D + I)
    WIL = 1 - H / N * H / P      CER as WER, over characters

Characters are code points of the words, with a single space between words.

Conventions:
    Segments are paired by document and name. A document in which a side has a segment without a
    name is compared as a whole: its segments are joined in order. A segment that one side lacks is
    empty there. Counts are a row per document; they add. Without words in the reference, rates are
    undefined.

References:
    Morris, Maier and Green 2004 (MER, WIL).
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Literal

import numpy as np
import polars as pl
from numpy.typing import NDArray

from hlteval.findings.counts import count_of
from hlteval.representation import Corpus, first_case
from hlteval.scoring.generic.edits import EDITS, as_items, edit_matrix
from hlteval.scoring.metric import AdditiveMetric, Replicates, Sums, Tables, columns_of, scorings
from hlteval.scoring.ratios import plain, ratio

UNITS = ("words", "characters")
#: The counts of edits by unit, as columns.
EDIT_COLUMNS = tuple(f"{unit}.{edit}" for unit in UNITS for edit in EDITS)
#: What is counted of a document: segments, those that the system lacks or that only it has, those
#: in another letter case, edits.
ADDED = ("segments", "missing", "extra", "other_case", *EDIT_COLUMNS)
COUNTS: Mapping[str, pl.DataType | type[pl.DataType]] = {
    "document": pl.String,
    **dict.fromkeys(ADDED, pl.Int64),
}
#: The measures of the table `scorings` by unit.
RATES: Mapping[str, tuple[str, ...]] = {"words": ("wer", "mer", "wil"), "characters": ("cer",)}
_KEY = ("document", "segment")


@dataclass(frozen=True)
class Options:
    """How texts are normalised before they are compared.

    Attributes:
        lowercase: whether letter case is ignored.
        punctuation: whether punctuation stays, or is removed.
        unicode: the normalization form of Unicode; `none` compares as written.
        contiguous: whether documents are compared as a whole, whatever their segments are.
        standardize: whether contractions of English are expanded and what is in square or angle
            brackets is removed, in lower case: the transformation of this name of jiwer.
        measures: what is computed, by the first parts of its names; all if empty.
    """

    lowercase: bool = False
    punctuation: Literal["keep", "remove"] = "keep"
    unicode: Literal["none", "NFC", "NFKC"] = "none"
    contiguous: bool = False
    standardize: bool = False
    measures: tuple[str, ...] = ()

    @property
    def ignores_case(self) -> bool:
        """Whether letter case does not count."""
        return self.lowercase or self.standardize


#: Whether only one side of a segment is in capitals, or letter case is all that differs.
_SIDES = [pl.col("reference"), pl.col("system")]
_CAPITALS = [
    (side == side.str.to_uppercase()) & (side != side.str.to_lowercase()) for side in _SIDES
]
_LOWER = [side.str.to_lowercase() for side in _SIDES]
_OTHER_CASE = (_CAPITALS[0] != _CAPITALS[1]) | ((_SIDES[0] != _SIDES[1]) & (_LOWER[0] == _LOWER[1]))


@dataclass(frozen=True)
class Transcripts(AdditiveMetric):
    """How transcripts are scored.

    Attributes:
        options: how texts are normalised.
    """

    options: Options = field(default_factory=Options)

    def statistics(
        self, reference: Corpus, system: Corpus, *, alignment: bool = True
    ) -> tuple[pl.DataFrame, pl.DataFrame | None]:
        """The counts of a batch by document, and its segments side by side.

        Examples:
            >>> row = {"row": 0, "document": 0, "origin": 0, "record": 1, "name": "1"}
            >>> sides = [
            ...     Corpus(
            ...         documents=[{"row": 0, "name": "d"}],
            ...         segments=[{**row, "start": 0, "end": len(text), "text": text}],
            ...     )
            ...     for text in ("a cat sat", "cat set")
            ... ]
            >>> metric = Transcripts()
            >>> counts, _ = metric.statistics(*sides)
            >>> metric.score(metric.total([counts]))[0]["wer"]
            0.6666666666666666
        """
        rows = paired_segments(reference, system, contiguous=self.options.contiguous)
        texts = [rows[name].fill_null("") for name in ("reference", "system")]
        words = as_items(*(self.words(text) for text in texts))
        characters = [self.characters(text).to_list() for text in texts]
        edits = np.hstack([edit_matrix(*words), edit_matrix(*characters)])
        rows = rows.with_columns(pl.Series(n, edits[:, at]) for at, n in enumerate(EDIT_COLUMNS))
        counts = rows.group_by("document", maintain_order=True).agg(
            segments=pl.len().cast(pl.Int64),
            missing=pl.col("system").is_null().sum().cast(pl.Int64),
            extra=pl.col("reference").is_null().sum().cast(pl.Int64),
            other_case=(pl.lit(not self.options.ignores_case) & _OTHER_CASE).sum().cast(pl.Int64),
            **{name: pl.col(name).sum() for name in EDIT_COLUMNS},
        )
        return counts, rows.drop(EDIT_COLUMNS[len(EDITS) :]) if alignment else None

    def words(self, texts: pl.Series) -> pl.Series:
        """The words of texts, as lists."""
        return normalise(texts, self.options).str.extract_all(r"\S+")

    def characters(self, texts: pl.Series) -> pl.Series:
        """The texts whose characters are compared."""
        return self.words(texts).list.join(" ")

    def total(self, counts: Iterable[pl.DataFrame]) -> pl.DataFrame:
        """The sums of the counts of all documents, in one row."""
        batches = (batch.select(*ADDED) for batch in counts)
        empty = pl.DataFrame(schema=dict.fromkeys(ADDED, pl.Int64))
        return pl.concat([empty, *batches]).sum()

    def score(self, total: pl.DataFrame) -> tuple[dict[str, float | None], Tables]:
        """The rates and counts by name, and the table `scorings`."""
        values = self.values_of({"": total.select(ADDED).to_numpy()})
        metrics = {name: plain(value)[0] for name, value in values.items()}
        rows = [
            {"evaluation": unit, "scoring": "all", "measure": measure, "value": value}
            for unit in UNITS
            for measure, name in (
                *((rate, rate) for rate in RATES[unit]),
                *((edit, f"{unit}.{edit}") for edit in EDITS),
            )
            if name in metrics
            for value in [metrics[name]]
        ]
        return metrics, {"scorings": scorings(rows)}

    def notes(self, total: pl.DataFrame) -> tuple[str, ...]:
        """Which segments only one side has, and whether sides are in different letter case."""
        segments, missing, extra, other_case = total.select(ADDED).row(0)[:4]
        notes = []
        if 2 * other_case > segments:
            text = f"{other_case:,} of {count_of(segments, 'segment')} in another letter case"
            notes.append(f"{text}, which counts as errors; --lowercase ignores it")
        if missing:
            notes.append(f"{count_of(missing, 'segment')} without a transcript: scored as empty")
        if extra:
            notes.append(f"{count_of(extra, 'segment')} of the system only: all words are inserted")
        return tuple(notes)

    def error_analysis(
        self,
        aligned: pl.DataFrame,
        total: pl.DataFrame,  # noqa: ARG002
    ) -> tuple[Tables, dict[str, str]]:
        """The table `confusions`: the words that were confused, inserted or deleted, and how often.

        Words of one stretch of substitutions are confused with each other in order.
        """
        return {"confusions": confusions(aligned, self)}, {}

    def document_sums(self, counts: pl.DataFrame, documents: Sequence[str]) -> Sums:
        """The counts of each document."""
        return {"": columns_of(counts, ADDED, documents)}

    def values_of(self, sums: Sums) -> Replicates:
        """The rates and counts of sums."""
        added = dict(zip(ADDED, sums[""].T.astype(np.float64), strict=True))
        values: Replicates = {}
        for unit in UNITS:
            edits = {edit: added[f"{unit}.{edit}"] for edit in EDITS}
            values |= self.rates(edits) if unit == "words" else {"cer": self.rates(edits)["wer"]}
            values |= {f"{unit}.{edit}": value for edit, value in edits.items()}
        chosen = self.options.measures
        return {n: v for n, v in values.items() if not chosen or n.partition(".")[0] in chosen}

    def rates(self, edits: Mapping[str, NDArray[np.float64]]) -> Replicates:
        """WER, MER and WIL of counts, an element each; not-a-number where they are undefined."""
        hits, substitutions, insertions, deletions = (edits[edit] for edit in EDITS)
        errors = substitutions + insertions + deletions
        reference, system = hits + substitutions + deletions, hits + substitutions + insertions
        # a system without words has preserved nothing
        preserved = np.where(system > 0, ratio(hits, system), 0.0) * ratio(hits, reference)
        return {
            "wer": ratio(errors, reference),
            "mer": ratio(errors, hits + errors),
            "wil": 1 - preserved,
        }


def paired_segments(reference: Corpus, system: Corpus, *, contiguous: bool = False) -> pl.DataFrame:
    """The segments of two corpora side by side.

    Args:
        reference: its documents have segments; one without is its text.
        system: the same documents, and possibly others.
        contiguous: whether documents are compared as a whole.

    Returns:
        `document` (its name), `segment` (its name; empty for a whole document), `reference` and
        `system`, the texts: null where a side lacks the segment. In the order of the reference,
        then of the system.

    Examples:
        >>> corpus = Corpus(documents=[{"row": 0, "name": "d", "text": "a b"}])
        >>> paired_segments(corpus, Corpus()).rows()
        [('d', '', 'a b', None)]
    """
    sides = [_segments(corpus) for corpus in (reference, system)]
    for at, side in enumerate(sides):
        sides[at] = side.with_columns(segment=pl.lit(None, pl.String)) if contiguous else side
    unnamed = pl.concat([side.filter(pl.col("segment").is_null()) for side in sides])
    whole = pl.col("document").is_in(unnamed["document"].unique().implode())
    texts = []
    for side in sides:
        named = side.with_columns(segment=pl.when(~whole).then("segment").fill_null(""))
        if named.select(_KEY).is_duplicated().any():
            rows = named.group_by(_KEY, maintain_order=True).agg(pl.col("text").str.join(" "))
        else:
            rows = named
        texts.append(rows)
    left, right = texts[0].rename({"text": "reference"}), texts[1].rename({"text": "system"})
    both = left.join(right, on=_KEY, how="left", maintain_order="left")
    extra = right.join(left, on=_KEY, how="anti", maintain_order="left")
    return pl.concat([both, extra], how="diagonal").select(*_KEY, "reference", "system")


def _segments(corpus: Corpus) -> pl.DataFrame:
    """The segments of a corpus with the names of their documents; `segment` and `text`."""
    documents = corpus.documents.select("name", "text", document="row")
    rows = corpus.segments.select("document", "text", segment="name")
    named = rows.join(documents.drop("text"), on="document", how="left", maintain_order="left")
    silent = documents.join(rows, on="document", how="anti", maintain_order="left")
    whole = silent.select("text", segment=pl.lit(None, pl.String), document="name")
    columns = ("document", "segment", "text")
    own = named.with_columns(document="name").select(columns)
    return pl.concat([own, whole.select(columns)]).with_columns(pl.col("text").fill_null(""))


def normalise(texts: pl.Series, options: Options) -> pl.Series:
    """Texts as they are compared.

    Examples:
        >>> options = Options(lowercase=True, punctuation="remove")
        >>> normalise(pl.Series(["Don't, Stop!"]), options).to_list()
        ["don't  stop "]
    """
    if options.unicode != "none":
        texts = texts.map_elements(partial(unicodedata.normalize, options.unicode), pl.String)
    if options.ignores_case:
        texts = texts.str.to_lowercase()
    if options.standardize:
        for contraction, words in CONTRACTIONS.items():
            texts = texts.str.replace_all(contraction, words)
        texts = texts.str.replace_all(_NON_WORDS, "")
    if options.punctuation == "remove":
        # apostrophes and hyphens inside a word belong to it
        texts = texts.str.replace_all(r"\B[\p{P}\p{S}]+|[\p{P}\p{S}]+\B", " ")
        texts = texts.str.replace_all(r"[\p{P}\p{S}--['\x{2019}\-]]", " ")
    return texts


#: Contractions of English and what they stand for, in order: the first that fits is replaced.
CONTRACTIONS: Mapping[str, str] = {
    "won't": "will not",
    r"can\'t": "can not",
    r"let\'s": "let us",
    r"n\'t": " not",
    r"\'re": " are",
    r"\'s": " is",
    r"\'d": " would",
    r"\'ll": " will",
    r"\'t": " not",
    r"\'ve": " have",
    r"\'m": " am",
}
#: What transcripts have in brackets is no speech: `[noise]`, `<unk>`.
_NON_WORDS = r"[<\[][^>\]]*[>\]]"


def confusions(aligned: pl.DataFrame, metric: Transcripts) -> pl.DataFrame:
    """Words that differ, the most frequent first.

    Args:
        aligned: segments side by side, as the metric gives them.
        metric: divides texts into words.

    Returns:
        `reference` (null for an insertion), `system` (null for a deletion), `count`.
    """
    from rapidfuzz.distance import Levenshtein

    changed = aligned.filter(pl.col("reference").ne_missing(pl.col("system")))
    ours, theirs = (
        metric.words(changed[name].fill_null("")).to_list() for name in ("reference", "system")
    )
    pairs: list[tuple[str | None, str | None]] = []
    for reference, system in zip(ours, theirs, strict=True):
        for kind, at, place in Levenshtein.editops(reference, system).as_list():
            pairs.append(
                (
                    None if kind == "insert" else reference[at],
                    None if kind == "delete" else system[place],
                )
            )
    schema = {"reference": pl.String, "system": pl.String}
    counts = pl.DataFrame(pairs, schema, orient="row").group_by("reference", "system").len("count")
    order = ("count", "reference", "system")
    return counts.cast({"count": pl.Int64}).sort(order, descending=[True, False, False])


def readable(rows: pl.DataFrame) -> pl.DataFrame:
    """Segments side by side with the outcome of each.

    Examples:
        >>> rows = {"reference": ["a", None], "system": ["a", "b"], "words.hits": [1, 0]}
        >>> rows |= {f"words.{edit}": [0, 0] for edit in ("substitutions", "deletions")}
        >>> readable(pl.DataFrame(rows | {"words.insertions": [0, 1]}))["outcome"].to_list()
        ['correct', 'extra']
    """
    edits = pl.sum_horizontal(f"words.{edit}" for edit in EDITS[1:])
    outcome = first_case(
        (pl.col("reference").is_null(), "extra"),
        (pl.col("system").is_null(), "missing"),
        (edits > 0, "different"),
        otherwise="correct",
    )
    return rows.with_columns(outcome=outcome, errors=edits)
