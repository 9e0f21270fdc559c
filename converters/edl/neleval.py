r"""neleval annotation files: spans with candidate entities.

Format:
    Three or more tab-separated columns without a header: document, start, end; then identifier,
    score and type of each candidate. A single candidate may be just an identifier, or an identifier
    and a score. Trailing tabs are ignored.

Conventions:
    Offsets are as in the source (LoReHLT: 0-based), with inclusive ends. The candidate with the
    highest score (the first, if tied) is the entity of the mention; the others are rows of `links`.
    Identifiers that start with NIL are not in the knowledge base. A type in braces is a JSON object
    whose `type` is used. Empty lines are skipped.

Example lines:
    ENG_NW_006929	38	46	1000001	0.75	GPE
    IL9_SN_000370	5	7	NIL12	0.9	GPE	1298	0.1	GPE

Codes raised: NEL1xx, NEL2xx.
"""

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Literal

import polars as pl

from hlteval.converters.declarations import declaration
from hlteval.converters.edl.edl_tab import BREAKS, has, named_mentions
from hlteval.converters.format import one_table
from hlteval.converters.toolkit.rows import from_text, number, to_text, with_documents
from hlteval.converters.toolkit.source_files import File, head
from hlteval.findings import Finding, Problem
from hlteval.grammars import pattern
from hlteval.representation import Corpus
from hlteval.sources import Member, Source
from hlteval.sources.names import printable
from hlteval.syntax.sections import TableSections
from hlteval.syntax.tsv import Cells, Column, Explanation, Table

# The lines of annotation files: their columns, and those with several candidates or problems.
#
# Lines with at most one candidate in plain form are read in bulk; `explain` reads all others.


_NOT_PLAIN = re.compile("[\t\r\n\ud800-\udfff]")
_OFFSET = re.compile(r" *\+?([0-9]{1,15}) *")


class _Unreadable(Exception):
    """A line cannot be read, because of a problem."""

    def __init__(self, code: str, start: int, end: int, **values: object) -> None:
        super().__init__(code)
        self.problem = Problem(code, 0, start, end, values)


def explain(record: int, line: str) -> Explanation:
    r"""The candidates of a line, each as a row after the span, and its problems.

    Candidates are sorted by their scores, the highest first; equal ones stay in their order. A span
    without candidates is one row.

    Args:
        record: the number of the line.
        line: the line, without its line break.

    Examples:
        >>> [row[3] for row in explain(1, "D1\t1\t5\tE1\t0.2\tPER\tE2\t0.8\tPER")[0]]
        ['E2', 'E1']
        >>> explain(1, "D1\t1\tx")[1][0].code
        'NEL103'
    """
    cells = line.rstrip("\t").split("\t")
    problems: list[Problem] = []
    try:
        rows = _rows(line, cells, problems)
    except _Unreadable as reason:
        return (), [reason.problem._replace(record=record)]
    return rows, [problem._replace(record=record) for problem in problems]


def place(cells: Sequence[str], index: int, last: int | None = None) -> tuple[int, int]:
    """The place of a cell, or of several up to a last one: 0-based columns, end exclusive."""
    start = sum(len(cell) + 1 for cell in cells[:index])
    stop = (index if last is None else last) + 1
    return start, start + len("\t".join(cells[index:stop]))


def _rows(line: str, cells: Sequence[str], problems: list[Problem]) -> list[Cells]:
    """Span, entity, score and type of each candidate, the best first.

    Raises:
        _Unreadable: if the line cannot be read.
    """

    def unreadable(code: str, index: int, **values: object) -> _Unreadable:
        start, end = place(cells, index)
        return _Unreadable(code, start, max(end, start + 1), **values)

    if "\r" in line:
        raise _Unreadable("NEL107", line.index("\r"), line.index("\r") + 1)
    if len(cells) < 3:
        hint = ", not spaces" if len(cells) == 1 and len(line.split()) >= 3 else ""
        plural = "" if len(cells) == 1 else "s"
        raise _Unreadable("NEL102", 0, len(line), given=len(cells), s=plural, hint=hint)
    if not cells[0]:
        raise _Unreadable("NEL108", 0, 1)
    span = [cells[0]]
    for index in (1, 2):
        found = _OFFSET.fullmatch(cells[index])
        if not found:
            raise unreadable("NEL103", index, given=cells[index][:40] or "(empty)")
        span.append(found[1])
    rest = cells[3:]
    if len(rest) < 2:
        return [[*span, *rest, None, None, None][:6]]
    if len(rest) > 2 and len(rest) % 3:
        raise _Unreadable("NEL104", *place(cells, 3, len(cells)), given=len(rest))
    candidates: list[tuple[float, Cells]] = []
    for index in range(3, len(cells), 3):
        score = number(cells[index + 1])
        if score is None:
            raise unreadable("NEL105", index + 1, given=cells[index + 1][:40].strip() or "(empty)")
        label = _type(cells, index + 2, problems) if len(rest) > 2 else None
        candidates.append((score, [*span, cells[index], cells[index + 1].strip(), label]))
    candidates.sort(key=lambda candidate: -candidate[0])
    return [row for _, row in candidates]


