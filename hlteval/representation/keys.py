"""Keys: the content of a frame as one number, and the ordinal of a row among equal ones.

Numbers are joined and grouped several times as fast as strings, so strings are numbered once, those
of both sides together. Nearly all frames have no more than two arguments, and nearly all rows are
the only ones of their kind.
"""

from collections.abc import Mapping, Sequence
from types import MappingProxyType

import polars as pl

from hlteval.representation.corpus import Corpus, with_keys

#: The kind of frames whose arguments are entities, not mentions.
FACT = "fact"
#: Roles of relations that are the same as those of brat, in the formats of other tools.
ROLES: Mapping[str, str] = MappingProxyType(
    {
        **{f"{name}{at}": f"Arg{at}" for name in ("entity", "role") for at in (1, 2)},
        "Governor": "Arg1",
        "Dependent": "Arg2",
    }
)
#: Separates the parts of a key; no identifier of a format contains it.
SEPARATOR = "\x1f"
#: Of larger numbers, sums of squares could overflow.
LARGEST = 1e100


def row_hash(*columns: str) -> pl.Expr:
    """A hash of some columns of a row, as the column `hashed`.

    Grouping and joining by it takes a third of the time that it takes by strings. Different hashes
    mean different contents; equal ones nearly always mean equal contents, which is to be checked
    where it matters.
    """
    first, *rest = (pl.col(column).hash(seed) for seed, column in enumerate(columns, start=1))
    return sum(rest, first).alias("hashed")


def first_case(*cases: tuple[pl.Expr, str | pl.Expr], otherwise: str | pl.Expr) -> pl.Expr:
    """The value of the first of several conditions that holds; a string is text, not a column.

    Examples:
        >>> size = pl.col("size")
        >>> case = first_case((size > 9, "large"), (size > 2, "medium"), otherwise="small")
        >>> pl.DataFrame({"size": [1, 3, 12]}).select(case).to_series().to_list()
        ['small', 'medium', 'large']
    """
    value = pl.lit(otherwise) if isinstance(otherwise, str) else otherwise
    for condition, then in reversed(cases):
        text = pl.lit(then) if isinstance(then, str) else then
        value = pl.when(condition).then(text).otherwise(value)
    return value


def to_number(text: pl.Expr) -> pl.Expr:
    """Texts as numbers; null for what is none, not finite, or beyond `LARGEST`.

    Examples:
        >>> pl.select(to_number(pl.Series(["3.80", " 1e-1", "high", "nan"]))).to_series().to_list()
        [3.8, 0.1, None, None]
    """
    number = text.str.strip_chars().cast(pl.Float64, strict=False)
    return pl.when(number.abs() <= LARGEST).then(number)


def numbers(rows: pl.DataFrame) -> pl.Series:
    """A number for each row, at most 2 ** 31: equal where all columns of strings are equal.

    Examples:
        >>> rows = pl.DataFrame({"role": ["A", "B", "A"], "target": ["T1", "T1", "T1"]})
        >>> first, second, third = numbers(rows)
        >>> first == third, first == second
        (True, False)
    """
    number = pl.zeros(rows.height, dtype=pl.Int64, eager=True)
    for column in rows.iter_columns():
        codes = column.cast(pl.Categorical).to_physical().cast(pl.Int64)
        number = number * (1 + _most(codes)) + codes
        if _most(number) > _LARGE:
            number = number.rank("dense").cast(pl.Int64)
    return number


#: Below it, numbers may be multiplied with each other.
_LARGE = 2**31


def _most(series: pl.Series) -> int:
    """The greatest of numbers from 0; 0 if there are none."""
    most = series.max()
    return most if isinstance(most, int) else 0


