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
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

import polars as pl

from hlteval.converters.columns.tag_writing import count_words_lost, tag_corpus
from hlteval.converters.columns.tagged_tokens import Stretch, TokenRows, read_tagged
from hlteval.converters.declarations import declaration
from hlteval.converters.format import ReadResult, WrongSetting, comma_parts
from hlteval.converters.toolkit import parquet_sizes, source_files
from hlteval.converters.toolkit.json_annotations import expand
from hlteval.converters.toolkit.json_documents import Item, compact, name_of, object_sections
from hlteval.findings import Problem
from hlteval.representation import Corpus
from hlteval.representation.tag_schemes import Scheme
from hlteval.sources import Member, Source
from hlteval.syntax.json_text import strict
from hlteval.syntax.sections import Sections
from hlteval.syntax.tsv import Lines, shorten

_TAGS = ("ner_tags", "tags", "labels")
_ROW = re.compile(r'\{.*"tokens"[ \t]*:[ \t]*\[[ \t]*["\]]')
#: The number of what is not scored, and the name that it is read as.
_IGNORED, _OUTSIDE = -100, "O"
_FEATURES = "huggingface"
_TEXTS = pl.List(pl.String())
_TOKENS = pl.Schema({"record": pl.Int64(), "document": pl.Int64(), "word": _TEXTS, "tag": _TEXTS})


def sniff(source: Source) -> bool:
    """Whether it is a file with a row of tokens and tags."""
    members = source.members if source.kind in {"file", "stdin"} else ()
    if members and (columns := parquet_sizes.column_names(members[0])):
        return "tokens" in columns and not {*_TAGS}.isdisjoint(columns)
    line = source_files.head(source, 1_000_000).partition("\n")[0]
    return bool(_ROW.match(line)) and any(f'"{name}"' in line for name in _TAGS)


def read(source: Source, **settings: str) -> Iterator[ReadResult]:
    """The tokens and mentions of each file."""
    names = comma_parts(settings["names"])

    def divide(lines: Lines) -> tuple[TokenRows, Stretch]:
        rows = ((at, line, _object(line)) for at, line in enumerate(lines, 1) if line.strip())
        return _rows(rows, settings, names), source_files.whole_line

    def divide_table(data: bytes) -> tuple[TokenRows, Lines] | None:
        if not data.startswith(parquet_sizes.MAGIC):
            return None
        table, metadata, reason = parquet_sizes.read_table(data)
        if reason:
            problem = Problem("HFT106", 0, 0, 0, {"reason": reason})
            return TokenRows.without_tokens(problem), Lines("")
        column = settings["tags"] or next((name for name in _TAGS if name in table.columns), "")
        features = expand(_object(metadata.get(_FEATURES, "{}")), "info.features.*.feature.names.*")
        known = names or [str(name) for path, name in features if path[2] == column]
        rows = ((at, "", row) for at, row in enumerate(table.iter_rows(named=True), start=1))
        return _rows(rows, settings, known), Lines("\n" * table.height)

    return read_tagged(source, FORMAT.name, ".jsonl", settings, divide, divide_table)


