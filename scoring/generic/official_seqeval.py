"""The numbers of seqeval 1.2, which reads tags by itself.

In the default mode the rules of conlleval keep all spans, and those of BILOU are not known; in the
strict mode a scheme drops what it does not begin and end. Without a scheme, that mode finds one by
the prefixes of the reference; nothing has a value if there is none, or if a tag is not of it. So
does the report of seqeval: its single scores are those of the default mode. Macro is over the
labels of either side, and 0 / 0 is 0. Files without tags are compared by their mentions.
"""

from collections.abc import Mapping, Set
from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np
import polars as pl

from hlteval.representation import Corpus
from hlteval.representation.tag_schemes import (
    ALLOWED,
    PREFIXES,
    Scheme,
    TagSequence,
    repair,
    strict,
)
from hlteval.scoring.generic import semeval
from hlteval.scoring.generic.averages import Floats, LabelCounts
from hlteval.scoring.generic.mentions import Mentions
from hlteval.scoring.generic.spans import Whole
from hlteval.scoring.metric import Replicates
from hlteval.scoring.ratios import Rates


@dataclass(frozen=True)
class OfficialSeqeval(Mentions):
    """How seqeval reads tags, and averages."""

    extras: ClassVar = (*Mentions.extras, "refused")

    def statistics(
        self, reference: Corpus, system: Corpus, *, alignment: bool = True
    ) -> tuple[pl.DataFrame, pl.DataFrame | None]:
        """The counts of a batch of documents, of spans as seqeval reads them."""
        both, scheme = (reference, system), self.options.scheme
        refused = False
        if scheme == "auto" and self.options.mode == "strict" and _has_tags(reference):
            tags = (_sequence(corpus, strict=True) for corpus in both)
            gold, found = ({PREFIXES[at] for at in np.unique(each.prefix)} for each in tags)
            scheme = detect(gold)
            refused = scheme == "auto" or not found <= {*ALLOWED[scheme]}
        sides = (self._with_spans(corpus, scheme) for corpus in both)
        counts, aligned = super().statistics(*sides, alignment=alignment)
        whole = pl.col("label").is_null() & refused
        return counts.with_columns(refused=whole.cast(pl.Int64)), aligned

    def _with_spans(self, corpus: Corpus, scheme: Scheme | Literal["auto"]) -> Corpus:
        """A corpus whose mentions are the spans of its tags."""
        if not _has_tags(corpus):
            return corpus
        strictly = self.options.mode == "strict" and scheme != "auto"
        tags = _sequence(corpus, strict=strictly)
        spans = strict(tags, scheme) if strictly and scheme != "auto" else repair(tags)
        tokens = corpus.tokens
        first, last = tokens[spans.first], tokens[spans.last]
        mentions = first.select(
            *("document", "origin", "record", "start"),
            row=pl.int_range(pl.len(), dtype=pl.Int64),
            mention=pl.lit(""),
            label=pl.Series(tags.labels, dtype=pl.String).gather(spans.label),
            end=last["end"],
        )
        return corpus.replace(mentions=mentions)

    def weighted_mean(
        self, rates: Rates[Floats], weights: Floats, counted: LabelCounts
    ) -> Rates[Floats]:
        """Without an entity in the reference, precision and F1 depend on the system."""
        means = super().weighted_mean(rates, weights, counted)
        zero = 1.0 if self.options.undefined == 1 else 0.0
        nothing = weights.sum(1) == 0
        silent = np.where(counted.counts[:, :, 1].sum(1) == 0, zero, 0.0)
        values = (silent, np.full(len(silent), zero), silent)
        pairs = zip(values, means, strict=True)
        return Rates(*(np.where(nothing, value, mean) for value, mean in pairs))

    def values(self, counted: LabelCounts, extras: Mapping[str, Whole]) -> Replicates:
        """The averages and the accuracy of tokens; seqeval knows no counts of SemEval."""
        known = super().values(counted, extras)
        others, refused = {*semeval.MEASURES}, extras["refused"] > 0
        return {
            name: np.where(refused, np.nan, value)
            for name, value in known.items()
            if name.partition(".")[0] not in others
        }

    def notes(self, total: pl.DataFrame) -> tuple[str, ...]:
        """Why nothing has a value, if so, and the notes on labels."""
        reason = "seqeval refuses: its strict mode finds no scheme that has the tags of both sides"
        return (*[reason][: int(total["refused"].sum())], *super().notes(total))


def detect(letters: Set[str]) -> Scheme | Literal["auto"]:
    """The scheme that seqeval finds by prefixes; `auto` for none.

    Examples:
        >>> detect({"B", "O"}), detect({"I", "O"}), detect({"S"})
        ('IOB2', 'auto', 'IOBES')
    """
    needed: Mapping[Scheme, str] = {"IOB2": "B", "IOE2": "E", "IOBES": "BE", "BILOU": "BL"}
    for scheme, some in needed.items():
        alone = letters in ({"S"}, {"U"}) and letters <= {*ALLOWED[scheme]}
        if alone or {*some} <= letters <= {*ALLOWED[scheme]}:
            return scheme
    return "auto"


def _has_tags(corpus: Corpus) -> bool:
    """Whether tokens have tags."""
    tags = corpus.tokens["tag"]
    return tags.null_count() < len(tags)


def _sequence(corpus: Corpus, *, strict: bool = False) -> TagSequence:
    """The tags of a corpus, sentence after sentence."""
    sentence = corpus.tokens["segment_row"].fill_null(-1)
    document = corpus.tokens["document"]
    begins = (sentence != sentence.shift(1)) | (document != document.shift(1))
    tags = corpus.tokens["tag"].fill_null("O")
    return TagSequence.parse(tags, begins.fill_null(value=True).to_numpy(), strict=strict)