def frame_keys(arguments: pl.DataFrame, keep: Sequence[str] = ()) -> pl.DataFrame:
    """One number for the arguments of each frame, independent of their order.

    Args:
        arguments: a table with the columns `frame_row` and `value`, one of `numbers`.
        keep: further columns of the result, which are the same for all arguments of a frame.

    Returns:
        A row per frame that has arguments, by ascending `frame_row`: that, `content`, and `keep`.

    Examples:
        >>> rows = pl.DataFrame({"frame_row": [1, 1, 2, 2, 3], "value": [0, 1, 1, 0, 1]})
        >>> same, swapped, other = frame_keys(rows)["content"]
        >>> same == swapped, same == other
        (True, False)
    """
    rows = arguments.select("frame_row", "value", *keep)
    if not rows["frame_row"].is_sorted():
        rows = rows.sort("frame_row")
    begins = (rows["frame_row"] != rows["frame_row"].shift(1)).fill_null(True)
    firsts = begins.arg_true()
    lasts = begins.shift(-1, fill_value=True).arg_true()
    many = 1 + _most(rows["value"])
    both = pl.min_horizontal("value", "last"), pl.max_horizontal("value", "last")
    pair = many * (1 + both[0]) + both[1]
    ends = rows.select(pl.all().gather(firsts)).with_columns(
        last=rows["value"].gather(lasts), size=lasts - firsts + 1
    )
    key = pl.when(pl.col("size") == 1).then("value").otherwise(pair)
    short = ends.select("frame_row", "size", *keep, content=key)
    if short["size"].max() in {None, 1, 2}:
        return short.drop("size")
    longer = rows.join(short.filter(pl.col("size") > 2), on="frame_row", how="semi")
    written = longer.group_by("frame_row").agg(pl.col("value").sort().cast(pl.String).str.join(" "))
    content = many * (1 + many) + numbers(written.select("value"))
    return short.drop("size").update(written.select("frame_row", content=content), on="frame_row")


def ordinals(rows: pl.DataFrame, by: Sequence[str]) -> pl.Series:
    """The number of earlier rows that are equal to each row.

    Args:
        rows: a table.
        by: the columns that are compared.

    Examples:
        >>> ordinals(pl.DataFrame({"id": ["E1", "E2", "E1"]}), ["id"]).to_list()
        [0, 0, 1]
    """
    compared = rows.select(by)
    repeated = compared.select(row_hash(*by).is_duplicated()).to_series()
    ordinal = pl.zeros(rows.height, dtype=pl.Int64, eager=True)
    if repeated.any():
        counted = pl.int_range(pl.len(), dtype=pl.Int64).over(by)
        some = compared.lazy().filter(repeated).select(counted).collect().to_series()
        ordinal = ordinal.scatter(repeated.arg_true(), some)
    return ordinal.alias("ordinal")


#: The columns of an argument that are resolved.
_ARGUMENT = ("row", "document", "origin", "record", "frame_row", "position", "role", "target")


def distinct(values: pl.Series) -> pl.Series:
    """Some values in their order, each once.

    Examples:
        >>> distinct(pl.Series(["b", "a", "b"])).to_list()
        ['b', 'a']
    """
    return values if are_distinct(values) else values.unique(maintain_order=True)


def are_distinct(values: pl.Series) -> bool:
    """Whether values surely differ: their hashes do, which are compared faster than strings.

    Examples:
        >>> are_distinct(pl.Series(["b", "a"])), are_distinct(pl.Series(["b", "b"]))
        (True, False)
    """
    return values.hash().n_unique() == len(values)


def align(reference: Corpus, system: Corpus) -> tuple[Corpus, Corpus]:
    """Both corpora with one numbering of documents: the same name, the same `document`.

    Examples:
        >>> reference = Corpus(documents=[{"row": 0, "name": "a"}, {"row": 1, "name": "b"}])
        >>> system = Corpus(documents=[{"row": 0, "name": "b"}])
        >>> align(reference, system)[1].documents["row"].to_list()
        [1]
    """
    sides = [corpus.documents.select("name") for corpus in (reference, system)]
    own = sides[0]["name"]
    if sides[0].equals(sides[1]) and are_distinct(own):
        # of many documents in the same order, names are sorted once and not looked up
        places = own.arg_sort()
        number = pl.zeros(len(own), dtype=pl.Int64, eager=True)
        number = number.scatter(places, pl.int_range(len(own), eager=True))
        numbers = [number, number]
    else:
        names = pl.concat(sides).unique().sort("name").with_row_index("_number")
        numbers = [
            side.join(names, on="name", maintain_order="left")["_number"].cast(pl.Int64)
            for side in sides
        ]
    return _renumber(reference, numbers[0]), _renumber(system, numbers[1])


