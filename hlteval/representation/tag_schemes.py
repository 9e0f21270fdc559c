"""Spans in sequences of tags: the schemes IOB1, IOB2, IOE1, IOE2, IOBES and BILOU.

A tag is a prefix and a type (`B-PER`). Sequences are arrays with an element per token; sentences
follow each other, and each begins where `begins` is true. A span never crosses sentences.

Two ways to read them are in use, and they differ only where a sequence is not valid in its scheme:

- the rules of conlleval, which repair everything: a prefix or a change of type begins a span;
- strict ones, which drop what the scheme does not begin and end.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from types import MappingProxyType
from typing import Literal, NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

Whole = NDArray[np.int64]
Small = NDArray[np.uint8]
Mask = NDArray[np.bool_]
Scheme = Literal["IOB1", "IOB2", "IOE1", "IOE2", "IOBES", "BILOU"]

#: The prefixes as numbers; any other character is `OTHER`.
PREFIXES = "OBIESLU."
OTHER = len(PREFIXES)
OUT, BEGIN, IN, END, SINGLE, LAST, UNIT, DOT = range(OTHER)
#: The prefixes of each scheme.
ALLOWED: Mapping[Scheme, str] = MappingProxyType(
    {"IOB1": "IOB", "IOB2": "IOB", "IOE1": "IOE", "IOE2": "IOE", "IOBES": "IOBES", "BILOU": "BILOU"}
)
#: The type of a tag that has none, as conlleval and seqeval call it.
NO_TYPE = "_"


class Spans(NamedTuple):
    """Spans of tokens.

    Attributes:
        first: the index of the first token of each span.
        last: that of its last token.
        label: the number of its type.
    """

    first: Whole
    last: Whole
    label: Whole

    def owners(self, size: int) -> Whole:
        """The index of the span that each of some tokens is in; -1 in none.

        Examples:
            >>> one = np.array([1])
            >>> Spans(one, one + 1, one).owners(4).tolist()
            [-1, 0, 0, -1]
        """
        numbers = np.arange(size)
        if not len(self.first):
            return np.full(size, -1)
        at = np.searchsorted(self.first, numbers, side="right") - 1
        return np.where((at >= 0) & (numbers <= self.last[at]), at, -1)


@dataclass(frozen=True)
class TagSequence:
    """Tags as numbers.

    Attributes:
        prefix: of each token, an index of `PREFIXES`.
        label: the number of its type in `labels`.
        begins: whether a sentence begins at it.
        labels: the types, `NO_TYPE` first.
    """

    prefix: Small
    label: Whole
    begins: Mask
    labels: tuple[str, ...]

    @classmethod
    def parse(cls, tags: pl.Series, begins: Mask, *, strict: bool = False) -> "TagSequence":
        """Read tags, whose prefix is the first character.

        Args:
            tags: a tag per token.
            begins: whether a sentence begins at it.
            strict: whether all hyphens around a type are removed, as the strict mode of seqeval
                does; else only that after the prefix.

        Examples:
            >>> begins = np.array([True, False, False])
            >>> found = TagSequence.parse(pl.Series(["B-PER", "O", "I-A-B"]), begins)
            >>> found.prefix.tolist(), [found.labels[at] for at in found.label]
            ([1, 0, 2], ['PER', '_', 'A-B'])
        """
        inside = np.flatnonzero((tags != "O").to_numpy())  # most tags are outside of spans
        some = tags.gather(inside)
        codes = some.cast(pl.Categorical).to_physical()
        firsts = codes.arg_unique()
        names = some.gather(firsts).to_list()
        rest = [name[1:].strip("-") if strict else name[1:].split("-", 1)[-1] for name in names]
        labels = (NO_TYPE, *dict.fromkeys(label for label in rest if label not in {"", NO_TYPE}))
        letters = [PREFIXES.find(name[:1] or "?") for name in names]
        code, size = codes.to_numpy(), 1 + max(codes.gather(firsts), default=0)
        own_prefix, own_label = np.zeros(size, dtype=np.uint8), np.zeros(size, dtype=np.int64)
        own_prefix[code[firsts]] = [OTHER if at < 0 else at for at in letters]
        index = {name: at for at, name in enumerate(labels)}
        own_label[code[firsts]] = [index[each or NO_TYPE] for each in rest]
        prefix, label = np.zeros(len(tags), dtype=np.uint8), np.zeros(len(tags), dtype=np.int64)
        prefix[inside], label[inside] = own_prefix[code], own_label[code]
        return cls(prefix, label, begins, labels)

    @cached_property
    def as_iobes(self) -> "TagSequence":
        """The sequence with the prefixes of IOBES for those of BILOU."""
        return replace(self, prefix=_IOBES[self.prefix])

    @cached_property
    def mistakes(self) -> dict[Scheme, "Broken"]:
        """The tags that are not valid, by scheme, as far as `find_broken` was asked for them."""
        return {}

    @cached_property
    def after(self) -> Small:
        """Of each tag, the place in the tables of pairs of the one before it and itself.

        Before the first tag of a sentence there is an `O`.
        """
        before, same = np.roll(self.prefix, 1), np.empty(len(self.label), dtype=np.bool_)
        same[1:], same[:1] = self.label[1:] == self.label[:-1], self.label[:1] == self.label[-1:]
        before[self.begins], same[self.begins] = OUT, self.label[self.begins] == 0
        return _pairs(before, self.prefix, same)

    @cached_property
    def before(self) -> Small:
        """Of each tag, the place of itself and the one after it; an `O` after each sentence."""
        pairs, last = np.roll(self.after, -1), np.roll(self.begins, -1)
        pairs[last] = _pairs(self.prefix[last], OUT, self.label[last] == 0)
        return pairs

    def spans(self, first: Whole, last: Whole) -> Spans:
        """Spans of tokens, with the types of their last tags."""
        return Spans(first, last, self.label[last])


def _pairs(first: Small, second: Small | int, same: Mask) -> Small:
    """The places of pairs in the raveled tables of `_table`."""
    return np.asarray(2 * ((OTHER + 1) * first + second) + same, dtype=np.uint8)


def look_up(table: Mask, places: Small) -> Mask:
    """The value of each place in a table; bytes are translated many times faster than indexed.

    Examples:
        >>> look_up(np.array([True, False]), np.array([1, 0, 0], dtype=np.uint8)).tolist()
        [False, True, True]
    """
    if not table.any():
        return np.zeros(len(places), dtype=np.bool_)
    values = table.tobytes().ljust(256, b"\0")
    return np.frombuffer(places.tobytes().translate(values), dtype=np.bool_)


def move_suffix(tags: pl.Series) -> pl.Series:
    """Tags with their prefix at the end (`PER-B`) in the usual form.

    Examples:
        >>> move_suffix(pl.Series(["PER-B", "O", "GPE-LOC-I"])).to_list()
        ['B-PER', 'O', 'I-GPE-LOC']
    """
    forms = {
        tag: f"{tag[-1:]}-{tag[:-1].rsplit('-', 1)[0]}" for tag in tags.unique() if len(tag) > 1
    }
    return tags.replace(forms)


def _table(condition: Callable[[int, int, bool], bool]) -> Mask:
    """The pairs of prefixes that a condition holds for, by [before, after, same type]."""
    size = range(OTHER + 1)
    return np.array(
        [[[condition(p, t, bool(same)) for same in (0, 1)] for t in size] for p in size]
    )


_ENDS = _table(
    lambda p, t, same: (
        p in (END, SINGLE)
        or (p in (BEGIN, IN) and t in (BEGIN, SINGLE, OUT))
        or (p not in (OUT, DOT) and not same)
    )
)
_STARTS = _table(
    lambda p, t, same: (
        t in (BEGIN, SINGLE)
        or (p in (END, SINGLE, OUT) and t in (END, IN))
        or (t not in (OUT, DOT) and not same)
    )
)


def repair(tags: TagSequence) -> Spans:
    """The spans by the rules of conlleval, which `seqeval` has by default: any sequence has some.

    `L` and `U` have no meaning here: take `as_iobes`, unless the software does without.

    Examples:
        >>> tags = pl.Series(["I-PER", "B-LOC", "I-ORG", "O"])
        >>> found = repair(TagSequence.parse(tags, np.array([True, False, False, False])))
        >>> list(zip(found.first.tolist(), found.last.tolist()))
        [(0, 0), (1, 1), (2, 2)]
    """
    starts = np.r_[0, np.flatnonzero(look_up(_STARTS, tags.after))]
    ends = np.flatnonzero(look_up(_ENDS, tags.before))
    # Where nothing has begun, a span begins where the last one did, or at the first token.
    return tags.spans(starts[np.searchsorted(starts, ends, side="right") - 1], ends)


_SAME = {"=": (True,), "!": (False,), "*": (True, False)}


class _Patterns(NamedTuple):
    """The starts, insides and ends of the spans of a scheme, as tables of `_table`."""

    start: Mask
    inside: Mask
    end: Mask

    @classmethod
    def of(cls, *texts: str) -> "_Patterns":
        """The patterns of three texts.

        A pair `OI*` is an I after an O: with `=` of the same type, with `!` of another, with `*` of
        any; a dot is any prefix.
        """
        tables = np.zeros((3, OTHER + 1, OTHER + 1, 2), dtype=np.bool_)
        for table, text in zip(tables, texts, strict=True):
            for pair in text.split():
                first, second = (
                    slice(OTHER) if letter == "." else PREFIXES.index(letter) for letter in pair[:2]
                )
                for same in _SAME[pair[2]]:
                    table[first, second, int(same)] = True
        return cls(*tables)


_STRICT: Mapping[Scheme, _Patterns] = MappingProxyType(
    {
        "IOB1": _Patterns.of("OI* II! BI* IB= BB=", "BI= II=", "II! IO* IB* BO* BI! BB="),
        "IOB2": _Patterns.of(".B*", "BI= II=", "IO* II! IB* BO* BI! BB*"),
        "IOE1": _Patterns.of("OI* II! EI* EE=", "II= IE=", "II! IO* IE! EI= EE="),
        "IOE2": _Patterns.of("OI* OE* EI* EE* II! IE!", "IE= II=", "E.*"),
        "IOBES": _Patterns.of(".B* .S*", "BI= BE= II= IE=", "S.* E.*"),
        "BILOU": _Patterns.of(".B* .U*", "BI= BL= II= IL=", "U.* L.*"),
    }
)


def strict(tags: TagSequence, scheme: Scheme) -> Spans:
    """The spans that a scheme begins and ends, as the strict mode of `seqeval` has them.

    All else is dropped, and so are some spans of IOB1 and IOE1 that these schemes allow. The
    prefixes are those of the scheme.

    Examples:
        >>> tags = pl.Series(["I-PER", "B-LOC", "I-ORG", "O"])
        >>> found = strict(TagSequence.parse(tags, np.array([True, False, False, False])), "IOB2")
        >>> list(zip(found.first.tolist(), found.last.tolist()))
        [(1, 1)]
    """
    patterns = _STRICT[scheme]
    start, inside = (look_up(table, tags.after) for table in (patterns.start, patterns.inside))
    numbers = np.arange(len(start))
    # A span is open where something has begun since the last tag that continues nothing.
    reset = np.maximum.accumulate(np.where(inside, 0, numbers))
    begun = np.maximum.accumulate(np.where(start, numbers, -1))
    is_open = np.r_[False, begun >= reset][:-1]
    firsts = np.flatnonzero(start & ~(inside & is_open))
    breaks = np.r_[np.flatnonzero(~inside), len(inside)]
    lasts = breaks[np.searchsorted(breaks, firsts, side="right")] - 1
    complete = patterns.end.ravel()[tags.before[lasts]]
    firsts, lasts = firsts[complete], lasts[complete]
    return Spans(firsts, lasts, tags.label[firsts])


_IOBES = np.array([OUT, BEGIN, IN, END, SINGLE, END, SINGLE, DOT, OTHER], dtype=np.uint8)


_OPEN, _GO_ON = (BEGIN, IN), (IN, END)


def _is_broken(scheme: Scheme, p: int, t: int, *, same: bool) -> tuple[bool, bool]:
    """Whether a pair of tags is not valid because of the first, and because of the second."""
    left, right = False, False
    match scheme:
        case "IOB2":
            right = t == IN and not (p in _OPEN and same)
        case "IOB1":
            right = t == BEGIN and not (p in _OPEN and same)
        case "IOE2":
            left = p == IN and not (t in _GO_ON and same)
        case "IOE1":
            left = p == END and not (t in _GO_ON and same)
        case _:
            left = p in _OPEN and not (t in _GO_ON and same)
            right = t in _GO_ON and not (p in _OPEN and same)
    return left, right


class Broken(NamedTuple):
    """The tags that are not valid in a scheme.

    Attributes:
        after: whether a tag cannot follow the one before it.
        before: whether it cannot precede the one after it.
    """

    after: Mask
    before: Mask

    @property
    def either(self) -> Mask:
        """Whether a tag is not valid."""
        return self.after | self.before


def find_broken(tags: TagSequence, scheme: Scheme) -> Broken:
    """Find the tags that are not valid in a scheme.

    Examples:
        >>> tags = pl.Series(["I-PER", "B-LOC", "I-ORG", "O"])
        >>> begins = np.array([True, False, False, False])
        >>> find_broken(TagSequence.parse(tags, begins), "IOB2").after.tolist()
        [True, False, True, False]
    """
    known = tags.mistakes
    if scheme not in known:
        own = tags.as_iobes
        left = _table(lambda p, t, same: _is_broken(scheme, p, t, same=same)[0])
        right = _table(lambda p, t, same: _is_broken(scheme, p, t, same=same)[1])
        known[scheme] = Broken(look_up(right, own.after), look_up(left, own.before))
    return known[scheme]


def read_spans(
    tags: TagSequence, scheme: Scheme, *, keep_broken: bool = True
) -> tuple[Spans, Broken]:
    """The spans of a scheme, and which tags are not valid.

    Args:
        tags: the sequence.
        scheme: the one that it should be in.
        keep_broken: whether spans with tags that are not valid are kept, as conlleval repairs them.

    Examples:
        >>> tags = pl.Series(["U-PER", "B-LOC", "L-LOC", "I-LOC"])
        >>> sequence = TagSequence.parse(tags, np.array([True, False, False, False]))
        >>> found, wrong = read_spans(sequence, "BILOU", keep_broken=False)
        >>> list(zip(found.first.tolist(), found.last.tolist())), wrong.after.tolist()
        ([(0, 0), (1, 2)], [False, False, False, True])
    """
    wrong = find_broken(tags, scheme)
    spans = repair(tags.as_iobes)
    if not keep_broken:
        before = np.r_[0, np.cumsum(wrong.either)]
        valid = before[spans.last + 1] == before[spans.first]
        spans = Spans(*(column[valid] for column in spans))
    return spans, wrong


def detect(tags: TagSequence) -> Scheme:
    """The scheme that fits the prefixes.

    Of two schemes with the same prefixes it is IOB2 or IOE2, unless only the other one fits.

    Examples:
        >>> tags, begins = ("I-X", "B-X", "U-X"), np.array([True, False])
        >>> [detect(TagSequence.parse(pl.Series(["O", tag]), begins)) for tag in tags]
        ['IOB1', 'IOB2', 'BILOU']
    """
    prefixes = tags.prefix.tobytes()
    if UNIT in prefixes or LAST in prefixes:
        return "BILOU"
    if SINGLE in prefixes or (END in prefixes and BEGIN in prefixes):
        return "IOBES"
    usual, other = _PAIRS["E" if END in prefixes else "B"]
    fits = not find_broken(tags, usual).either.any()
    return usual if fits or find_broken(tags, other).either.any() else other


_PAIRS: Mapping[str, tuple[Scheme, Scheme]] = MappingProxyType(
    {"B": ("IOB2", "IOB1"), "E": ("IOE2", "IOE1")}
)
