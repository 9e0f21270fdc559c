"""The tables of LTF files: read in bulk, keyed by file and element, and then as a corpus.

Both readers, in bulk and element by element, give tables with the columns of `SCHEMAS`; this module
makes a corpus of them, with the text of every document.
"""

from collections.abc import Mapping, Sequence

import polars as pl

from hlteval.representation import TABLES, Corpus

#: Most code points of a document outside of segments; more are a mistake or an attack.
FILLED = 100_000

LANGUAGE, LENGTH, MD5 = "lang", "raw_text_char_length", "raw_text_md5"
_COLUMNS = {
    "documents": ("name",),
    "segments": ("name", "start", "end", "text", "part"),
    "tokens": ("segment", "name", "start", "end", "text", "pos", "morph"),
    "attributes": ("element", "name", "value"),
    "rejected_records": ("code", "kind", "id", "label", "text", "column", "end_column", "expected"),
}
_ORDINALS = ("origin", "record", "_holder", "segment")
#: The columns of each table before it has keys: the file, the ordinal of the element and of the
#: document that holds it (`_holder`, no name of a column); for a token also of its segment.
SCHEMAS: Mapping[str, Mapping[str, pl.DataType | type[pl.DataType]]] = {
    table: {
        name: pl.Int64() if name in _ORDINALS else TABLES[table].schema[name]
        for name in (*_ORDINALS[:3], *columns)
    }
    for table, columns in _COLUMNS.items()
}

#: Tables by name, with the columns of `SCHEMAS`.
Tables = Mapping[str, pl.DataFrame]
#: The rows of tables by name, with their cells in the order of `SCHEMAS`.
Rows = Mapping[str, Sequence[tuple[object, ...]]]


#: The largest offset of files: nine digits.
_LARGEST = 999_999_999


def writable_offsets() -> pl.Expr:
    """Whether both offsets of a span can be written; the end is inclusive there."""
    end = pl.col("end").is_between(1, _LARGEST + 1)
    return pl.col("start").is_between(0, _LARGEST) & end


def with_texts(corpus: Corpus, rows: pl.DataFrame) -> pl.DataFrame:
    """Rows with the texts at their offsets, if they have none and their document has one."""
    whole = corpus.documents.select(document="row", whole="text")
    width = (pl.col("end") - pl.col("start")).clip(lower_bound=0)
    text = pl.coalesce("text", pl.col("whole").str.slice(pl.col("start"), width))
    rows = rows.join(whole, on="document", how="left", maintain_order="left")
    return rows.with_columns(text=text)


def documents_with(pattern: str, table: pl.DataFrame, *columns: str) -> set[int]:
    """The documents of the rows with a column in which a pattern is found."""
    found = pl.any_horizontal(pl.col(columns).str.contains(pattern))
    return set(table.filter(found)["document"])


def frames(rows: Rows) -> Tables:
    """Rows as tables."""
    schemas = {name: dict(schema) for name, schema in SCHEMAS.items()}
    return {name: pl.DataFrame(rows.get(name, []), schemas[name], orient="row") for name in schemas}


def as_declared(name: str, table: pl.DataFrame) -> pl.DataFrame:
    """The columns of a table that it has in a corpus, with their types there."""
    schema = TABLES[name].schema
    return table.select(pl.col(name).cast(schema[name]) for name in schema if name in table.columns)


def corpus(sources: pl.DataFrame, tables: Tables) -> Corpus:
    """The corpus of a batch, whose documents have different names.

    A document has the language of its own before that of its file. There is no text where a record
    could not be read.
    """
    number = pl.int_range(pl.len(), dtype=pl.Int64)
    keys = tables["documents"].select("origin", "name", _holder="record", document=number)
    place = keys.drop("name")
    kept = {name: table for name, table in tables.items() if name != "documents"}
    for name, table in kept.items():
        placed = table.join(place, on=["origin", "_holder"], maintain_order="left")
        kept[name] = placed.with_columns(row=number)
    segments = kept["segments"].select("origin", segment="record", segment_row="row")
    key = ["origin", "segment"]
    kept["tokens"] = kept["tokens"].join(segments, on=key, how="left", maintain_order="left")
    value, is_root = pl.col("value"), pl.col("element") == "LCTL_TEXT"
    attributes = kept["attributes"].filter(is_root | (pl.col("element") == "DOC"))
    is_language = pl.col("name") == LANGUAGE
    described = attributes.group_by("document").agg(
        language=pl.coalesce(
            value.filter(is_language & ~is_root).first(),
            value.filter(is_language & is_root).first(),
        ),
        declared=value.filter(pl.col("name") == LENGTH).first().str.to_integer(strict=False),
    )
    documents = keys.with_columns(row="document").join(described, on="document", how="left")
    whole = documents.join(kept["rejected_records"], on="document", how="anti")
    texts = rebuilt(whole.select("document", "declared"), kept["segments"])
    texts = texts.select("document", "text")
    kept["documents"] = documents.join(texts, on="document", how="left").sort("row")
    own = {name: as_declared(name, table) for name, table in kept.items()}
    return Corpus(sources=sources, **own)


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
    feeds = {count: "\n" * count for count in counts.unique()}
    return counts.replace_strict(feeds, return_dtype=pl.String) if feeds else counts.cast(pl.String)


