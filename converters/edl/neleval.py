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

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Literal

import polars as pl

from hlteval.converters.edl.neleval_records import Candidate, Fault, place, record
from hlteval.converters.format import Format, ReadResult, Setting
from hlteval.converters.toolkit.confidences import from_text, to_text
from hlteval.converters.toolkit.single_file import File, head, located, readings
from hlteval.findings import FieldRef, Finding, Location, Span, catalogue, excerpt
from hlteval.grammars import pattern
from hlteval.representation import TABLES, Corpus
from hlteval.sources import Member, Source

_SPAN = re.compile(r"[^\t]+\t *\+?[0-9]+ *\t *\+?[0-9]+ *(?:\t|\r?$)")
_FIELDS = {"document": 0, "extent": 1, "offsets": 1, "entity": 3, "confidence": 4, "type": 5}
"""Fields of a record by the column where they begin, in the words of rules about mentions."""
_READ = {
    "record": pl.Int64,
    "name": pl.String,
    "start": pl.Int64,
    "last": pl.Int64,
    "entity": pl.String,
    "score": pl.String,
    "type": pl.String,
}
_OTHERS = {
    "record": pl.Int64,
    "rank": pl.Int64,
    "entity": pl.String,
    "score": pl.String,
    "type": pl.String,
}
_LARGEST = 10**15 - 1


def sniff(source: Source) -> bool:
    """Whether it is a single file with a line that is an annotation."""
    lines = head(source).split("\n")[:6]
    comments = lines[0].startswith("#begin document")  # coreference, whose columns look alike
    return not comments and any(_SPAN.match(line) for line in lines)


def read(source: Source) -> Iterator[ReadResult]:
    """The annotations of the file, as one batch."""
    return readings(source, FORMAT.name, _read)


def _read(file: File) -> tuple[Corpus, Iterable[Finding]]:
    table = _Table(file.member.display)
    if file.text:
        table.take(file.text)
    return table.corpus(file.origin), table.findings


class _Table:
    """What is collected over the lines of a file."""

    def __init__(self, display: str) -> None:
        self.display = display
        self.findings: list[Finding] = []
        self.rejected_records: list[dict[str, object]] = []
        self.read = pl.DataFrame(schema=_READ)
        self.others = pl.DataFrame(schema=_OTHERS)

    def take(self, text: str) -> None:
        """Read the lines: those in plain form by their pattern, the others one by one."""
        lines = text.removesuffix("\n").split("\n")
        taken, left = _divided(lines)
        rows: list[tuple[object, ...]] = []
        others: list[tuple[object, ...]] = []
        for number in left:
            line = lines[number - 1].removesuffix("\r")
            rows += self.explain(number, line, others)
        explained = pl.DataFrame(rows, schema=_READ, orient="row")
        self.read = pl.concat([taken, explained]).sort("record")
        self.others = pl.DataFrame(others, schema=_OTHERS, orient="row")
        self.reversed(lines)

    def explain(
        self, number: int, line: str, others: list[tuple[object, ...]]
    ) -> Iterator[tuple[object, ...]]:
        """A line that the pattern refuses: a row if it can be read, and findings."""
        if not line.strip():
            self.tell(Fault("NEL101", 0, 0, {}), number, line)
            return
        span, candidates, faults = record(line)
        for fault in faults:
            self.tell(fault, number, line)
        if span is None:
            self.refuse(faults[0], number, line)
            return
        first, *more = candidates or (Candidate("")._replace(entity=None),)  # type: ignore[arg-type]
        yield (number, *span, *first)
        others.extend((number, rank, *one) for rank, one in enumerate(more, start=2))

    def reversed(self, lines: Sequence[str]) -> None:
        """Tell of the annotations that end before they start."""
        wrong = self.read.filter(pl.col("last") < pl.col("start"))
        for number, start, last in wrong.select("record", "start", "last").iter_rows():
            cells = lines[number - 1].split("\t")
            stretch = place(cells, 1)[0], place(cells, 2)[1]
            fault = Fault("NEL201", *stretch, {"start": start, "last": last})
            self.tell(fault, number, lines[number - 1].removesuffix("\r"))

    def tell(self, fault: Fault, number: int, line: str) -> None:
        span = Span(number, fault.start + 1, fault.end + 1)
        self.findings.append(
            catalogue()[fault.code].finding(
                fault.values, file=self.display, span=span, excerpt=excerpt(line, span)
            )
        )

    def refuse(self, fault: Fault, number: int, line: str) -> None:
        self.rejected_records.append(
            {"row": len(self.rejected_records), "origin": 0, "record": number, "code": fault.code,
             "kind": "mention", "text": line, "column": fault.start + 1,
             "end_column": fault.end + 1, "expected": ""}
        )  # fmt: skip

    def corpus(self, origin: Mapping[str, object]) -> Corpus:
        """Everything that was read."""
        documents = self.read.select("name").unique(maintain_order=True)
        documents = documents.select(_rows(), pl.lit(0, pl.Int64).alias("origin"), "name")
        keyed = self.read.join(
            documents.select("name", document="row"), on="name", maintain_order="left"
        ).with_columns(_rows(), origin=pl.lit(0, pl.Int64))
        links = self.others.join(
            keyed.select("record", "document", "origin", mention_row="row"), on="record"
        )
        return Corpus(
            sources=[origin],
            documents=documents,
            mentions=_mentions(keyed),
            links=links.select(
                _rows(),
                *("document", "origin", "record", "mention_row", "rank", "entity"),
                pl.col("type").alias("label"),
                pl.col("score").cast(pl.Float64).alias("confidence"),
            ),
            rejected_records=self.rejected_records,
        )


