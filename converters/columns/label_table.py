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

import polars as pl

from hlteval.converters.columns.cells import leave_out_wrong_quotes, read_cells
from hlteval.converters.declarations import declaration
from hlteval.converters.format import ReadResult, WrongSetting
from hlteval.converters.toolkit import source_files
from hlteval.converters.toolkit.rows import rejected_lines, with_documents
from hlteval.findings import FieldRef, Finding, Location, Problem, line_findings
from hlteval.representation import Corpus
from hlteval.sources import Member, Source
from hlteval.syntax.sections import TableSections, first_line
from hlteval.syntax.tsv import Lines, shorten

#: Names of the columns that are found without settings.
_DOCUMENT = ("id", "document", "doc", "doc_id", "index", "guid", "sample_id")
_LABEL = ("label", "labels", "prediction", "predictions", "class", "category", "gold", "gold_label")
#: Columns by which tables of GLUE are found whose labels have other names.
_OF_GLUE = ({"sentence1", "sentence2", "score"}, {"quality", "#1 id"}, {"qid1", "is_duplicate"})
_USUAL = {"document": _DOCUMENT, "label": _LABEL, "score": ("llr",)}
#: How to set columns that a header does not name, and where it names columns that need no setting.
_OF_BOTH = "set document, label or score to one of these"
_OF_ONE_SIDE = (
    "if only the reference has the columns that are set, as with glue, set them in [read.reference]"
)
Settings = Mapping[str, str]
#: A row has so many cells at most.
_MOST = 2000
_QUOTED, _UNFIT = '"[^"]*"', r"^$|[\t\n\r\x00\x{FEFF}]"
_ROWS = {"record": pl.Int64, "name": pl.String, "label": pl.String, "llr": pl.Float64}


def sniff(source: Source) -> bool:
    """Whether the header of a single file names a column of labels, or is that of GLUE."""
    header = source_files.head(source).partition("\n")[0].lower().rstrip("\r")
    cells = {cell.strip('" ') for cell in header.split(_separator(header))}
    named = not cells.isdisjoint(_LABEL) or any(cells >= columns for columns in _OF_GLUE)
    return len(cells) > 1 and named


def _separator(first: str) -> str:
    """The character between cells, by the first line."""
    return "\t" if "\t" in first else ","


def _columns(first: str, settings: Settings) -> tuple[list[str], dict[str, int | None], list[str]]:
    """The names of the columns by the first line, the columns of fields, and names not there."""
    names = first.split(_separator(first))[:_MOST]
    if settings["header"] == "no":
        names = [str(at) for at in range(len(names))]
    elif settings["quoting"] == "minimal":
        names = [name.strip('"') for name in names]
    lower, at, missing = [name.lower() for name in names], dict[str, int | None](), list[str]()
    for field, titles in _USUAL.items():
        if not (given := settings[field]):
            found = (lower.index(title) for title in titles if title in lower)
            at[field] = next(found, {"document": 0, "label": len(names) - 1}.get(field))
            continue
        at[field] = names.index(given) if given in names else None
        if given not in names and (field, given) != ("document", "line"):  # or numbers of lines
            missing.append(given)
    return names, at, missing


def read(source: Source, **settings: str) -> Iterator[ReadResult]:
    """The documents of each file, with their labels."""
    return source_files.read_files(source, FORMAT.name, lambda file: _read(file, settings))


