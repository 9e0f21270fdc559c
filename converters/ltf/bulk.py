r"""Reads many LTF files in LDC's layout at once: one element per line, attributes in order.

Lines may be indented or empty, and several elements may share one. The values of an element are all
in double quotes, or all in single ones.

Every file accepted here is valid by the schema and has the same tables in both readers; all others
are read element by element (elements.py).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

import polars as pl

from hlteval.converters.ltf.tables import SCHEMAS, Tables

DECLARATION = '<?xml version="1.0" encoding="UTF-8"?>'
DOCTYPE = '<!DOCTYPE LCTL_TEXT SYSTEM "ltf.v1.5.dtd">'

_NOT = r'<>&"\x00-\x1f\x{fffe}\x{ffff}'
_VALUE = f"[^{_NOT}]*"
_TEXT = r"(?:[^<>&\x00-\x1f\x{fffe}\x{ffff}]|&(?:lt|gt|amp);)*"
_PLACE = 'start_char="(?P<start>[0-9]{1,9})" end_char="(?P<end>[0-9]{1,9})"'
_PAIR = re.compile(r""" ([a-z_0-9]+)=(?:"([^"]*)"|'([^']*)')""")

# The beginnings of lines, each with its letter.
_LETTERS = (
    ("<TOKEN ", "T"),
    ("<SEG ", "S"),
    ("</SEG>", "s"),
    ("<ORIGINAL_TEXT>", "O"),
    ("<TEXT>", "X"),
    ("</TEXT>", "x"),
    ("<DOC ", "D"),
    ("</DOC>", "d"),
    ("<LCTL_TEXT", "L"),
    ("</LCTL_TEXT>", "l"),
    ("<?xml", "p"),
    ("<!DOCTYPE", "t"),
)
#: A whole file by the letters of its lines; empty lines have none.
_FILE = r"^ptL(?:DX(?:SO?T*s)+xd)+l$"

_PATTERNS = {
    "T": f'<TOKEN id="(?P<name>{_VALUE})"(?: pos="(?P<pos>{_VALUE})")?'
    f'(?: morph="(?P<morph>{_VALUE})")? {_PLACE}>(?P<text>{_TEXT})</TOKEN>',
    "S": f'<SEG id="(?P<name>{_VALUE})" {_PLACE}>',
    "O": f"<ORIGINAL_TEXT>(?P<text>{_TEXT})</ORIGINAL_TEXT>",
    "D": f'<DOC(?P<pairs> id="(?P<name>{_VALUE})"(?: (?:lang|tokenization|grammar|'
    f'raw_text_char_length|raw_text_md5)="{_VALUE}")*)>',
    "L": f'<LCTL_TEXT(?P<pairs>(?: (?:lang|source_file|source_type|author|encoding)="{_VALUE}")*)>',
    "p": re.escape(DECLARATION).replace("UTF", "(?:UTF|utf)"),
    "t": re.escape(DOCTYPE),
    **{
        letter: re.escape(line) for line, letter in _LETTERS if line.endswith(">") and letter != "O"
    },
}
#: The patterns of lines whose values are all in double quotes, and all in single ones.
_QUOTED = {
    quote: {letter: pattern.replace('"', quote) for letter, pattern in _PATTERNS.items()}
    for quote in ('"', "'")
}
#: What stands between the quotes of a token with all attributes: fields, and fixed text.
_TOKEN_PARTS = ("", "name", " pos=", "pos", " morph=", "morph", "", "start", "", "end", "text")
_OPENING = "LDXSOT"
#: The end of an element before another element or an end tag, in one line.
_SHARED = ">[ \\t]*(<(?:[A-Z!?]|/(?:SEG|TEXT|DOC|LCTL_TEXT)))"