def _rows() -> pl.Expr:
    return pl.int_range(pl.len(), dtype=pl.Int64).alias("row")


def _divided(lines: Sequence[str]) -> tuple[pl.DataFrame, list[int]]:
    """The records that the pattern accepts, and the numbers of all other lines."""
    line = pl.col("line").str.strip_suffix("\r")
    numbered = pl.DataFrame({"line": lines}, schema={"line": pl.String}).select(
        line, record=pl.int_range(1, pl.len() + 1, dtype=pl.Int64)
    )
    fit = pl.col("line").str.contains(f"^(?:{_plain()})$")
    divided = numbered.with_columns(fit=fit)
    columns = ("name", "start", "last", "entity", "score", "type")
    cells = pl.col("line").str.split_exact("\t", len(columns) - 1).struct.rename_fields(columns)
    taken = divided.filter("fit").select("record", cells.alias("cells")).unnest("cells")
    taken = taken.with_columns(pl.col("start", "last").cast(pl.Int64))
    return taken.select(list(_READ)), divided.filter(~pl.col("fit"))["record"].to_list()


def _plain() -> str:
    """The pattern of a record, its groups without names."""
    return re.sub(r"\(\?P<[a-z_]+>", "(?:", pattern("neleval", "record"))


def _mentions(rows: pl.DataFrame) -> pl.DataFrame:
    """The table of mentions."""
    scores = from_text(rows["score"].fill_null("1.0"))
    known = pl.col("score").is_not_null()
    mentions = rows.with_columns(scores).select(
        *("row", "document", "origin", "record"),
        pl.lit("").alias("mention"),
        pl.col("type").fill_null("").alias("label"),
        "start",
        "entity",
        end=pl.col("last") + 1,
        confidence=pl.when(known).then("confidence"),
        confidence_text=pl.when(known).then("confidence_text"),
    )
    fragments = TABLES["mentions"].schema["fragments"]
    return mentions.with_columns(fragments=pl.lit(None, dtype=fragments))


def locate(member: Member, places: Sequence[FieldRef]) -> list[Location | None]:
    """The columns of places of a file."""
    return located(member, places, _stretch)


def _stretch(line: str, field: str) -> tuple[int, int]:
    """Where a field stands; the line where it has no such field."""
    cells = line.split("\t")
    index = _FIELDS.get(field, len(cells))
    if index >= len(cells):
        return 0, len(line)
    last = index + 1 if field in {"extent", "offsets"} else index
    return place(cells, index)[0], place(cells, min(last, len(cells) - 1))[1]


def write(
    corpora: Iterable[Corpus],
    path: Path,
    conversion: Literal["pipeline", "tac15"] = "pipeline",
) -> None:
    """The mentions of all documents, in the order in which they came."""
    with path.open("w", encoding="utf-8", newline="\n") as stream:
        for corpus in corpora:
            stream.writelines(f"{line}\n" for line in _lines(corpus, conversion))