def _read(file: source_files.File, settings: Settings) -> tuple[Corpus, Iterable[Finding]]:
    """The corpus of a file, and the findings in it."""
    text = (file.text or "").replace("\r\n", "\n")
    lines, (first, _, body) = Lines(text), text.partition("\n")
    first = first.removesuffix("\r")
    names, at, missing = _columns(first, settings)
    problems, rejected, rows = list[Problem](), list[Problem](), pl.DataFrame(schema=_ROWS)
    if first and not missing:
        body = body if settings["header"] == "yes" else text
        rejected, rows = _label_rows(body, _separator(first), at, names, settings, lines)
        usual = {"document": "", "label": "", "header": "yes", "wide": "no"}.items()
        known = {name.lower() for name in names} & {*_DOCUMENT, *_LABEL}
        # a header is no label
        if usual <= settings.items() and not known and names[-1] in set(rows["label"]):
            problems.append(Problem("LBT105", 1, 0, len(first), {"line": shorten(first, 40)}))
    cells = {cell.strip(' "').lower() for cell in first.split(_separator(first))}
    is_header = not (cells.isdisjoint(_DOCUMENT) or cells.isdisjoint(_LABEL))
    if is_header and settings["header"] == "no":
        problems.append(Problem("LBT107", 1, 0, len(first), {"line": shorten(first, 40)}))
    for name in missing if first else ():
        values = {"column": name, "columns": shorten(", ".join(names), 60)}
        values["hint"] = _OF_ONE_SIDE if is_header else _OF_BOTH
        problems.append(Problem("LBT101", 1, 0, len(first), values))
    documents, instances = with_documents(rows)
    instances = instances.filter(pl.col("label") != "").with_columns(kind=pl.lit("label"))
    corpus = Corpus(
        sources=[file.origin],
        documents=documents,
        instances=instances.with_columns(row=pl.int_range(pl.len(), dtype=pl.Int64)),
        rejected_records=rejected_lines("label", rejected, lines),
    )
    every = sorted([*problems, *rejected], key=lambda problem: problem.record)
    return corpus, line_findings(every, lines, file.member.display, file.member.max_per_code)


def _label_rows(
    text: str,
    separator: str,
    at: Mapping[str, int | None],
    names: Sequence[str],
    settings: Settings,
    lines: Lines,
) -> tuple[list[Problem], pl.DataFrame]:
    """List problems of lines, and give a row per document and label of the others, as `_ROWS`."""
    width, quoted = len(names), settings["quoting"] == "minimal"
    has_header = settings["header"] == "yes"
    unclosed = list[int]()
    try:
        table = read_cells(text, separator, width, first=1 + has_header, quoted=quoted)
    except pl.exceptions.ComputeError:
        if not quoted:
            raise
        text, unclosed = leave_out_wrong_quotes(text, separator)
        table = read_cells(text, separator, width, first=1 + has_header, quoted=quoted)
    line = pl.int_range(pl.len()).cast(pl.String)
    table = table.with_columns(name=line if at["document"] is None else str(at["document"]))
    table = table.filter(~pl.all_horizontal(pl.exclude("record", "name").is_null()))
    wrong = pl.col(str(width)).is_not_null() | pl.col("name").is_null()
    odd = table.filter(wrong | pl.col(str(width - 1)).is_null())  # an empty last cell, or none
    texts = lines.gather(odd["record"] - 1)
    plain = texts.str.replace_all(_QUOTED, "") if quoted else texts
    given = plain.str.count_matches(separator, literal=True) + 1
    several = plain.str.contains('"', literal=True) & quoted  # lines, of which the first is shown
    odd = odd.with_columns(size=texts.str.len_chars(), given=given, short=given < width)
    odd = odd.filter(wrong | (pl.col("short") & ~several))
    own = {given: {"given": given, "wanted": width} for given in odd["given"].unique()}
    problems = [
        Problem("LBT102" if given != width else "LBT103", record, 0, size, own[given])
        for record, size, given in odd.select("record", "size", "given").iter_rows()
    ]
    for record in (number + 1 + has_header for number in unclosed):
        problems.append(Problem("LBT106", record, 0, len(lines[record - 1]), {}))
    rows = table.filter(~pl.col("record").is_in(odd["record"].implode()))
    if settings["wide"] == "yes":
        titles = {str(n): title for n, title in enumerate(names) if n != at["document"]}
        rows = rows.unpivot([*titles], index=["record", "name"], variable_name="label")
        label = pl.col("label").replace_strict(titles, return_dtype=pl.String)
        rows = rows.sort("record", maintain_order=True).with_columns(label)
    else:
        score = pl.lit(None, pl.String) if at["score"] is None else pl.col(str(at["score"]))
        rows = rows.select("record", "name", label=str(at["label"]), value=score)
        rows = rows.filter(pl.col("label").ne_missing(settings["unlabelled"]))
    between = settings["separator"]
    if between and rows["label"].str.contains(between, literal=True).any():
        labels = pl.col("label").str.split(between).list.eval(pl.element().str.strip_chars())
        rows = rows.with_columns(labels).explode("label")
    value = pl.col("value").cast(pl.String).str.strip_chars().cast(pl.Float64, strict=False)
    rows = rows.with_columns(llr=pl.when(value.is_finite()).then(value))
    others = rows.filter(pl.col("llr").is_null(), pl.col("value").is_not_null())
    others = others.unique("record", keep="first", maintain_order=True)
    for record, score in others.select("record", "value").iter_rows():
        values = {"given": shorten(score, 40)}
        problems.append(Problem("LBT104", record, 0, len(lines[record - 1]), values))
    return problems, rows.select(*_ROWS)


