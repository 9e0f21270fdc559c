"""Writing a corpus as a submission of CCU: the output of one task, with its index."""

import posixpath
from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path

import polars as pl

from hlteval.converters.ccu import submission as form
from hlteval.converters.ccu.tables import fits, text, titles_of, with_number_cells
from hlteval.converters.toolkit.source_files import without_clashes, write_files
from hlteval.representation import Corpus
from hlteval.representation.judgments import Constants, scored_reference
from hlteval.sources import stays_inside

# The judgments of several annotators as the output of a perfect system.
#
# Norms and emotions are the instances that are scored (Appendix D of the plan), in segments as they
# are or merged; of several statuses the first counts. A level is the mean of the judgments of a
# segment. Rows without an annotator are output already, and stay as they are.


#: Labels of what is not there, and of what nobody annotated.
ABSENT = ("none", "noann")


def instances(corpus: Corpus, kind: str, *, merge: bool) -> pl.DataFrame:
    """The instances of a kind as those of a system; judgments have the score 1.

    Args:
        corpus: judgments, output, or both.
        kind: `norm` or `emotion`.
        merge: whether neighbouring segments are merged.
    """
    judged = corpus.instances.filter(pl.col("annotator").is_not_null())
    own = corpus.instances.filter(
        pl.col("kind") == kind, ~pl.col("label").is_in(ABSENT), pl.col("annotator").is_null()
    )
    if judged.is_empty():
        return own
    constants = Constants() if merge else Constants(seconds=None, characters=None)
    merged = scored_reference(corpus.replace(instances=judged), kind, constants).instances
    status = pl.col("status").str.split(",").list.first()
    scored = merged.with_columns(status, llr=pl.lit(1.0)).drop("text")
    return pl.concat([own, scored], how="diagonal")


def judged_once(rows: pl.DataFrame, *key: str) -> pl.DataFrame:
    """Rows as those of a system: judgments, of several with one key the first, have the score 1."""
    is_judged = pl.col("annotator").is_not_null()
    judged = rows.filter(is_judged).with_columns(llr=pl.lit(1.0))
    first = judged.unique(key, keep="first", maintain_order=True)
    return pl.concat([rows.filter(~is_judged), first]).sort("row", maintain_order=True)


def levels(corpus: Corpus, kind: str) -> pl.DataFrame:
    """The levels of a kind as those of a system, without gaps from the start to the end.

    The mean of the judgments of a segment is rounded, and lasts up to the next start, the first and
    the last to both ends of the document. What nobody judged has the level before it, at the
    beginning the first one.
    """
    rows = corpus.ratings.filter(kind=kind)
    is_judged = pl.col("annotator").is_not_null()
    judged = rows.filter(is_judged).drop_nulls(["start", "end"])
    means = judged.group_by("document", "region", "start", "end", maintain_order=True).agg(
        pl.col("level").mean().round(0, mode="half_away_from_zero"),
        pl.col("row", "origin", "record", "kind").first(),
    )
    known = corpus.documents.select("length", "modality", document="row")
    ordered = means.sort("document", "start", maintain_order=True)
    placed = ordered.join(known, on="document", how="left", maintain_order="left")
    step = pl.when(pl.col("modality") == "text").then(1.0).otherwise(0.0)
    is_first = pl.col("start").shift(1).over("document").is_null()
    following = pl.col("start").shift(-1).over("document") - step
    last = pl.max_horizontal("end", pl.col("length") - step)
    covering = placed.with_columns(
        start=pl.when(is_first).then(pl.min_horizontal("start", pl.lit(0.0))).otherwise("start"),
        end=pl.coalesce(following, last),
        level=pl.col("level").forward_fill().backward_fill().over("document"),
    )
    covering = covering.drop("length", "modality").drop_nulls("level")
    return pl.concat([rows.filter(~is_judged), covering], how="diagonal")


MERGED = "yes"
#: What the kinds of rows, and the columns of instances, are for people.
_LEVELS = {kind: f"levels of {kind}" for kind in ("valence", "arousal")}
_STATEMENTS = {"norm": "norms", "emotion": "emotions", **_LEVELS}
_PARTS = {"start": "places", "status": "statuses", "region": "segments"}
_NUMBERS = ("start", "end", "llr", "level", "at")


