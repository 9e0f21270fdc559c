"""Writing a corpus as a reference of CCU: a folder of tables."""

from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path

import polars as pl

from hlteval.converters.ccu import reference as form
from hlteval.converters.ccu import tables as ccu_tables
from hlteval.converters.toolkit.source_files import write_files
from hlteval.grammars import vocabulary
from hlteval.representation import Corpus
from hlteval.representation.judgments import Constants, decisions_of, merge_instances
from hlteval.sources import is_file_name

# A reference as it is scored: the judgments of annotators, collapsed and merged (Appendix D).
#
# Each instance has a segment of its own, from its start to its end; segments with nothing in them
# (`none`) and those that nobody annotated (`noann`) remain. What needs agreement is said by two
# annotators, so that scoring the result again changes nothing but for levels, which are rounded.


#: The annotators who agree.
_TWO = ("scored-1", "scored-2")
_PLACE = ["document", "start", "end"]


def as_scored(corpus: Corpus) -> Corpus:
    """The reference with its judgments collapsed and merged, and segments for the result.

    Args:
        corpus: a reference.

    Examples:
        >>> place = {"document": 0, "origin": 0, "kind": "norm", "label": "101", "annotator": "7"}
        >>> rows = [place | {"row": n, "record": n + 2, "start": n, "end": n + 1} for n in (0, 1)]
        >>> document = {"row": 0, "origin": 0, "name": "D1", "modality": "audio"}
        >>> source = {"row": 0, "path": "x", "member": "x", "format": "x", "sha256": ""}
        >>> corpus = Corpus(sources=[source], documents=[document], instances=rows)
        >>> as_scored(corpus).instances.select("label", "start", "end").rows()
        [('101', 0.0, 2.0)]
    """
    norms = _instances(corpus, "norm", _TWO[:1])
    emotions = _instances(corpus, "emotion", _TWO)
    ratings = _ratings(corpus)
    regions = _regions(corpus, [norms, emotions, ratings])
    names = regions.select(*_PLACE, "region")
    return corpus.replace(
        regions=regions,
        instances=_with_segments(pl.concat([norms, emotions]), names),
        ratings=_with_segments(ratings, names),
    )


def _instances(corpus: Corpus, kind: str, annotators: tuple[str, ...]) -> pl.DataFrame:
    """The instances of a kind, and the segments without any, by each of some annotators."""
    constants = Constants()
    decisions = decisions_of(corpus, kind, constants)
    silent = decisions.filter(pl.col("label").is_in([ccu_tables.NONE, ccu_tables.NO_ANNOTATION]))
    columns = [*_PLACE, "label", "status"]
    parts = (merge_instances(decisions, constants), silent)
    rows = pl.concat([part.select(columns) for part in parts])
    rows = rows.with_columns(annotator=pl.lit([*annotators]), kind=pl.lit(kind))
    return rows.explode("annotator").sort(_PLACE, maintain_order=True)


def _ratings(corpus: Corpus) -> pl.DataFrame:
    """The mean level of each segment; none where fewer than two annotators gave one."""
    rows = corpus.ratings.drop_nulls(["start", "end"])
    level = pl.col("level")
    own = rows.group_by(*_PLACE, "kind", "annotator", maintain_order=True).agg(level.mean())
    mean = pl.when(level.count() > 1).then(level.mean().round(0, mode="half_away_from_zero"))
    means = own.group_by(*_PLACE, "kind", maintain_order=True).agg(mean.alias("level"))
    judgments = means.with_columns(pl.lit([*_TWO]).alias("annotator")).explode("annotator")
    return judgments.sort("document", "start", "end", "annotator", maintain_order=True)


