"""A document list: the documents of a submission.

Format:
    One document identifier per line; empty lines are ignored.

Conventions:
    The order has no meaning.

Example line:
    CHN_EVAL_096_004

Codes raised: DOC1xx.
"""

from collections.abc import Iterable, Mapping

import polars as pl

from hlteval.converters.declarations import declaration
from hlteval.converters.toolkit.rows import with_documents
from hlteval.converters.toolkit.source_files import File, head
from hlteval.findings import Finding, Problem, finding
from hlteval.representation import Corpus
from hlteval.sources import Source
from hlteval.syntax.tsv import WHITE_SPACE, Column, Explanation, Table

#: No identifier of a document has so many characters.
_LONG = 200


def explain(record: int, line: str) -> Explanation:
    """The identifier in a line, which is the text between spaces, valid or not.

    Examples:
        >>> explain(1, " d1 "), explain(1, "d1, d2")[1][0].code
        (([['d1']], []), 'DOC101')
    """
    name = line.strip()
    wrong = Problem("DOC101", record, 0, len(line), {"name": name[:80]})
    return [[name]], [] if _NAME.accepts(name) else [wrong]


_NAME = Column("name", pattern=rf"[^{WHITE_SPACE}\x1c-\x1f,;:{{}}\[\]\"']+")
TABLE = Table((_NAME,), explain=explain)


def sniff(source: Source) -> bool:
    """Whether it is a single file of which the first lines are identifiers, not a header."""
    begin = head(source)
    if "\0" in begin or "\ufffd" in begin[:-1] or begin.lstrip()[:1] == "<":  # the end may be cut
        return False
    lines = [line.strip() for line in begin.split("\n")[:50] if line.strip()]
    are_names = all(len(line) < _LONG and _NAME.accepts(line) for line in lines)
    return are_names and lines[:1] not in ([], ["file_id"])


def read_file(file: File) -> tuple[Corpus, Iterable[Finding]]:
    """The documents, without anything on them."""
    text = file.text or ""
    table = TABLE.read(text)
    wrong = [record for record, _ in table.wrong]
    first = pl.col("record").first().over("name")
    repeated = table.rows.with_columns(first=first, name=pl.col("name").str.head(80)).filter(
        pl.col("record") != pl.col("first"), ~pl.col("record").is_in(wrong)
    )
    problems = table.problems_at("DOC102", repeated, most=file.member.max_per_code)
    findings = table.findings(file.member, *problems, *_spaces_around(text))
    if "\r\n" in text:
        findings.append(finding("DOC103", file=file.member.display))
    documents, _ = with_documents(table.rows)
    return Corpus(sources=[file.origin], documents=documents), findings


def _spaces_around(text: str) -> list[Problem]:
    """The first line with spaces around its identifier, with the number of all."""
    lines = enumerate((line.rstrip("\r") for line in text.split("\n")), start=1)
    named = [(record, line) for record, line in lines if line.strip()]
    spaced = [(record, line) for record, line in named if line != line.strip()]
    if not spaced:
        return []
    record, line = spaced[0]
    code = "DOC105" if len(spaced) == len(named) else "DOC104"
    values = {"count": len(spaced), "lines": len(named)}
    return [Problem(code, record, 0, len(line), values)]


def as_rows(corpus: Corpus) -> pl.DataFrame:
    """The documents whose names are identifiers that a text file can hold."""
    names = corpus.documents["name"]
    fits = [
        _NAME.accepts(name) and "\0" not in name and not name.startswith("\ufeff") for name in names
    ]
    return corpus.documents.filter(pl.Series(fits, dtype=pl.Boolean))


def count_losses(corpus: Corpus) -> Mapping[str, int]:
    """The documents that a list cannot name."""
    lost = corpus.documents.height - as_rows(corpus).height
    return {"documents whose name is not an identifier": lost}


FORMAT = declaration(__name__)
