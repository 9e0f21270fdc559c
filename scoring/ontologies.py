"""Similarity of identifiers: of an ontology by what they are kinds of, others as sets.

The similarity of two identifiers of an ontology is that of Wang et al.:
an ancestor x of a contributes s(x) = w^n, where n is the least number of steps from a to x (a
itself contributes 1), and

    sim(a, b) = sum of s_a(x) + s_b(x) over shared x / (sum of s_a + sum of s_b).

Of two sets, it is the mean over the members of both of the similarity to the nearest member of the
other.

References:
    Wang, Du, Payattakool, Yu and Chen 2007 (Bioinformatics 23, 1274-1281).
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import ClassVar

#: The weight of a step to a parent.
WEIGHT = 0.65

Identifiers = frozenset[str]


@dataclass(frozen=True)
class Ontology:
    """An ontology, and the similarity of its identifiers.

    Attributes:
        parents: the parents of each identifier, possibly none; None if no ontology is given: then
            identifiers are similar where they are equal.
        weight: of a step to a parent.
    """

    parents: Mapping[str, Collection[str]] | None = None
    weight: float = WEIGHT
    _contributions: dict[str, Mapping[str, float]] = field(
        default_factory=dict, repr=False, compare=False
    )
    _known: dict[frozenset[str], float] = field(default_factory=dict, repr=False, compare=False)

    #: The similarity of two empty sets: nothing is right.
    of_nothing: ClassVar[float] = 0.0
    #: The similarity of an identifier to itself that the ontology does not have.
    of_unknown: ClassVar[float] = 1.0

    def in_order(self, identifiers: Collection[str], *, copied: bool = False) -> Sequence[str]:  # noqa: ARG002
        """Identifiers in the order in which what belongs to them is added.

        Args:
            identifiers: any.
            copied: whether they are ancestors that two identifiers share, not the members of a set.
        """
        return sorted(identifiers)

    def contributions(self, identifier: str) -> Mapping[str, float]:
        """The contributions of the ancestors of an identifier, and of itself, to its meaning.

        Returns:
            From 0 to 1, by identifier; nothing for an identifier that the ontology does not have.

        Examples:
            >>> ontology = Ontology({"sour milk": ["milk"], "milk": ["food"], "food": []})
            >>> ontology.contributions("sour milk")
            {'sour milk': 1.0, 'milk': 0.65, 'food': 0.42250000000000004}
        """
        if identifier not in self._contributions:
            values: dict[str, float] = {}
            parents = {identifier: ()} if self.parents is None else self.parents
            following, value = {identifier: None} if identifier in parents else {}, 1.0
            while following:
                values |= dict.fromkeys(following, value)
                nearest = (each for one in following for each in parents[one])
                following = dict.fromkeys(each for each in nearest if each not in values)
                value *= self.weight
            self._contributions[identifier] = values
        return self._contributions[identifier]

    def similarity(self, one: str, other: str) -> float:
        """The similarity of two identifiers, from 0 to 1.

        Examples:
            >>> ontology = Ontology({"milk": ["food"], "bread": ["food"], "food": []})
            >>> round(ontology.similarity("milk", "bread"), 6), ontology.similarity("milk", "sand")
            (0.393939, 0.0)
        """
        pair = frozenset((one, other))
        if pair not in self._known:
            sides = self.contributions(one), self.contributions(other)
            common = [each for each in self.in_order(sides[0], copied=True) if each in sides[1]]
            shared = sum((side[each] for each in common for side in sides), 0.0)
            every = sum(sum((side[each] for each in sorted(side)), 0.0) for side in sides)
            alone = self.of_unknown if one == other else 0.0
            self._known[pair] = shared / every if all(sides) else alone
        return self._known[pair]

    def of_sets(self, ours: Identifiers, theirs: Identifiers) -> float:
        """The similarity of two sets of identifiers: 0 where one has none.

        Examples:
            >>> ours, theirs = frozenset({"milk"}), frozenset({"milk", "ice"})
            >>> Ontology({"milk": ["food"], "food": []}).of_sets(ours, theirs)
            0.6666666666666666
        """
        if not ours and not theirs:
            return self.of_nothing
        nearest = (
            sum((max((self.similarity(a, b) for b in others), default=0.0) for a in own), 0.0)
            for own, others in ((self.in_order(ours), theirs), (self.in_order(theirs), ours))
        )
        return sum(nearest) / (len(ours) + len(theirs))


def jaccard(ours: Identifiers, theirs: Identifiers) -> float:
    """The share of the members of either set that both have: 0 where one has none.

    Examples:
        >>> jaccard(frozenset({"1", "2"}), frozenset({"2", "3"}))
        0.3333333333333333
    """
    either = len(ours | theirs)
    return len(ours & theirs) / either if either else 0.0
