"""The text that is made of the words of a file, and its segments and tokens."""

from typing import NamedTuple

import numpy as np
import polars as pl

from hlteval.representation.tag_schemes import Whole


class MadeText(NamedTuple):
    """The text that is made of the words of a file.

    Attributes:
        texts: that of each document.
        starts: where each token starts in the text of its document.
        ends: where it ends.
        document: the number of the document of each token.
    """

    texts: list[str]
    starts: Whole
    ends: Whole
    document: Whole

    @classmethod
    def of(cls, tokens: pl.DataFrame, documents: int) -> "MadeText":
        """The words with spaces between them, and line breaks between sentences.

        Args:
            tokens: `word`, `document`, whether a sentence `begins` at each, and possibly `glued`,
                whether no space is before it; in the order of their documents.
            documents: how many documents there are.
        """
        words, begins = tokens["word"], tokens["begins"].to_numpy()
        length = words.str.len_chars().to_numpy()
        if "glued" in tokens.columns:
            inner = pl.when("glued").then(pl.lit("")).otherwise(pl.lit(" "))
            between = pl.when("begins").then(pl.lit("\n")).otherwise(inner)
            text = tokens.select(pl.concat_str(between, "word").str.join("")).item()
            apart = tokens.select(between.str.len_chars()).to_series().to_numpy().astype(np.int64)
            ends = np.cumsum(length + apart)
        else:  # joined once, which takes a third of the time
            codes = bytearray(words.str.join(" ").cast(pl.Binary).item())
            ends = np.cumsum(length + np.uint32(1), dtype=np.int64)
            breaks = ends[:-1][begins[1:]]
            if not codes.isascii():
                size = words.str.len_bytes().to_numpy() + np.uint32(1)
                breaks = np.cumsum(size, dtype=np.int64)[:-1][begins[1:]]
            np.frombuffer(codes, dtype=np.uint8)[breaks - 1] = ord("\n")
            text = codes.decode()
            ends -= 1
        starts, document = ends - length, tokens["document"].to_numpy()
        bounds = np.searchsorted(document, np.arange(documents + 1))
        size = np.diff(bounds)
        filled = np.flatnonzero(size)
        base, limit = np.zeros((2, documents), dtype=np.int64)
        base[filled], limit[filled] = starts[bounds[filled]], ends[bounds[filled + 1] - 1]
        texts = [text[a:b] for a, b in zip(base.tolist(), limit.tolist(), strict=True)]
        offset = np.repeat(base, size)
        starts -= offset
        ends -= offset
        return cls(texts, starts, ends, document)

    def tables(self, tokens: pl.DataFrame) -> dict[str, pl.DataFrame]:
        """The segments and tokens.

        Args:
            tokens: as `of` takes them, with their `record` and possibly `origin` and `tag`.
        """
        begins = tokens["begins"].to_numpy()
        opening = np.flatnonzero(begins)
        closing = np.r_[opening[1:], len(begins)][: len(opening)] - 1
        tag = tokens["tag"] if "tag" in tokens.columns else pl.lit(None, pl.String)
        every = slice(None)
        rows = self.place_rows(tokens, every, every).with_columns(
            tokens["word"].alias("text"), tag=tag
        )
        segment = pl.Series(np.repeat(np.arange(len(opening)), closing - opening + 1))
        segments = self.place_rows(tokens, opening, closing)
        return {"segments": segments, "tokens": rows.with_columns(segment_row=segment)}

    def place_rows(
        self, tokens: pl.DataFrame, first: Whole | slice, last: Whole | slice
    ) -> pl.DataFrame:
        """Rows that start and end with some tokens, at their places; see `tables`."""
        record = tokens["record"]  # of a slice, which is all of them, not copied
        origin = tokens["origin"].to_numpy()[first] if "origin" in tokens.columns else None
        rows = pl.DataFrame(
            {
                "document": self.document[first],
                "record": record if isinstance(first, slice) else record.to_numpy()[first],
                "start": self.starts[first],
                "end": self.ends[last],
            }
        )
        origins = pl.lit(0, pl.Int64) if origin is None else pl.Series(origin)
        return rows.with_columns(row=pl.int_range(pl.len(), dtype=pl.Int64), origin=origins)