def task_of(corpus: Corpus) -> str:
    """The task that a corpus is written as if none is chosen: the first that it has rows of."""
    norms = corpus.instances.filter(pl.col("kind") == "norm")
    present = {
        form.ND: norms["start"].is_not_null().any(),
        form.ND_OPEN: norms.height > 0,
        form.ED: (corpus.instances["kind"] == "emotion").any(),
        form.VD: (corpus.ratings["kind"] == "valence").any(),
        form.AD: (corpus.ratings["kind"] == "arousal").any(),
        form.CD: corpus.changes.height > 0,
        form.NDMAP: corpus.mappings.height > 0,
    }
    return next((task for task, there in present.items() if there), form.ND)


def write(
    corpora: Iterable[Corpus], path: Path, task: str = form.AUTO, merge: str = MERGED
) -> None:
    """Write the output of a task: a file for each document, and the index of all.

    Args:
        corpora: batches of documents.
        path: of the folder.
        task: what is written; by default what each batch has, the first of several.
        merge: whether judgments of neighbouring segments are merged.
    """
    path.mkdir(parents=True, exist_ok=True)
    listed, mapped, taken = [], [], set[str]()
    for corpus in corpora:
        output = _Output(corpus, task, merge)
        if output.task != form.NDMAP:
            write_files(output.files(taken).items(), path)
            listed.append(output.index.filter(~pl.col("member").is_in(list(taken))))
            taken.update(output.index["member"])
        mapped.append(output.mappings)
    for name, kind, parts in (
        (form.INDEX_FILE, form.INDEX, listed),
        (form.MAP_FILE, form.NDMAP, mapped),
    ):
        rows = pl.concat(parts) if parts else pl.DataFrame()
        if rows.height:
            write_files([(name, text(titles_of(form.kinds()[kind], rows), rows))], path)


