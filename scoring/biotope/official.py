"""The official software of Bacteria Biotope, where it does otherwise than the description."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import polars as pl

from hlteval.representation import Corpus, of_documents
from hlteval.scoring.biotope.annotations import ReferentOntology
from hlteval.scoring.biotope.knowledge import FACT, KnowledgeBase
from hlteval.scoring.biotope.metric import BiotopeMatch, Pairing
from hlteval.scoring.matching import greedy
from hlteval.scoring.ontologies import Identifiers
from hlteval.scoring.pairings import OfficialPairing

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


class SoftwareOntology(ReferentOntology):
    """An ontology as the software reads and compares it.

    Sums go through its hash tables in their order, so that the last digits are its own.
    """

    #: Two empty sets make sums that are not a number.
    of_nothing: ClassVar[float] = float("nan")

    def in_order(self, identifiers: Collection[str], *, copied: bool = False) -> Sequence[str]:
        """Identifiers in the order of a hash table: one that is copied, or that has grown."""
        least = int(len(identifiers) / 0.75) + 1 if copied else -(-len(identifiers) * 4 // 3)
        ordered = sorted(identifiers)
        return [ordered[at] for at in bucket_order(map(java_hash, ordered), least)]


def software_jaccard(ours: Identifiers, theirs: Identifiers) -> float:
    """The share that both have of the members of the reference and, again, those of it alone.

    Examples:
        >>> software_jaccard(frozenset("1"), frozenset({"1", "2"}))
        1.0
    """
    either = len(ours) + len(ours - theirs)
    return len(ours & theirs) / either if either else SoftwareOntology.of_nothing


@dataclass(frozen=True, kw_only=True)
class OfficialBiotopeMatch(OfficialPairing, BiotopeMatch):
    """How the official software compares entities and relations."""

    choose: ClassVar = staticmethod(greedy)
    jaccard: ClassVar = staticmethod(software_jaccard)

    def common_characters(self, pairs: pl.DataFrame) -> pl.Series:
        """The characters that the software counts; of entities without gaps it counts all."""
        rows = pairs.select("fragments", "fragments_system", "shared").iter_rows()
        counted = [
            shared_in_passing(ours, theirs) if max(len(ours), len(theirs)) > 1 else shared
            for ours, theirs, shared in rows
        ]
        return pl.Series(counted, dtype=pl.Int64)

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
        chosen = self.pair(alike.join(forms, on="row").with_columns(original="row", row=number))
        single, formed = chosen.filter(~pl.col("several")), chosen.filter("several")
        best = formed.sort("row").sort("overlap", descending=True, maintain_order=True)
        best = best.unique("original", keep="first", maintain_order=True)
        struck = theirs.join(ours.filter(several), on=["document", "item"], how="semi")["row"]
        of_struck = pl.col("row_system").is_in(struck.implode())
        pairs = pl.concat([best, single.filter(~of_struck)]).with_columns(row="original")
        dropped = pl.concat([formed["row_system"], struck])
        dropped = dropped.filter(~dropped.is_in(pairs["row_system"].implode()))
        gone = single.filter(of_struck)["original"]
        ours = ours.filter(~pl.col("row").is_in(gone.implode()))
        return pairs, ours, theirs.filter(~pl.col("row").is_in(dropped.implode()))


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
        hashed = (map(java_hash, fact) for fact in facts.select(FACT).iter_rows())
        codes = ((31 * (31 + taxon) + concept) % _WORD for taxon, concept in hashed)
        return facts[bucket_order(codes, -(-facts.select(FACT).n_unique() * 4 // 3))]


#: How the software compares entities and relations, knowledge bases, and referents.
CLASSES = (OfficialBiotopeMatch, OfficialKnowledgeBase, SoftwareOntology)


def bucket_order(codes: Iterable[int], least: int) -> list[int]:
    """The indices of hash codes as a hash table with at least so many buckets orders them.

    Examples:
        >>> bucket_order([17, 16, 1], 3), bucket_order([17, 16, 1], 17)
        ([1, 0, 2], [2, 1, 0])
    """
    last = (1 << (max(least, 16) - 1).bit_length()) - 1  # their number is a power of two
    places = [(code ^ (code >> 16)) & last for code in codes]
    return sorted(range(len(places)), key=places.__getitem__)


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