def _rows(
    every: Iterable[tuple[int, str, Item]], settings: Mapping[str, str], names: Sequence[str]
) -> TokenRows:
    """The tokens of rows.

    Args:
        every: the number of each row, its line, and its columns by name.
        settings: the name of the column of `tokens`, and that of `tags`, empty for that of the
            first row that has one.
        names: the names of tags by number; empty where they are not declared.
    """
    words, tags = settings["tokens"], settings["tags"]
    numbers: dict[Any, str] = {**dict(enumerate(names)), _IGNORED: _OUTSIDE}
    rows, documents = list[tuple[Any, ...]](), list[str]()
    counts, wrong_rows = Counter[str](), list[Problem]()
    for record, line, row in every:
        tags = tags or next((name for name in _TAGS if name in row), "")
        texts, given = row.get(words), row.get(tags)
        code, values = "HFT101", dict[str, object](tokens=words, tags=tags or _TAGS[0])
        if isinstance(texts, list) and isinstance(given, list) and {*map(type, texts)} <= {str}:
            named = [numbers.get(tag, tag) if type(tag) is int else tag for tag in given]
            wrong = [] if {*map(type, named)} <= {str} else [t for t in named if type(t) is not str]
            if len(texts) != len(given):
                code, values = "HFT102", {"given": len(given), "wanted": len(texts)}
            elif wrong and (names or {*map(type, wrong)} != {int}):
                code, values = "HFT103", {"given": shorten(str(wrong[0]), 20), "count": len(names)}
            else:
                counts += Counter(HFT104=len(wrong), HFT105=given.count(_IGNORED))
                tagged = [_OUTSIDE if type(t) is int else t for t in named] if wrong else named
                rows.append((record, len(rows), texts, tagged))
                documents.append(name_of(row.get("id"), ""))
                continue
        wrong_rows.append(Problem(code, record, 0, len(line), values))
    tokens = pl.DataFrame(rows, _TOKENS, orient="row").explode("word", "tag").drop_nulls("word")
    tokens = tokens.with_columns(begins=pl.col("document").is_first_distinct())
    some = (Problem(code, 0, 0, 0, {"count": n}) for code, n in counts.items())
    return TokenRows.of(tokens, documents, [*some, *wrong_rows])._replace(detected=tags)


def sections(member: Member, **_: str) -> Sections | None:
    """The documents of a file that has a row on each line; see `object_sections`."""
    return object_sections(member, ("id",), "{}", in_lines=True)


def _object(text: str) -> Item:
    """The object that a text is, if it is valid JSON; an empty one for others."""
    valid, value = strict(text.encode())
    return value if valid and isinstance(value, dict) else {}


_SCHEMA = pl.Schema({"id": pl.String(), "tokens": _TEXTS, "ner_tags": _TEXTS})


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
    tables = [pl.DataFrame(schema=_SCHEMA)]
    for corpus in corpora:
        tagged = tag_corpus(corpus, "tab", to_scheme, "row")
        rows = tagged.tokens.group_by(row="document").agg(tokens="word", ner_tags="tag")
        named = tagged.documents.select("row", id="name")
        tables.append(named.join(rows, on="row", maintain_order="left").select(*_SCHEMA))
    table = pl.concat(tables)
    found = set(table["ner_tags"].explode().drop_nulls())
    usual = [_OUTSIDE, *sorted(found - {_OUTSIDE}, key=lambda tag: tag[1:] + tag)]
    declared = comma_parts(names) or usual
    if others := [tag for tag in sorted(found | {*declared}) if declared.count(tag) != 1]:
        raise WrongSetting(f"the names of tags must have each tag once: {', '.join(others)}")
    number = pl.element().replace_strict(declared, range(len(declared)), return_dtype=pl.Int64)
    if names.strip() or layout == "parquet":
        table = table.with_columns(pl.col("ner_tags").list.eval(number))
    if layout == "parquet":
        feature = {"feature": {"names": declared, "_type": "ClassLabel"}, "_type": "Sequence"}
        info = {"info": {"features": {"ner_tags": feature}}}
        parquet_sizes.write_table(table, path, {_FEATURES: json.dumps(info)})
        return
    with path.open("w", encoding="utf-8", newline="") as stream:
        stream.writelines(f"{compact(row)}\n" for row in table.iter_rows(named=True))


def count_losses(corpus: Corpus) -> Mapping[str, int]:
    """The counts of what rows of tokens cannot represent."""
    tagged = tag_corpus(corpus, "tab", "IOB2", "row")
    silent = tagged.documents.height - tagged.tokens["document"].n_unique()
    return {**count_words_lost(corpus, tagged), "documents without words": silent}


FORMAT = declaration(__name__)