def _type(cells: Sequence[str], index: int, problems: list[Problem]) -> str:
    """The type of a candidate, which may be in JSON."""
    cell = cells[index]
    if not cell.startswith("{"):
        return cell
    start, end = place(cells, index)
    try:
        attributes = json.loads(cell)
    except (ValueError, RecursionError):
        raise _Unreadable("NEL106", start, end, given=cell[:40], reason="not valid JSON") from None
    label = attributes.get("type") if isinstance(attributes, dict) else None
    if not isinstance(label, str) or _NOT_PLAIN.search(label):
        reason = '"type" is missing or not plain text'
        raise _Unreadable("NEL106", start, end, given=cell[:40], reason=reason)
    if others := sorted(attributes.keys() - {"type"}):
        names = ", ".join(map(printable, others))[:80]
        problems.append(Problem("NEL202", 0, start, end, {"names": names}))
    return label


def _column(name: str, rule: str, *, optional: bool = False) -> Column:
    return Column(name, pattern=partial(pattern, "neleval", rule), optional=optional)


#: A record has at most one candidate; of several, each is a row.
TABLE = Table(
    (
        _column("name", "document"),
        Column("start", "integer"),
        Column("last", "integer"),
        *(_column(name, name, optional=True) for name in ("entity", "score", "type")),
    ),
    empty_code="NEL101",
    explain=explain,
)
#: Mistakes in all rows are found whatever number of candidates these have.
tabular = one_table(replace(TABLE, ragged=True))


#: An annotation: a document, two offsets, and an identifier without blanks, if there is one.
_SPAN = re.compile(
    r"[^\t]+(?:\t *\+?[0-9]+ *){2}(?:\t *[^\t ]* *(?:\t *[-+.0-9eE]* *(?:\t|\r?$)|\r?$)|\r?$)"
)
#: Fields of a record by the column where they begin, in the words of rules about mentions.
_FIELDS = {"document": 0, "extent": 1, "offsets": 1, "entity": 3, "confidence": 4, "type": 5}
_LARGEST = 10**15 - 1
Conversion = Literal["pipeline", "tac15"]


def sniff(source: Source) -> bool:
    """Whether it is a single file, a table from its first line on, with an annotation."""
    lines = [line for line in head(source).split("\n")[:6] if line.strip()]
    return "\t" in "".join(lines[:1]) and any(_SPAN.match(line) for line in lines)


def read_file(file: File) -> tuple[Corpus, Iterable[Finding]]:
    """The corpus of a file; of the candidates of a span, the first is the mention's own."""
    table = TABLE.read(file.text or "")
    reversed_spans = table.rows.filter(pl.col("last") < pl.col("start"))
    reversed_spans = reversed_spans.unique("record", keep="first", maintain_order=True)
    most = file.member.max_per_code
    problems = table.problems_at("NEL201", reversed_spans, "start", "last", most=most)
    row, is_best = pl.int_range(pl.len(), dtype=pl.Int64), pl.col("record").diff().fill_null(1) > 0
    rows = table.rows.with_columns(rank=1 + row - pl.when(is_best).then(row).forward_fill())
    documents, mentions = with_documents(rows.filter(rank=1))
    keys = mentions.select("record", "document", "origin", mention_row="row")
    links = rows.filter(pl.col("rank") > 1).join(keys, on="record", maintain_order="left")
    known = pl.col("score").is_not_null()
    confidence = from_text(mentions["score"].fill_null("1.0"))
    corpus = Corpus(
        sources=[file.origin],
        documents=documents,
        mentions=mentions.with_columns(confidence).select(
            *("row", "document", "origin", "record", "start", "entity"),
            *(pl.when(known).then(name).alias(name) for name in confidence.columns),
            mention=pl.lit(""),
            label=pl.col("type").fill_null(""),
            end=pl.col("last") + 1,
        ),
        links=links.select(
            *("document", "origin", "record", "mention_row", "rank", "entity"),
            row=pl.int_range(pl.len(), dtype=pl.Int64),
            label="type",
            confidence=pl.col("score").cast(pl.Float64),
        ),
        rejected_records=table.rejected_records("mention"),
    )
    return corpus, table.findings(file.member, *problems)