def sections(member: Member, **settings: str) -> TableSections | None:
    """The documents of a table with a header and without quotes."""
    head = first_line(member)
    first = head.decode("utf-8", "replace").removesuffix("\n")
    names, at, missing = _columns(first, settings)
    column = at["document"]
    if settings["header"] == "no" or missing or column is None or column + 1 == len(names):
        return None
    excluded = b'\r"' if settings["quoting"] == "minimal" else b"\r"
    return TableSections(member, column, _separator(first).encode(), head=head, excluded=excluded)


def locate(member: Member, places: Sequence[FieldRef], **settings: str) -> list[Location | None]:
    """The cells of places of a file; lines of other places."""
    first = source_files.beginning(member).partition("\n")[0].rstrip("\r")
    _, at, missing = _columns(first, {**settings, "quoting": "none"})

    def stretch(line: str, field: str) -> tuple[int, int]:
        column = None if missing else at.get("score" if field == "llr" else field)
        return source_files.cell_stretch(line, column, _separator(first))

    return source_files.locate_lines(member, places, stretch)


def _written_labels(corpus: Corpus) -> pl.DataFrame:
    """The labels that can be written, with the names of their documents; those without have one."""
    documents = corpus.documents.filter(~pl.col("name").str.contains(_UNFIT))
    documents = documents.select("name", document="row")
    labels = corpus.instances.filter(pl.col("kind") == "label")
    labels = labels.filter(~pl.col("label").str.contains(_UNFIT))
    labels = labels.select("document", "label", llr=pl.col("llr").cast(pl.String))
    return documents.join(labels, on="document", how="left", maintain_order="left_right")


def write(corpora: Iterable[Corpus], path: Path, names: str = "id,label", joined: str = "") -> None:
    """Write a line per label, or per document where labels are joined.

    Raises:
        WrongSetting: if the names are not those of two columns.
    """
    columns, titles = ["name", "label"], [name.strip() for name in names.split(",")]
    if len(titles) != len(columns) or not all(titles):
        raise WrongSetting(f"invalid names {names}: use two, such as id,label")
    rows = pl.concat(map(_written_labels, (Corpus(), *corpora)))
    if joined:
        parts = rows.group_by("name", maintain_order=True)
        rows = parts.agg(pl.col("label").drop_nulls().str.join(joined))
    elif rows["llr"].null_count() < rows.height:
        columns.append("llr")
    with path.open("wb") as stream:
        stream.write(("\t".join([*titles, *columns[2:]]) + "\n").encode())
        rows = rows.select(columns)
        rows.write_csv(stream, include_header=False, separator="\t", quote_style="never")


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