def documents_of(reference: Corpus, system: Corpus) -> pl.DataFrame:
    """The `row` and `name` of the documents of two corpora with one numbering, by `row`.

    Examples:
        >>> reference = Corpus(documents=[{"row": 0, "name": "a"}])
        >>> system = Corpus(documents=[{"row": 1, "name": "b"}, {"row": 0, "name": "a"}])
        >>> documents_of(reference, system).rows()
        [(0, 'a'), (1, 'b')]
    """
    ours, theirs = (corpus.documents.select("row", "name") for corpus in (reference, system))
    both = ours if ours["row"].equals(theirs["row"]) else pl.concat([ours, theirs])
    both = both.sort("row", maintain_order=True)
    if both["row"].n_unique() == both.height:
        return both
    return both.unique("row", keep="first", maintain_order=True)


def _renumber(corpus: Corpus, numbers: pl.Series) -> Corpus:
    documents = corpus.documents.with_columns(numbers.alias("_number"))
    if documents["row"].equals(documents["_number"]):
        return corpus
    keys = {"documents": documents.select("row", new="_number")}
    return corpus.replace(**with_keys(corpus, keys))


def items(corpus: Corpus, reference: Corpus) -> pl.DataFrame:
    """Everything that an identifier of a corpus may refer to, each identifier once.

    Of a repeated identifier the first item counts: that of the reference before that of the corpus,
    then in the order of the records.

    Args:
        corpus: the corpus whose identifiers are looked up.
        reference: the corpus with the mentions that come with the task, in the same numbering of
            documents.

    Returns:
        A table of `document`, `target`, and the item: `filler` (`given`, `mention`, `frame`,
        `modifier`, or `unread` for a record that could not be read), its `filler_label` (null where
        that of an unread record is not recognizable) and its `filler_row` in the table of that
        kind.
    """
    return corpus.cached(_items, reference)


def without_mentions(corpus: Corpus, suffix: str) -> Corpus:
    """A corpus without the mentions of files whose names end in a suffix.

    A reference has the mentions that come with a task, and may have in other files those that
    systems are to find.

    Examples:
        >>> place = {"path": "d", "format": "standoff", "sha256": ""}
        >>> sources = [{**place, "row": n, "member": f"d.a{n + 1}"} for n in (0, 1)]
        >>> span = {"document": 0, "record": 1, "label": "Habitat", "start": 0, "end": 1}
        >>> spans = [{**span, "row": n, "origin": n, "mention": f"T{n}"} for n in (0, 1)]
        >>> corpus = Corpus(sources=sources, mentions=spans)
        >>> without_mentions(corpus, ".a2").mentions["mention"].to_list()
        ['T0']
    """
    others = corpus.sources.filter(pl.col("member").str.ends_with(suffix))["row"]
    left_out = pl.col("origin").is_in(others.implode()).fill_null(value=False)
    return corpus.replace(mentions=corpus.mentions.filter(~left_out))


def _sources_of_items(corpus: Corpus, reference: Corpus) -> list[tuple[pl.DataFrame, str, str]]:
    """The tables of what identifiers may refer to, with the column of these and the filler.

    Records that could not be read are among them: those that come with the task where a reader
    distinguishes them from others, and all that seem to have an identifier.
    """
    given = reference.rejected_records.filter(kind="given").drop_nulls("id")
    unread = corpus.rejected_records.drop_nulls(["document", "id"])
    tables = [
        (reference.mentions, "mention", "given"),
        (given.with_columns(row=pl.lit(None, pl.Int64)), "id", "given"),
        (corpus.mentions, "mention", "mention"),
        (corpus.frames, "frame", "frame"),
        (corpus.modifiers, "modifier", "modifier"),
        (unread.filter(pl.col("kind") != "group", pl.col("id") != ""), "id", "unread"),
    ]
    return [table for table in tables if table[2] != "mention" or reference is not corpus]