class _Lines(NamedTuple):
    """The lines of files: `origin`, `line`, `letter`, `record`, `holder`, `segment`."""

    table: pl.DataFrame

    def of(self, letter: str) -> pl.DataFrame:
        """The lines of a kind with the groups of its pattern; null where this rejects a line."""
        some = self.table.filter(pl.col("letter") == letter).with_row_index("at")
        left, parts = some.select("at", "line"), list[pl.DataFrame]()
        for read, pattern in _readers(letter):
            parts.append(read(left, letter, pattern))
            if parts[-1].height == left.height:
                break
            left = left.join(parts[-1], on="at", how="anti", maintain_order="left")
        if len(parts) == 1:  # all lines, in order
            return some.hstack(parts[0].drop("at")).drop("at", "line")
        groups = pl.concat(parts, how="diagonal")
        return some.drop("line").join(groups, on="at", how="left", maintain_order="left").drop("at")

    def rejected(self, letter: str) -> pl.Series:
        """The files with a line of a kind that its pattern rejects."""
        some = self.table.filter(pl.col("letter") == letter)
        fits = [pl.col("line").str.contains(f"^{each[letter]}$") for each in _QUOTED.values()]
        return some.filter(~pl.any_horizontal(fits))["origin"]


def _readers(letter: str) -> Iterator[tuple[_Reader, str]]:
    """What reads the lines of a kind, each with its pattern: the usual first."""
    for patterns in _QUOTED.values():
        yield from ((_tokens, patterns[letter]),) if letter == "T" else ()
        yield _grouped, patterns[letter]


_Reader = Callable[[pl.DataFrame, str, str], pl.DataFrame]


def _grouped(lines: pl.DataFrame, letter: str, pattern: str) -> pl.DataFrame:
    """The lines that a pattern accepts, with its groups."""
    groups = pl.col("line").str.extract_groups(f"^{pattern}$")
    parts = lines.select("at", groups=groups).unnest("groups")
    return parts.filter(pl.col(_REQUIRED.get(letter, "name")).is_not_null())


def _tokens(lines: pl.DataFrame, letter: str, pattern: str) -> pl.DataFrame:  # noqa: ARG001
    """The same for tokens with all attributes: splitting lines that fit at their quotes is fast."""
    quote = "'" if "='" in pattern else '"'
    fitting = lines.filter(pl.col("line").str.contains(f"^{_GROUP.sub('(?:', pattern)}$"))
    parts = fitting.select("at", parts=pl.col("line").str.splitn(quote, len(_TOKEN_PARTS)))
    parts = parts.unnest("parts").filter(
        pl.col(f"field_{number}") == text
        for number, text in enumerate(_TOKEN_PARTS)
        if text.startswith(" ")
    )
    fields = {
        text: pl.col(f"field_{number}")
        for number, text in enumerate(_TOKEN_PARTS)
        if text and not text.startswith(" ")
    }
    fields["text"] = fields["text"].str.strip_prefix(">").str.strip_suffix("</TOKEN>")
    return parts.select("at", **fields)


_GROUP = re.compile(r"\(\?P<\w+>")
#: The group of a pattern that is never null in a line that it accepts, if that is not the name.
_REQUIRED = {"L": "pairs", "O": "text"}


def bulk(files: Sequence[tuple[int, str]]) -> tuple[Tables, set[int]]:
    """The tables of the files that are in LDC's layout.

    Args:
        files: texts with their number, which becomes `origin`.

    Returns:
        The tables, and the numbers of the files in them.
    """
    lines = _lines([(origin, text) for origin, text in files if text.startswith("<?xml")])
    letters = lines.group_by("origin", maintain_order=True).agg(pl.col("letter").str.join(""))
    accepted = letters.filter(pl.col("letter").str.contains(_FILE))["origin"].to_list()
    while True:
        kept = _Lines(lines.filter(pl.col("origin").is_in(accepted)))
        tables, wrong = _tables(kept)
        if not wrong:
            return tables, set(accepted)
        accepted = [origin for origin in accepted if origin not in wrong]


def _lines(files: Sequence[tuple[int, str]]) -> pl.DataFrame:
    origins, texts = ([file[at] for file in files] for at in (0, 1))
    schema = {"origin": pl.Int64, "line": pl.String}
    table = pl.DataFrame({"origin": origins, "line": texts}, schema=schema)
    table = table.with_columns(_trimmed(table["line"]).str.split("\n")).explode("line")
    table = table.with_columns(pl.col("line").str.strip_chars(" \t")).filter(pl.col("line") != "")
    table = table.with_columns(_letters(table["line"]))
    opening = pl.col("letter").is_in(list(_OPENING)).cast(pl.Int64)
    table = table.with_columns(record=opening.cum_sum().over("origin"))
    return table.with_columns(
        pl.when(pl.col("letter") == letter).then(pl.col("record")).forward_fill().alias(name)
        for letter, name in (("D", "holder"), ("S", "segment"))
    )