def _regions(corpus: Corpus, rows: list[pl.DataFrame]) -> pl.DataFrame:
    """A segment for each place of some rows."""
    places = pl.concat([part.select(_PLACE) for part in rows]).unique().sort(_PLACE)
    names = corpus.documents.select("name", "origin", document="row")
    named = places.join(names, on="document", how="left", maintain_order="left")
    number = pl.int_range(1, pl.len() + 1).over("document").cast(pl.String).str.zfill(4)
    return named.select(
        pl.int_range(pl.len(), dtype=pl.Int64).alias("row"), *_PLACE,
        pl.col("origin").fill_null(0), record=pl.int_range(2, pl.len() + 2, dtype=pl.Int64),
        region=pl.concat_str("name", pl.lit("_"), number),
    )  # fmt: skip


def _with_segments(rows: pl.DataFrame, names: pl.DataFrame) -> pl.DataFrame:
    """Rows with their segments, and keys; what one annotator says of one is of one record."""
    placed = rows.join(names, on=_PLACE, how="left", maintain_order="left")
    record = pl.struct("document", "region", "annotator").rank("dense").cast(pl.Int64)
    return placed.with_columns(
        row=pl.int_range(pl.len(), dtype=pl.Int64), origin=pl.lit(0, pl.Int64), record=record
    )


ANNOTATED, SCORED = "as-annotated", "as-scored"
_ELEMENTS = ("index", "file_info", "versions_per_file")
_SCALES = ("valence", "arousal")
#: What one annotator says of a segment in a record.
_JUDGMENT = ("document", "origin", "record", "annotator", "file_id", "region")


def write(corpora: Iterable[Corpus], path: Path, judgments: str = ANNOTATED) -> None:
    """Write the tables of all documents, each table once.

    Args:
        corpora: batches of documents.
        path: of the folder.
        judgments: whether they are written as annotated or as scored.
    """
    parts: dict[str, list[pl.DataFrame]] = {}
    for corpus in corpora:
        chosen = as_scored(corpus) if judgments == SCORED else corpus
        for name, rows in _Tables(chosen).written.items():
            parts.setdefault(name, []).append(rows)
    files = {name: _file(name, pl.concat(rows, how="diagonal")) for name, rows in parts.items()}
    write_files(files.items(), path)


def _kind(name: str) -> ccu_tables.Kind:
    """The kind of a table by its path."""
    return form.kinds()[form.INDEX if name.startswith("index_files/") else name]


def _file(name: str, rows: pl.DataFrame) -> str:
    """The content of a table."""
    titles = ccu_tables.titles_of(_kind(name), rows, ["direction"] * (name == form.CHANGES))
    titles |= {c: c[1:] for c in rows.columns if c[0] == "+" and rows[c].is_not_null().any()}
    if name == form.FILE_INFO:
        order = {title: at for at, title in enumerate(vocabulary("ccu")["catalogue"])}
        titles = dict(sorted(titles.items(), key=lambda item: order.get(item[1], len(order))))
    return ccu_tables.text(titles, rows)


