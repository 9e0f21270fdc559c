"""What the public scorer knows of both sides beside the documents that are scored.

It reads all files of a submission before it selects documents: types of columns are guessed, and
files counted, over all of them. What is counted here are rows of `detections` without a document.
"""

from __future__ import annotations

from abc import abstractmethod
from typing import ClassVar

import polars as pl

from hlteval.representation import Corpus
from hlteval.scoring.ccu.detection_metric import Detection, Values
from hlteval.scoring.ccu.detections import conformed

#: The element of attributes that names such a column of a submission.
WHOLE = "whole"
#: The criteria: how many files an index of each side lists; how many records the system has; how
#: many scores or places have decimals, or are none at all; and how many change points of the
#: reference are `none`, or not finished: these are attributes of this element. The class is the
#: side or the column, the number in `distance`.
FILES, RECORDS, NUMBERS, WORDS = "files", "records", "numbers", "words"
_INPUTS = "system_input.index.tab"
#: What a note begins with where there are no values.
CRASH = "no official score: the public scorer crashes"


def rows(reference: Corpus, system: Corpus, table: str) -> pl.DataFrame:
    """The counts of a batch.

    Args:
        reference: all documents.
        system: all documents.
        table: what the task has records of: `instances` or `changes`.
    """
    done = system.documents.filter(pl.col("processed").fill_null(value=True))["row"]
    records = getattr(system, table).filter(pl.col("document").is_in(done.implode()))
    counts = [
        (FILES, "reference", documents_of_index(reference).height),
        (FILES, "system", system.documents.filter(pl.col("processed").is_not_null()).height),
        (RECORDS, "system", records.height),
    ]
    if table == "changes":
        unfinished = reference.attributes.filter(pl.col("element") == WORDS)
        segments = pl.concat([reference.regions["start"], reference.regions["end"]])
        counts += [
            *((NUMBERS, name, _written(system, records, name)) for name in ("llr", "timestamp")),
            (NUMBERS, "reference", _fractions(reference.changes["at"])),
            (NUMBERS, "segments", _fractions(segments)),
            (WORDS, "reference", reference.changes["at"].null_count() + unfinished.height),
        ]
    columns = ["criterion", "class", "distance"]
    return conformed(pl.DataFrame(counts, schema=columns, orient="row"))


def _written(system: Corpus, records: pl.DataFrame, name: str) -> int:
    """How many documents have a column of numbers that are not all written without decimals."""
    whole = system.attributes.filter(pl.col("element") == WHOLE, pl.col("name") == name)
    return records.join(whole, on="document", how="anti")["document"].n_unique()


def _fractions(values: pl.Series) -> int:
    """How many values have decimals, or are missing."""
    number = values.fill_nan(None)
    whole = (number == number.round()) & number.is_finite()
    return int((~whole.fill_null(value=False)).sum())


def counted(total: pl.DataFrame, criterion: str, name: str) -> int:
    """A number of the inventory; 0 where there is none."""
    own = total.filter(pl.col("criterion") == criterion, pl.col("class") == name)
    return int(own["distance"].sum())


def has_none(total: pl.DataFrame, criterion: str, name: str) -> bool:
    """Whether a number of the inventory is known to be 0; not of some documents by themselves."""
    own = total.filter(pl.col("criterion") == criterion, pl.col("class") == name)
    return own.height > 0 and own["distance"].sum() == 0


def documents_of_index(reference: Corpus) -> pl.DataFrame:
    """The documents of the first index of inputs."""
    indexes = reference.attributes.filter(
        pl.col("element") == "index", pl.col("name").str.ends_with(_INPUTS)
    )
    return indexes.filter(pl.col("name") == pl.col("name").min()).select("document").unique()


class OfficialDetection(Detection):
    """A metric that counts what the scorer knows, too; nothing has a value where it crashes."""

    records: ClassVar[str]
    """The table of which the task has records: `instances` or `changes`."""

    def statistics(
        self, reference: Corpus, system: Corpus, *, alignment: bool = True
    ) -> tuple[pl.DataFrame, pl.DataFrame | None]:
        """The evaluation labels of a batch of documents, and what is counted of all of them."""
        labels, _ = super().statistics(reference, system, alignment=alignment)
        return pl.concat([labels, rows(reference, system, self.records)]), None

    @abstractmethod
    def crash(self, total: pl.DataFrame) -> str:
        """Where the scorer crashes; empty if it does not."""

    def notes(self, total: pl.DataFrame) -> tuple[str, ...]:
        """Say what a reader of the values must know."""
        crash = [f"{CRASH} {where}"] if (where := self.crash(total)) else []
        return (*crash, *super().notes(total))

    def none_of_a_crash(self, values: Values, total: pl.DataFrame) -> Values:
        """The values, None each where the scorer crashes."""
        return dict.fromkeys(values) if self.crash(total) else values