def _trimmed(texts: pl.Series) -> pl.Series:
    """Texts with an element a line and few empty lines; what is so already is not written again."""
    shared = texts.str.contains(">[ \t]*<")
    if texts.str.contains("\r\n", literal=True).any():
        texts = texts.str.replace_all("\r\n", "\n", literal=True)  # as XML does
    if shared.any():
        texts = texts.str.replace_all(_SHARED, ">\n$1").zip_with(shared, texts)
    empty = texts.str.contains("\n\n", literal=True)  # millions of lines are not split for nothing
    if empty.any():
        texts = texts.str.replace_all("\n+", "\n").zip_with(empty, texts)
    return texts


def _letters(lines: pl.Series) -> pl.Series:
    """The letter of each line; most are tokens, the others are compared with all beginnings."""
    (token, name), *beginnings = _LETTERS
    other = ~lines.str.starts_with(token)
    letter = pl.lit("?")
    for begin, own in beginnings[::-1]:
        letter = pl.when(pl.col("line").str.starts_with(begin)).then(pl.lit(own)).otherwise(letter)
    letters = lines.filter(other).to_frame().select(letter=letter)["letter"]
    names = pl.concat([pl.Series("letter", [name]), letters])  # a token has the first of them
    at = other.cum_sum()
    return names.gather(at.zip_with(other, pl.Series([0], dtype=at.dtype)))


def _tables(lines: _Lines) -> tuple[Tables, set[int]]:
    """The tables of lines, and the files with a line that its pattern rejects."""
    wrong: set[int] = set()
    for letter in "ptXxsdl":
        wrong.update(lines.rejected(letter))
    tables = {letter: lines.of(letter) for letter in "LDSOT"}
    for letter, table in tables.items():
        wrong.update(table.filter(pl.col(_REQUIRED.get(letter, "name")).is_null())["origin"])
    attributes, repeated = _attributes(tables["L"], tables["D"])
    wrong |= repeated
    if wrong:
        return Tables.of(), wrong
    key = ["origin", "segment"]
    texts = tables["O"].select(*key, _unescaped())
    segments = tables["S"].join(texts, on=key, how="left", maintain_order="left")
    return (
        Tables(
            documents=_shaped("documents", tables["D"]),
            segments=_shaped("segments", _placed(segments)),
            tokens=_shaped("tokens", _placed(tables["T"].with_columns(_unescaped()))),
            attributes=attributes,
            rejected_records=pl.DataFrame(schema=SCHEMAS["rejected_records"]),
        ),
        wrong,
    )


def _shaped(name: str, table: pl.DataFrame) -> pl.DataFrame:
    absent = [
        pl.lit(None, dtype).alias(column)
        for column, dtype in SCHEMAS[name].items()
        if column not in table.columns
    ]
    return table.with_columns(absent).select(list(SCHEMAS[name]))


def _placed(table: pl.DataFrame) -> pl.DataFrame:
    """The inclusive offsets of the format as half-open ones."""
    return table.with_columns(
        start=pl.col("start").cast(pl.Int64), end=pl.col("end").cast(pl.Int64) + 1
    )


def _unescaped() -> pl.Expr:
    return pl.col("text").str.replace_many(["&lt;", "&gt;", "&amp;"], ["<", ">", "&"])


def _attributes(roots: pl.DataFrame, documents: pl.DataFrame) -> tuple[pl.DataFrame, set[int]]:
    """The attributes of files and documents, and the files with a repeated attribute."""
    first = documents.group_by("origin", maintain_order=True).agg(holder=pl.col("record").first())
    roots = roots.drop("holder").join(first, on="origin", how="left", maintain_order="left")
    rows: list[tuple[object, ...]] = []
    repeated: set[int] = set()
    for element, table in (("LCTL_TEXT", roots), ("DOC", documents)):
        for origin, record, holder, pairs in table.select(
            "origin", "record", "holder", "pairs"
        ).iter_rows():
            found = [(name, one or other) for name, one, other in _PAIR.findall(pairs or "")]
            if len({name for name, _ in found}) < len(found):
                repeated.add(origin)
            rows += [(origin, record, holder, element, *pair) for pair in found]
    listed = Tables.of(attributes=rows).attributes
    return listed.sort("origin", "record", maintain_order=True), repeated
