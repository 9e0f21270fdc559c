"""HUB-4 templettes: points of content and extent, by the scoring procedure of version 0.3.

Normalisation, mapping, points and measures, in the specification's order, have modules of their
own: `normalizer` and `text_columns`, `templettes` and `mapping`, `fill_match` and `points`,
`measures`; this one combines them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import chain
from typing import ClassVar, Literal

import polars as pl

from hlteval.findings.counts import count_of
from hlteval.representation import Corpus
from hlteval.representation import align as numbered_alike
from hlteval.representation.global_map import GlobalMap
from hlteval.scoring.hub4.candidates import TEMPLATE, Instances, Mode, Policy, ZeroF
from hlteval.scoring.hub4.fill_match import FILLERS
from hlteval.scoring.hub4.mapping import (
    MODES,
    POINTS,
    InstanceSets,
    instance_mapping,
    segmented,
    unsegmented,
)
from hlteval.scoring.hub4.measures import (
    COUNTS,
    MEASURES,
    measures,
    point_counts,
    tables,
    weighted_measures,
)
from hlteval.scoring.hub4.normalizer import Lexicon, TextNormalizer
from hlteval.scoring.hub4.report import listings, mapping_rows
from hlteval.scoring.hub4.templettes import UNSCORED
from hlteval.scoring.hub4.text_columns import Text, TextPair, same_file
from hlteval.scoring.hub4.word_alignment import DOCUMENT, SCLITE, Costs
from hlteval.scoring.metric import TEXTS, Evidence, Metric, Replicates, Weights

# The options of the HUB-4 metric, and what its steps take of them.


#: The examples of the specification.
PREMODIFIERS = ("and", "a", "the")
NONE = "none"

#: Reads the texts of a corpus by document; unsegmented, all of it under the empty name.
Texts = Callable[[], Mapping[str, Text]]


@dataclass(frozen=True)
class Options:
    """What the specification leaves to the scorer.

    Attributes:
        mode: what single fills are compared by.
        unscored: slots that give no points, as `SLOT` or `TYPE.SLOT`.
        corpus: the texts of the reference.
        hyp_corpus: the texts of the system; extents are aligned where they differ.
        unsegmented: whether the system's offsets count from the beginning of its corpus.
        glm: global maps for the spellings of the reference and of the system, unless both corpora
            are given and identical.
        align: whether extents are compared by the alignment of the texts.
        align_costs: the costs of that alignment; empty: `phones` with a lexicon, else `document`.
        lexicon: the pronunciations of words.
        ignore_case: whether case is ignored in any case; where texts differ it always is.
        noisy: whether words are compared, of which fillers and fragments may be absent.
        fillers: the pause fillers of noisy texts.
        premodifiers: words that are removed from the beginnings of fills; `none` alone for no word.
        premodifiers_anywhere: whether they are removed from all places.
        whiteout: characters that count as spaces.
        nonextractable: elements whose text counts as spaces.
        type_order: the types in the order in which they are mapped.
        top: the type of the instance that ties a set together, which is mapped in any case.
        zero_f: whether pairs without a correct point are mapped.
        beta: the weight of recall in the reported F-measures; pairs are mapped with 1.
    """

    mode: Mode | Literal["all"] = "all"
    unscored: tuple[str, ...] = UNSCORED
    corpus: Texts | None = None
    hyp_corpus: Texts | None = None
    unsegmented: bool = False
    glm: tuple[GlobalMap, GlobalMap] | None = None
    align: bool = False
    align_costs: Literal["", "document", "sclite", "phones"] = ""
    lexicon: Lexicon | None = None
    ignore_case: bool = False
    noisy: bool = False
    fillers: tuple[str, ...] = FILLERS
    premodifiers: tuple[str, ...] = PREMODIFIERS
    premodifiers_anywhere: bool = False
    whiteout: str = ""
    nonextractable: tuple[str, ...] = ()
    type_order: tuple[str, ...] = ()
    zero_f: ZeroF = "map"
    top: str = TEMPLATE
    beta: float = 1.0

    @property
    def modes(self) -> tuple[Mode, ...]:
        """What is compared, in order."""
        return MODES if self.mode == "all" else (self.mode,)

    @property
    def aligns(self) -> bool:
        """Whether extents are compared by the alignment of the texts: if they differ."""
        return (self.align or self.hyp_corpus is not None) and not self.identical

    @cached_property
    def texts_by_document(self) -> tuple[Mapping[str, Text], Mapping[str, Text]]:
        """The texts of both sides; empty where they are not given."""
        return (self.corpus() if self.corpus else {}, self.hyp_corpus() if self.hyp_corpus else {})

    @cached_property
    def identical(self) -> bool:
        """Whether both corpora are given and have the same texts."""
        if self.corpus is None or self.hyp_corpus is None:
            return False
        reference, system = self.texts_by_document
        return same_file(reference, system[""]) if "" in system else reference == system

    @property
    def _maps(self) -> tuple[GlobalMap | None, GlobalMap | None]:
        """The global maps, if spellings are compared by them."""
        return (None, None) if self.glm is None or self.identical else self.glm

    @cached_property
    def normalizers(self) -> tuple[TextNormalizer, TextNormalizer]:
        """How the strings of the reference and of the system are normalised."""
        reference, system = (
            TextNormalizer(
                spellings=spellings,
                fold=self.aligns or spellings is not None or self.ignore_case,
                whiteout=self.whiteout,
                nonextractable=self.nonextractable,
                premodifiers=() if self.premodifiers == (NONE,) else self.premodifiers,
                anywhere=self.premodifiers_anywhere,
            )
            for spellings in self._maps
        )
        return reference, system

    @property
    def policy(self) -> Policy:
        """What the specification leaves open in the mapping."""
        fillers = self.fillers if self.noisy else None
        return Policy(self.zero_f, self.type_order, fillers, self.top)

    def texts(self) -> TextPair | None:
        """The texts of both sides, where they are needed.

        Raises:
            ValueError: if those of a side are not given, or a lexicon is not.
        """
        if not self.aligns and not self.unsegmented:
            return None
        if self.corpus is None or (self.aligns and self.hyp_corpus is None):
            raise ValueError("the texts of both sides are needed to align them")
        return TextPair(*self.texts_by_document, self._maps, self._costs())

    def _costs(self) -> Costs:
        if self.align_costs == "phones" or (self.lexicon and not self.align_costs):
            if self.lexicon is None:
                raise ValueError("words are aligned by phones with a lexicon only")
            return self.lexicon.costs()
        return SCLITE if self.align_costs == "sclite" else DOCUMENT


#: Pairs of instance sets that are mapped at a time; more cost memory and save no time.
SETS = 2000
#: Fewest correct texts with a wrong extent that suggest another way to count.
_FEW = 3


@dataclass(frozen=True)
class TempletteMatch(Metric):
    """The measures of templettes; there is no public scorer and no profile but `plan`.

    Attributes:
        options: what the specification leaves to the scorer.

    Raises:
        ValueError: if the options need texts or a lexicon that they do not have.
    """

    document_column: ClassVar[str] = "drawn"

    options: Options = field(default_factory=Options)

    def __post_init__(self) -> None:
        _ = self.texts

    @cached_property
    def texts(self) -> TextPair | None:
        """The texts of both sides, where they differ or are not segmented."""
        return self.options.texts()

    def statistics(
        self, reference: Corpus, system: Corpus, *, alignment: bool = True
    ) -> tuple[pl.DataFrame, pl.DataFrame | None]:
        """The points of a batch of documents by mode, document, type and slot, and the mapping.

        Args:
            reference: the annotated instances.
            system: the system's.
            alignment: whether the mapping is wanted.

        Returns:
            Counts, as `COUNTS`; and the mapping, as `MAPPING`, or None.

        Examples:
            >>> frame = {"row": 0, "document": 0, "origin": 0, "record": 1, "kind": "templette"}
            >>> fill = {"row": 0, "document": 0, "origin": 0, "record": 2, "frame_row": 0,
            ...         "slot": "KIND", "slot_number": 1, "optional": False, "alternative": 1,
            ...         "position": 1, "kind": "text", "text": "rye",
            ...         "extents": [{"start": 4, "end": 7}]}
            >>> corpus = Corpus(documents=[{"row": 0, "name": "d"}], fills=[fill],
            ...                 frames=[{**frame, "frame": "BREAD-d-1", "label": "BREAD"}])
            >>> match = TempletteMatch()
            >>> match.score(match.statistics(corpus, corpus)[0])[0]["both.cor"]
            2.0
        """
        reference, system = numbered_alike(reference, system)
        # Mode by mode, and losses in the order in which types are mapped, whatever sets are mapped
        # together.
        modes = self.options.modes
        points, losses, rows = ({mode: list[pl.DataFrame]() for mode in modes} for _ in range(3))
        for some in self._sets(reference, system).parts(SETS):
            sides, policy = (some.reference, some.system), self.options.policy
            possible = Instances(*sides, some.pairs, policy)
            for mode in modes:
                mapping = instance_mapping(possible, mode)
                if not some.settled:
                    chosen = Instances(*sides, some.chosen(mapping.pairs), policy)
                    mapping = instance_mapping(chosen, mode)
                counts, lost = point_counts(mapping, some, mode)
                points[mode].append(counts)
                losses[mode].append(lost)
                if alignment:
                    rows[mode].append(mapping_rows(mapping, some, mode, reference, system))
        tables = []
        for mode in modes:
            lost = pl.concat(losses[mode]).sort("rank", maintain_order=True).drop("rank")
            tables += [*points[mode], lost]
        return pl.concat(tables), pl.concat(chain(*rows.values())) if alignment else None

    def _sets(self, reference: Corpus, system: Corpus) -> InstanceSets:
        """The instance sets of both sides, and which can be mapped to each other."""
        sides = (reference, system, self.options.normalizers, self.options.unscored)
        aligns = self.options.aligns
        if not self.options.unsegmented or self.texts is None:
            return segmented(*sides, self.texts if aligns else None)
        return unsegmented(*sides, self.texts, align=aligns)

    def total(self, counts: Iterable[pl.DataFrame]) -> pl.DataFrame:
        """The counts of several batches as one."""
        return pl.concat([pl.DataFrame(schema=dict(COUNTS)), *counts])

    def score(self, total: pl.DataFrame) -> tuple[dict[str, float | None], dict[str, pl.DataFrame]]:
        """The metrics, and the tables `scorings`, `by_type`, `by_slot` and `by_document`."""
        metrics: dict[str, float | None] = {}
        for mode in MODES:
            if mode in self.options.modes:
                points = total.filter(pl.col("mode") == mode).select(pl.col(*POINTS).sum()).row(0)
                found = measures(dict(zip(POINTS, points, strict=True)), self.options.beta)
            else:
                found = dict.fromkeys(MEASURES)
            metrics |= {f"{mode}.{name}": value for name, value in found.items()}
        return metrics, tables(total, self.options.modes, self.options.beta)

    def notes(self, total: pl.DataFrame) -> tuple[str, ...]:
        """What the corpora and the points suggest, and what the greedy algorithm loses."""
        return (*self._suspicions(total), *self._greedy_losses(total))

    def _suspicions(self, total: pl.DataFrame) -> Iterator[str]:
        """That nothing had to be aligned, or that extents seem to be counted in another way."""
        if self.options.identical:
            yield "the two corpora are identical: texts are not aligned, and --glm is not applied"
        points = dict(total.group_by("mode").agg(pl.col("cor").sum()).iter_rows())
        right = points.get("content", 0)
        lost = right - points.get("extent", right)
        if self.options.corpus is None and lost >= max(_FEW, right // 3):
            yield (
                f"{lost} correct texts have a wrong extent: check the offsets with "
                "`hlteval validate hub4 --corpus`"
            )

    def _greedy_losses(self, total: pl.DataFrame) -> tuple[str, ...]:
        """How many points the greedy algorithm loses against the best mapping."""
        groups = total.filter(pl.col("slot").is_null())
        losses = groups.group_by("mode").agg(
            points=(pl.col("best") - pl.col("greedy")).sum(), n=pl.len()
        )
        lost = {mode: (points, n) for mode, points, n in losses.iter_rows()}
        return tuple(
            f"{mode}: the greedy mapping that the specification asks for has "
            f"{count_of(lost[mode][0], 'correct point')} less than the best mapping of instances, "
            f"in {count_of(lost[mode][1], 'group')} (table greedy_loss)"
            for mode in self.options.modes
            if mode in lost
        )

    def evidence(self, reference: Corpus, system: Corpus) -> Evidence:
        """The texts of a batch, from the corpora that are given; none without segments."""
        if self.options.unsegmented:
            return Evidence()
        ours, theirs = self.options.texts_by_document
        names = pl.concat([reference.documents["name"], system.documents["name"]]).unique().sort()
        other = {name: text.text for name, text in theirs.items() if text != ours.get(name)}
        rows = [(name, ours[name].text, other.get(name)) for name in names if name in ours]
        return Evidence(pl.DataFrame(rows, schema=dict(TEXTS), orient="row"))

    def error_analysis(
        self,
        aligned: pl.DataFrame,
        total: pl.DataFrame,  # noqa: ARG002
    ) -> tuple[dict[str, pl.DataFrame], dict[str, str]]:
        """The reference and the system side by side, for each mode, and the errors alone."""
        return {}, listings(aligned)

    @property
    def additive(self) -> bool:
        """All points add."""
        return True

    def replicates(
        self, counts: pl.DataFrame, documents: Sequence[str], weights: Weights
    ) -> Replicates:
        """The metrics, for each way to weigh the documents."""
        modes, beta = self.options.modes, self.options.beta
        return weighted_measures(counts, modes, beta, documents, weights)
