"""The metrics of translations by name, each from counts of segments that add."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from types import MappingProxyType
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from hlteval.findings import finding
from hlteval.scoring.metric import CannotCount
from hlteval.scoring.mt.meteor import OPTION, SIZE, Command, MeteorProcess, addable, meteor
from hlteval.scoring.mt.segments import METEOR, TranslationOptions

# BLEU, chrF, chrF++ and TER through sacrebleu: its counts of segments, and its values of sums.


#: How many counts each metric has.
SIZES: Mapping[str, int] = MappingProxyType({"bleu": 10, "chrf": 18, "chrf_pp": 24, "ter": 2})
#: The names as sacrebleu writes them.
SAID: Mapping[str, str] = MappingProxyType(
    {"bleu": "BLEU", "chrf": "chrF2", "chrf_pp": "chrF2++", "ter": "TER"}
)


@dataclass(frozen=True)
class StringMetric:
    """A metric of sacrebleu.

    Attributes:
        name: `bleu`, `chrf`, `chrf_pp` or `ter`.
        options: the tokenizer of BLEU, and whether case is ignored.
    """

    name: str
    options: TranslationOptions

    @property
    def size(self) -> int:
        """How many counts a segment has."""
        return SIZES[self.name]

    def counts(
        self, translations: Sequence[str], references: Sequence[Sequence[str]]
    ) -> NDArray[np.float64]:
        """The counts of segments, a row each.

        Args:
            translations: their texts.
            references: one or several per segment.

        Raises:
            CannotCount: if sacrebleu is not installed.
        """
        rows = [
            self._corpus._extract_corpus_statistics([text], [[other] for other in others])[0]
            for text, others in zip(translations, references, strict=True)
        ]
        return np.array(rows, dtype=np.float64).reshape(len(rows), self.size)

    def values(self, sums: NDArray[np.float64]) -> NDArray[np.float64]:
        """The values of rows of summed counts."""
        return _values(self._corpus, sums) if len(sums) else np.zeros(0)

    def segment_values(self, counts: NDArray[np.float64]) -> NDArray[np.float64]:
        """The values of segments by themselves: BLEU of the orders that a segment has."""
        return _values(self._sentence, counts) if len(counts) else np.zeros(0)

    def signature(self, references: int) -> str:
        """What sacrebleu says of how its values are computed.

        Args:
            references: how many each segment has; -1 where that varies.
        """
        self._corpus.num_refs = references
        return f"{SAID[self.name]}|{self._corpus.get_signature()}"

    @cached_property
    def _corpus(self) -> Any:
        return self._made(effective_order=False)

    @cached_property
    def _sentence(self) -> Any:
        return self._made(effective_order=True)

    def _made(self, *, effective_order: bool) -> Any:
        try:
            from sacrebleu.metrics.bleu import BLEU
            from sacrebleu.metrics.chrf import CHRF
            from sacrebleu.metrics.ter import TER
        except ImportError as reason:
            raise CannotCount(finding("MTS107").of("--metrics")) from reason
        lowercase = self.options.lowercase
        match self.name:
            case "bleu":
                return BLEU(
                    lowercase=lowercase,
                    force=True,
                    tokenize=self.options.tokenize,
                    effective_order=effective_order,
                )
            case "ter":
                return TER()
            case _:
                word_order = 2 if self.name == "chrf_pp" else 0
                return CHRF(lowercase=lowercase, word_order=word_order)


def _values(metric: Any, sums: NDArray[np.float64]) -> NDArray[np.float64]:
    each = (metric._compute_score_from_stats(row).score for row in sums.tolist())
    return np.fromiter(each, np.float64, len(sums))


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
