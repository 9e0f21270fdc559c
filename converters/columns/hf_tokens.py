r"""Tokens with tags as the datasets of Hugging Face have them: JSON Lines or Parquet.

Format:
    A row per text, with a list of `tokens` and a list of as many tags: `ner_tags`, `tags` or
    `labels`, or another column. Tags are texts, or numbers whose names are those of the features of
    a Parquet file; of JSON Lines, they are declared.

Conventions:
    A row is a document of one sentence, with the name `id`, or else its number. The tag -100 is not
    scored: it is read as `O`. All else is as in `conll-columns`. A document is written as one row;
    in JSON Lines, tags are texts unless their names are set.

Example lines:
    {"id": "0", "tokens": ["EU", "rejects"], "ner_tags": [3, 0]}

Codes raised: HFT1xx, and COL1xx for tags.
"""

import json
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from io import BytesIO
from pathlib import Path
from typing import Any, Literal

import polars as pl

from hlteval.converters.columns.tag_findings import Repair
from hlteval.converters.columns.tag_writing import count_words_lost, tag_corpus
from hlteval.converters.columns.tagged_tokens import TagReader, TokenRows
from hlteval.converters.declarations import declaration
from hlteval.converters.format import ReadResult, WrongSetting
from hlteval.converters.toolkit.parquet_sizes import size_problem
from hlteval.converters.toolkit.source_files import (
    File,
    head,
    locate_lines,
    read_members,
    unique_name,
)
from hlteval.findings import FieldRef, Finding, Location, Problem
from hlteval.representation import Corpus
from hlteval.representation.tag_schemes import Scheme
from hlteval.sources import Member, Source, Unreadable, decode
from hlteval.syntax.json_text import strict
from hlteval.syntax.tsv import Lines, shorten

_MAGIC = b"PAR1"
_TAGS = ("ner_tags", "tags", "labels")
_ROW = re.compile(r'\{.*"tokens"[ \t]*:[ \t]*\[[ \t]*"')
#: The number of what is not scored, and the name that it is read as.
_IGNORED, _OUTSIDE = -100, "O"
_FEATURES = "huggingface"


def sniff(source: Source) -> bool:
    """Whether it is a file with a row of tokens and tags."""
    members = source.members if source.kind in {"file", "stdin"} else ()
    try:
        if members and members[0].reader()(0, 4) == _MAGIC:
            columns = pl.read_parquet_schema(BytesIO(members[0].fetch()))
            return "tokens" in columns and not columns.keys().isdisjoint(_TAGS)
    except (Unreadable, pl.exceptions.PolarsError, OSError):
        return False
    line = head(source, 20_000).partition("\n")[0]
    return bool(_ROW.match(line)) and any(f'"{name}"' in line for name in _TAGS)


