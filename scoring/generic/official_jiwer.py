"""jiwer 4: error rates of words and characters as it computes them.

Texts that are not as many on both sides are refused. Only runs of white space and spaces separate
words; a single tab or no-break space is part of a word. Characters are those of the text without
white space at its ends. The rate of an empty reference is the number of insertions.
"""

import string
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

from hlteval.scoring.generic.edits import EDITS
from hlteval.scoring.generic.transcripts import Transcripts, normalise
from hlteval.scoring.metric import Replicates, Tables

#: White space of Python, which has some separators more than Unicode's white space.
_SPACE = r"[\s\x1c-\x1f]"
_ASCII_SPACE = f"[{string.whitespace}]"


@dataclass(frozen=True)
class OfficialTranscripts(Transcripts):
    """How jiwer compares transcripts."""

    def score(self, total: pl.DataFrame) -> tuple[dict[str, float | None], Tables]:
        """The values; none where one side lacks a segment."""
        values, tables = super().score(total)
        if total.select(pl.col("missing") + pl.col("extra")).item():
            return dict.fromkeys(values), {
                "scorings": tables["scorings"].with_columns(value=pl.lit(None, pl.Float64))
            }
        return values, tables

    def notes(self, total: pl.DataFrame) -> tuple[str, ...]:
        """Why there are no values."""
        if total.select(pl.col("missing") + pl.col("extra")).item():
            return ("jiwer refuses a different number of segments on both sides: no values",)
        return ()

    def words(self, texts: pl.Series) -> pl.Series:
        """The words between spaces, once runs of white space are a space."""
        texts = normalise(texts, self.options)
        if self.options.standardize:
            texts = texts.str.replace_all(_ASCII_SPACE, " ")
        return _strip(texts.str.replace_all(f"{_SPACE}{{2,}}", " ")).str.extract_all("[^ ]+")

    def characters(self, texts: pl.Series) -> pl.Series:
        """The texts without white space at their ends, as written."""
        return _strip(texts)

    def rates(self, edits: Mapping[str, NDArray[np.float64]]) -> Replicates:
        """WER, MER and WIL; of an empty reference the number of insertions, 1 and 1, or 0."""
        hits, substitutions, insertions, deletions = (edits[edit] for edit in EDITS)
        empty = hits + substitutions + deletions == 0
        some = (insertions > 0).astype(np.float64)
        values = super().rates(edits)
        instead = {"wer": insertions, "mer": some, "wil": some}
        return {name: np.where(empty, instead[name], value) for name, value in values.items()}


def _strip(texts: pl.Series) -> pl.Series:
    """Texts without white space at their ends."""
    return texts.str.replace_all(rf"^{_SPACE}+|{_SPACE}+$", "")