class _Output:
    """A corpus as the output of a task."""

    def __init__(self, corpus: Corpus, task: str, merge: str) -> None:
        self.corpus, self.merge = corpus, merge == MERGED
        self.task = task_of(corpus) if task == form.AUTO else task
        self.losses = Counter[str]()
        self.mappings = self._mappings()
        self.index = self._index()
        self.rows = self._rows()

    def files(self, taken: set[str]) -> dict[str, str]:
        """The content of the file of each document, by its path."""
        titles = titles_of(form.kinds()[self.task], self.rows)
        parts = dict(self.rows.partition_by("document", as_dict=True, include_key=False))
        empty = self.rows.clear()
        return {
            member: text(titles, parts.get((document,), empty))
            for document, member in self.index.select("document", "member").iter_rows()
            if member not in taken
        }

    def _mappings(self) -> pl.DataFrame:
        rows = self.corpus.mappings.select("label", "target", "submission")
        fitting = fits(form.kinds()[form.NDMAP], rows)
        self.losses["mappings with cells that a table cannot hold"] += int((~fitting).sum())
        return rows.filter(fitting)

    def _index(self) -> pl.DataFrame:
        """The index: the documents that have a file, with its path."""
        corpus = self.corpus
        documents = corpus.documents.select("processed", "message", document="row", file_id="name")
        if self.task == form.NDMAP:
            self.losses["documents, which a mapping does not name"] += documents.height
            return documents.clear().with_columns(member=pl.lit(""))
        own = corpus.attributes.filter(_of_index()).select("document", path="value")
        own = own.unique("document", keep="first", maintain_order=True)
        index = documents.join(own, on="document", how="left", maintain_order="left")
        rows, paths = index["document"], [*map(_path, index["path"], index["file_id"])]
        files = {
            row: posixpath.normpath(path) for row, path in zip(rows, paths, strict=True) if path
        }
        kept = without_clashes({-1: form.INDEX_FILE, -2: form.MAP_FILE, **files})
        # a level is needed, a norm may just not be there
        rated = corpus.ratings.filter(kind=form.kinds()[self.task].kind)["document"].unique()
        assumed = pl.col("document").is_in(rated.implode()) | (self.task not in {form.VD, form.AD})
        processed = pl.coalesce("processed", assumed)
        written = index.with_columns(
            member=pl.Series([kept.get(row) for row in rows], dtype=pl.String),
            path=pl.Series(paths, dtype=pl.String),
            processed=processed,
            is_processed=processed.cast(pl.String),
        )
        fitting = fits(form.kinds()[form.INDEX], written) & written["member"].is_not_null()
        lost = "documents that a file or a line of the index cannot hold"
        self.losses[lost] += int((~fitting).sum())
        lost = "missing is_processed, written as true or false"
        self.losses[lost] += index["processed"].null_count()
        return written.filter(fitting)

    def _rows(self) -> pl.DataFrame:
        """The rows of all documents as cells."""
        kind = form.kinds()[self.task]
        names = ["document", *(c.name for c in kind.columns if c.name != "file_id")]
        if self.task == form.NDMAP:
            return pl.DataFrame()
        before, rows = self._statements()
        named = self.index.select("document", "file_id", "processed")
        cells = with_number_cells(rows, *(name for name in _NUMBERS if name in names))
        cells = cells.select(names).join(named, on="document", how="inner", maintain_order="left")
        fitting = fits(kind, cells) & cells["processed"]
        silent = int((~cells["processed"]).sum())
        self.losses["rows of documents that were not processed"] += silent
        self.losses["rows with cells that a table cannot hold"] += int((~fitting).sum()) - silent
        self.losses["judgments that become one row with others, or none"] += before - rows.height
        self.losses["rows of documents without a file"] += rows.height - cells.height
        return cells.filter(fitting)

    def _statements(self) -> tuple[int, pl.DataFrame]:
        """The number of rows of the task, and these rows as those of a system."""
        corpus, kind = self.corpus, form.kinds()[self.task].kind
        if self.task in {form.VD, form.AD}:
            return corpus.ratings.filter(kind=kind).height, levels(corpus, kind)
        of_kind = corpus.instances.filter(kind=kind)
        count = of_kind.height
        if self.task == form.CD:
            count = corpus.changes.height
            rows = judged_once(corpus.changes.drop_nulls("at"), "document", "at")
        elif self.task == form.ND_OPEN:
            present = of_kind.filter(~pl.col("label").is_in(ABSENT))
            rows = judged_once(present, "document", "region", "label", "status")
        else:
            rows = instances(corpus, kind, merge=self.merge)
        self.losses["missing llr, written as 1"] += rows["llr"].null_count()
        return count, rows.with_columns(pl.col("llr").fill_null(1.0))


def _of_index() -> pl.Expr:
    return (pl.col("element") == "index") & (pl.col("name") == form.INDEX_FILE)


def _path(path: str | None, name: str) -> str:
    """The path of a document in the index: the one that it had, or one made of its name."""
    if path and stays_inside(posixpath.normpath(path)) and path.endswith(form.SUFFIX):
        return path
    return f"{name}{form.SUFFIX}" if stays_inside(f"{name}{form.SUFFIX}") else ""


def count_losses(corpus: Corpus, task: str = form.AUTO, merge: str = MERGED) -> Mapping[str, int]:
    """Count what the output of a task cannot represent.

    Args:
        corpus: what is written.
        task: as for `write`.
        merge: as for `write`.
    """
    output = _Output(corpus, task, merge)
    table = form.kinds()[output.task]
    labels = pl.concat([corpus.instances["kind"], corpus.ratings["kind"]])
    others = {
        f"{what} of another task": int((labels == name).sum())
        for name, what in _STATEMENTS.items()
        if name != table.kind
    }
    rows = corpus.instances.filter(kind=table.kind)
    columns = {column.name for column in table.columns}
    unwritten = {
        f"{word} of instances, which {table.name} does not have": rows[column].count()
        for column, word in _PARTS.items()
        if column not in columns and rows.height
    }
    return {
        **output.losses,
        **others,
        "change points of another task": corpus.changes.height if output.task != form.CD else 0,
        "attributes that an index does not have": corpus.attributes.filter(~_of_index()).height,
        **unwritten,
    }
