"""The tables of a batch of LTF files: keyed by file and element, then as a corpus.

Both readers, in bulk and element by element, give the former; this module makes a corpus of them,
with the text of every document.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import NamedTuple

import polars as pl

from hlteval.representation import TABLES, Corpus

#: Most code points of a document outside of segments; more are a mistake or an attack.
FILLED = 100_000

_PLACE = ("row", "document", "origin", "record")
#: The columns of each table that LTF fills.
COLUMNS: Mapping[str, tuple[str, ...]] = {
    "segments": (*_PLACE, "name", "start", "end", "text", "part"),
    "tokens": (*_PLACE, "segment_row", "name", "start", "end", "text", "pos", "morph"),
    "attributes": (*_PLACE, "element", "name", "value"),
    "rejected_records": (
        *_PLACE,
        *("code", "kind", "id", "label", "text", "column", "end_column", "expected"),
    ),
    "documents": ("row", "origin", "name", "text", "language"),
}

_KEY = {"origin": pl.Int64, "record": pl.Int64, "holder": pl.Int64}
#: The columns of each table before it has keys: the file, the ordinal of the element and of the
#: document that holds it (`holder`); for a token also of its segment.
SCHEMAS: Mapping[str, Mapping[str, pl.DataType | type[pl.DataType]]] = {
    name: {
        **_KEY,
        **({"segment": pl.Int64} if name == "tokens" else {}),
        **{
            column: TABLES[name].schema[column]
            for column in COLUMNS[name]
            if column not in (*_PLACE, "segment_row")
        },
    }
    for name in ("segments", "tokens", "attributes", "rejected_records")
} | {"documents": {**_KEY, "name": pl.String}}

LANGUAGE, LENGTH, MD5 = "lang", "raw_text_char_length", "raw_text_md5"


class Tables(NamedTuple):
    """The tables of files, with the columns of `SCHEMAS`."""

    documents: pl.DataFrame
    segments: pl.DataFrame
    tokens: pl.DataFrame
    attributes: pl.DataFrame
    rejected_records: pl.DataFrame

    @classmethod
    def of(cls, **rows: Sequence[tuple[object, ...]]) -> Tables:
        """Tables of rows, with the columns in the order of `SCHEMAS`; other tables are empty."""
        return cls(*(_frame(rows.get(name, ()), name) for name in cls._fields))

    @classmethod
    def concat(cls, parts: Sequence[Tables]) -> Tables:
        """The tables of several parts, in the order of their files."""
        if len(parts) == 1:
            return parts[0]
        tables = (pl.concat(tables) for tables in zip(*parts, strict=True))
        return cls(*(table.sort("origin", "record", maintain_order=True) for table in tables))


def _frame(rows: Sequence[tuple[object, ...]], name: str) -> pl.DataFrame:
    columns = list(zip(*rows, strict=True)) or [()] * len(SCHEMAS[name])
    return pl.DataFrame(
        [
            pl.Series(column, values, dtype=dtype)
            for (column, dtype), values in zip(SCHEMAS[name].items(), columns, strict=True)
        ]
    )


def corpus(sources: pl.DataFrame, tables: Tables) -> Corpus:
    """The corpus of a batch, whose documents have different names."""
    named = tables.documents
    keys = named.select("origin", holder="record", document=pl.int_range(pl.len(), dtype=pl.Int64))
    segments = _keyed(tables.segments, keys)
    rows = segments.select("origin", segment="record", segment_row="row")
    tokens = _keyed(tables.tokens, keys).join(
        rows, on=["origin", "segment"], how="left", maintain_order="left"
    )
    attributes = _keyed(tables.attributes, keys)
    rejected = _keyed(tables.rejected_records, keys)
    documents = keys.select("origin", "document", row="document", name=named["name"])
    documents = documents.join(_described(attributes), on="document", how="left")
    documents = _with_texts(documents, segments, rejected).sort("row")
    found = {
        "documents": documents,
        "segments": segments,
        "tokens": tokens,
        "attributes": attributes,
        "rejected_records": rejected,
    }
    return Corpus(
        sources=sources,
        **{
            name: table.select(c for c in COLUMNS[name] if c in table.columns)
            for name, table in found.items()
        },
    )


def _keyed(table: pl.DataFrame, keys: pl.DataFrame) -> pl.DataFrame:
    """The rows of the documents that are kept, with their keys."""
    found = table.join(keys, on=["origin", "holder"], how="inner", maintain_order="left")
    return found.with_columns(row=pl.int_range(pl.len(), dtype=pl.Int64))


def _described(attributes: pl.DataFrame) -> pl.DataFrame:
    """The language and the declared length of each document; its own language before its file's."""
    named = attributes.filter(pl.col("element").is_in(["DOC", "LCTL_TEXT"]))
    of_file = pl.col("element") == "LCTL_TEXT"
    own, other = (
        pl.col("value").filter((pl.col("name") == LANGUAGE) & element).first()
        for element in (~of_file, of_file)
    )
    length = pl.col("value").filter(pl.col("name") == LENGTH)
    return named.group_by("document").agg(
        language=pl.coalesce(own, other), declared=length.first().str.to_integer(strict=False)
    )


