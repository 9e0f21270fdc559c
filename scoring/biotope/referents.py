"""Similarity of referents: of an ontology by what they are kinds of, others as sets.

The similarity of two identifiers of an ontology is that of Wang et al. (Bioinformatics 23, 2007):
an ancestor x of a contributes s(x) = w^n, where n is the least number of steps from a to x (a
itself contributes 1), and

    sim(a, b) = sum of s_a(x) + s_b(x) over shared x / (sum of s_a + sum of s_b).

Of two sets, it is the mean over the members of both of the similarity to the nearest member of the
other.
"""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property

#: The weight of a step to a parent.
WEIGHT = 0.65

Referents = frozenset[str]


@dataclass(frozen=True)
class Ontology:
    """An ontology, and the similarity of its identifiers.

    Attributes:
        parents: the parents of each identifier that has any; None if no ontology is given: then
            identifiers are similar where they are equal.
    """

    parents: Mapping[str, Collection[str]] | None = None
    _contributions: dict[str, Mapping[str, float]] = field(
        default_factory=dict, repr=False, compare=False
    )
    _known: dict[frozenset[str], float] = field(default_factory=dict, repr=False, compare=False)

    def contributions(self, identifier: str) -> Mapping[str, float]:
        """The contributions of the ancestors of an identifier, and of itself, to its meaning.

        Returns:
            From 0 to 1, by identifier; nothing for an identifier that the ontology does not have.

        Examples:
            >>> Ontology({"sour milk": ["milk"], "milk": ["food"]}).contributions("sour milk")
            {'sour milk': 1.0, 'milk': 0.65, 'food': 0.42250000000000004}
        """
        if identifier not in self._contributions:
            found: dict[str, float] = {}
            known = self.parents is None or identifier in self._identifiers
            following, value = [identifier] if known else [], 1.0
            while following:
                found |= dict.fromkeys(following, value)
                parents = (each for one in following for each in (self.parents or {}).get(one, ()))
                following = [each for each in dict.fromkeys(parents) if each not in found]
                value *= WEIGHT
            self._contributions[identifier] = found
        return self._contributions[identifier]

    @cached_property
    def _identifiers(self) -> frozenset[str]:
        """The identifiers with a parent or a child."""
        parents = self.parents or {}
        return frozenset(parents).union(*parents.values())

    def similarity(self, one: str, other: str) -> float:
        """The similarity of two identifiers, from 0 to 1.

        Examples:
            >>> ontology = Ontology({"milk": ["food"], "bread": ["food"]})
            >>> round(ontology.similarity("milk", "bread"), 6), ontology.similarity("milk", "sand")
            (0.393939, 0.0)
        """
        pair = frozenset((one, other))
        if pair not in self._known:
            ours, theirs = self.contributions(one), self.contributions(other)
            shared = sum(
                (value for x in self.in_common(ours, theirs) for value in (ours[x], theirs[x])), 0.0
            )
            every = sum(sorted_values(ours), 0.0) + sum(sorted_values(theirs), 0.0)
            self._known[pair] = shared / every if ours and theirs else 0.0
        return self._known[pair]

    def in_common(self, ours: Mapping[str, float], theirs: Mapping[str, float]) -> Iterable[str]:
        """The identifiers that both have, in the order in which their contributions are added."""
        return sorted(ours.keys() & theirs.keys())

    def members(self, referents: Referents) -> Iterable[str]:
        """The members of a set, in the order in which their similarities are added."""
        return sorted(referents)

    def of_sets(self, ours: Referents, theirs: Referents) -> float:
        """The similarity of two sets of identifiers: 0 where one has none.

        Examples:
            >>> ours, theirs = frozenset({"milk"}), frozenset({"milk", "ice"})
            >>> Ontology({"milk": ["food"]}).of_sets(ours, theirs)
            0.6666666666666666
        """
        if not ours and not theirs:
            return self.of_nothing
        sides = ((self.members(ours), theirs), (self.members(theirs), ours))
        nearest = [
            sum((max((self.similarity(a, b) for b in others), default=0.0) for a in these), 0.0)
            for these, others in sides
        ]
        return (nearest[0] + nearest[1]) / (len(ours) + len(theirs))

    def jaccard(self, ours: Referents, theirs: Referents) -> float:
        """The share of the members of either set that both have: 0 where one has none.

        Examples:
            >>> Ontology().jaccard(frozenset({"1", "2"}), frozenset({"2", "3"}))
            0.3333333333333333
        """
        either = ours | theirs
        return len(ours & theirs) / len(either) if either else self.of_nothing

    @property
    def of_nothing(self) -> float:
        """The similarity of two empty sets: nothing is right."""
        return 0.0


def sorted_values(contributions: Mapping[str, float]) -> Iterable[float]:
    """The contributions in the order of their identifiers."""
    return (value for _, value in sorted(contributions.items()))
