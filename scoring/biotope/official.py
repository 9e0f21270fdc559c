"""The official software of Bacteria Biotope, where it does otherwise than the description."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import polars as pl

from hlteval.representation import Corpus, of_documents
from hlteval.scoring.biotope.entities import Fragments
from hlteval.scoring.biotope.knowledge import Fact, KnowledgeBase
from hlteval.scoring.biotope.metric import BiotopeMatch, Pairing
from hlteval.scoring.biotope.referents import Ontology, Referents
from hlteval.scoring.ratios import Numbers, Rates, harmonic

_WORD = 2**32


def shared_in_passing(ours: Fragments, theirs: Fragments) -> int:
    """The characters that fragments share, as the software goes through both lists.

    It goes on in both at once where the next fragment of the system ends no earlier than that of
    the reference, whose overlap with it is lost.

    Examples:
        >>> shared_in_passing([(0, 10)], [(0, 3), (5, 12)])
        3
    """
    at, at_system, total = 0, 0, 0
    while True:
        (start, end), (start_system, end_system) = ours[at], theirs[at_system]
        total += max(min(end, end_system) - max(start, start_system), 0)
        if end >= end_system:
            at_system += 1
            if at_system == len(theirs):
                return total
        if end <= theirs[at_system][1]:
            at += 1
            if at == len(ours):
                return total


class SoftwareOntology(Ontology):
    """An ontology as the software reads and compares it.

    Sums go through its hash tables in their order, so that the last digits are its own.
    """

    def in_common(self, ours: Mapping[str, float], theirs: Mapping[str, float]) -> Iterable[str]:
        """The identifiers that both have, in the order of a copied hash table."""
        size = _power_of_two(max(int(len(ours) / 0.75) + 1, 16))
        return [each for each in in_hash_order(sorted(ours), size) if each in theirs]

    def members(self, referents: Referents) -> Iterable[str]:
        """The members of a set, in the order of a hash table that has grown."""
        return in_hash_order(sorted(referents), grown(len(referents)))

    def jaccard(self, ours: Referents, theirs: Referents) -> float:
        """The number of common members, over those of the reference and what the system lacks.

        Examples:
            >>> SoftwareOntology().jaccard(frozenset("1"), frozenset({"1", "2"}))
            1.0
        """
        union = len(ours) + len(ours - theirs)
        return len(ours & theirs) / union if union else self.of_nothing

    @property
    def of_nothing(self) -> float:
        """The similarity of two empty sets is not a number, and makes sums that."""
        return float("nan")


@dataclass(frozen=True, kw_only=True)
class OfficialBiotopeMatch(BiotopeMatch):
    """How the official software compares entities and relations."""

    #: Whether a form of a relation differs in its first argument, and may have the second of the
    #: relation; else both differ.
    first_alone: ClassVar[bool] = False

    shared: Callable[[Fragments, Fragments], int] = shared_in_passing

    def prepare(self, reference: Corpus, system: Corpus) -> tuple[Corpus, Corpus]:
        """Documents without reference are ignored."""
        known = reference.documents["name"]
        if not system.documents["name"].is_in(known.implode()).all():
            system = of_documents(system, known)
        return reference, system

    def pair(self, alike: pl.DataFrame) -> pl.DataFrame:
        """The most similar pair that is left, again and again; among equals the first."""
        ranked = alike.filter(pl.col("weight") > 0).sort(
            "weight", "row", "row_system", descending=[True, False, False]
        )
        taken, taken_system, chosen = set[int](), set[int](), []
        for row, row_system in ranked.select("row", "row_system").iter_rows():
            chosen.append(row not in taken and row_system not in taken_system)
            if chosen[-1]:
                taken.add(row)
                taken_system.add(row_system)
        return ranked.filter(pl.Series(chosen, dtype=pl.Boolean))

    def pair_relations(
        self, alike: pl.DataFrame, forms: pl.DataFrame, ours: pl.DataFrame, theirs: pl.DataFrame
    ) -> Pairing:
        """Forms of a relation are paired as relations of their own; the best pair is its pair.

        Every other item with the identifier of a relation that has forms is then left out with its
        partner, predictions among them.
        """
        several = (pl.col("count") > 1) | (pl.col("count_second") > 1)
        others = (pl.col("count") - 1) * (pl.col("count_second") - (0 if self.first_alone else 1))
        copies = forms.select("row", several=several, form=pl.int_ranges(others + 1)).explode(
            "form"
        )
        number = pl.col("form") * (1 + int(forms["row"].to_numpy().max(initial=0))) + pl.col("row")
        expanded = alike.join(copies, on="row").with_columns(original="row", row=number)
        chosen = self.pair(expanded.select("row", "row_system", "weight", "original", "several"))
        best = chosen.sort("weight", descending=True, maintain_order=True)
        best = best.filter("several").unique("original", keep="first", maintain_order=True)
        identifiers = ours.join(forms.filter(several), on="row", how="semi")
        identifiers = identifiers.select("document", "item")
        struck = theirs.join(identifiers, on=["document", "item"], how="semi")["row"].implode()
        is_struck = pl.col("row_system").is_in(struck)
        plain = chosen.filter(~pl.col("several"))
        lost = plain.filter(is_struck)
        pairs = pl.concat([best, plain.filter(~is_struck)])
        pairs = pairs.select("row_system", "weight", row="original")
        dropped = pl.concat([chosen.filter("several")["row_system"], struck.explode()])
        dropped = dropped.filter(~dropped.is_in(pairs["row_system"].implode()))
        return Pairing(pairs, (lost["original"].to_list(), dropped.unique().to_list()))

    def rates(self, matches: Numbers, predictions: Numbers, references: Numbers) -> Rates[Any]:
        """F1 is computed from precision and recall, and undefined where both are 0."""
        precision, recall, _ = super().rates(matches, predictions, references)
        return Rates(precision, recall, harmonic(precision, recall))

    def substitutions(self, missed: Numbers) -> Numbers:
        """The sum is truncated to an integer; one that is not a number is 0."""
        return np.trunc(np.nan_to_num(missed))

    def _measures(self, sums: Mapping[str, Numbers]) -> dict[str, Numbers]:
        """Infinite SER makes ISER 0."""
        measures = super()._measures(sums)
        errors = measures["Insertions"] + measures["Deletions"] > 0
        infinite = (sums["references"] == 0) & errors
        return {**measures, "ISER": np.where(infinite, 0.0, measures["ISER"])}


@dataclass(frozen=True, kw_only=True)
class OfficialBiotopeMatch2016(OfficialBiotopeMatch):
    """How the official software compares the relations of 2016."""

    first_alone: ClassVar[bool] = True


@dataclass(frozen=True, kw_only=True)
class OfficialKnowledgeBase(KnowledgeBase):
    """How the official software compares knowledge bases."""

    def prepare(self, reference: Corpus, system: Corpus) -> tuple[Corpus, Corpus]:
        """Documents without reference are ignored."""
        return reference, of_documents(system, reference.documents["name"])

    def in_order(self, facts: Iterable[Fact]) -> Sequence[Fact]:
        """The facts in the order of the hash table of the software: among equals, the first counts.

        Args:
            facts: each once, in the order of the documents.
        """
        every = list(facts)
        size = grown(len(every))
        codes = {
            (taxon, concept): (31 * (31 + java_hash(taxon)) + java_hash(concept)) % _WORD
            for taxon, concept in every
        }
        return sorted(every, key=lambda fact: bucket(codes[fact], size))


def in_hash_order(keys: Sequence[str], size: int) -> list[str]:
    """Texts in the order of a hash table of Java with so many buckets, put there in this order.

    Examples:
        >>> in_hash_order(["OBT:000002", "OBT:000010", "OBT:000001"], 16)
        ['OBT:000001', 'OBT:000002', 'OBT:000010']
    """
    return sorted(keys, key=lambda key: bucket(java_hash(key), size))


def bucket(code: int, size: int) -> int:
    """The bucket of a hash code in a table of some size, a power of two."""
    return (code ^ (code >> 16)) & (size - 1)


def grown(count: int) -> int:
    """The number of buckets of a hash table to which so many keys were added.

    Examples:
        >>> grown(12), grown(13)
        (16, 32)
    """
    return _power_of_two(max(-(-count * 4 // 3), 16))


def _power_of_two(least: int) -> int:
    return 1 << (least - 1).bit_length()


def java_hash(text: str) -> int:
    """The hash code of a text in Java, as an unsigned integer.

    Examples:
        >>> java_hash("ab")
        3105
    """
    code = 0
    for unit in np.frombuffer(text.encode("utf-16-le"), np.uint16).tolist():
        code = (31 * code + unit) % _WORD
    return code
