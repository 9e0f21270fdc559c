"""The two dialects of standoff, BioNLP-ST and brat, and one record of either.

The fields of a record, and why a line is not one, are the slow path: they ask the grammar itself,
about lines that the bulk path rejected and lines that a finding points at.
"""

import re
from collections.abc import Mapping

import msgspec

from hlteval.findings import Problem
from hlteval.grammars import failure, in_words, matcher, pattern, vocabulary

TEXT = ".txt"


class Kind(msgspec.Struct, frozen=True, array_like=True):
    """A kind of record: its rule in the grammar, its name, the code of a malformed one."""

    rule: str
    what: str
    code: str


class Dialect(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A dialect of standoff; grammars/standoff.toml explains its fields."""

    name: str
    words: Mapping[str, str]
    mentions: str
    others: str
    kinds: Mapping[str, Kind]
    no_tab: str
    unknown: str
    large: str
    incomplete: tuple[str, str, str]
    identifier: str
    identifiers: Mapping[str, str]
    unreferable: str
    torn: str = ""
    numbered: bool = False
    any_line_end: bool = False

    @property
    def annotations(self) -> tuple[str, ...]:
        """The suffixes of files with annotations."""
        return tuple(dict.fromkeys((self.mentions, self.others)))

    @property
    def suffixes(self) -> tuple[str, ...]:
        """The suffixes of all files."""
        return (TEXT, *self.annotations)

    def kind(self, letter: str) -> Kind | None:
        """The kind of records whose identifiers begin with a letter."""
        kinds = (kind for letters, kind in self.kinds.items() if letter and letter in letters)
        return next(kinds, None)


def _dialect(name: str) -> Dialect:
    data = vocabulary("standoff")
    fields = data["dialects"][name]
    words = {**data["words"], **fields.get("words", {})}
    return msgspec.convert({**fields, "name": name, "words": words}, Dialect)


BIONLP, BRAT = _dialect("standoff"), _dialect("brat")


#: Spaces that do not count at either end of a line; "\n" ends the line itself.
SPACES = " \t\r\f\x0b"

_HEAD = re.compile(r"\s*(?P<id>[^\t]*)\t\s*(?P<label>\S+)")
_LONG = re.compile("[0-9]{10,}")
_WORD = re.compile(r"[^ \t\r\f\x0b]+")
#: A carriage return with the beginning of a record behind it.
_NEXT = r"\r[A-Z*][^ \t\r\f\x0b]*\t"
#: Names of fields that differ from those of the grammars.
_NAMES = {"type": "label", "reference": "value", "both": "arguments"}
#: What is wrong with a carriage return, by whether it ends a record.
_CARRIAGE_RETURN = {
    True: {
        "problem": "a carriage return (CR) alone does not end a line",
        "hint": r"end lines with LF; `tr '\r' '\n' < OLD > NEW` converts files of old Macs",
    },
    False: {
        "problem": "carriage return (CR) inside a record",
        "hint": "write a space for it, or LF if the line ends there",
    },
}


def explain(line: str, record: int, dialect: Dialect, *, ask: bool = True) -> Problem:
    r"""Why the grammar rejects a line, and where.

    Args:
        line: a line that is not a record, without its line break.
        record: its number.
        dialect: the dialect that it is read as.
        ask: whether to ask the grammar for the exact place; otherwise the problem is the whole
            line.

    Returns:
        The problem. Its values are those of its message, and `kind`, `id` (empty for none) and
        `label` (null for none) for the table `rejected_records`.

    Examples:
        >>> from hlteval.converters.standoff.dialects import BIONLP
        >>> explain("M8\tNegation E3", 7, BIONLP)[:4]
        ('STD106', 7, 12, 14)
    """
    head, tab, rest = line.partition("\t")
    kind = dialect.kind(head.strip()[:1])
    code = kind.code if kind else dialect.unknown
    cut = re.search(torn(kind.rule if kind else ""), line) if dialect.torn else None
    start, end, expected = 0, len(line), ""
    if ask and not cut:
        column, terminals = failure(dialect.name, line)
        if column == 1 and (wanted := dialect.kind(line[:1])):
            terminals = frozenset({f"{wanted.rule.upper()}_ID"})
        expected = in_words(dialect.name, terminals - {"_MARGIN"} or terminals, dialect.words)
        start = column - 1
        word = re.compile(r"\S+|\s").match(line, start)
        end = word.end() if word else start
    malformed, incomplete, lacking = dialect.incomplete
    any_digits = pattern(dialect.name, "text_bound").replace("{1,9}", "+")
    if cut:
        code, start, end = dialect.torn, cut.start(), cut.start() + 1
    elif not tab:
        code = dialect.no_tab
    elif code == malformed and (match := re.fullmatch(incomplete, line)):
        code, (start, end) = lacking, match.span("rest")
    elif (span := re.fullmatch(any_digits, line)) and (
        number := _LONG.search(line, *span.span("fragments"))
    ):
        code, (start, end) = dialect.large, number.span()
    ends_line = re.compile(_NEXT).match(line, start) is not None
    values = {
        "kind": kind.what if kind else "unknown",
        "id": head.strip() if tab else "".join(head.split(maxsplit=1)[:1]),
        "label": "".join(rest.split(maxsplit=1)[:1]) or None,
        "given": line[start:end][:40] or "end of line",
        **_CARRIAGE_RETURN[ends_line],
        "expected": expected or "a record of this kind",
    }
    return Problem(code, record, start, end, values)


def torn(rule: str) -> str:
    r"""The pattern of a carriage return that no record of a rule has inside.

    The text of a text span may have one; another record behind it is none of the text.

    Examples:
        >>> [bool(re.search(torn("text_bound"), line)) for line in ("a\rb", "seed\rT2\tTissue")]
        [False, True]
    """
    return _NEXT if rule == "text_bound" else r"\r"


def field_spans(line: str, dialect: Dialect) -> dict[str, tuple[int, int]]:
    r"""The fields of a record by name, each as start and end in the line.

    The names are those of the columns of the representation, numbered where there are several. A
    line that is not a record has at most the words in the places of identifier and type.

    Examples:
        >>> from hlteval.converters.standoff.dialects import BIONLP
        >>> field_spans("E1\tBinding Theme:T1", BIONLP)["target 1"]
        (17, 19)
    """
    kind = dialect.kind(line.strip()[:1])
    match = matcher(dialect.name, kind.rule).fullmatch(line) if kind else None
    if match is None:
        head = _HEAD.match(line)
        return {name: head.span(name) for name in ("id", "label")} if head else {}
    fields = {field(name): match.span(name) for name, value in match.groupdict().items() if value}
    for group, item in (("arguments", "argument"), ("members", "member")):
        for number, word in enumerate(_WORD.finditer(line, *fields.get(group, (0, 0))), start=1):
            fields[f"{item} {number}"] = word.span()
            if item == "argument":
                colon = word.start() + len(word[0].partition(":")[0])
                fields[f"role {number}"] = (word.start(), colon)
                fields[f"target {number}"] = (colon + 1, word.end())
    return fields


def field(group: str) -> str:
    """The name in the representation of a group of a rule's pattern.

    Examples:
        >>> field("event_id"), field("type"), field("target")
        ('id', 'label', 'target')
    """
    return "id" if group.endswith("_id") else _NAMES.get(group, group)