def _writable() -> pl.Expr:
    """Which mentions, joined with the names of their documents, a line can say."""
    broken = pl.any_horizontal(
        pl.col(column).str.contains(r"[\t\n\r]").fill_null(value=False)
        for column in ("label", "entity", "mention_type", "name")
    )
    offsets = (pl.col("start"), pl.col("end") - 1)
    placed = pl.all_horizontal(offset.is_between(0, _LARGEST) for offset in offsets)
    return ~broken & (pl.col("name") != "") & pl.col("fragments").is_null() & placed


def _lines(corpus: Corpus, conversion: str) -> Iterator[str]:
    rows = _with_names(corpus).filter(_writable())
    if conversion == "tac15":
        both = pl.format("{}/{}", "label", pl.col("mention_type").fill_null(""))
        rows = rows.with_columns(label=both)
    typed = pl.col("label") != ""
    scored = typed | pl.col("confidence").is_not_null()
    rows = rows.with_columns(score=to_text(rows), written=_quoted(rows["label"]))
    others = _others(corpus, rows)
    rows = rows.join(
        others, left_on="row", right_on="mention_row", how="left", maintain_order="left"
    )
    more = pl.col("others").is_not_null()
    cells = pl.concat_str(
        "name",
        "start",
        pl.col("end") - 1,
        "entity",
        pl.when(pl.col("entity").is_not_null() & (scored | more)).then("score"),
        pl.when(pl.col("entity").is_not_null() & (typed | more)).then("written"),
        "others",
        separator="\t",
        ignore_nulls=True,
    )
    yield from rows.select(cells.alias("line"))["line"]


def _quoted(labels: pl.Series) -> pl.Series:
    """Types as they are written: in JSON where they would be taken for JSON."""
    braced = labels.filter(labels.str.starts_with("{")).unique().to_list()
    return labels.replace({label: json.dumps({"type": label}) for label in braced})


def _others(corpus: Corpus, rows: pl.DataFrame) -> pl.DataFrame:
    """By mention, its other candidates as columns of its line."""
    own = rows.select("label", "confidence", mention_row="row")
    links = corpus.links.drop_nulls("entity").join(own, on="mention_row", suffix="_own")
    links = links.sort("mention_row", "rank").select(
        "mention_row",
        "entity",
        label=pl.coalesce(pl.when(pl.col("label") != "").then("label"), "label_own"),
        confidence=pl.coalesce("confidence", "confidence_own"),
        confidence_text=pl.lit(None, pl.String),
    )
    cells = pl.concat_str("entity", to_text(links), _quoted(links["label"]), separator="\t")
    written = links.select("mention_row", others=cells)
    return written.group_by("mention_row", maintain_order=True).agg(pl.col("others").str.join("\t"))


def _with_names(corpus: Corpus) -> pl.DataFrame:
    names = corpus.documents.select("name", document="row")
    return corpus.mentions.join(names, on="document", maintain_order="left")


def lost(corpus: Corpus) -> Mapping[str, int]:
    """What of its tables no line can say."""
    mentions = _with_names(corpus)
    silent = corpus.documents.join(corpus.mentions, left_on="row", right_on="document", how="anti")
    said = mentions.filter(pl.col("entity").is_null())
    unknown = mentions.filter(pl.col("confidence").is_null(), pl.col("label") != "")
    return {
        "identifiers of mentions": mentions.filter(pl.col("mention") != "").height,
        "mentions that do not fit a line": mentions.filter(~_writable()).height,
        "types of mentions without an entity": said.filter(pl.col("label") != "").height,
        "documents without mentions": silent.height,
        "unknown confidences, written as 1.0": unknown.height,
    }


FORMAT = Format(
    name="neleval",
    title="neleval annotation files: spans with candidate entities",
    suffixes=(".neleval",),
    layout="single_file",
    carries=(
        *("sources", "documents", "mentions", "links"),
        *("mentions.entity", "mentions.confidence", "mentions.confidence_text"),
        *("links.entity", "links.label", "links.confidence"),
    ),
    sniff=sniff,
    read=read,
    locate=locate,
    write=write,
    known_losses="empty lines; trailing tabs; JSON attributes; notation of link scores",
    count_losses=lost,
    settings=(
        Setting(
            "conversion",
            "Types are `GPE` (pipeline) or `GPE/NAM` (tac15).",
            "pipeline",
            of="write",
            choices=("pipeline", "tac15"),
        ),
    ),
)