def sections(member: Member, **_: str) -> TableSections:
    """The documents of a file."""
    return TableSections(member, column=0)


def stretch(line: str, field: str) -> tuple[int, int]:
    """The place of a field in its line; the whole line where it has no such field."""
    cells = line.split("\t")
    index = _FIELDS.get(field, len(cells))
    if index >= len(cells):
        return 0, len(line)
    return place(cells, index, index + (field in {"extent", "offsets"}))


#: Which mentions, joined with the names of their documents, a line can represent.
_WRITABLE = (
    ~pl.any_horizontal(has(name, BREAKS) for name in ("label", "entity", "mention_type", "name"))
    & (pl.col("name") != "")
    & ~pl.col("name").str.starts_with("\ufeff")
    & pl.col("fragments").is_null()
    & pl.col("start").is_between(0, _LARGEST)
    & (pl.col("end") - 1).is_between(0, _LARGEST)
)
#: Which links a line can represent.
_WRITABLE_LINKS = ~(has("entity", BREAKS) | has("label", BREAKS))


def _numeric(rows: pl.DataFrame) -> pl.DataFrame:
    """The mentions without notations of scores that are not a number."""
    notations = rows["confidence_text"].drop_nulls().unique().to_list()
    known = [text for text in notations if number(text) is not None]
    text = pl.when(pl.col("confidence_text").is_in(known)).then("confidence_text")
    return rows.with_columns(confidence_text=text)


def as_text(corpus: Corpus, conversion: Conversion) -> pl.Series:
    """The lines of the mentions of all documents, in their order."""
    rows = _numeric(named_mentions(corpus).filter(_WRITABLE))
    if conversion == "tac15":
        both = pl.format("{}/{}", "label", pl.col("mention_type").fill_null(""))
        rows = rows.with_columns(label=both)
    typed = pl.col("label") != ""
    scored = typed | pl.col("confidence").is_not_null()
    others = _others(corpus, rows)
    rows = rows.with_columns(score=to_text(rows), type=_in_json(rows["label"]))
    rows = rows.join(others, on="row", how="left", maintain_order="left")
    linked, more = pl.col("entity").is_not_null(), pl.col("others").is_not_null()
    rows = rows.with_columns(
        last=pl.col("end") - 1,
        score=pl.when(linked & (scored | more)).then("score"),
        type=pl.when(linked & (typed | more)).then("type"),
    )
    rows = rows.with_columns(TABLE.lines(rows))
    line = pl.concat_str("line", "others", separator="\t", ignore_nulls=True)
    return rows.select(line=line + "\n")["line"]


def _in_json(labels: pl.Series) -> pl.Series:
    """Types as they are written: in JSON where they would be read as JSON."""
    braced = labels.filter(labels.str.starts_with("{")).unique().to_list()
    return labels.replace({label: json.dumps({"type": label}) for label in braced})


def _others(corpus: Corpus, rows: pl.DataFrame) -> pl.DataFrame:
    """By mention, its other candidates as columns of its line."""
    own = rows.select("label", "confidence", mention_row="row")
    links = corpus.links.filter(_WRITABLE_LINKS).drop_nulls("entity")
    links = links.join(own, on="mention_row", suffix="_own").sort("mention_row", "rank")
    links = links.select(
        *("mention_row", "entity"),
        label=pl.coalesce(pl.when(pl.col("label") != "").then("label"), "label_own"),
        confidence=pl.coalesce("confidence", "confidence_own"),
        confidence_text=pl.lit(None, pl.String),
    )
    cells = pl.concat_str("entity", to_text(links), _in_json(links["label"]), separator="\t")
    others = links.select(row="mention_row", others=cells)
    return others.group_by("row", maintain_order=True).agg(pl.col("others").str.join("\t"))


def count_losses(corpus: Corpus) -> Mapping[str, int]:
    """The counts of rows that no line can represent."""
    mentions = named_mentions(corpus)
    written = mentions.filter(_WRITABLE)
    linked, typed = pl.col("entity").is_not_null(), pl.col("label") != ""
    scores, numbers = mentions["confidence_text"], _numeric(mentions)["confidence_text"]
    unknown = linked & typed & pl.col("confidence").is_null()
    return {
        "mentions that do not fit a line": mentions.height - written.height,
        "candidates that do not fit a line": corpus.links.filter(~_WRITABLE_LINKS).height,
        "scores that are not a number": scores.count() - numbers.count(),
        "types of mentions without an entity": written.filter(~linked & typed).height,
        "unknown confidences, written as 1.0": written.filter(unknown).height,
    }


FORMAT = declaration(__name__)
