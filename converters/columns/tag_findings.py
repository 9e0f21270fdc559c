"""Problems of tags: prefixes outside a scheme, and sequences that are not valid in it.

A sequence that is not valid is read in some way by every tool, which the help shows:

- conlleval and seqeval in its default mode repair it, the latter without knowing `L` and `U`;
- seqeval in its strict mode has what its scheme begins and ends;
- spaCy begins an entity at any `B` or `I` after another tag. In BILOU, it refuses a sequence with
  `I` or `L` where no `B` is open, and else reads from a `B` to the next `L`, whatever is between.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np
import polars as pl

from hlteval.findings import Problem
from hlteval.representation.tag_schemes import (
    ALLOWED,
    BEGIN,
    LAST,
    PREFIXES,
    Broken,
    Mask,
    Scheme,
    Spans,
    TagSequence,
    Whole,
    find_broken,
    look_up,
    repair,
    strict,
)

#: What becomes of a sequence that is not valid: conlleval's rules keep all; `drop` leaves out spans
#: with tags that are not valid; `error` reports these as errors.
Repair = Literal["conlleval", "drop", "error"]

#: The effect of a repair on a span that a tag begins and ends, for messages.
_EFFECT: Mapping[Repair, tuple[str, str]] = {
    **dict.fromkeys(("conlleval", "error"), ("an entity starts here", "the entity ends here")),
    "drop": ("the entity is left out", "the entity is left out"),
}
#: The prefix that is valid instead of one that cannot follow the tag before it, by scheme.
_AFTER: Mapping[Scheme, Mapping[str, str]] = {
    "IOB1": {"B": "I"},
    "IOB2": {"I": "B"},
    "IOBES": {"I": "B", "E": "S"},
    "BILOU": {"I": "B", "L": "U"},
}
#: The prefix that is valid instead of one that cannot precede the tag after it.
_BEFORE: Mapping[Scheme, Mapping[str, str]] = {
    "IOE1": {"E": "I"},
    "IOE2": {"I": "E"},
    "IOBES": {"B": "S", "I": "E"},
    "BILOU": {"B": "U", "I": "L"},
}


@dataclass(frozen=True)
class TagProblems:
    """The problems of the tags of a file.

    Attributes:
        tags: the tags as numbers.
        tokens: the `record` and the `tag` of each.
        scheme: the scheme that they should be in.
        repair: what becomes of sequences that are not valid.
        detected: whether the scheme was detected, not declared.
    """

    tags: TagSequence
    tokens: pl.DataFrame
    scheme: Scheme
    repair: Repair
    detected: bool

    @cached_property
    def _invalid_tags(self) -> Broken:
        return find_broken(self.tags, self.scheme)

    @cached_property
    def _foreign(self) -> Mask:
        """Whether each tag has a prefix that the scheme has not."""
        return ~_has_prefixes(self.tags, self.scheme)

    def problems(self) -> Iterator[Problem]:
        """The problems, each with the field `tag`; of a whole file with the record 0."""
        wrong = self._invalid_tags.either | self._foreign
        other = None if self.detected or not wrong.any() else self._other_scheme()
        if other:
            count = int(wrong.sum())
            named = {"scheme": self.scheme, "other": other}
            code = "COL107" if self._foreign.any() or self.repair == "error" else "COL104"
            yield Problem(code, 0, 0, 0, {**named, "count": count, "of": len(wrong)})
            return
        records = self.tokens["record"]
        for at in np.flatnonzero(wrong).tolist():
            if self._foreign[at]:
                allowed = ", ".join(ALLOWED[self.scheme])
                values = {"tag": self.tokens["tag"][at], "scheme": self.scheme, "prefixes": allowed}
                yield Problem("COL102", records[at], 0, 0, values, "tag")
            else:
                yield self._invalid(at, records[at])

    def _invalid(self, at: int, record: int) -> Problem:
        """The problem of a tag that is not valid beside another."""
        tag, after = self.tokens["tag"][at], bool(self._invalid_tags.after[at])
        near = at - 1 if after else at + 1
        inside = 0 <= near < len(self.tags.begins)
        crosses = inside and self.tags.begins[at if after else near]
        edge = "the start of a sentence" if after else "the end of a sentence"
        other = self.tokens["tag"][near] if inside and not crosses else edge
        prefixes = (_AFTER if after else _BEFORE).get(self.scheme, {})
        instead = prefixes.get(PREFIXES[self.tags.prefix[at]], "")
        values = {
            "tag": tag,
            "where": "after" if after else "before",
            "other": other,
            "scheme": self.scheme,
            "effect": _EFFECT[self.repair][0 if after else 1],
            "instead": f"{instead}{tag[1:]}",
            "tools": self._readings(at),
        }
        code = "COL106" if self.repair == "error" else "COL103"
        return Problem(code, record, 0, 0, values, "tag")

    @cached_property
    def _tools(self) -> Mapping[str, tuple[Spans, Whole]]:
        """The spans that tools read, and the number of the span that each token is in."""
        tools = {"default": repair(self.tags), "strict": strict(self.tags, self.scheme)}
        return {name: (spans, spans.owners(len(self.tags.begins))) for name, spans in tools.items()}

    @cached_property
    def _open(self) -> Mask:
        """Whether spaCy has an entity of BILOU open before each token."""
        size, prefix = len(self.tags.begins), self.tags.prefix
        numbers = np.arange(size)
        begun, closed = (
            np.r_[-1, np.maximum.accumulate(np.where(prefix == letter, numbers, -1))][:size]
            for letter in (BEGIN, LAST)
        )
        edge = np.maximum.accumulate(np.where(self.tags.begins, numbers, -1))  # of the sentence
        return np.asarray((begun > closed) & (begun >= edge))

    def _readings(self, at: int) -> str:
        """Say which entity each tool reads at a token, in words."""
        by_entity: dict[str, list[str]] = {}
        others = [] if self.scheme in {"IOBES", "BILOU"} else ["conlleval"]
        others += ["spaCy"] if ALLOWED[self.scheme] == "IOB" else []
        names = {"default": [*others, "seqeval"], "strict": ["seqeval strict"]}
        for tool, (spans, owners) in self._tools.items():
            owner = owners[at]
            size = spans.last[owner] - spans.first[owner] + 1 if owner >= 0 else 0
            words = f"of {size} {'tokens' if size > 1 else 'token'}"
            entity = f"{self.tags.labels[spans.label[owner]]} {words}" if size else "nothing"
            by_entity.setdefault(entity, []).extend(names[tool])
        readings = []
        for entity, tools in by_entity.items():
            *first, final = tools
            many = " and ".join([", ".join(first), final]) if first else final
            readings.append(f"{many} read{'' if first else 's'} {entity}")
        if self.scheme == "BILOU":
            refused = self.tags.prefix[at] != BEGIN and not self._open[at]
            readings.append(
                f"spaCy {'refuses the sentence' if refused else 'reads on to the next L'}"
            )
        return ", ".join(readings)

    def _other_scheme(self) -> Scheme | None:
        """Another scheme in which all tags are valid."""
        for scheme in ALLOWED:
            valid = _has_prefixes(self.tags, scheme).all()
            if valid and not find_broken(self.tags, scheme).either.any():
                return scheme
        return None


def _has_prefixes(tags: TagSequence, scheme: Scheme) -> Mask:
    """Whether each tag has a prefix of a scheme."""
    known = np.array([letter in ALLOWED[scheme] for letter in PREFIXES])
    return look_up(known, tags.prefix)