@dataclass
class _Rows:
    """The rows of a file.

    Attributes:
        names: the names of tags by number; empty where they are not declared.
        tokens: the name of the column of tokens.
        tags: that of the column of tags; empty until the first row that has one.
        ignored: how many tags are not scored.
        nameless: how many tags are numbers where no names are declared.
    """

    names: Sequence[str]
    tokens: str
    tags: str
    problems: list[Problem] = field(default_factory=list)
    columns: dict[str, list[Any]] = field(
        default_factory=lambda: {"record": [], "document": [], "word": [], "tag": []}
    )
    documents: dict[int, str] = field(default_factory=dict)
    taken: dict[str, int] = field(default_factory=dict)
    ignored: int = 0
    nameless: int = 0
    count: int = 0

    def add(self, record: int, row: Any, size: int) -> None:
        """Add a row, or note what is wrong with it.

        Args:
            record: its number.
            row: its columns by name.
            size: the length of its line.
        """

        def refuse(code: str, **values: object) -> None:
            self.problems.append(Problem(code, record, 0, size, values))

        row = row if isinstance(row, dict) else {}
        self.find_tags(row)
        words, given = row.get(self.tokens), row.get(self.tags)
        plain = isinstance(words, list) and all(isinstance(word, str) for word in words)
        if not plain or not isinstance(given, list) or not words:
            refuse("HFT101", tokens=self.tokens, tags=self.tags or _TAGS[0])
            return
        if len(words) != len(given):
            refuse("HFT102", given=len(given), wanted=len(words))
            return
        numbers = {**dict(enumerate(self.names)), _IGNORED: _OUTSIDE}
        tags = [numbers.get(tag, tag) if type(tag) is int else tag for tag in given]
        wrong = [tag for tag in tags if not isinstance(tag, str)]
        if wrong and (self.names or any(type(tag) is not int for tag in wrong)):
            refuse("HFT103", given=shorten(str(wrong[0]), 20), count=len(self.names))
            return
        self.ignored += given.count(_IGNORED)
        self.nameless += len(wrong)
        if wrong:
            tags = [tag if isinstance(tag, str) else _OUTSIDE for tag in tags]
        name, length = row.get("id"), len(words)
        if isinstance(name, str | int):
            self.documents[self.count] = unique_name(str(name), self.taken)
        values = ([record] * length, [self.count] * length, words, tags)
        for column, part in zip(self.columns.values(), values, strict=True):
            column.extend(part)
        self.count += 1

    def find_tags(self, columns: Collection[str]) -> None:
        """Set the column of tags to the first usual one, if it is not set yet."""
        self.tags = self.tags or next((name for name in _TAGS if name in columns), "")

    def as_tokens(self) -> TokenRows:
        """The tokens of all rows."""
        types = {"record": pl.Int64, "document": pl.Int64, "word": pl.String, "tag": pl.String}
        tokens = pl.DataFrame(self.columns, schema=types)
        new = pl.col("document") != pl.col("document").shift(1)
        tokens = tokens.with_columns(begins=new.fill_null(value=True))
        counts = {"HFT104": self.nameless, "HFT105": self.ignored}
        some = [Problem(code, 0, 0, 0, {"count": n}) for code, n in counts.items() if n]
        return TokenRows(tokens, self.documents, self.count, [*some, *self.problems])


def read(
    source: Source,
    tokens: str = "tokens",
    tags: str = "",
    names: str = "",
    scheme: Scheme | Literal["auto"] = "auto",
    repair: Repair = "conlleval",
) -> Iterator[ReadResult]:
    """The tokens and mentions of each file."""
    numbered = source.kind in {"file", "stdin"}

    def read_rows(
        member: Member, data: bytes, origin: dict[str, object]
    ) -> Iterator[tuple[Corpus, Iterable[Finding]]]:
        rows, findings = _Rows(_split(names), tokens, tags), list[Finding]()
        parquet = data[:4] == _MAGIC
        if parquet:
            text = "\n" * _read_parquet(data, rows)
        else:
            decoded = decode(data, display=member.display, encoding=member.encoding)
            findings += decoded.findings
            text = (decoded.text or "").replace("\r\n", "\n")
            for record, line in enumerate(text.split("\n"), start=1):
                if line.strip():
                    valid, row = strict(line.encode())
                    rows.add(record, row if valid else None, len(line))
        suffix = ".parquet" if parquet else ".jsonl"
        reader = TagReader(scheme, repair, suffix, numbered, lambda line, _: (0, len(line)))
        corpus, more = reader.read(File(member, text, origin), Lines(text), rows.as_tokens())
        yield corpus, (*findings, *more)

    return read_members(source, FORMAT.name, read_rows)


def _split(names: str) -> list[str]:
    """Names between commas."""
    return [name.strip() for name in names.split(",")] if names.strip() else []


def _read_parquet(data: bytes, rows: _Rows) -> int:
    """Add the rows of a Parquet file, and give how many they are.

    Its features name the tags, unless names are declared.
    """
    metadata, table = dict[str, str](), pl.DataFrame()
    try:
        reason = size_problem(data)  # a few bytes may hold any number of rows
        if not reason:
            metadata, table = pl.read_parquet_metadata(BytesIO(data)), pl.read_parquet(data)
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError, ValueError) as error:
        reason = str(error).split("\n")[0][:100]
    if reason:
        rows.problems.append(Problem("HFT106", 0, 0, 0, {"reason": reason}))
    rows.find_tags(table.columns)
    valid, features = strict(metadata.get(_FEATURES, "{}").encode())
    for step in ("info", "features", rows.tags, "feature", "names"):
        features = features.get(step) if valid and isinstance(features, dict) else None
    if not rows.names and isinstance(features, list):
        rows.names = [str(name) for name in features]
    for record, row in enumerate(table.iter_rows(named=True), start=1):
        rows.add(record, row, 0)
    return table.height


