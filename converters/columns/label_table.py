r"""Label tables: a document per line with its label, several labels, or scores of labels.

Format:
    A header, then a line per document with cells between tabs, or between commas or semicolons if
    the header has no tab, or no comma either; those may be in double quotes. The settings name the
    columns of the document and of its label, and what separates several labels in a cell.

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

from collections.abc import Iterable, Mapping
from pathlib import Path

import polars as pl

from hlteval.converters.declarations import declaration
from hlteval.converters.format import WrongSetting, comma_parts
from hlteval.converters.toolkit import source_files
from hlteval.converters.toolkit.cells import MOST, CellFile, Heading
from hlteval.converters.toolkit.rows import count_matching, with_documents
from hlteval.findings import Finding
from hlteval.representation import Corpus
from hlteval.sources import Source
from hlteval.syntax.tsv import shorten

#: Names of the columns that are found without settings.
_DOCUMENT = ("id", "document", "doc", "doc_id", "index", "guid", "sample_id", "pairid")
_GOLD = "gold_label"
_LABEL = ("label", "labels", "prediction", "predictions", "class", "category", "gold", _GOLD,
          "is_duplicate")  # fmt: skip
#: Columns by which tables of GLUE are found whose labels have other names.
_OF_GLUE = ({"sentence1", "sentence2", "score"}, {"quality", "#1 id"})
#: The names of the column of each field without its setting, which for `llr` is `score`.
_USUAL = {"document": _DOCUMENT, "label": _LABEL, "llr": ("llr",)}
#: Columns of a table that Label Studio exports, and cells of it with regions or several choices.
_EXPORT, _JSON = {"annotation_id", "lead_time"}, r'^"*[\[{]+\s*"'
_UNFIT = r"^$|[\t\n\r\x00\x{FEFF}]"
_ROWS = {"record": pl.Int64, "name": pl.String, "label": pl.String, "llr": pl.Float64}


def sniff(source: Source) -> bool:
    """Whether the header of a single file names a column of labels, or is that of GLUE."""
    header = source_files.head(source).partition("\n")[0].lower().rstrip("\r")
    cells = {cell.strip('" ') for cell in header.split(_separator(header))}
    named = not cells.isdisjoint(_LABEL) or any(cells >= columns for columns in _OF_GLUE)
    return len(cells) > 1 and named


def _separator(first: str) -> str:
    """The character between cells, by the first line."""
    return next((sign for sign in "\t,;" if sign in first), ",")


def heading(first: str, **settings: str) -> Heading:
    """The columns by the first line."""
    separator, quoting = _separator(first), settings["quoting"]
    quoted = quoting == "minimal" or (quoting == "auto" and separator != "\t")
    names, named = first.split(separator)[:MOST], settings["header"] == "yes"
    if not named:
        names = [str(at) for at in range(len(names))]
    elif quoted:
        names = [name.strip('"') for name in names]
    lower, missing = [name.lower() for name in names], list[str]()
    at: dict[str, int | None] = {"document": 0, "label": len(names) - 1, "llr": None}
    for field, titles in _USUAL.items():
        if given := settings[{"llr": "score"}.get(field, field)]:
            at[field] = names.index(given) if given in names else None
            if given not in names and (field, given) != ("document", "line"):  # numbers of lines
                missing.append(given)
        else:
            found = (lower.index(title) for title in titles if title in lower)
            at[field] = next(found, at[field])
    if at["document"] == at["label"] == 0 and not settings["document"]:
        at["document"] = min(1, len(names) - 1)
    alone = at["document"] == at["label"] == len(names) - 1 and settings["wide"] == "no"
    missing += ["label"] * alone
    return Heading(names, at, separator, quoted, named, missing)


def read_file(file: source_files.File, **settings: str) -> tuple[Corpus, Iterable[Finding]]:
    """The documents of a file, with their labels."""
    table, rows = CellFile(file), pl.DataFrame(schema=_ROWS)
    first, columns = table.first, heading(table.first, **settings)
    if first and not columns.missing:
        rows = _label_rows(table, columns, settings)
    usual = {"document": "", "label": "", "header": "yes", "wide": "no"}.items()
    named = {cell.strip(' "').lower() for cell in first.split(columns.separator)}
    known = [not named.isdisjoint(titles) for titles in (_DOCUMENT, _LABEL)]
    known[1] |= named >= _OF_GLUE[0]  # whose last column is the score
    # a header is neither a label nor a document
    alike = columns.names[-1] in set(rows["label"]) or columns.names[0] in set(rows["name"])
    guessed = not known[1] and (not known[0] or len(columns.names) > 2)
    if first and usual <= settings.items() and guessed and not columns.missing:
        what = "labels: the" if known[0] else "documents or labels: the first and the"
        code = "LBT105" if alike and not known[0] else "LBT108"
        table.report_header(code, line=shorten(first, 40), what=what)
    if settings["header"] == "no" and all(known):
        table.report_header("LBT107", line=shorten(first, 40))
    for name in columns.missing if first else ():
        table.report_header("LBT101", column=name, columns=shorten(", ".join(columns.names), 60))
    documents, labels = with_documents(rows)
    labels = labels.filter(pl.col("label") != "").with_columns(kind=pl.lit("label"))
    return table.corpus("label", documents=documents, instances=labels)


def _label_rows(table: CellFile, columns: Heading, settings: Mapping[str, str]) -> pl.DataFrame:
    """A row per document and label, as `_ROWS`; problems of other lines are added."""
    at, rows = columns.at, table.rows(columns, ("LBT102", "LBT106"), padded=True)
    name = "line" if at["document"] is None else str(at["document"])
    rows = rows.with_columns(name=pl.col(name).cast(pl.String))
    table.report("LBT103", rows.filter(pl.col("name").is_null()))
    rows = rows.drop_nulls("name")
    exported = _EXPORT.issubset(columns.names)
    looked = [str(n) for n in range(len(columns.names)) if exported or n == at["label"]]
    cells = pl.col(looked)
    begins = cells.str.starts_with("[") | cells.str.starts_with("{") | cells.str.starts_with('"')
    odd = rows.filter(pl.any_horizontal(begins))  # few are; a pattern takes longer
    table.report_once("LBT109", odd.filter(pl.any_horizontal(cells.str.contains(_JSON))))
    if settings["wide"] == "yes":
        titles = {str(n): title for n, title in enumerate(columns.names) if n != at["document"]}
        rows = rows.unpivot([*titles], index=["record", "name"], variable_name="label")
        label = pl.col("label").replace_strict(titles, return_dtype=pl.String)
        rows = rows.sort("record", maintain_order=True).with_columns(label)
    else:
        score = pl.lit(None, pl.String) if at["llr"] is None else pl.col(str(at["llr"]))
        rows = rows.select("record", "name", label=str(at["label"]), value=score)
        rows = rows.filter(pl.col("label").ne_missing(settings["unlabelled"]))
        if columns.names[at["label"] or 0].lower() == _GOLD:
            table.report_once("LBT110", rows.filter(label="-"))
    between = settings["separator"]
    if between and rows["label"].str.contains(between, literal=True).any():
        labels = pl.col("label").str.split(between).list.eval(pl.element().str.strip_chars())
        rows = rows.with_columns(labels).explode("label")
    given = pl.col("value").cast(pl.String)
    value = given.str.strip_chars().cast(pl.Float64, strict=False)
    rows = rows.with_columns(llr=pl.when(value.is_finite()).then(value), given=given.str.head(40))
    others = rows.filter(pl.col("llr").is_null(), pl.col("given").is_not_null())
    table.report("LBT104", others.unique("record", keep="first", maintain_order=True), "given")
    return rows.select(*_ROWS)


def _written_labels(corpus: Corpus) -> pl.DataFrame:
    """The labels that can be written, with the names of their documents; those without have one."""
    documents = corpus.documents.filter(~pl.col("name").str.contains(_UNFIT))
    documents = documents.select("name", document="row")
    labels = corpus.instances.filter(~pl.col("label").str.contains(_UNFIT), kind="label")
    labels = labels.select("document", "label", llr=pl.col("llr").cast(pl.String))
    return documents.join(labels, on="document", how="left", maintain_order="left_right")


def write(corpora: Iterable[Corpus], path: Path, names: str = "id,label", joined: str = "") -> None:
    """Write a line per label, or per document where labels are joined.

    Raises:
        WrongSetting: if the names are not those of two columns.
    """
    titles = comma_parts(names)
    if len(titles) != 2 or len({*titles, "", "llr"}) < 4:
        raise WrongSetting(f"invalid names {names}: use two, such as id,label")
    rows = pl.concat(map(_written_labels, (Corpus(), *corpora))).drop("document")
    if joined:
        parts = rows.group_by("name", maintain_order=True)
        rows = parts.agg(pl.col("label").drop_nulls().str.join(joined))
    elif rows["llr"].null_count() == rows.height:
        rows = rows.drop("llr")
    with path.open("wb") as stream:
        titled = rows.rename(dict(zip(("name", "label"), titles, strict=True)))
        titled.write_csv(stream, separator="\t", quote_style="never")


def count_losses(corpus: Corpus, joined: str = "") -> Mapping[str, int]:
    """The counts of what a table of labels cannot represent."""
    labels, names = corpus.instances.filter(kind="label"), corpus.documents.select("name")
    rows = _written_labels(corpus).drop_nulls("label")
    within = rows["label"].str.contains(joined, literal=True).sum() if joined else 0
    return {
        "documents whose name is empty or has tabs or line breaks": count_matching(_UNFIT, names),
        "instances that are not labels of documents": corpus.instances.height - labels.height,
        "labels that are empty, or have tabs or line breaks": labels.height - rows.height,
        "labels with the characters between labels": int(within),
        "scores of joined labels": rows["llr"].count() if joined else 0,
    }


FORMAT = declaration(__name__)
