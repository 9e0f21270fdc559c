"""What annotators judge in tasks that anybody can declare: labels as the metric counts them.

Labels are mapped and left out as for scores, and labels that are numbers are compared as such.
"""

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

import polars as pl

from hlteval.representation import Corpus, to_number

if TYPE_CHECKING:
    from hlteval.scoring.generic.averages import LabelOptions
    from hlteval.scoring.generic.labels import Options
    from hlteval.tasks.agreement import Agreement


def with_mentions(agreement: "Agreement", options: "LabelOptions") -> "Agreement":
    """Return the agreement on mentions, with the labels that options map and leave out."""
    return replace(agreement, as_judged=partial(_prepare, options, "mentions"))


def with_labels(agreement: "Agreement", options: "Options") -> "Agreement":
    """Return the agreement on labels of documents: of their names, or of their numbers."""
    are_numbers = options.kind == "numbers"
    units = (unit for unit in agreement.units if (unit.scale == "interval") == are_numbers)
    return replace(agreement, units=tuple(units), as_judged=partial(_prepare, options, "instances"))


def _prepare(options: "LabelOptions", table: str, corpus: Corpus) -> Corpus:
    """Return a corpus with the rows and labels of a table that count; one number per document."""
    from hlteval.scoring.generic.labels import Options

    rows: pl.DataFrame = getattr(corpus, table)
    label = options.prepare(pl.col("label"))
    if isinstance(options, Options) and options.kind == "numbers":
        numbers = rows.with_columns(label=to_number(label).cast(pl.String)).drop_nulls("label")
        rows = numbers.unique("document", keep="first", maintain_order=True)
        return corpus.replace(**{table: rows})
    if isinstance(options, Options):
        rows = options.without_low_scores(rows)
    return corpus.replace(**{table: rows.with_columns(label=label).drop_nulls("label")})