# Reads many LTF files in LDC's layout at once: one element per line, attributes in order.
#
# Lines may be indented or empty, and several elements may share one. The values of an element are
# all in double quotes, or all in single ones.
#
# Every file accepted here is valid by the schema and has the same tables in both readers; all
# others are read element by element.


DECLARATION = '<?xml version="1.0" encoding="UTF-8"?>'
DOCTYPE = '<!DOCTYPE LCTL_TEXT SYSTEM "ltf.v1.5.dtd">'

_VALUE = r'[^<>&"\x00-\x1f\x{fffe}\x{ffff}]*'
_TEXT = r"(?:[^<>&\x00-\x1f\x{fffe}\x{ffff}]|&(?:lt|gt|amp);)*"
_PLACE = 'start_char="(?P<start>[0-9]{1,9})" end_char="(?P<end>[0-9]{1,9})"'
_PAIR = ' ([a-z_0-9]+)="([^"]*)"'
#: The letters of lines by their first characters.
_LETTERS = {
    "<?xml": "p",
    "<!DOC": "t",
    "<LCTL": "L",
    "<DOC ": "D",
    "<TEXT": "X",
    "<SEG ": "S",
    "<ORIG": "O",
    "<TOKE": "T",
    "</SEG": "s",
    "</TEX": "x",
    "</DOC": "d",
    "</LCT": "l",
}
#: The lines that are always the same; two letters of the first one may be small.
_FIXED = (
    *(DECLARATION, DECLARATION.replace("UTF", "utf"), DOCTYPE),
    *("<TEXT>", "</TEXT>", "</SEG>", "</DOC>", "</LCTL_TEXT>"),
)
#: The patterns of all others.
_PATTERNS = {
    "T": f'<TOKEN id="(?P<name>{_VALUE})"(?: pos="(?P<pos>{_VALUE})")?'
    f'(?: morph="(?P<morph>{_VALUE})")? {_PLACE}>(?P<text>{_TEXT})</TOKEN>',
    "S": f'<SEG id="(?P<name>{_VALUE})" {_PLACE}>',
    "O": f"<ORIGINAL_TEXT>(?P<text>{_TEXT})</ORIGINAL_TEXT>",
    "D": f'<DOC(?P<pairs> id="(?P<name>{_VALUE})"(?: (?:lang|tokenization|grammar|'
    f'raw_text_char_length|raw_text_md5)="{_VALUE}")*)>',
    "L": f'<LCTL_TEXT(?P<pairs>(?: (?:lang|source_file|source_type|author|encoding)="{_VALUE}")*)>',
}
#: A whole file by the letters of its lines; empty lines have none.
_FILE = r"^ptL(?:DX(?:SO?T*s)+xd)+l$"
_OPENING = ("L", "D", "X", "S", "O", "T")
#: Other layouts: what a file of it has, and what is replaced with what.
_LAYOUTS = (
    ("\r\n", "\r\n", "\n"),  # as XML does
    # The end of an element before another element or an end tag, in one line.
    (">[ \t]*<", ">[ \t]*(<(?:[A-Z!?]|/(?:SEG|TEXT|DOC|LCTL_TEXT)))", ">\n$1"),
    ("\n\n", "\n+", "\n"),  # millions of lines are not split for nothing
)


