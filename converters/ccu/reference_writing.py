"""Writing a corpus as a reference of CCU: a folder of tables."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path

import polars as pl

from hlteval.converters.ccu import reference_rows as form
from hlteval.converters.ccu.tables import (
    NAME,
    fits,
    number_cells,
    text,
    titles_of,
    with_number_cells,
)
from hlteval.converters.toolkit.source_files import write_files
from hlteval.representation import Corpus
from hlteval.representation.judgments import NONE as JUDGED_NONE
from hlteval.representation.judgments import UNANNOTATED, Constants, decisions_of, merge_instances
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
        instances=_numbered(pl.concat([norms, emotions]), names),
        ratings=_numbered(ratings, names),
    )


def _instances(corpus: Corpus, kind: str, annotators: tuple[str, ...]) -> pl.DataFrame:
    """The instances of a kind, and the segments without any, said by each of some annotators."""
    constants = Constants()
    decisions = decisions_of(corpus, kind, constants)
    silent = decisions.filter(pl.col("label").is_in([JUDGED_NONE, UNANNOTATED]))
    columns = ["document", "label", "status", "start", "end"]
    found = pl.concat(
        [part.select(columns) for part in (merge_instances(decisions, constants), silent)]
    )
    said = pl.lit(list(annotators)).alias("annotator")
    return found.with_columns(said, kind=pl.lit(kind)).explode("annotator").sort(
        "document", "start", "end", maintain_order=True
    )  # fmt: skip


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


def _numbered(rows: pl.DataFrame, names: pl.DataFrame) -> pl.DataFrame:
    """Rows with their segments, and keys; what one annotator says of one is of one record."""
    placed = rows.join(names, on=_PLACE, how="left", maintain_order="left")
    record = pl.struct("document", "region", "annotator").rank("dense").cast(pl.Int64)
    return placed.with_columns(
        row=pl.int_range(pl.len(), dtype=pl.Int64), origin=pl.lit(0, pl.Int64), record=record
    )


ANNOTATED, SCORED = "as-annotated", "as-scored"
#: The usual order of the columns of file_info.tab.
_CATALOGUE = (
    *("catalog_id", "version", "file_uid", "data_type", "url", "lang_id_manual", "wrapped_md5"),
    *("unwrapped_md5", "download_date", "content_date", "status_in_corpus", "legacy_catalog_id"),
    *("original_file_id", "type", "file_path", "length"),
)
_ELEMENTS = ("index", "file_info", "versions_per_file")
_RECORD = ["document", "origin", "record"]
_DEFAULT_INDEX = f"written.{form.SYSTEM_INPUT}"


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


def _file(name: str, rows: pl.DataFrame) -> str:
    """The content of a table."""
    kind = form.kinds()[form.INDEX if name.startswith("index_files/") else name]
    used = {column for column in rows.columns if rows[column].is_not_null().any()}
    always = ["direction_impact"] if name == form.CHANGES else []
    titles = titles_of(kind, rows, always)
    others = {c: c[1:] for c in rows.columns if c.startswith("+") and c in used}
    if name == form.FILE_INFO:
        found = {**titles, **others}
        by_title = {title: column for column, title in found.items()}
        ordered = [t for t in _CATALOGUE if t in by_title]
        ordered += [t for t in by_title if t not in _CATALOGUE]
        return text({by_title[title]: title for title in ordered}, rows)
    return text({**titles, **others}, rows)


class _Tables:
    """A corpus as the cells of tables, and what they cannot hold."""

    def __init__(self, corpus: Corpus) -> None:
        self.corpus = corpus
        self.losses = Counter[str]()
        named = corpus.documents.filter(pl.col("name").str.contains(f"^(?:{NAME})$"))
        self.names = named.select("name", document="row").rename({"name": "file_id"})
        lost = corpus.documents.height - named.height
        self.losses["documents whose name no cell can hold"] += lost
        self.written: dict[str, pl.DataFrame] = {}
        self._put(form.SEGMENTS, self._segments())
        self._put(form.FILE_INFO, self._file_info())
        self._put(form.VERSIONS, self._cells("versions_per_file"))
        self._put(form.NORM_INFO, self._norm_info())
        self._put(form.NORMS, self._norms())
        self._put(form.EMOTIONS, self._emotions())
        self._put(form.LEVELS, self._levels())
        self._put(form.CHANGES, self._changes())
        for name, rows in self._indexes().items():
            self._put(f"index_files/{name}", rows)

    def _put(self, name: str, rows: pl.DataFrame) -> None:
        kind = form.kinds()[form.INDEX if name.startswith("index_files/") else name]
        fitting = fits(kind, rows.drop("document", strict=False))
        self.losses["rows with cells that a table cannot hold"] += int((~fitting).sum())
        self.written[name] = rows.filter(fitting)

    def _named(self, rows: pl.DataFrame) -> pl.DataFrame:
        """Rows with the names of their documents, without those that have none."""
        named = rows.join(self.names, on="document", how="inner", maintain_order="left")
        self.losses["rows of documents that are not written"] += rows.height - named.height
        return named

    def _segments(self) -> pl.DataFrame:
        rows = with_number_cells(self.corpus.regions, "start", "end")
        return self._named(rows).select("file_id", "start", "end", segment_id="region")

    def _judged(self, rows: pl.DataFrame) -> pl.DataFrame:
        """Judgments of segments, named; those with places that are not their segment's are lost."""
        regions = self.corpus.regions.select("document", "region", own_start="start", own_end="end")
        regions = regions.unique(["document", "region"], keep="first", maintain_order=True)
        placed = rows.join(regions, on=["document", "region"], how="left", maintain_order="left")
        same = pl.col("start").eq_missing(pl.col("own_start")) & pl.col("end").eq_missing(
            pl.col("own_end")
        )
        kept = placed.filter(same, pl.col("region").is_not_null())
        lost = placed.height - kept.height
        self.losses["judgments that are not of a segment"] += lost
        named = self._named(kept)
        return named.rename({"region": "segment_id", "annotator": "user_id"})

    def _norms(self) -> pl.DataFrame:
        rows = self._judged(self.corpus.instances.filter(pl.col("kind") == "norm"))
        self.losses["norms of several speakers"] += rows["several"].count()
        return rows.select(
            "user_id", "file_id", "segment_id",
            pl.col("status").fill_null(form.NOT_APPLICABLE), norm="label",
        )  # fmt: skip

    def _emotions(self) -> pl.DataFrame:
        rows = self._judged(self.corpus.instances.filter(pl.col("kind") == "emotion"))
        self.losses["statuses of emotions"] += rows["status"].count()
        simple = rows.filter(~pl.col("label").str.contains("^ |,| $|^$"))
        self.losses["emotions with commas or surrounding spaces"] += rows.height - simple.height
        keys = [*_RECORD, "user_id", "file_id", "segment_id", "several"]
        lists = simple.group_by(keys, maintain_order=True).agg(pl.col("label").str.join(", "))
        nothing = pl.when(pl.col("label") == form.NO_ANNOTATION).then(pl.lit(form.NO_ANNOTATION))
        several = pl.col("several").cast(pl.String).str.to_uppercase()
        return lists.select(
            "user_id", "file_id", "segment_id", emotion="label",
            multi_speaker=pl.coalesce(several, nothing, pl.lit(form.NOT_APPLICABLE)),
        )  # fmt: skip

    def _levels(self) -> pl.DataFrame:
        rows = self._judged(self.corpus.ratings)
        keys = [*_RECORD, "user_id", "file_id", "segment_id"]
        cells = number_cells(rows["level"]).fill_null(form.NO_ANNOTATION)
        rows = rows.with_columns(cells=cells, first=pl.col("row").min().over(keys))
        rows = rows.with_columns(item=pl.int_range(pl.len()).over([*keys, "kind"]))
        one, other = (
            rows.filter(pl.col("kind") == kind).select(
                *keys,
                "item",
                "first",
                pl.col("cells").alias(kind),
                pl.col("bin").alias(f"{kind}_binned"),
            )
            for kind in ("valence", "arousal")
        )
        both = one.join(
            other, on=[*keys, "item"], how="full", coalesce=True, nulls_equal=True,
            maintain_order="left_right",
        )  # fmt: skip
        both = both.sort(pl.coalesce("first", "first_right"), "item", maintain_order=True)
        single = pl.col("valence").is_null() | pl.col("arousal").is_null()
        self.losses["levels without a counterpart, which is written as noann"] += int(
            both.select(single.sum()).item()
        )
        filled = [pl.col(kind).fill_null(form.NO_ANNOTATION) for kind in ("valence", "arousal")]
        return both.with_columns(filled).select(
            "user_id", "file_id", "segment_id", "valence", "valence_binned", "arousal",
            "arousal_binned",
        )  # fmt: skip

    def _changes(self) -> pl.DataFrame:
        rows = self._named(self.corpus.changes)
        at = number_cells(rows["at"]).fill_null(form.NONE)
        return rows.select(
            "file_id", "evidence", user_id="annotator", timestamp=at,
            direction_impact="direction", strength_impact="strength",
        )  # fmt: skip

    def _norm_info(self) -> pl.DataFrame:
        own = self.corpus.entities
        one = own.unique("entity", keep="first", maintain_order=True)
        self.losses["further rows of an entity, which has one"] += own.height - one.height
        return one.select(
            norm="entity", current_type="label", hidden_for="source", definition_file="name"
        )

    def _file_info(self) -> pl.DataFrame:
        documents = self.corpus.documents.select(
            "length", document="row", lang_id_manual="language", type="modality"
        )
        info = self._named(with_number_cells(documents, "length"))
        more = self._cells("file_info").drop("file_id")
        return info.join(more, on="document", how="left", maintain_order="left")

    def _cells(self, element: str) -> pl.DataFrame:
        """The attributes of an element as a row for each document: `+` and the name of each."""
        own = self.corpus.attributes.filter(pl.col("element") == element)
        kinds = (form.kinds()[name] for name in (form.FILE_INFO, form.VERSIONS))
        columns = {column.title for kind in kinds for column in kind.columns}
        usable = own.filter(
            ~pl.col("name").is_in([*columns]), ~pl.col("name").str.contains(r"[\t\n\r\x00]|^$")
        )
        one = usable.unique(["document", "name"], keep="first", maintain_order=True)
        lost = own.height - one.height
        self.losses["attributes that are repeated, or whose name no header can hold"] += lost
        wide = one.pivot("name", index="document", values="value", maintain_order=True)
        wide = wide.rename({name: f"+{name}" for name in wide.columns if name != "document"})
        schema = {"document": pl.Int64}
        return self._named(wide if one.height else pl.DataFrame(schema=schema))

    def _indexes(self) -> Mapping[str, pl.DataFrame]:
        """The index files; one of the system input, if there is none, names all documents."""
        own = self.corpus.attributes.filter(pl.col("element") == "index")
        usable = [
            name
            for name in own["name"].unique(maintain_order=True)
            if is_file_name(name) and name.endswith(".index.tab")
        ]
        kept = own.filter(pl.col("name").is_in(usable), pl.col("value") == "")
        self.losses["cells of an index, and indexes that are not named *.index.tab"] += (
            own.height - kept.height
        )
        once = kept.unique(["name", "document"], keep="first", maintain_order=True)
        found = {
            name: self._named(once.filter(pl.col("name") == name)).select("file_id")
            for name in usable
        }
        if not any(name.endswith(form.SYSTEM_INPUT) for name in usable):
            found[_DEFAULT_INDEX] = self.names.select("file_id")
            return found
        name = min(name for name in usable if name.endswith(form.SYSTEM_INPUT))
        tables = [
            rows for table, rows in self.written.items() if table.startswith(("docs/s", "data"))
        ]
        known = pl.concat([found[name], *(rows.select("file_id") for rows in tables)])
        alone = self.names.join(known, on="file_id", how="anti", maintain_order="left")
        found[name] = pl.concat([found[name], alone.select("file_id")])
        return found


def count_losses(corpus: Corpus, judgments: str = ANNOTATED) -> Mapping[str, int]:
    """What the tables of a reference cannot represent.

    Args:
        corpus: what is written.
        judgments: as for `write`.
    """
    tables = _Tables(as_scored(corpus) if judgments == SCORED else corpus)
    if judgments == SCORED:
        given = corpus.instances.height + corpus.ratings.height
        tables.losses["judgments, collapsed and merged as in scoring, with whole levels"] += given
    others = corpus.attributes.filter(~pl.col("element").is_in([*_ELEMENTS])).height
    of_kinds = {
        "instances that are neither norm nor emotion": corpus.instances.filter(
            ~pl.col("kind").is_in(["norm", "emotion"])
        ).height,
        "ratings of neither valence nor arousal": corpus.ratings.filter(
            ~pl.col("kind").is_in(["valence", "arousal"])
        ).height,
    }
    return {**tables.losses, "attributes that a reference does not have": others, **of_kinds}