def locate(member: Member, places: Sequence[FieldRef]) -> list[Location | None]:
    """The lines of places; in Parquet there are none."""
    if member.reader()(0, 4) == _MAGIC:
        return [None for _ in places]
    return locate_lines(member, places)


def write(
    corpora: Iterable[Corpus],
    path: Path,
    layout: str = "lines",
    names: str = "",
    to_scheme: Scheme | Literal["same"] = "same",
) -> None:
    """All documents, a row each.

    Raises:
        WrongSetting: if a tag is not among the names that are set, or these are not unique.
    """
    tables = [pl.DataFrame(schema=dict(_SCHEMA))]
    for corpus in corpora:
        tagged = tag_corpus(_join_sentences(corpus), "tab", to_scheme, "plain")
        rows = tagged.tokens.group_by("document", maintain_order=True)
        lists = rows.agg(tokens="word", ner_tags="tag")
        named = tagged.documents.select(document="row", id="name")
        table = named.join(lists, on="document", how="inner", maintain_order="left")
        tables.append(table.select(pl.col(name).cast(kind) for name, kind in _SCHEMA.items()))
    table = pl.concat(tables)
    found = set(table["ner_tags"].explode().drop_nulls())
    usual = [_OUTSIDE, *sorted(found - {_OUTSIDE}, key=lambda tag: tag[1:] + tag)]
    declared = _split(names) or usual
    if others := found - {*declared}:
        raise WrongSetting(f"the names of tags lack {', '.join(sorted(others))}")
    if len({*declared}) < len(declared):
        raise WrongSetting("the names of tags are not unique")
    number = pl.element().replace_strict(declared, range(len(declared)), return_dtype=pl.Int64)
    if names.strip() or layout == "parquet":
        table = table.with_columns(pl.col("ner_tags").list.eval(number))
    if layout == "parquet":
        feature = {"feature": {"names": declared, "_type": "ClassLabel"}, "_type": "Sequence"}
        info = {"info": {"features": {"ner_tags": feature}}}
        content = BytesIO()  # Polars takes no path that is not UTF-8
        table.write_parquet(content, metadata={_FEATURES: json.dumps(info)})
        path.write_bytes(content.getvalue())
        return
    with path.open("w", encoding="utf-8", newline="") as stream:
        for row in table.iter_rows(named=True):
            stream.write(f"{json.dumps(row, ensure_ascii=False)}\n")


_SCHEMA: Mapping[str, Any] = {
    "id": pl.String,
    "tokens": pl.List(pl.String),
    "ner_tags": pl.List(pl.String),
}


def _join_sentences(corpus: Corpus) -> Corpus:
    """The corpus with a sentence for all of each document."""
    ends = corpus.tokens.group_by("document", maintain_order=True)
    spans = ends.agg(pl.col("origin", "record").first(), pl.col("start").min(), pl.col("end").max())
    segments = spans.with_row_index("row").with_columns(pl.col("row").cast(pl.Int64))
    keys = segments.select("document", segment_row="row")
    tokens = corpus.tokens.drop("segment_row").join(
        keys, on="document", how="left", maintain_order="left"
    )
    text = pl.col("text").str.replace_all("\n", " ", literal=True)  # between sentences
    documents = corpus.documents.with_columns(text)
    return corpus.replace(segments=segments, tokens=tokens, documents=documents)


def count_losses(corpus: Corpus) -> Mapping[str, int]:
    """The counts of what rows of tokens cannot represent."""
    joined = _join_sentences(corpus)
    tagged = tag_corpus(joined, "tab", "IOB2", "plain")
    key = ["document", "start", "end"]
    others = corpus.segments.join(joined.segments, on=key, how="anti").height
    empty = tagged.documents.join(tagged.tokens, left_on="row", right_on="document", how="anti")
    return {
        **count_words_lost(joined, tagged),
        "sentences that are not all of a document": others,
        "documents without words": empty.height,
    }


FORMAT = declaration(__name__)
