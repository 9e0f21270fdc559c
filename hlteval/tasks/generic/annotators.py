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
    return replace(agreement, as_judged=partial(_prepare_mentions, options))


def _prepare_mentions(options: "LabelOptions", corpus: Corpus) -> Corpus:
    """Return a corpus without the mentions that are left out, and with the labels that count."""
    mentions = corpus.mentions.with_columns(label=options.prepare(pl.col("label")))
    return corpus.replace(mentions=mentions.drop_nulls("label"))


def with_labels(agreement: "Agreement", options: "Options") -> "Agreement":
    """Return the agreement on labels of documents: of their names, or of their numbers."""
    are_numbers = options.kind == "numbers"
    units = (unit for unit in agreement.units if (unit.scale == "interval") == are_numbers)
    return replace(agreement, units=tuple(units), as_judged=partial(_prepare_labels, options))


def _prepare_labels(options: "Options", corpus: Corpus) -> Corpus:
    """Return a corpus without the labels that are left out; of numbers, the first of a document."""
    from hlteval.scoring.generic.labels import THRESHOLD

    label = options.prepare(pl.col("label"))
    if options.kind == "numbers":
        numbers = corpus.instances.with_columns(label=to_number(label).cast(pl.String))
        numbers = numbers.drop_nulls("label").unique("document", keep="first", maintain_order=True)
        return corpus.replace(instances=numbers)
    least = THRESHOLD if options.threshold is None else options.threshold
    labels = corpus.instances.filter(pl.col("llr").is_null() | (pl.col("llr") >= least))
    return corpus.replace(instances=labels.with_columns(label=label).drop_nulls("label"))
