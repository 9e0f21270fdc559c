r"""Label tables: a document per line with its label, several labels, or scores of labels.

Format:
    A header, then a line per document with cells between tabs, or between commas if the header has
    no tab. The settings name the columns of the document and of its label, and what separates
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
from pathlib import Path
from typing import NamedTuple

import polars as pl

from hlteval.converters.columns.cells import read_cells
from hlteval.converters.declarations import declaration
from hlteval.converters.format import ReadResult, WrongSetting
from hlteval.converters.toolkit import source_files
from hlteval.converters.toolkit.rows import from_dictionaries, with_documents
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


class Layout(NamedTuple):
    """How a file is read: the settings.

    Attributes:
        document: the name or number of the column of documents; empty to find it.
        label: that of the column of labels; empty to find it.
        score: that of the column of scores; empty for none.
        separator: what separates labels in a cell; empty where a cell is a label.
        header: whether the first line names the columns.
        quoting: `minimal` if cells may be in double quotes.
        wide: whether each other column is a label with scores.
        unlabelled: the label of lines that are left out.
    """

    document: str
    label: str
    score: str = ""
    separator: str = ""
    header: str = "yes"
    quoting: str = "none"
    wide: str = "no"
    unlabelled: str = ""

    def names(self, first: str) -> list[str]:
        """The names of the columns, by the first line of a file."""
        names = first.split(_separator(first))[:_MOST]
        if self.header != "yes":
            return [str(at) for at in range(len(names))]
        return [name.strip('"') for name in names] if self.quoting == "minimal" else names

    def columns(self, names: Sequence[str]) -> tuple[list[int | None], list[str]]:
        """The columns of documents, labels and scores, None for none; and missing names."""
        columns, missing = list[int | None](), list[str]()
        lower = [name.lower() for name in names]
        # the first three settings are columns
        wanted = zip(self, (_DOCUMENTS, _LABELS, _SCORES), (0, len(names) - 1, None), strict=False)
        for given, usual, otherwise in wanted:
            if not given:
                found = (lower.index(name) for name in usual if name in lower)
                columns.append(next(found, otherwise))
                continue
            columns.append(names.index(given) if given in names else None)
            if given not in names and (given != _LINE or usual is not _DOCUMENTS):
                missing.append(given)
        return columns, missing


def sniff(source: Source) -> bool:
    """Whether the header of a single file names a column of labels."""
    header = source_files.head(source).partition("\n")[0].lower().rstrip("\r")
    cells = {cell.strip('" ') for cell in header.split(_separator(header))}
    return len(cells) > 1 and not cells.isdisjoint(_LABELS)


def _separator(first: str) -> str:
    """The character between cells, by the first line."""
    return "\t" if "\t" in first else ","


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
    layout = Layout(document, label, score, separator, header, quoting, wide, unlabelled)
    layout = layout._replace(**_GLUE.get(glue, {}))
    return source_files.read_files(source, FORMAT.name, lambda file: _read(file, layout))


def _read(file: source_files.File, layout: Layout) -> tuple[Corpus, Iterable[Finding]]:
    """The corpus of a file, and the findings in it."""
    text = (file.text or "").replace("\r\n", "\n")
    lines, first = Lines(text), text.partition("\n")[0].removesuffix("\r")
    names = layout.names(first)
    columns, missing = layout.columns(names)
    values = {"columns": shorten(", ".join(names), 60)}
    problems = [
        Problem("LBT101", 1, 0, len(first), {"column": name, **values})
        for name in (missing if first else ())
    ]
    rows, rejected = pl.DataFrame(schema=_ROWS), list[Problem]()
    if first and not missing:
        body = text.partition("\n")[2] if layout.header == "yes" else text
        rejected, rows = _label_rows(body, columns, names, layout, lines)
        usual = layout.header == "yes" and not (layout.wide == "yes" or any(layout[:2]))
        usual &= {name.lower() for name in names}.isdisjoint((*_DOCUMENTS, *_LABELS))
        if usual and names[columns[1] or 0] in set(rows["label"]):  # a header is no label
            problems.append(Problem("LBT105", 1, 0, len(first), {"line": shorten(first, 40)}))
    documents, instances = with_documents(rows)
    instances = instances.filter(pl.col("label").is_not_null() & (pl.col("label") != ""))
    key = pl.int_range(pl.len(), dtype=pl.Int64)
    every = sorted([*problems, *rejected], key=lambda problem: problem.record)
    findings = findings_of(
        ((problem.record, problem) for problem in every),
        lambda record, problem: problem.in_line(file.member.display, lines[record - 1]),
        file.member.max_per_code,
    )
    rejections = (
        problem.rejection("label", lines[problem.record - 1], row=row, origin=0)
        for row, problem in enumerate(rejected)
    )
    corpus = Corpus(
        sources=[file.origin],
        documents=documents,
        instances=instances.with_columns(row=key, kind=pl.lit("label")),
        rejected_records=from_dictionaries("rejected_records", rejections),
    )
    return corpus, findings


_QUOTED = '"[^"]*"'
_ROWS = {"record": pl.Int64, "name": pl.String, "label": pl.String, "llr": pl.Float64}


def _label_rows(
    text: str, columns: Sequence[int | None], names: Sequence[str], layout: Layout, lines: Lines
) -> tuple[list[Problem], pl.DataFrame]:
    """List problems of lines, and give a row per document and label of the others, as `_ROWS`."""
    document, label, score = columns
    width, separator, quoted = len(names), _separator(lines[0]), layout.quoting == "minimal"
    number = 2 if layout.header == "yes" else 1
    table = read_cells(text, separator, width, first=number, quoted=quoted)
    name = pl.int_range(pl.len()).cast(pl.String) if document is None else pl.col(str(document))
    table = table.with_columns(name=name)
    table = table.filter(~pl.all_horizontal(pl.exclude("record", "name").is_null()))
    # an empty last cell and none are both null
    silent, longer = pl.col(str(width - 1)).is_null(), pl.col(str(width)).is_not_null()
    odd = table.select("record", "name", str(width - 1), str(width))
    odd = odd.filter(silent | longer | pl.col("name").is_null())
    texts = lines.gather(odd["record"] - 1)
    plain = texts.str.replace_all(_QUOTED, "") if quoted else texts
    given = plain.str.count_matches(separator, literal=True) + 1
    odd = odd.with_columns(size=texts.str.len_chars(), given=given, plain=plain)
    short = silent & (pl.col("given") < width)
    if quoted:  # of a row of several lines, the first one shows nothing
        short &= ~pl.col("plain").str.contains('"', literal=True)
    odd = odd.filter(short | longer | pl.col("name").is_null())
    own = {given: {"given": given, "wanted": width} for given in odd["given"].unique()}
    problems = [
        Problem("LBT102" if given != width else "LBT103", record, 0, size, own[given])
        for record, size, given in odd.select("record", "size", "given").iter_rows()
    ]
    rows = table.filter(~pl.col("record").is_in(odd["record"].implode()))
    if layout.wide == "yes":
        titles = {str(at): title for at, title in enumerate(names) if at != document}
        rows = rows.unpivot([*titles], index=["record", "name"], variable_name="at")
        title = pl.col("at").replace_strict(titles, return_dtype=pl.String)
        rows = rows.select("record", "name", label=title, written="value").sort(
            "record", maintain_order=True
        )
    else:
        written = pl.lit(None, pl.String) if score is None else pl.col(str(score))
        rows = rows.select("record", "name", label=str(label), written=written)
        if layout.unlabelled:
            rows = rows.filter(pl.col("label").ne_missing(layout.unlabelled))
    if layout.separator and rows["label"].str.contains(layout.separator, literal=True).any():
        rows = rows.with_columns(pl.col("label").str.split(layout.separator)).explode("label")
        rows = rows.with_columns(pl.col("label").str.strip_chars())
    value = rows["written"].str.strip_chars().cast(pl.Float64, strict=False)
    value = value.set(~value.is_finite(), None)
    wrong = rows.filter(value.is_null() & rows["written"].is_not_null())
    wrong = wrong.unique("record", keep="first", maintain_order=True)
    for record, score_text in wrong.select("record", "written").iter_rows():
        values = {"given": shorten(score_text, 40)}
        problems.append(Problem("LBT104", record, 0, len(lines[record - 1]), values))
    return problems, rows.select("record", "name", "label", llr=value)


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
    layout = Layout(document, label, score, header=header)._replace(**_GLUE.get(glue, {}))
    first = source_files.beginning(member).partition("\n")[0].rstrip("\r")
    columns, missing = layout.columns(layout.names(first))
    at = {} if missing else dict(zip(("document", "label", "llr"), columns, strict=True))

    def stretch(line: str, field: str) -> tuple[int, int]:
        return source_files.cell_stretch(line, at.get(field), _separator(first))

    return source_files.locate_lines(member, places, stretch)


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
    """Write a line per label, or per document where labels are joined.

    Raises:
        WrongSetting: if the names are not those of two columns.
    """
    titles = [name.strip() for name in names.split(",")]
    if len(titles) != len(("document", "label")) or not all(titles):
        raise WrongSetting(f"invalid names {names}: use two, such as id,label")
    rows = pl.concat(map(_written_labels, (Corpus(), *corpora)))
    columns = ["name", "label"]
    if joined:
        parts = rows.group_by("name", maintain_order=True)
        rows = parts.agg(pl.col("label").drop_nulls().str.join(joined))
    elif rows["llr"].null_count() < rows.height:
        columns.append("llr")
    cells = [pl.col(name).fill_null("") for name in columns]
    with path.open("w", encoding="utf-8", newline="\n") as stream:
        stream.write("\t".join([*titles, *columns[2:]]) + "\n")
        line = pl.concat_str(cells, separator="\t") + "\n"
        stream.writelines(rows.select(line=line)["line"])


def count_losses(corpus: Corpus, joined: str = "") -> Mapping[str, int]:
    """The counts of what a table of labels cannot represent."""
    labels, every = corpus.instances.filter(kind="label"), _written_labels(corpus)
    rows = every.drop_nulls("label")
    within = rows["label"].str.contains(joined, literal=True).sum() if joined else 0
    return {
        "documents whose name is empty or has tabs or line breaks": (
            corpus.documents.height - every["document"].n_unique()
        ),
        "instances that are not labels of documents": corpus.instances.height - labels.height,
        "labels that are empty, or have tabs or line breaks": labels.height - rows.height,
        "labels with the characters between labels": int(within),
        "scores of joined labels": rows["llr"].count() if joined else 0,
    }


FORMAT = declaration(__name__)
