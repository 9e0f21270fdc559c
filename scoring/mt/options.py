"""The options of scoring translations."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal

import polars as pl

from hlteval.scoring.ambiguous_places import resolved, with_entries

#: Segments, each as its document and its identifier.
Pairs = frozenset[tuple[str, str]]

#: What is computed unless metrics are named. METEOR needs Java, and is never left out silently.
DEFAULT_METRICS = ("bleu", "chrf", "chrf_pp", "ter")
METEOR = "meteor"
METRICS = (METEOR, *DEFAULT_METRICS)
Tokenizer = Literal["13a", "intl", "char", "none"]


#: What decides of a situation frame whether it is correct, and the segment that justifies it.
FRAMES = ("document", "type", "place", "segment")


@dataclass(frozen=True)
class Justifications:
    """The segments that justify correct situation frames (section 15.2).

    A frame is correct if the reference has one of its document, type and place, which is any of the
    entries of an ambiguous place (`ambiguous_places`); frames without a place are correct beside
    such a frame of the reference.

    Attributes:
        submitted: the frames of a submission (`FRAMES`).
        reference: those of the reference, of all annotators.
    """

    submitted: pl.DataFrame
    reference: pl.DataFrame

    @cached_property
    def correct(self) -> pl.DataFrame:
        """The frames of the submission that are correct, in its order."""
        key = list(FRAMES[:-1])
        reference = with_entries(self.reference.select(key)).unique(maintain_order=True)
        system = resolved(with_entries(self.submitted), reference, key[:-1])
        return system.join(reference, on=key, how="semi", nulls_equal=True, maintain_order="left")

    @property
    def frames(self) -> pl.DataFrame:
        """Those of the correct frames that name a segment."""
        return self.correct.filter(pl.col("segment").fill_null("") != "")

    @cached_property
    def pairs(self) -> Pairs:
        """The segments, each once."""
        return frozenset(self.frames.select("document", "segment").unique().iter_rows())


@dataclass(frozen=True)
class TranslationOptions:
    """What was chosen.

    Attributes:
        metrics: what is computed, in order.
        subset: the only segments that are scored; None for all.
        sf_justifications: situation frames whose justifications are scored; None for all segments.
        sf_reference: the frames by which these are judged.
        neighbours: how many segments before and after each of these assessors see.
        protect_urls: whether URLs, e-mail addresses, @names and #tags are one token each.
        tokenize: the tokenizer of BLEU.
        lowercase: whether BLEU, chrF and chrF++ ignore case; METEOR and TER always do.
        meteor_jar: path of METEOR 1.5; that of the package pycocoevalcap if empty.
        no_paraphrases: METEOR without its table of paraphrases.
        sf_scores: the scores of situation frames by document, and by what they were found in.
    """

    metrics: tuple[str, ...] = DEFAULT_METRICS
    subset: Pairs | None = None
    sf_justifications: pl.DataFrame | None = None
    sf_reference: pl.DataFrame | None = None
    neighbours: int = 1
    protect_urls: bool = False
    tokenize: Tokenizer = "13a"
    lowercase: bool = False
    meteor_jar: str = ""
    no_paraphrases: bool = False
    sf_scores: Mapping[str, Mapping[str, float]] = field(default_factory=dict)

    @cached_property
    def justifications(self) -> Justifications | None:
        """The segments that justify correct situation frames, if only these are scored."""
        if self.sf_justifications is None or self.sf_reference is None:
            return None
        return Justifications(self.sf_justifications, self.sf_reference)

    @property
    def only(self) -> Pairs | None:
        """The only segments that are scored; None for all."""
        if self.justifications is None:
            return self.subset
        own = self.justifications.pairs
        return own if self.subset is None else own & self.subset
