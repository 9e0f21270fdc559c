"""The options of the HUB-4 metric, and what its steps take of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

from hlteval.representation.global_map import GlobalMap
from hlteval.scoring.hub4.fill_match import FILLERS
from hlteval.scoring.hub4.mapping import TEMPLATE, Policy, ZeroF
from hlteval.scoring.hub4.normalizer import TextNormalizer
from hlteval.scoring.hub4.phones import Lexicon
from hlteval.scoring.hub4.points import MODES, Mode
from hlteval.scoring.hub4.templettes import UNSCORED
from hlteval.scoring.hub4.text_columns import Text, TextPair, same_file
from hlteval.scoring.hub4.word_alignment import DOCUMENT, SCLITE, Costs

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
    def _read(self) -> tuple[Mapping[str, Text], Mapping[str, Text]]:
        """The texts of both sides; empty where they are not given."""
        return (self.corpus() if self.corpus else {}, self.hyp_corpus() if self.hyp_corpus else {})

    @property
    def texts_by_document(self) -> tuple[Mapping[str, Text], Mapping[str, Text]]:
        """The texts of the reference and of the system, as far as they are given."""
        return self._read

    @cached_property
    def identical(self) -> bool:
        """Whether both corpora are given and have the same texts."""
        if self.corpus is None or self.hyp_corpus is None:
            return False
        reference, system = self._read
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
        return TextPair(*self._read, self._maps, self._costs())

    def _costs(self) -> Costs:
        if self.align_costs == "phones" or (self.lexicon and not self.align_costs):
            if self.lexicon is None:
                raise ValueError("words are aligned by phones with a lexicon only")
            return self.lexicon.costs()
        return SCLITE if self.align_costs == "sclite" else DOCUMENT
