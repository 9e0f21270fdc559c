"""The metrics of translations by name, each from counts of segments that add."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from hlteval.findings import finding
from hlteval.scoring.metric import CannotCount
from hlteval.scoring.mt.meteor import SIZE, addable, meteor
from hlteval.scoring.mt.meteor_process import OPTION, Command, MeteorProcess
from hlteval.scoring.mt.options import METEOR, TranslationOptions
from hlteval.scoring.mt.string_metrics import StringMetric

Numbers = NDArray[np.float64]
_CLOSE = 1e-9


class Measure(Protocol):
    """A metric that is computed from sums of counts."""

    @property
    def size(self) -> int:
        """How many counts a segment has."""

    def counts(self, translations: Sequence[str], references: Sequence[Sequence[str]]) -> Numbers:
        """The counts of segments, a row each."""

    def values(self, sums: Numbers) -> dict[str, Numbers]:
        """The values of rows of summed counts, by what follows the name of the metric in theirs."""

    def segment_values(self, counts: Numbers) -> dict[str, Numbers]:
        """The values of segments by themselves, in the same way."""

    def signature(self, references: int) -> str:
        """How it is computed, in one line; `references` is -1 where their number varies."""

    def finish(self) -> None:
        """Free what counting needs."""


@dataclass(frozen=True)
class StringMeasure:
    """BLEU, chrF, chrF++ or TER."""

    metric: StringMetric

    @property
    def size(self) -> int:
        """How many counts a segment has."""
        return self.metric.size

    def counts(self, translations: Sequence[str], references: Sequence[Sequence[str]]) -> Numbers:
        """The counts of segments, a row each."""
        return self.metric.counts(translations, references)

    def values(self, sums: Numbers) -> dict[str, Numbers]:
        """The values of rows of summed counts."""
        return {"": self.metric.values(sums)}

    def segment_values(self, counts: Numbers) -> dict[str, Numbers]:
        """The value of each segment by itself."""
        return {"": self.metric.segment_values(counts)}

    def signature(self, references: int) -> str:
        """The signature of sacrebleu."""
        return self.metric.signature(references)

    def finish(self) -> None:
        """Nothing is kept."""


@dataclass(frozen=True)
class MeteorMeasure:
    """METEOR 1.5: the jar counts, the values follow from sums."""

    process: MeteorProcess
    size: int = SIZE

    def counts(self, translations: Sequence[str], references: Sequence[Sequence[str]]) -> Numbers:
        """The counts of segments, a row each.

        The score of the first segments is compared with that of the jar.

        Raises:
            CannotCount: if METEOR fails, or has other parameters than METEOR 1.5 for English.
        """
        counts = self.process.counts(translations, references)
        own = meteor(addable(counts)).score
        if len(counts) and not self.process.checked:
            theirs = self.process.scores(counts[:_COMPARED])[:-1]
            self.process.checked = True
            if not np.allclose(own[:_COMPARED], theirs, rtol=0, atol=_CLOSE):
                self.process.close()
                raise CannotCount(finding("MTS109").of(OPTION))
        return addable(counts)

    def values(self, sums: Numbers) -> dict[str, Numbers]:
        """The score of rows of summed counts, and what it is made of."""
        return dict(zip(_PARTS, meteor(sums), strict=True))

    def segment_values(self, counts: Numbers) -> dict[str, Numbers]:
        """The values of each segment by itself."""
        return self.values(counts)

    def signature(self, references: int) -> str:
        """As sacrebleu writes signatures."""
        number = "var" if references < 0 else references
        matchers = "exact+stem+synonym" + "+paraphrase" * self.process.command.paraphrases
        return f"METEOR|nrefs:{number}|lang:en|norm:yes|matchers:{matchers}|version:1.5"

    def finish(self) -> None:
        """End the process."""
        self.process.close()


_PARTS = ("", "_precision", "_recall", "_penalty")
#: How many segments are scored by the jar, too.
_COMPARED = 100


def measure(name: str, options: TranslationOptions) -> Measure:
    """A metric by name."""
    if name == METEOR:
        command = Command(options.meteor_jar, not options.no_paraphrases)
        return MeteorMeasure(MeteorProcess(command))
    return StringMeasure(StringMetric(name, options))
