r"""Label tables: a document per line with its label, several labels, or scores of labels.

Format:
    A header, then a line per document with cells between tabs, or between commas if the header has
    no tab. The settings say which column is the document, which its label, and what separates
    several labels in a cell.

Conventions:
    A label is an instance of the kind `label` without a stretch, and its score, if there is one,
    its `llr`. Without a header, columns are numbers from 0. A document may have several lines, with
    a label each. In a wide table each other column is a label, with its score in the cells. With
    `document` = `line`, documents are the numbers of lines from 0, as in submissions of GLUE; the
    setting `glue` has the columns of its tables. Written tables have a column `llr` if there are
    scores.

Example lines:
    id	label
    d1	favour

Codes raised: LBT1xx.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from io import BytesIO
from itertools import accumulate, pairwise
from pathlib import Path

import polars as pl

from hlteval.converters.declarations import declaration
from hlteval.converters.format import ReadResult
from hlteval.converters.toolkit.rows import with_documents
from hlteval.converters.toolkit.source_files import File, beginning, head, locate_lines, read_files
from hlteval.findings import FieldRef, Finding, Location, Problem, findings_of
from hlteval.representation import Corpus
from hlteval.sources import Member, Source
from hlteval.syntax.tsv import Lines, shorten

#: Names of the columns that are found without settings.
_DOCUMENTS = ("id", "document", "doc", "doc_id", "index", "guid", "sample_id")
_LABELS = (
    *("label", "labels", "prediction", "predictions", "class", "category", "gold", "gold_label"),
)
_SCORES = ("llr",)
#: In place of a column, the numbers of lines.
_LINE = "line"
#: The columns of the tables of GLUE, and the label that is none.
_GLUE: Mapping[str, Mapping[str, str]] = {
    "cola": {"document": _LINE, "label": "1", "header": "no"},
    "sst-2": {"document": _LINE, "label": "label"},
    "mrpc": {"document": _LINE, "label": "Quality"},
    "qqp": {"document": _LINE, "label": "is_duplicate"},
    "mnli": {"document": "index", "label": "gold_label", "unlabelled": "-"},
    **{name: {"document": "index", "label": "label"} for name in ("qnli", "rte", "wnli")},
}
#: A row has so many cells at most.
_MOST = 2000


@dataclass(frozen=True)
class Layout:
    """How a file is read.

    Attributes:
        document: the name or number of the column of documents; empty to find it.
        label: that of the column of labels; empty to find it.
        score: that of the column of scores; empty for none.
        separator: what separates labels in a cell; empty where a cell is a label.
        header: whether the first line names the columns.
        quoted: whether cells may be in double quotes.
        wide: whether each other column is a label with scores.
        unlabelled: the label of lines that are left out.
    """

    document: str
    label: str
    score: str
    separator: str
    header: bool
    quoted: bool
    wide: bool
    unlabelled: str = ""

    @property
    def usual(self) -> bool:
        """Whether columns are found by the header alone."""
        return self.header and not (self.wide or self.document or self.label)


def sniff(source: Source) -> bool:
    """Whether the header of a single file names a column of labels."""
    header = head(source).partition("\n")[0].lower().rstrip("\r")
    cells = {cell.strip('" ') for cell in _cells(header)}
    return len(cells) > 1 and not cells.isdisjoint(_LABELS)


def _cells(line: str) -> list[str]:
    return line.split("\t" if "\t" in line else ",")


def read(
    source: Source,
    document: str = "",
    label: str = "",
    score: str = "",
    separator: str = "",
    header: str = "yes",
    quoting: str = "none",
    wide: str = "no",
    unlabelled: str = "",
    glue: str = "",
) -> Iterator[ReadResult]:
    """The documents of each file, with their labels."""
    given = {"document": document, "label": label, "header": header, "unlabelled": unlabelled}
    given |= _GLUE.get(glue, {})
    layout = Layout(
        *(given["document"], given["label"], score, separator),
        header=given["header"] == "yes",
        quoted=quoting == "minimal",
        wide=wide == "yes",
        unlabelled=given["unlabelled"],
    )
    return read_files(source, FORMAT.name, lambda file: _read(file, layout))


def _read(file: File, layout: Layout) -> tuple[Corpus, Iterable[Finding]]:
    """The corpus of a file, and the findings in it."""
    text = (file.text or "").replace("\r\n", "\n")
    lines = Lines(text)
    first = text.partition("\n")[0].removesuffix("\r")
    names = [cell.strip('"') if layout.quoted else cell for cell in _cells(first)[:_MOST]]
    separator = "\t" if "\t" in first else ","
    if not layout.header:
        names = [str(at) for at in range(len(names))]
    problems: list[Problem] = []
    columns = _columns(names, layout, problems, len(first)) if first else None
    rows = pl.DataFrame(schema=_ROWS)
    rejected: list[Problem] = []
    if columns:
        body = text.partition("\n")[2] if layout.header else text
        table = _table(body, separator, len(names), layout)
        rejected, rows = _label_rows(table, columns, names, layout, lines)
    named = rows.select("name", "record", label="label", llr="score")
    documents, instances = with_documents(named)
    instances = instances.filter(pl.col("label").is_not_null() & (pl.col("label") != ""))
    instances = instances.with_columns(
        row=pl.int_range(pl.len(), dtype=pl.Int64), kind=pl.lit("label")
    )

    def finding(record: int, problem: Problem) -> Finding:
        return problem.in_line(file.member.display, lines[record - 1] if len(lines) else "")

    own = {name.lower() for name in names}.isdisjoint((*_DOCUMENTS, *_LABELS)) and layout.usual
    if columns and own and names[columns[1]] in set(rows["label"]):  # a header is no label
        problems.append(Problem("LBT105", 1, 0, len(first), {"line": shorten(first, 40)}))
    every = sorted([*problems, *rejected], key=lambda problem: problem.record)
    findings = findings_of(
        ((problem.record, problem) for problem in every), finding, file.member.max_per_code
    )
    wrong = [
        {"row": row, "origin": 0, **problem.rejection("label", lines[problem.record - 1])}
        for row, problem in enumerate(rejected)
    ]
    corpus = Corpus(
        sources=[file.origin], documents=documents, instances=instances, rejected_records=wrong
    )
    return corpus, findings


_ROWS = {"record": pl.Int64, "name": pl.String, "label": pl.String, "score": pl.Float64}


def _columns(
    names: Sequence[str], layout: Layout, problems: list[Problem], size: int
) -> tuple[int, int, int] | None:
    """The columns of documents, labels and scores: -1 for no such column, None for an error."""
    found = []
    lower = [name.lower() for name in names]
    wanted = (
        (layout.document, _DOCUMENTS, 0),
        (layout.label, _LABELS, len(names) - 1),
        (layout.score, _SCORES, -1),
    )
    for given, usual, otherwise in wanted:
        if given == _LINE and _LINE not in names and usual is _DOCUMENTS:
            found.append(-1)
            continue
        if given and given not in names:
            listed = shorten(", ".join(names), 60)
            problems.append(Problem("LBT101", 1, 0, size, {"column": given, "columns": listed}))
        known = next((lower.index(name) for name in usual if name in lower), otherwise)
        found.append(names.index(given) if given in names else known)
    return None if problems else (found[0], found[1], found[2])


def _table(text: str, separator: str, width: int, layout: Layout) -> pl.DataFrame:
    """The cells of all lines as columns by number, with one more; empty lines are null."""
    names = [str(at) for at in range(width + 1)]
    table = pl.DataFrame(schema=dict.fromkeys(names, pl.String))
    if text.strip("\n"):
        table = pl.read_csv(
            BytesIO(f"{separator.join(names)}\n{text}".encode()),
            separator=separator,
            quote_char='"' if layout.quoted else None,
            infer_schema=False,
            truncate_ragged_lines=True,
        )
    return table.with_row_index("record", 2 if layout.header else 1).with_columns(
        pl.col("record").cast(pl.Int64)
    )


def _label_rows(
    table: pl.DataFrame,
    columns: tuple[int, int, int],
    names: Sequence[str],
    layout: Layout,
    lines: Lines,
) -> tuple[list[Problem], pl.DataFrame]:
    """List problems of lines, and give a row per document and label of the others, as `_ROWS`."""
    document, label, score = columns
    width = len(names)
    cells = [str(at) for at in range(width + 1)]
    empty = pl.all_horizontal(pl.col(cells).is_null())
    table = table.filter(~empty)
    # an empty last cell and none are both null
    silent = table.filter(pl.col(str(width - 1)).is_null())["record"]
    sizes = lines.gather(silent - 1).str.count_matches("\t|,") + 1 if len(silent) else silent
    short = silent.filter(sizes < width)
    extra = pl.col(str(width)).is_not_null() | pl.col("record").is_in(short.implode())
    ordinal = (pl.col("record") - (2 if layout.header else 1)).cast(pl.String)
    name = ordinal if document < 0 else pl.col(str(document))
    problems = []
    for record in table.filter(extra | name.is_null())["record"]:
        line = lines[record - 1]
        given = len(_cells(line))
        code = "LBT102" if given != width else "LBT103"
        problems.append(Problem(code, record, 0, len(line), {"given": given, "wanted": width}))
    rows = table.filter(~(extra | name.is_null()))
    if layout.unlabelled and not layout.wide:
        rows = rows.filter(pl.col(str(label)).ne_missing(layout.unlabelled))
    rows = rows.with_columns(name=name)
    if layout.wide:
        titles = {str(at): title for at, title in enumerate(names) if at != document}
        rows = rows.unpivot([*titles], index=["record", "name"], variable_name="at")
        title = pl.col("at").replace_strict(titles, return_dtype=pl.String)
        rows = rows.select("record", "name", label=title, written="value").sort(
            "record", maintain_order=True
        )
    else:
        written = pl.lit(None, pl.String) if score < 0 else pl.col(str(score))
        rows = rows.select("record", "name", label=str(label), written=written)
    if layout.separator:
        parts = (
            pl.col("label").str.split(layout.separator).list.eval(pl.element().str.strip_chars())
        )
        several = rows["label"].str.contains(layout.separator, literal=True)
        if several.any():
            rows = rows.with_columns(label=parts).explode("label")
    if layout.wide or score >= 0:
        number = rows["written"].str.strip_chars().cast(pl.Float64, strict=False)
    else:
        number = rows["written"].cast(pl.Float64)
    wrong = rows.filter(number.is_null() & rows["written"].is_not_null())
    for record, written in (
        wrong.unique("record", keep="first", maintain_order=True)
        .select("record", "written")
        .iter_rows()
    ):
        line = lines[record - 1]
        problems.append(Problem("LBT104", record, 0, len(line), {"given": shorten(written, 40)}))
    return problems, rows.select("record", "name", "label", score=number)


def locate(
    member: Member,
    places: Sequence[FieldRef],
    document: str = "",
    label: str = "",
    score: str = "",
    header: str = "yes",
    glue: str = "",
) -> list[Location | None]:
    """The cells of places of a file; lines of other places."""
    given = {"document": document, "label": label, "header": header, **_GLUE.get(glue, {})}
    document, label, header = given["document"], given["label"], given["header"]
    names = _cells(beginning(member).partition("\n")[0].rstrip("\r"))
    names = names if header == "yes" else [str(at) for at in range(len(names))]
    layout = Layout(document, label, score, "", header == "yes", quoted=False, wide=False)
    columns = _columns(names, layout, [], 0) or (-1, -1, -1)
    cell_of = dict(zip(("document", "label", "llr"), columns, strict=True))

    def stretch(line: str, field: str) -> tuple[int, int]:
        ends = [*accumulate(len(cell) + 1 for cell in _cells(line))]
        spans = [(start, end - 1) for start, end in pairwise([0, *ends])]
        at = cell_of.get(field, -1)
        return spans[at] if 0 <= at < len(spans) else (0, len(line))

    return locate_lines(member, places, stretch)


_UNFIT = r"[\t\n\r\x00\x{FEFF}]"


def _written_labels(corpus: Corpus) -> pl.DataFrame:
    """The labels that can be written, with the names of their documents; those without have one."""
    fit = pl.col("name").str.contains(_UNFIT).not_() & (pl.col("name") != "")
    documents = corpus.documents.filter(fit).select("name", document="row")
    labels = corpus.instances.filter(pl.col("kind") == "label", pl.col("label") != "")
    labels = labels.filter(~pl.col("label").str.contains(_UNFIT))
    labels = labels.select("document", "label", llr=pl.col("llr").cast(pl.String))
    return documents.join(labels, on="document", how="left", maintain_order="left_right")


def write(corpora: Iterable[Corpus], path: Path, names: str = "id,label", joined: str = "") -> None:
    """Write a line per label, or per document where labels are joined."""
    titles = [*names.split(","), "label"][:2]
    with path.open("w", encoding="utf-8", newline="\n") as stream:
        for number, corpus in enumerate(corpora):
            rows = _written_labels(corpus)
            scored = not joined and rows["llr"].null_count() < rows.height
            if not number:
                stream.write("\t".join([*titles, *(_SCORES if scored else ())]) + "\n")
            if joined:
                rows = rows.group_by("name", maintain_order=True).agg(
                    pl.col("label").drop_nulls().str.join(joined)
                )
            columns = ["name", "label", *(_SCORES if scored else ())]
            cells = [pl.col(name).fill_null("") for name in columns]
            line = pl.concat_str(cells, separator="\t") + "\n"
            stream.writelines(rows.select(line=line)["line"])


def count_losses(corpus: Corpus, joined: str = "") -> Mapping[str, int]:
    """The counts of what a table of labels cannot represent."""
    labels = corpus.instances.filter(pl.col("kind") == "label")
    rows = _written_labels(corpus).drop_nulls("label")
    within = rows["label"].str.contains(joined, literal=True).sum() if joined else 0
    return {
        "documents whose name is empty or has tabs or line breaks": (
            corpus.documents.height - _written_labels(corpus)["document"].n_unique()
        ),
        "instances that are not labels of documents": corpus.instances.height - labels.height,
        "labels that are empty, or have tabs or line breaks": labels.height - rows.height,
        "labels with the characters between labels": int(within),
        "scores of joined labels": rows["llr"].count() if joined else 0,
    }


FORMAT = declaration(__name__)