def has_repeated_identifiers(corpus: Corpus, reference: Corpus) -> bool:
    """Whether several items of a document have one identifier; the arguments are those of `items`.

    Examples:
        >>> span = {"document": 0, "origin": 0, "label": "Gene", "start": 0, "end": 1}
        >>> spans = [{**span, "row": row, "record": row + 1, "mention": "T1"} for row in (0, 1)]
        >>> corpus = Corpus(mentions=spans)
        >>> has_repeated_identifiers(corpus, corpus)
        True
    """
    every = sum(rows.height for rows, _, _ in _sources_of_items(corpus, reference))
    return items(corpus, reference).height < every


def _items(corpus: Corpus, reference: Corpus) -> pl.DataFrame:
    item = {"filler_label": "label", "filler_row": "row"}
    found = pl.concat(
        rows.select("document", target=identifier, filler=pl.lit(filler), **item)
        for rows, identifier, filler in _sources_of_items(corpus, reference)
    )
    if found.select(row_hash("document", "target")).to_series().n_unique() == found.height:
        return found
    return found.unique(["document", "target"], keep="first", maintain_order=True)


def fillers(corpus: Corpus, reference: Corpus) -> pl.DataFrame:
    """The arguments of a corpus with the items that fill them.

    Args:
        corpus: the corpus whose arguments are resolved.
        reference: the corpus with the mentions that come with the task.

    Returns:
        A table of `row`, `document`, `origin`, `record`, `frame_row`, `position`, `role` and
        `target` of the argument; `filler`, `filler_label` and `filler_row` of `items`, null where
        the identifier leads nowhere; and `label` and `frame` of its frame.
    """
    return corpus.cached(_fillers, reference)


def _fillers(corpus: Corpus, reference: Corpus) -> pl.DataFrame:
    frames = corpus.frames.lazy().select("label", "frame", frame_row="row")
    filled = look_up(corpus.arguments.select(_ARGUMENT), items(corpus, reference))
    return filled.lazy().join(frames, on="frame_row", how="left", maintain_order="left").collect()


def look_up(references: pl.DataFrame, known: pl.DataFrame) -> pl.DataFrame:
    """References with the item that each leads to, in their order.

    Args:
        references: with `document` and `target`.
        known: with the same columns, each pair once, and others.

    Examples:
        >>> known = pl.DataFrame({"document": [0], "target": ["T1"], "at": [7]})
        >>> look_up(pl.DataFrame({"document": [0, 1], "target": ["T1", "T1"]}), known).rows()
        [(0, 'T1', 7), (1, 'T1', None)]
    """
    key = ["document", "target"]
    numbered = known.lazy().with_columns(row_hash(*key))
    wanted = references.lazy().select(row_hash(*key))
    joined = wanted.join(numbered, on="hashed", how="left", maintain_order="left").collect()
    if joined.height == references.height and not any(
        (references[name] != joined[name]).any() for name in key
    ):
        return references.hstack(joined.drop("hashed", *key))
    # Two pairs have the same hash, which hardly ever happens.
    return references.join(known, on=key, how="left", maintain_order="left")


def effective_fillers(corpus: Corpus, reference: Corpus) -> pl.DataFrame:
    """The `fillers` that count: if a frame repeats a role, only the last."""
    return corpus.cached(_last_of_role, reference)


def _last_of_role(corpus: Corpus, reference: Corpus) -> pl.DataFrame:
    filled = fillers(corpus, reference)
    if filled.select(row_hash("frame_row", "role")).to_series().n_unique() == filled.height:
        return filled
    return filled.unique(["frame_row", "role"], keep="last", maintain_order=True)