class _Tables:
    """A corpus as the cells of tables, and what they cannot hold."""

    def __init__(self, corpus: Corpus) -> None:
        self.corpus = corpus
        self.losses = Counter[str]()
        named = corpus.documents.filter(pl.col("name").str.contains(f"^(?:{ccu_tables.NAME})$"))
        self._lose("documents whose name no cell can hold", corpus.documents, named)
        self.names = named.select(document="row", file_id="name")
        self.written: dict[str, pl.DataFrame] = {}
        for name, rows in (
            (form.SEGMENTS, self._segments),
            (form.FILE_INFO, self._file_info),
            (form.VERSIONS, lambda: self._cells("versions_per_file")),
            (form.NORM_INFO, self._norm_info),
            (form.NORMS, self._norms),
            (form.EMOTIONS, self._emotions),
            (form.LEVELS, self._levels),
            (form.CHANGES, self._changes),
        ):
            self._add(name, rows())
        for name, listed in self._indexes().items():
            self._add(f"index_files/{name}", listed)

    def _lose(self, what: str, rows: pl.DataFrame, kept: pl.DataFrame) -> None:
        """Count the rows that are not kept."""
        self.losses[what] += rows.height - kept.height

    def _add(self, name: str, rows: pl.DataFrame) -> None:
        """Keep the cells of the columns of a table, in rows that it can hold."""
        kind = _kind(name)
        columns = [column.name for column in kind.columns if column.name in rows.columns]
        cells = rows.select(*columns, *(name for name in rows.columns if name.startswith("+")))
        self.written[name] = cells.filter(ccu_tables.fits(kind, cells))
        self._lose("rows with cells that a table cannot hold", cells, self.written[name])

    def _with_names(self, rows: pl.DataFrame) -> pl.DataFrame:
        """Rows with the names of their documents, without those that have none."""
        named = rows.join(self.names, on="document", how="inner", maintain_order="left")
        self._lose("rows of documents that are not written", rows, named)
        return named

    def _segments(self) -> pl.DataFrame:
        return self._with_names(ccu_tables.with_number_cells(self.corpus.regions, "start", "end"))

    def _judgments(self, rows: pl.DataFrame) -> pl.DataFrame:
        """Judgments of segments, named; those with places that are not their segment's are lost."""
        regions = self.corpus.regions.select("document", "region", own_start="start", own_end="end")
        regions = regions.unique(["document", "region"], keep="first", maintain_order=True)
        placed = rows.join(regions, on=["document", "region"], how="left", maintain_order="left")
        same = (pl.col(name).eq_missing(pl.col(f"own_{name}")) for name in ("start", "end"))
        kept = placed.filter(*same, pl.col("region").is_not_null())
        self._lose("judgments that are not of a segment", placed, kept)
        return self._with_names(kept)

    def _norms(self) -> pl.DataFrame:
        rows = self._judgments(self.corpus.instances.filter(kind="norm"))
        self.losses["norms of several speakers"] += rows["several"].count()
        return rows.with_columns(pl.col("status").fill_null(ccu_tables.NOT_APPLICABLE))

    def _emotions(self) -> pl.DataFrame:
        rows = self._judgments(self.corpus.instances.filter(kind="emotion"))
        self.losses["statuses of emotions"] += rows["status"].count()
        simple = rows.filter(~pl.col("label").str.contains("^ |,| $|^$"))
        self._lose("emotions with commas or surrounding spaces", rows, simple)
        label = pl.col("label")
        lists = simple.group_by(*_JUDGMENT, "several", maintain_order=True).agg(
            label.str.join(", ")
        )
        nothing = pl.when(label == ccu_tables.NO_ANNOTATION).then(label)
        several = pl.col("several").cast(pl.String).str.to_uppercase()
        speakers = pl.coalesce(several, nothing, pl.lit(ccu_tables.NOT_APPLICABLE))
        return lists.with_columns(several=speakers)

    def _levels(self) -> pl.DataFrame:
        """A row for each judgment of valence and arousal; of several, the first with the first."""
        rows = self._judgments(self.corpus.ratings)
        rows = rows.with_columns(
            level=ccu_tables.number_cells(rows["level"]).fill_null(ccu_tables.NO_ANNOTATION),
            first=pl.col("row").min().over(_JUDGMENT),
            item=pl.int_range(pl.len()).over(*_JUDGMENT, "kind"),
        )
        rated = rows.filter(pl.col("kind").is_in(_SCALES))
        both = rated.group_by(*_JUDGMENT, "first", "item").agg(
            pl.col(column).filter(pl.col("kind") == kind).first().alias(f"{kind}{ending}")
            for kind in _SCALES
            for column, ending in (("level", ""), ("bin", "_binned"))
        )
        both = both.sort("first", "item")
        paired = both.drop_nulls(_SCALES)
        self._lose("levels without a counterpart, which is written as noann", both, paired)
        return both.with_columns(pl.col(_SCALES).fill_null(ccu_tables.NO_ANNOTATION))

    def _changes(self) -> pl.DataFrame:
        rows = self._with_names(self.corpus.changes)
        return rows.with_columns(ccu_tables.number_cells(rows["at"]).fill_null(ccu_tables.NONE))

    def _norm_info(self) -> pl.DataFrame:
        entities = self.corpus.entities
        first = entities.unique("entity", keep="first", maintain_order=True)
        self._lose("further rows of an entity, which has one", entities, first)
        return first

    def _file_info(self) -> pl.DataFrame:
        documents = self.corpus.documents.select("length", "language", "modality", document="row")
        info = self._with_names(ccu_tables.with_number_cells(documents, "length"))
        more = self._cells("file_info").drop("file_id")
        return info.join(more, on="document", how="left", maintain_order="left")

    def _cells(self, element: str) -> pl.DataFrame:
        """The attributes of an element as a row for each document: `+` and the name of each."""
        cells = self.corpus.attributes.filter(element=element)
        kinds = (form.kinds()[name] for name in (form.FILE_INFO, form.VERSIONS))
        columns = {column.title for kind in kinds for column in kind.columns}
        name, unwritable = pl.col("name"), f"{ccu_tables.NO_CELL}|^$"
        usable = ~name.is_in([*columns]) & ~name.str.contains(unwritable)
        first = cells.filter(usable).unique(["document", "name"], keep="first", maintain_order=True)
        lost = "attributes that are repeated, or whose name no header can hold"
        self._lose(lost, cells, first)
        wide = first.with_columns(name=pl.format("+{}", "name")).pivot(
            "name", index="document", values="value", maintain_order=True
        )
        return self._with_names(wide if first.height else first.select("document"))

    def _indexes(self) -> Mapping[str, pl.DataFrame]:
        """The index files; one of the system input, if there is none, names all documents."""
        rows = self.corpus.attributes.filter(element="index")
        names = rows["name"].unique(maintain_order=True)
        usable = [name for name in names if is_file_name(name) and name.endswith(".index.tab")]
        kept = rows.filter(pl.col("name").is_in(usable), pl.col("value") == "")
        self._lose("cells of an index, and indexes that are not named *.index.tab", rows, kept)
        once = kept.unique(["name", "document"], keep="first", maintain_order=True)
        indexes = {
            name: self._with_names(once.filter(name=name)).select("file_id") for name in usable
        }
        inputs = [name for name in usable if name.endswith(form.SYSTEM_INPUT)]
        if not inputs:
            return {**indexes, f"written.{form.SYSTEM_INPUT}": self.names.select("file_id")}
        # documents that no table names
        first = min(inputs)
        tables = [
            self.written[name] for name in self.written if name.startswith(("docs/s", "data"))
        ]
        known = pl.concat(rows.select("file_id") for rows in (indexes[first], *tables))
        alone = self.names.join(known, on="file_id", how="anti", maintain_order="left")
        indexes[first] = pl.concat([indexes[first], alone.select("file_id")])
        return indexes


def count_losses(corpus: Corpus, judgments: str = ANNOTATED) -> Mapping[str, int]:
    """Count what the tables of a reference cannot represent.

    Args:
        corpus: what is written.
        judgments: as for `write`.
    """
    tables = _Tables(as_scored(corpus) if judgments == SCORED else corpus)
    if judgments == SCORED:
        judged = corpus.instances.height + corpus.ratings.height
        tables.losses["judgments, collapsed and merged as in scoring, with whole levels"] += judged
    kinds, levels = corpus.instances["kind"], corpus.ratings["kind"]
    others = {
        "attributes that a reference does not have": (corpus.attributes["element"], _ELEMENTS),
        "instances that are neither norm nor emotion": (kinds, ("norm", "emotion")),
        "ratings of neither valence nor arousal": (levels, _SCALES),
    }
    unknown = {name: int((~values.is_in(known)).sum()) for name, (values, known) in others.items()}
    return {**tables.losses, **unknown}
