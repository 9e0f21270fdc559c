"""The types of a CAS: which features refer to structures, and the types of what is written."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence

from hlteval.converters.uima.layers import (
    ARGUMENTS,
    EVENT,
    LINK,
    MENTION,
    POS,
    RELATION,
    ROLES,
    SENTENCE,
    TOKEN,
)

ANNOTATION, TOP, STRING = "uima.tcas.Annotation", "uima.cas.TOP", "uima.cas.String"
#: Ranges of features whose values are written as they are.
_PRIMITIVE = frozenset(
    f"uima.cas.{name}"
    for name in ("String", "Boolean", "Byte", "Short", "Integer", "Long", "Float", "Double")
)
#: Supertypes of a type, with itself, whose features it has.
_DEEPEST = 100


class Types:
    """The types that files declare.

    Attributes:
        supertypes: the supertype of each type.
        ranges: the range of each feature of each type.
    """

    def __init__(self) -> None:
        self.supertypes: dict[str, str] = {}
        self.ranges: dict[str, dict[str, str]] = defaultdict(dict)

    def add(self, name: str, supertype: str, ranges: Mapping[str, str]) -> None:
        """Add a type with the features that it declares itself."""
        self.supertypes[name] = supertype
        self.ranges[name].update(ranges)

    def features(self, name: str) -> dict[str, str]:
        """The ranges of all features of a type, also of its supertypes; those come first.

        Of very many supertypes, the nearest 100 count: chains of thousands cost their square.

        Examples:
            >>> types = Types()
            >>> types.add("a.B", "uima.tcas.Annotation", {"value": "uima.cas.String"})
            >>> types.features("a.B")
            {'value': 'uima.cas.String'}
        """
        line: dict[str, None] = {}
        while name in self.supertypes and name not in line and len(line) < _DEEPEST:
            line[name] = None
            name = self.supertypes[name]
        return {
            feature: range_
            for each in reversed(line)
            for feature, range_ in self.ranges[each].items()
        }

    def is_reference(self, range_: str) -> bool:
        """Whether values of a range are structures, not texts or numbers."""
        return range_ not in _PRIMITIVE and self.supertypes.get(range_) != STRING

    def values(self, name: str) -> list[str]:
        """The features of a type that are texts or numbers."""
        return [
            feature
            for feature, range_ in self.features(name).items()
            if not self.is_reference(range_)
        ]


def written_types(used: Iterable[Sequence[str]]) -> Types:
    """The types of annotations that are written, with all features that some of them have.

    Args:
        used: the layer of annotations, and the features that they have as texts.
    """
    ranges = {
        SENTENCE: {"id": STRING},
        TOKEN: {},
        POS: {"PosValue": STRING},
        MENTION: {"value": STRING, "identifier": STRING},
        RELATION: {"value": STRING, **dict.fromkeys(ROLES, ANNOTATION)},
        EVENT: {"value": STRING, ARGUMENTS: "uima.cas.FSArray"},
    }
    types = Types()
    for name, own in ranges.items():
        types.add(name, ANNOTATION, own)
    types.add(LINK, TOP, {"role": STRING, "target": ANNOTATION})
    for layer, *features in used:
        types.ranges[layer].update(dict.fromkeys(features, STRING))
    return types
