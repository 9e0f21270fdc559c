"""The official software of Bacteria Biotope, where it does otherwise than the description."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import polars as pl

from hlteval.representation import Corpus, of_documents
from hlteval.scoring.biotope.annotations import shared_characters
from hlteval.scoring.biotope.knowledge import FACT, KnowledgeBase
from hlteval.scoring.biotope.metric import BiotopeMatch, Pairing
from hlteval.scoring.biotope.referents import Ontology, Referents
from hlteval.scoring.matching import first_free
from hlteval.scoring.pairings import OfficialPairing
from hlteval.scoring.ratios import Numbers

Fragments = Sequence[Mapping[str, int]]
_WORD = 2**32


def shared_in_passing(ours: Fragments, theirs: Fragments) -> int:
    """The characters that fragments share, as the software goes through both lists.

    It goes on in both at once where the next fragment of the system ends no earlier than that of
    the reference, whose overlap with it is lost.

    Examples:
        >>> ours, theirs = [{"start": 0, "end": 10}], [(0, 3), (5, 12)]
        >>> shared_in_passing(ours, [{"start": start, "end": end} for start, end in theirs])
        3
    """
    at, at_system, total = 0, 0, 0
    while True:
        one, other = ours[at], theirs[at_system]
        total += max(min(one["end"], other["end"]) - max(one["start"], other["start"]), 0)
        if one["end"] >= other["end"]:
            at_system += 1
            if at_system == len(theirs):
                return total
        if one["end"] <= theirs[at_system]["end"]:
            at += 1
            if at == len(ours):
                return total


class SoftwareOntology(Ontology):
    """An ontology as the software reads and compares it.

    Sums go through its hash tables in their order, so that the last digits are its own.
    """

    #: Two empty sets make sums that are not a number.
    of_nothing: ClassVar[float] = float("nan")

    def in_order(self, identifiers: Collection[str], *, copied: bool = False) -> Sequence[str]:
        """Identifiers in the order of a hash table: one that is copied, or that has grown."""
        least = int(len(identifiers) / 0.75) + 1 if copied else -(-len(identifiers) * 4 // 3)
        size = buckets(least)
        return sorted(sorted(identifiers), key=lambda each: bucket(java_hash(each), size))

    def either(self, ours: Referents, theirs: Referents) -> int:
        """The members of the reference, and again those that the system lacks.

        Examples:
            >>> SoftwareOntology().jaccard(frozenset("1"), frozenset({"1", "2"}))
            1.0
        """
        return len(ours) + len(ours - theirs)


@dataclass(frozen=True, kw_only=True)
class OfficialBiotopeMatch(OfficialPairing, BiotopeMatch):
    """How the official software compares entities and relations."""

    def common_characters(self, pairs: pl.DataFrame) -> pl.Series:
        """The characters that the software counts; of entities without gaps it counts all."""
        sides = pairs.select("fragments", "fragments_system").iter_rows()
        some = [shared_in_passing(*row) if max(map(len, row)) > 1 else None for row in sides]
        counted = pl.Series("shared", some, dtype=pl.Int64).to_frame()
        return counted.select(pl.coalesce("shared", shared_characters(pairs))).to_series()

    def pair(self, alike: pl.DataFrame, weight: pl.Series) -> pl.DataFrame:
        """The most similar pair that is left, again and again; among equals the first."""
        ranked = alike.with_columns(weight=weight).filter(pl.col("weight") > 0)
        ranked = ranked.sort("weight", "row", "row_system", descending=[True, False, False])
        chosen = first_free(ranked["row"].to_numpy(), ranked["row_system"].to_numpy())
        return ranked.filter(chosen).select(alike.columns)

    def pair_relations(
        self, alike: pl.DataFrame, ours: pl.DataFrame, theirs: pl.DataFrame
    ) -> Pairing:
        """Forms of a relation are paired as relations of their own; the best pair is its pair.

        A form differs in both arguments; in 2016 it may have the second one of the relation. Every
        other item with the identifier of a relation that has forms is then left out with its
        partner, predictions among them.
        """
        several = (pl.col("count") > 1) | (pl.col("count_second") > 1)
        others = (pl.col("count") - 1) * (pl.col("count_second") - (self.year != "2016"))
        forms = ours.select("row", several=several, form=pl.int_ranges(others + 1)).explode("form")
        number = pl.col("form") * (1 + int(ours["row"].to_numpy().max(initial=0))) + pl.col("row")
        expanded = alike.join(forms, on="row").with_columns(original="row", row=number)
        chosen = self.pair(expanded, expanded["overlap"])
        single, formed = chosen.filter(~pl.col("several")), chosen.filter("several")
        best = formed.sort("overlap", descending=True, maintain_order=True)
        best = best.unique("original", keep="first", maintain_order=True)
        struck = theirs.join(ours.filter(several), on=["document", "item"], how="semi")["row"]
        of_struck = pl.col("row_system").is_in(struck.implode())
        pairs = pl.concat([best, single.filter(~of_struck)]).with_columns(row="original")
        dropped = pl.concat([formed["row_system"], struck])
        dropped = dropped.filter(~dropped.is_in(pairs["row_system"].implode()))
        return pairs, single.filter(of_struck)["original"], dropped

    def inverse(self, ser: Numbers, errors: Numbers, references: Numbers) -> Numbers:
        """The inverse of the slot error rate; 0 if that is infinite."""
        infinite = (references == 0) & (errors > 0)
        return np.where(infinite, 0.0, super().inverse(ser, errors, references))


@dataclass(frozen=True, kw_only=True)
class OfficialKnowledgeBase(KnowledgeBase):
    """How the official software compares knowledge bases."""

    def prepare(self, reference: Corpus, system: Corpus) -> tuple[Corpus, Corpus]:
        """Documents without reference are ignored."""
        return reference, of_documents(system, reference.documents["name"])

    def in_order(self, facts: pl.DataFrame) -> pl.DataFrame:
        """The facts in the order of the hash table of the software: among equals, the first counts.

        Args:
            facts: in the order of the documents.
        """
        every = facts.select(FACT)
        size = buckets(-(-every.n_unique() * 4 // 3))
        hashed = ((java_hash(taxon), java_hash(concept)) for taxon, concept in every.iter_rows())
        order = [bucket((31 * (31 + one) + other) % _WORD, size) for one, other in hashed]
        return facts[np.argsort(np.array(order, dtype=np.int64), kind="stable")]


def bucket(code: int, size: int) -> int:
    """The bucket of a hash code in a table of some size, a power of two."""
    return (code ^ (code >> 16)) & (size - 1)


def buckets(least: int) -> int:
    """The number of buckets of a hash table that has at least so many.

    Examples:
        >>> buckets(3), buckets(17)
        (16, 32)
    """
    return 1 << (max(least, 16) - 1).bit_length()


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