def bulk(files: Sequence[tuple[int, str]]) -> tuple[Tables, set[int]]:
    """The tables of the files that are in LDC's layout.

    Args:
        files: texts with their number, which becomes `origin`.

    Returns:
        The tables, and the numbers of the files in them.
    """
    lines = _lines([(origin, text) for origin, text in files if text.startswith("<?xml")])
    letters = lines.group_by("origin", maintain_order=True).agg(pl.col("letter").str.join(""))
    accepted = set(letters.filter(pl.col("letter").str.contains(_FILE))["origin"])
    others = ~pl.col("letter").is_in(_PATTERNS) & ~pl.col("line").is_in(_FIXED)
    accepted.difference_update(lines.filter(others)["origin"])
    lines = lines.filter(pl.col("origin").is_in(list(accepted)))
    elements = {}
    for letter, pattern in _PATTERNS.items():
        some = lines.filter(letter=letter)
        parts = some.select(pl.col("line").str.extract_groups(f"^{pattern}$")).unnest("line")
        is_wrong = parts.select(pl.all_horizontal(pl.all().is_null())).to_series()
        accepted.difference_update(some["origin"].filter(is_wrong))
        elements[letter] = some.drop("line").hstack(parts)
    attributes = _attributes(elements["L"], elements["D"])
    is_repeated = pl.struct("origin", "record", "name").is_duplicated()
    accepted.difference_update(attributes.filter(is_repeated)["origin"])
    key = ["origin", "segment"]
    texts = elements["O"].select(*key, "text")
    tables = dict(frames({}))
    for name, table in (
        ("attributes", attributes),
        ("documents", elements["D"]),
        ("segments", elements["S"].join(texts, on=key, how="left", maintain_order="left")),
        ("tokens", elements["T"]),
    ):
        columns = [column for column in SCHEMAS[name] if column in table.columns]
        known = table.select(columns).with_columns(
            pl.col("^text$").str.replace_many(["&lt;", "&gt;", "&amp;"], ["<", ">", "&"]),
            pl.col("^(start|end)$").cast(pl.Int64),
        )
        known = known.with_columns(pl.col("^end$") + 1)  # half-open
        tables[name] = pl.concat([tables[name], known], how="diagonal")
    kept = pl.col("origin").is_in(list(accepted))
    return {name: table.filter(kept) for name, table in tables.items()}, accepted


def _lines(files: Sequence[tuple[int, str]]) -> pl.DataFrame:
    """The lines of files that are not empty: `origin`, `line`, its `letter`, and its place.

    That is the ordinal of the element (`record`), of its document (`_holder`) and its `segment`.
    """
    table = pl.DataFrame(files, schema={"origin": pl.Int64, "line": pl.String}, orient="row")
    texts = table["line"]
    for sign, pattern, replacement in _LAYOUTS:
        other = texts.str.contains(sign)
        if other.any():
            texts = texts.str.replace_all(pattern, replacement).zip_with(other, texts)
    line = pl.col("line")
    table = table.with_columns(texts.str.split("\n")).explode("line")
    table = table.with_columns(line.str.strip_chars(" \t")).filter(line != "")
    if texts.str.contains("='", literal=True).any():
        tag = line.str.extract('^(<[^>"]*>)')
        quoted = tag.str.replace_all("'", '"', literal=True) + line.str.strip_prefix(tag)
        table = table.with_columns(pl.coalesce(quoted, line))
    letter = line.str.head(5).replace_strict(_LETTERS, default="?", return_dtype=pl.String)
    table = table.with_columns(letter=letter)
    opening = pl.col("letter").is_in(_OPENING).cast(pl.Int64)
    table = table.with_columns(record=opening.cum_sum().over("origin"))
    return table.with_columns(
        pl.when(pl.col("letter") == letter).then(pl.col("record")).forward_fill().alias(name)
        for letter, name in (("D", "_holder"), ("S", "segment"))
    )


def _attributes(roots: pl.DataFrame, documents: pl.DataFrame) -> pl.DataFrame:
    """The attributes of files, which are those of their first document, and of documents."""
    roots = roots.with_columns(_holder=pl.col("record") + 1)
    pair = pl.col("pairs").str.extract_all(_PAIR)
    pairs = [
        table.select("origin", "record", "_holder", element=pl.lit(element), pair=pair)
        for element, table in (("LCTL_TEXT", roots), ("DOC", documents))
    ]
    groups = pl.col("pair").str.extract_groups(_PAIR).struct.rename_fields(["name", "value"])
    rows = pl.concat(pairs).explode("pair").drop_nulls("pair").with_columns(groups)
    return rows.unnest("pair").sort("origin", "record", maintain_order=True)
