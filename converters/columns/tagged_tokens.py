"""Tokens with tags as tables of a corpus: the text that words make, sentences, and tagged spans."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import polars as pl

from hlteval.converters.columns.tag_findings import TagProblems
from hlteval.converters.format import ReadResult
from hlteval.converters.toolkit.made_text import MadeText
from hlteval.converters.toolkit.rows import rejected_lines
from hlteval.converters.toolkit.source_files import (
    findings_in_lines,
    locate_lines,
    read_members,
    stem,
    unique_name,
    whole_line,
)
from hlteval.findings import FieldRef, Finding, Location, Problem
from hlteval.representation import Corpus
from hlteval.representation.tag_schemes import Spans, TagSequence, detect, read_spans
from hlteval.sources import Member, Source, decode
from hlteval.syntax.tsv import Lines

#: Gives the place of a field in a line: first code point, and one past the last, 0-based.
Stretch = Callable[[str, str], tuple[int, int]]


class TokenRows(NamedTuple):
    """The lines of a file.

    Attributes:
        tokens: a row per token: `record`, `word`, `tag`, the number of its `document` from 0, and
            whether a sentence `begins` at it. It may have `glued`, whether no space is before it,
            and `entity`, that of a span at its first token, with `|` between candidates.
        names: the names of documents by number, if they have some.
        documents: how many documents there are.
        problems: what is wrong with other lines.
        detected: how the lines are read, as far as the first ones have shown.
    """

    tokens: pl.DataFrame
    names: Mapping[int, str]
    documents: int
    problems: list[Problem]
    detected: str = ""

    @classmethod
    def of(
        cls, tokens: pl.DataFrame, begun: Sequence[str | None], problems: list[Problem]
    ) -> "TokenRows":
        """The lines of a file in which some lines begin a document.

        Args:
            tokens: as above; their `document` is that of the last such line before them, or -1.
            begun: the name in each such line; empty or None where it has none.
            problems: what is wrong with other lines.
        """
        shift = int(tokens.height > 0 and tokens["document"][0] < 0)  # before the first such line
        taken = dict[str, int]()
        names = {at: unique_name(name, taken) for at, name in enumerate(begun, shift) if name}
        if shift:
            tokens = tokens.with_columns(pl.col("document") + 1)
        return cls(tokens, names, len(begun) + shift, problems)

    @classmethod
    def without_tokens(cls, *problems: Problem) -> "TokenRows":
        """The lines of a file that cannot be read, or that has none."""
        return cls(pl.DataFrame(schema=_SCHEMA), {}, 0, [*problems])


_SCHEMA = {
    **dict.fromkeys(("record", "document"), pl.Int64),
    **dict.fromkeys(("word", "tag"), pl.String),
    "begins": pl.Boolean,
}


@dataclass(frozen=True)
class TagReader:
    """Makes the corpus of a file of its tokens.

    Attributes:
        settings: the `scheme` of the tags, and the `repair` of sequences that are not valid in it.
        suffix: of files, which the names of documents leave out.
        numbered: whether documents have no names but numbers.
        stretch: the place of a field in its line.
    """

    settings: Mapping[str, Any]
    suffix: str
    numbered: bool
    stretch: Stretch

    def read(
        self, member: Member, origin: Mapping[str, object], lines: Lines, rows: TokenRows
    ) -> tuple[Corpus, Iterable[Finding], str]:
        """The corpus of a file, the findings in it, and the scheme of its tags."""
        begins = rows.tokens["begins"].to_numpy()
        sequence = TagSequence.parse(rows.tokens["tag"], begins)
        repair, detected = self.settings["repair"], self.settings["scheme"] == "auto"
        scheme = detect(sequence) if detected else self.settings["scheme"]
        spans, _ = read_spans(sequence, scheme, keep_broken=repair != "drop")
        found = TagProblems(sequence, rows.tokens, scheme, repair, detected)
        problems = (*rows.problems, *found.problems())
        findings = findings_in_lines(problems, lines, member, self.stretch)
        wrong = (problem for problem in rows.problems if problem.record)
        rejected = rejected_lines("token", wrong, lines)
        tables = self._tables(member, rows, spans, sequence.labels)
        return Corpus(sources=[origin], rejected_records=rejected, **tables), findings, scheme

    def _names(self, member: Member, rows: TokenRows) -> list[str]:
        """The names of documents: written ones, or else numbers, or the name of the file."""
        own = stem(member, self.suffix)
        usual = "{}" if self.numbered else own if rows.documents == 1 else f"{own}-{{}}"
        return [rows.names.get(at, usual.format(at + 1)) for at in range(rows.documents)]

    def _tables(
        self, member: Member, rows: TokenRows, spans: Spans, labels: Sequence[str]
    ) -> dict[str, pl.DataFrame]:
        """The tables of a file: documents, sentences, tokens and mentions."""
        tokens = rows.tokens
        made = MadeText.of(tokens, rows.documents)
        schema = {"row": pl.Int64, "name": pl.String, "text": pl.String}
        columns = {
            "row": range(rows.documents),
            "name": self._names(member, rows),
            "text": made.texts,
        }
        documents = pl.DataFrame(columns, schema=schema)
        mentions = made.place_rows(tokens, spans.first, spans.last).with_columns(
            mention=pl.lit(""), label=pl.Series(labels, dtype=pl.String).gather(spans.label)
        )
        links = {}
        if "entity" in tokens.columns:
            mentions, links["links"] = _with_candidates(
                mentions, tokens["entity"].gather(spans.first)
            )
        return {
            **links,
            **made.tables(tokens),
            "documents": documents.with_columns(origin=pl.lit(0, pl.Int64)),
            "mentions": mentions,
        }


#: Gives the tokens of the lines of a file, and where their tags are in a line.
Divide = Callable[[Lines], tuple[TokenRows, Stretch]]


#: Gives the tokens of a file that is a table, from its bytes, and a line per row; else None.
DivideTable = Callable[[bytes], tuple[TokenRows, Lines] | None]


def read_tagged(
    source: Source,
    form: str,
    suffix: str,
    settings: Mapping[str, Any],
    divide: Divide,
    divide_table: DivideTable = lambda _: None,
) -> Iterator[ReadResult]:
    """The tokens and mentions of each file; see `TagReader`.

    Args:
        source: the files.
        form: the name of the format.
        suffix: of files, which the names of documents leave out.
        settings: the `scheme` of the tags, and the `repair` of sequences that are not valid in it.
        divide: gives the tokens of lines.
        divide_table: gives those of a table, whose file has the end .parquet.
    """
    numbered = source.kind in {"file", "stdin"}
    detected = set[str]()

    def own(
        member: Member, data: bytes, origin: dict[str, object]
    ) -> Iterator[tuple[Corpus, Iterable[Finding]]]:
        problems, end, stretch = list[Finding](), ".parquet", whole_line
        if (table := divide_table(data)) is not None:
            rows, lines = table
        else:
            decoded = decode(data, display=member.display, encoding=member.encoding)
            text, end, problems = decoded.text or "", suffix, [*decoded.findings]
            if "\r" in text:  # a single character is found much faster than two
                text = text.replace("\r\n", "\n")
            lines = Lines(text)
            rows, stretch = divide(lines)
        reader = TagReader(settings, end, numbered, stretch)
        corpus, found, scheme = reader.read(member, origin, lines, rows)
        detected.update((rows.detected, scheme))
        yield corpus, (*problems, *found)

    for result in read_members(source, form, own):
        yield replace(result, detected=" ".join(sorted(detected)))
        detected.clear()


#: The fields of the representation that a tag gives.
_OF_TAG = frozenset({"label", "tag", "start", "end", "extent", "offsets"})


def locate_tags(
    member: Member, places: Sequence[FieldRef], stretches: Mapping[str, Stretch]
) -> list[Location | None]:
    """The cells of places of a file; lines of other places.

    Args:
        member: the file.
        places: the fields.
        stretches: finds the cell of each field, `tag` for all that a tag gives.
    """

    def stretch(line: str, field: str) -> tuple[int, int]:
        own = stretches.get("tag" if field in _OF_TAG else field, whole_line)
        return own(line, field)

    return locate_lines(member, places, stretch)


def _with_candidates(
    mentions: pl.DataFrame, entities: pl.Series
) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Mentions with the first of their candidates as entity, and the others as links.

    Args:
        mentions: the mentions.
        entities: the candidates of each as written, null for none.
    """
    place = ("document", "origin", "record")
    candidates = entities.str.split("|")
    rows = mentions.select(*place, mention_row="row").with_columns(entity=candidates)
    size = pl.col("entity").list.len()
    several = rows.filter(size > 1).with_columns(rank=pl.int_ranges(1, size + 1))
    links = several.explode("entity", "rank").filter(pl.col("rank") > 1)
    links = links.with_columns(row=pl.int_range(pl.len(), dtype=pl.Int64))
    return mentions.with_columns(entity=candidates.list.first()), links