def _with_texts(
    documents: pl.DataFrame, segments: pl.DataFrame, rejected: pl.DataFrame
) -> pl.DataFrame:
    """The documents with their texts where these can be rebuilt."""
    whole = documents.join(rejected.select("document"), on="document", how="anti")
    built = rebuilt(whole.select("document", "declared"), segments)
    return documents.join(built.select("document", "text"), on="document", how="left")


def rebuilt(documents: pl.DataFrame, segments: pl.DataFrame) -> pl.DataFrame:
    r"""The texts of documents, rebuilt from their segments with line feeds between.

    The rule of the format: line feeds fill the text up to the start of each segment, and after the
    last one up to the declared length.

    Args:
        documents: `document` and `declared`, its length in code points or null.
        segments: `document`, `start`, `end` and `text`, in the order of the file.

    Returns:
        `document`, `text` and `length`, the code points up to the end of the last segment. There is
        no text where a segment has none, or where more than `FILLED` line feeds would be needed.

    Examples:
        >>> segments = pl.DataFrame({"document": [0, 0], "start": [1, 5], "end": [3, 6],
        ...                          "text": ["ab", "c"]})
        >>> rebuilt(pl.DataFrame({"document": [0], "declared": [8]}), segments)["text"].to_list()
        ['\nab\n\nc\n\n']
    """
    before = pl.col("end").shift(1, fill_value=0).over("document")
    gap = (pl.col("start") - before).clip(lower_bound=0)
    pieces = segments.select("document", "text", gap=gap)
    some = pieces.group_by("document", maintain_order=True).agg(
        # each is cut back, so that no sum of them runs over the end of the integers
        filled=pl.col("gap").clip(upper_bound=FILLED + 1).sum(),
        complete=pl.col("text").is_not_null().all(),
    )
    some = some.filter(pl.col("complete") & (pl.col("filled") <= FILLED))
    pieces = pieces.join(some.select("document"), on="document", how="semi", maintain_order="left")
    texts = pieces.with_columns(text=pl.lit(_feeds(pieces["gap"])) + pl.col("text"))
    found = texts.group_by("document", maintain_order=True).agg(pl.col("text").str.join(""))
    found = documents.join(found, on="document", how="inner", maintain_order="left")
    found = found.with_columns(length=pl.col("text").str.len_chars().cast(pl.Int64))
    tail = (pl.col("declared").fill_null(0) - pl.col("length")).clip(lower_bound=0)
    found = found.with_columns(tail=tail).filter(pl.col("tail") <= FILLED)
    return found.select("document", "length", text=pl.col("text") + pl.lit(_feeds(found["tail"])))


def unlike(corpus: Corpus) -> pl.DataFrame:
    """The documents whose text cannot be rebuilt from their segments: `document`, `text`.

    Examples:
        >>> place = {"document": 0, "origin": 0, "record": 1}
        >>> halves = [{**place, "row": 0, "start": 0, "end": 1, "text": "a"},
        ...           {**place, "row": 1, "start": 2, "end": 3, "text": "b"}]
        >>> documents = [{"row": 0, "name": "d", "text": "a b"}]
        >>> unlike(Corpus(documents=documents, segments=halves)).height
        1
    """
    texts = corpus.documents.drop_nulls("text").select(document="row", text="text")
    texts = texts.join(corpus.segments.select("document"), on="document", how="semi")
    wanted = texts.select("document", declared=pl.col("text").str.len_chars().cast(pl.Int64))
    built = rebuilt(wanted, corpus.segments).select("document", "text")
    return texts.join(built, on=["document", "text"], how="anti")


def _feeds(counts: pl.Series) -> pl.Series:
    """Strings of as many line feeds."""
    different: list[int] = counts.unique().to_list()
    if not different:
        return counts.cast(pl.String)
    feeds = {count: "\n" * count for count in different}
    return counts.replace_strict(feeds, return_dtype=pl.String)


# Reads many LTF files in LDC's layout at once: one element per line, attributes in order.
#
# Lines may be indented or empty, and several elements may share one. The values of an element are
# all in double quotes, or all in single ones.
#
# Every file accepted here is valid by the schema and has the same tables in both readers; all
# others are read element by element (elements.py).


DECLARATION = '<?xml version="1.0" encoding="UTF-8"?>'
DOCTYPE = '<!DOCTYPE LCTL_TEXT SYSTEM "ltf.v1.5.dtd">'

_NOT = r'<>&"\x00-\x1f\x{fffe}\x{ffff}'
_VALUE = f"[^{_NOT}]*"
_TEXT = r"(?:[^<>&\x00-\x1f\x{fffe}\x{ffff}]|&(?:lt|gt|amp);)*"
_BULK_PLACE = 'start_char="(?P<start>[0-9]{1,9})" end_char="(?P<end>[0-9]{1,9})"'
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
    f'(?: morph="(?P<morph>{_VALUE})")? {_BULK_PLACE}>(?P<text>{_TEXT})</TOKEN>',
    "S": f'<SEG id="(?P<name>{_VALUE})" {_BULK_PLACE}>',
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
