r"""TAC KBP queries: mentions in XML, and a table of their links, as until 2014.

Format:
    In a file of XML, each `query` has an `id`, and `name`, `docid`, `beg` and `end`. Tables beside
    it have a line per link with the query, the entity, its type and a score, between tabs; type
    and score may be absent, and cells after them are ignored.

Conventions:
    Offsets are 0-based and inclusive. The links of a query are its candidates, the best score
    first; the best one is the entity of the mention. A mention without a link has no type. Later
    years have a table alone: `edl-tab`.

Example lines:
    <query id="Q1"><name>Osh</name><docid>D1</docid><beg>5</beg><end>7</end></query>
    Q1	E0123	GPE	0.95

Codes raised: TAC1xx, XML101 to XML111.
"""

import re
from collections.abc import Iterator

import polars as pl

from hlteval.converters.declarations import declaration
from hlteval.converters.format import ReadResult
from hlteval.converters.toolkit.rows import with_documents
from hlteval.converters.toolkit.source_files import FileBatch, head_of_first
from hlteval.findings import Problem, findings_of
from hlteval.representation import Corpus
from hlteval.sources import Member, Source
from hlteval.syntax.tsv import shorten
from hlteval.syntax.xml_elements import Malformed, parse
from hlteval.syntax.xml_places import located_findings

_ROOT = "kbpentlink"
_OFFSET = re.compile("[0-9]{1,15}")
_PARTS = {"docid": re.compile(".+", re.DOTALL), "beg": _OFFSET, "end": _OFFSET}
_QUERIES = {"origin": pl.Int64, "record": pl.Int64, "mention": pl.String, "text": pl.String,
            "name": pl.String, "start": pl.Int64, "end": pl.Int64}  # fmt: skip
_LINKS = {**dict.fromkeys(("mention", "entity", "label"), pl.String), "confidence": pl.Float64}


def sniff(source: Source) -> bool:
    """Whether the first file of XML has a query."""
    return "<query " in head_of_first(_with_end(source, ".xml"))


def _with_end(source: Source, *ends: str) -> tuple[Member, ...]:
    return tuple(member for member in source.members if member.basename.lower().endswith(ends))


def read(source: Source) -> Iterator[ReadResult]:
    """The mentions and links of all files, as one batch."""
    files, queries = FileBatch(source.path, FORMAT.name), dict[str, tuple[object, ...]]()
    for member in _with_end(source, ".xml"):
        origin, text = len(files.members), files.open(member)
        if text is not None:
            problems = [(problem, None) for problem in _queries(text, origin, queries)]
            files.findings += located_findings(text, problems, member)
    rows = pl.DataFrame([*queries.values()], schema=_QUERIES, orient="row")
    links = [_links(member, files, rows) for member in _with_end(source, ".tab", ".tsv")]
    every = pl.concat([pl.DataFrame(schema=_LINKS), *links])
    every = every.sort("confidence", descending=True, nulls_last=True, maintain_order=True)
    every = every.with_columns(rank=pl.int_range(1, pl.len() + 1).over("mention"))
    best = every.filter(rank=1).drop("rank")
    documents, mentions = with_documents(rows)
    mentions = mentions.join(best, on="mention", how="left", maintain_order="left")
    mentions = mentions.with_columns(pl.col("label").fill_null(""))
    place = mentions.select("mention", "document", "origin", "record", mention_row="row")
    others = place.join(every.filter(pl.col("rank") > 1), on="mention", maintain_order="left_right")
    corpus = Corpus(
        sources=files.sources,
        documents=documents,
        mentions=mentions,
        links=others.drop("mention").with_columns(row=pl.int_range(pl.len(), dtype=pl.Int64)),
    )
    yield ReadResult(corpus, tuple(files.findings), tuple(files.members))


def _queries(text: str, origin: int, queries: dict[str, tuple[object, ...]]) -> list[Problem]:
    """Add the queries of a file by their identifiers; give what is wrong with it."""
    try:
        elements = parse(text).elements
    except Malformed as reason:
        return [reason.problem]
    if elements[0].tag != _ROOT:
        return [elements[0].problem("XML110", root=_ROOT)]
    parts: dict[int, dict[str, str]] = {}
    for element in elements:
        if element.parent and element.parent.tag == "query":
            parts.setdefault(element.parent.ordinal, {})[element.tag] = element.text.strip()
    problems = []
    for element in (element for element in elements if element.tag == "query"):
        own, name = parts.get(element.ordinal, {}), element.attributes.get("id", "")
        missing = [part for part, form in _PARTS.items() if not form.fullmatch(own.get(part, ""))]
        missing += [] if name else ["id"]
        if not missing:
            place = (own["docid"], int(own["beg"]), int(own["end"]) + 1)
            query = (origin, element.line, name, own.get("name"), *place)
            if queries.setdefault(name, query)[-3:] == place:
                continue
            missing = ["id of its own"]
        values = {"id": shorten(name, 40), "missing": missing[0]}
        problems.append(element.problem("TAC101", **values))
    return problems


def _links(member: Member, files: FileBatch, queries: pl.DataFrame) -> pl.DataFrame:
    """The links of a table; what is wrong with others is added to the findings of the files."""
    lines = (files.open(member) or "").split("\n")
    rows = pl.DataFrame({"line": lines}, schema={"line": pl.String}).with_row_index("record", 1)
    rows = rows.with_columns(pl.col("line").str.strip_suffix("\r"))
    rows = rows.filter(pl.col("line").str.strip_chars() != "")
    cell = pl.col("line").str.split("\t").list
    names = ("mention", "entity", "label", "score")
    cells = {name: cell.get(at, null_on_oob=True) for at, name in enumerate(names)}
    rows = rows.with_columns(**cells)
    known = pl.col("mention").is_in(queries["mention"].implode())
    wrong = rows.filter(pl.col("entity").fill_null("").str.len_chars().eq(0) | ~known)
    problems = (
        (record, Problem("TAC103" if entity else "TAC102", record, 0, len(line),
                         {"given": shorten(name, 40)}))
        for record, line, name, entity in wrong.select("record", "line", *names[:2]).iter_rows()
    )  # fmt: skip
    files.findings += findings_of(
        problems,
        lambda at, it: it.in_line(member.display, lines[at - 1].removesuffix("\r")),
        member.max_per_code,
    )
    good = rows.filter(known, pl.col("entity") != "")
    score = pl.col("score").cast(pl.Float64, strict=False)
    score = pl.when(score.is_finite()).then(score)
    return good.select("mention", "entity", pl.col("label").fill_null(""), confidence=score)


FORMAT = declaration(__name__)
