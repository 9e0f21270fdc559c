"""The rules of CCU, by task: classes, mappings, documents, indexes and annotations.

The readers report what breaks the form of a file; these rules check what it says (CCU301 to
CCU309, CCU501 to CCU514, CCU711 to CCU717, CCU801 to CCU820; those of `streams`).
"""

from collections.abc import Callable

import polars as pl

from hlteval.findings.suggest import closest_files, hints
from hlteval.grammars import vocabulary
from hlteval.representation import Corpus
from hlteval.validators.ccu import streams
from hlteval.validators.ccu.package import form_problem, parse, strange
from hlteval.validators.ccu.schema import TABLES
from hlteval.validators.ccu.streams import (
    END,
    IS_SILENT,
    IS_TEXT,
    LABEL,
    NEAR,
    NOT_ANNOTATED,
    NOTHING,
    START,
    Check,
    check,
    quote,
    records,
    reference_rules,
    report,
    stretches,
    submission_rules,
    with_documents,
    with_hints,
)
from hlteval.validators.rule import (
    RECORD,
    RuleContext,
    about_file,
    about_submission,
    first_of,
    only_if,
)

EMOTIONS = ("joy", "trust", "fear", "surprise", "sadness", "disgust", "anger", "anticipation")
STATUS = ("adhere", "violate", "adhere,violate", "EMPTY_NA")
#: The options that name the list of known norms, the mapping of norms to hidden ones, the
#: submission of ND that is mapped, and the list of hidden norms.
CLASSES, MAPPING, NORMS, HIDDEN = "classes", "mapping", "norms", "hidden"
_MOST_SHOWN = 8
#: Characters of the norms that the official validator accepts, and what those of a system begin
#: with.
_CHARACTERS, _OWN = 3, "5"


def is_of_kind(kind: str) -> pl.Expr:
    """Whether an instance is of a kind; one that nobody annotated has no status or emotion."""
    silent = pl.col("reference") & (LABEL == NOT_ANNOTATED)
    return (pl.col("kind") == kind) & ~silent


def unknown_emotion(context: RuleContext) -> pl.LazyFrame:
    """An emotion that is not one of the eight, once for each emotion and file."""
    allowed = LABEL.is_in(EMOTIONS) | (pl.col("reference") & IS_SILENT)
    rows = context.cached(stretches).filter(is_of_kind("emotion"), ~allowed)
    first = first_of(rows, "origin", "label")
    hinted = streams.with_meant(first, "label", EMOTIONS, f"use {', '.join(EMOTIONS)}")
    return report(hinted, "label")


def norms(context: RuleContext) -> pl.LazyFrame:
    """The first row of each norm in the submission, with their `count`, but for `none`."""
    rows = context.cached(stretches).filter(is_of_kind("norm"), ~IS_SILENT)
    return first_of(rows, "label").with_columns(given=quote("label"))


def unlisted_norm(context: RuleContext) -> pl.LazyFrame:
    """A norm that is not in the list of norms and does not begin with 5, once for each norm."""
    listed = context.lists.get(CLASSES, context.system).documents["name"]
    is_allowed = LABEL.is_in(listed.implode()) | LABEL.str.starts_with(_OWN)
    rows = context.cached(norms).filter(~is_allowed, LABEL.str.len_chars() == _CHARACTERS)
    return report(only_if(CLASSES in context.lists, rows), "label")


def _known_classes(context: RuleContext) -> list[str]:
    """The classes of the annotation, listed or annotated, in order; none if it is not known."""
    if context.own:
        return []
    is_class = (pl.col("kind") == context.schema.kind) & ~IS_SILENT
    annotated = context.against.instances.filter(is_class)["label"]
    listed = context.against.entities["entity"] if context.schema.kind == "norm" else ()
    return sorted({*annotated, *listed})


def _mapped_norms(context: RuleContext) -> list[str]:
    """The norms of the system that a mapping lists."""
    return context.lists.get(MAPPING, Corpus()).mappings["label"].to_list()


def unknown_norm(context: RuleContext) -> pl.LazyFrame:
    """A norm that the annotation does not have, and that is not mapped, once for each norm."""
    known = context.once(_known_classes)
    listed = context.lists.get(CLASSES, Corpus()).documents["name"]
    names = {*known, *listed, *context.once(_mapped_norms)}
    unknown = context.cached(norms).filter(~LABEL.is_in(list(names)))
    other = "map it to a hidden norm, or correct it"
    hinted = with_hints(unknown, "label", lambda values: hints(values, known, other), other)
    return report(only_if(bool(known), hinted), "label")


def none_in_common(context: RuleContext) -> pl.LazyFrame:
    """Whether a submission with classes has none of the annotation; one row then."""
    known, kind = context.once(_known_classes), context.schema.kind
    rows = context.cached(stretches).filter(is_of_kind(kind), ~IS_SILENT)
    names = rows.select(LABEL.unique().sort()).collect()["label"].to_list()
    alone = bool(known and names) and not {*names} & {*known, *context.once(_mapped_norms)}
    help_ = {
        "norm": "map its norms to hidden ones, or correct them",
        "emotion": "check that these are the emotions of these documents",
    }
    reference, given = (", ".join(each[:_MOST_SHOWN]) for each in (known, names))
    row = {"reference": reference, "given": given, "what": kind, "hint": help_.get(kind, "")}
    return about_submission(only_if(alone, pl.LazyFrame(row)))


def unknown_segment(context: RuleContext) -> pl.LazyFrame:
    """A segment that its document does not have."""
    segments = context.against.regions.lazy().select("document", "region").unique()
    rows = context.cached(stretches).filter(pl.col("region").is_not_null())
    unknown = rows.join(segments, on=["document", "region"], how="anti", maintain_order="left")
    known = only_if(context.against.regions.height > 0 and not context.own, unknown)
    return report(known, "region")


# Rules over the mapping of hidden norms (CCU711 to CCU717).


def mappings(context: RuleContext) -> pl.LazyFrame:
    """The rows of the mapping; `id` is the norm of the system, no submission is empty."""
    rows = context.table("mappings", "row", "origin", "record", "label", "target", "submission")
    key = ("label", "target", "submission")
    return rows.with_columns(
        id=LABEL,
        first=pl.col("record").first().over(key),
        again=~pl.struct(key).is_first_distinct(),
        given=quote("label"),
    )


def _strangers(rows: pl.LazyFrame, column: str, known: list[str], otherwise: str) -> pl.LazyFrame:
    """The unknown names of a column, each once, with the known name that it may mean."""
    unknown = first_of(rows.filter(~pl.col(column).is_in(known)), column)
    hinted = with_hints(unknown, column, lambda names: hints(names, known, otherwise), otherwise)
    return report(hinted, column, given=quote(column))


def absent_norm(context: RuleContext) -> pl.LazyFrame:
    """A norm of the system that its submission does not have, once for each norm."""
    labels = context.lists.get(NORMS, context.system).instances["label"].unique().sort()
    rows = only_if(NORMS in context.lists, context.cached(mappings))
    return _strangers(rows, "label", labels.to_list(), "remove the row, or correct it")


def not_hidden(context: RuleContext) -> pl.LazyFrame:
    """A target that is not a hidden norm, once for each; if the hidden norms are known."""
    entities, hidden = context.against.entities, list[str]()
    is_known = HIDDEN in context.lists or not (context.own or entities.is_empty())
    if HIDDEN in context.lists:
        hidden = context.lists[HIDDEN].documents["name"].to_list()
    elif is_known:
        hidden = entities.filter(LABEL == HIDDEN)["entity"].to_list()
    rows = only_if(is_known, context.cached(mappings))
    return _strangers(rows, "target", hidden, f"use a hidden norm: {', '.join(hidden[:8])}")


def submissions(context: RuleContext) -> pl.LazyFrame:
    """The first row of each identifier of a submission."""
    rows = context.cached(mappings).with_columns(pl.col("submission").fill_null(""))
    return first_of(rows, "submission").with_columns(given=quote("submission"))


def several_submissions(context: RuleContext) -> pl.LazyFrame:
    """An identifier of a submission that is not the first; malformed ones are reported alone."""
    rows = context.cached(submissions).collect()
    formed = [not form_problem(written) for written in rows["submission"]]
    named = rows.filter(pl.Series(formed, dtype=pl.Boolean)).lazy()
    others = named.with_columns(one=pl.col("given").first()).slice(1)
    return report(others, "submission")


def _odd_submissions(column: str, problem: Callable[[str], str]) -> Check:
    """A check of the identifiers of submissions that have a problem, which fills a column."""

    def rows(context: RuleContext) -> pl.LazyFrame:
        identifiers = context.cached(submissions).collect()
        problems = [problem(written) for written in identifiers["submission"]]
        named = identifiers.lazy().with_columns(pl.Series(column, problems, pl.String))
        return report(named.filter(pl.col(column) != ""), "submission")

    return rows


def _strange_parts(written: str) -> str:
    """The team and dataset of a well-formed identifier that the plan does not list."""
    parsed = parse(written)
    return strange(parsed) if parsed and not form_problem(written) else ""


def _other_task(written: str) -> str:
    """The task of a well-formed identifier, unless it is norm discovery."""
    parsed = parse(written)
    return parsed.task if parsed and not form_problem(written) and parsed.task != "ND" else ""


# Rules over the documents and segments of a reference.


#: How the name of the index of all documents ends, and the name of that of a submission.
INPUTS, INDEX = "system_input.index.tab", "system_output.index.tab"
MODALITIES = ("text", "audio", "video")


def index_rows(context: RuleContext) -> pl.LazyFrame:
    """The rows of all index files: `RECORD`, the `index`, and the `name` of the document."""
    rows = context.table("attributes", *RECORD, "element", "name", "value")
    listed = rows.filter(pl.col("element") == "index").drop("element")
    return with_documents(listed.rename({"name": "index"}), context)


def inputs(context: RuleContext) -> pl.LazyFrame:
    """The documents of the first index of all documents, by `document`, once each."""
    rows = context.cached(index_rows).filter(pl.col("index").str.ends_with(INPUTS))
    first = rows.filter(pl.col("index") == pl.col("index").min())
    return first.unique("document", keep="first", maintain_order=True)


def unlisted_document(context: RuleContext) -> pl.LazyFrame:
    """The first row of a document that the index of all documents does not list."""
    listed = context.cached(inputs).select("document")
    tables = ("regions", "instances", "ratings", "changes")
    unlisted = [  # few of millions
        context.table(name, *RECORD).join(listed, on="document", how="anti", maintain_order="left")
        for name in tables
    ]
    strange = with_documents(pl.concat(unlisted), context)
    some = listed.collect().height > 0
    return report(first_of(only_if(some, strange), "document"), "file_id")


def segments(context: RuleContext) -> pl.LazyFrame:
    """The segments of a reference, in the order of its file."""
    return records(context, "regions", "region", "start", "end").with_columns(given=quote("region"))


def overlapping_segment(context: RuleContext) -> pl.LazyFrame:
    """A segment that starts before the end of an earlier one; texts share no character."""
    ordered = context.cached(segments).filter(START <= END).sort("document", "start", "end", "row")
    before = END.cum_max().shift(1).over("document")
    allowed = pl.when(IS_TEXT).then(0.0).otherwise(NEAR)
    early = ordered.with_columns(before=before).filter(before - allowed > START)
    return report(early, "start")


def versions(context: RuleContext) -> pl.LazyFrame:
    """The counts of versions_per_file.tab: `RECORD`, `counted`, such as `norms`, and `versions`."""
    rows = context.table("attributes", *RECORD, "element", "name", "value")
    is_count = pl.col("name").str.ends_with("_count")
    counts = rows.filter(pl.col("element") == "versions_per_file", is_count)
    return counts.select(
        *RECORD,
        counted=pl.col("name").str.strip_suffix("_count"),
        versions=pl.col("value").cast(pl.Int64, strict=False).fill_null(0),
    )


def not_annotated(context: RuleContext) -> pl.LazyFrame:
    """A document of a scoring index that, by versions_per_file.tab, nobody annotated for it."""
    rows = context.cached(index_rows).filter(~pl.col("index").str.ends_with(INPUTS))
    task = pl.col("index").str.extract(r"(?:^|[._-])(ND|ED|VD|AD|CD)[._-]")
    tasks = vocabulary("ccu")["counted_tasks"]
    counted = task.replace_strict(tasks, default=None, return_dtype=pl.String)
    counts = context.cached(versions).select("document", "counted", "versions")
    joined = rows.with_columns(counted=counted).drop_nulls("counted").join(
        counts, on=["document", "counted"], how="left", maintain_order="left"
    )  # fmt: skip
    bare = joined.filter(pl.col("versions").fill_null(0) == 0)
    some = counts.collect().height > 0
    return report(only_if(some, bare), "file_id", column=pl.col("counted") + "_count")


def other_versions(context: RuleContext) -> pl.LazyFrame:
    """A count of annotators that is not the most annotators of a segment of the document.

    What the reference has no judgments of at all is not looked at.
    """
    name = pl.col("annotator").cast(pl.Categorical).to_physical()
    most = pl.concat(
        context.table(table, "document", "kind", "region", "annotator")
        .filter(pl.col("kind") == kind)
        .group_by("document", "region")
        .agg(annotators=name.n_unique().cast(pl.Int64))
        .group_by(pl.lit(counted).alias("counted"), "document")
        .agg(pl.col("annotators").max())
        for counted, (table, kind) in vocabulary("ccu")["counted_rows"].items()
    )
    counts = with_documents(context.cached(versions), context)
    judged = counts.join(most, on="counted", how="semi", maintain_order="left")
    joined = judged.join(most, on=["counted", "document"], how="left", maintain_order="left")
    count = pl.col("annotators").fill_null(0)
    column = pl.col("counted") + "_count"
    strange = joined.filter(count != pl.col("versions"))
    return report(strange, "file_id", column=column, given=pl.col("versions"), count=count)


# Rules over the documents of a submission and its index.


def _is_known(context: RuleContext) -> bool:
    return not context.own and context.against.documents.height > 0


def _inputs(context: RuleContext) -> pl.LazyFrame:
    """The names of the documents that systems process, of what is checked against.

    They are those that its first index of all documents lists, or else all that it has.
    """
    against, index = context.against, pl.col("name")
    is_index = (pl.col("element") == "index") & index.str.ends_with(INPUTS)
    first = against.attributes.filter(is_index).filter(index == index.min())
    names = against.documents.select("row", "name")
    listed = names.filter(pl.col("row").is_in(first["document"].implode()))
    return (listed if listed.height else names).lazy().select("name").unique(maintain_order=True)


def outputs(context: RuleContext) -> pl.LazyFrame:
    """The rows of the index of the submission."""
    return context.cached(index_rows).filter(pl.col("index") == INDEX)


def missing_document(context: RuleContext) -> pl.LazyFrame:
    """An input that the index does not list."""
    listed = context.cached(outputs)
    missing = _inputs(context).join(listed, on="name", how="anti", maintain_order="left")
    origin = listed.select(pl.col("origin").first())
    rows = only_if(_is_known(context), missing).join(origin, how="cross").sort("name")
    return about_file(rows.with_columns(document=quote("name")))


def unknown_document(context: RuleContext) -> pl.LazyFrame:
    """A document of the index that is not an input."""
    known = _inputs(context)
    listed = only_if(_is_known(context), context.cached(outputs))
    unknown = listed.join(known, on="name", how="anti", maintain_order="left")
    names = known.collect()["name"].to_list()

    def hints(values: pl.Series) -> dict[str, str]:
        meant = closest_files(values.unique().to_list(), names)
        return {name: f"did you mean {other}?" for name, other in meant.items()}

    hinted = with_hints(unknown, "name", hints, "remove the line, and its file")
    return report(hinted, "file_id")


def no_rows(context: RuleContext) -> pl.LazyFrame:
    """A document that was processed, and whose file has no levels."""
    rows = context.table(TABLES[context.schema.task], "document").unique()
    index = context.cached(outputs).select("origin").unique()
    own = context.table("documents", "row", "name", "origin", "processed").filter("processed")
    filed = own.join(index, on="origin", how="anti", maintain_order="left")
    bare = filed.join(rows, left_on="row", right_on="document", how="anti", maintain_order="left")
    return about_file(bare.with_columns(document=quote("name")))


def other_output(context: RuleContext) -> pl.LazyFrame:
    """The first row in each file of output that is not that of norms."""
    place = ("row", "origin", "record")
    others = [
        context.table("instances", *place, "kind").filter(pl.col("kind") != "norm"),
        context.table("ratings", *place, "kind"),
        context.table("changes", *place).with_columns(kind=pl.lit("change point")),
    ]
    rows = first_of(pl.concat(others), "origin")
    return report(rows, what="kind", id=pl.lit(None, pl.String))


# Rules over the annotation of a reference: `none` means that an annotator found nothing, `noann`
# that nobody annotated.


def beyond_the_scale(context: RuleContext) -> pl.LazyFrame:
    """The ratings of a reference, of valence or of arousal, that are too low or too high."""
    rows = context.table("ratings", *RECORD, "kind", "level").with_columns(given="level")
    return with_documents(rows.filter(~_LEVEL.is_between(streams.LEAST, streams.MOST)), context)


#: More records than a file has.
_RECORDS = 2**40


def half_unannotated_level(context: RuleContext) -> pl.LazyFrame:
    """A row of levels that has `noann` in some of its columns only."""
    level, bins = pl.col("level").is_null(), pl.col("bin") == NOT_ANNOTATED
    some, every = level | bins.fill_null(value=False), level & bins.fill_null(value=True)
    record = (pl.col("origin") * _RECORDS + pl.col("record")).alias("number")
    table = context.table("ratings", *RECORD, "level", "bin")
    flags = table.select(*RECORD, record, some=some, every=every)
    # few of millions of records have such rows
    suspects = flags.filter("some").group_by("number").agg(whole=pl.col("every").sum())
    own = flags.select("number").join(suspects, on="number", how="semi")
    sizes = own.group_by("number").agg(size=pl.len())
    mixed = suspects.join(sizes, on="number").filter(pl.col("whole") != pl.col("size"))
    found = flags.join(mixed, on="number", how="semi").group_by("origin", "record")
    rows = found.agg(pl.col("document", "row").min()).sort("row")
    rows = rows.with_columns(id=pl.lit(None, pl.String))
    return report(rows)


def changes(context: RuleContext) -> pl.LazyFrame:
    """The change points of a reference."""
    return records(context, "changes", "at").with_columns(given="at")


def emotions(context: RuleContext) -> pl.LazyFrame:
    """The emotions of a reference, with whether each is `again` there, or `beside` others."""
    rows = context.cached(stretches).filter(pl.col("kind") == "emotion")
    again = ~pl.struct("document", "region", "annotator", "label").is_first_distinct()
    several = LABEL.n_unique().over("origin", "record") > 1
    named = {"given": quote("label"), "segment": quote("region")}
    return rows.with_columns(again=again, beside=IS_SILENT & several, **named)


# The rules by code and by task; the catalogue of findings says what each is about.


_KIND, _STATUS, _SEVERAL = (pl.col(name) for name in ("kind", "status", "several"))
_LENGTH, _MODALITY, _LEVEL, _AT = (pl.col(n) for n in ("length", "modality", "level", "at"))
_IS_NORM, _NO_NORM = _KIND == "norm", LABEL == NOT_ANNOTATED
_NO_STATUS = _STATUS == NOT_ANNOTATED
_KNOWN_STATUS = _STATUS.is_in(STATUS) | (pl.col("reference") & _NO_STATUS)
_HALF = _NO_STATUS.fill_null(value=False) != _NO_NORM
_HALF_FIELD = pl.when(_NO_NORM).then(pl.lit("status")).otherwise(pl.lit("norm"))
_UNKNOWN_STATUS = is_of_kind("norm") & ~_KNOWN_STATUS
_NORMS = (
    *streams.rules(
        "instances",
        CCU501=check(stretches, _UNKNOWN_STATUS, "status", first=["origin", "status"]),
        CCU503=check(norms, LABEL.str.len_chars() != _CHARACTERS, "label"),
    ),
    *reference_rules(
        "instances",
        CCU801=check(stretches, _IS_NORM & (LABEL == NOTHING) & _STATUS.is_not_null(), "status"),
        CCU802=check(
            stretches, _IS_NORM & ~IS_SILENT & _STATUS.is_null(), "status", given=quote("label")
        ),
        CCU803=check(stretches, _IS_NORM & _HALF, _HALF_FIELD),
    ),
)
_PUT = pl.when(LABEL == NOTHING).then(pl.lit("EMPTY_NA")).otherwise("label")
_EMOTIONS = (
    *streams.rules("instances", CCU502=unknown_emotion),
    *reference_rules(
        "instances",
        CCU810=check(emotions, IS_SILENT & _SEVERAL.is_not_null(), "multi_speaker", put=_PUT),
        CCU804=check(emotions, pl.col("again"), "emotion"),
        CCU805=check(emotions, pl.col("beside"), "emotion"),
    ),
)
_RATINGS = reference_rules(
    "ratings",
    CCU806=check(beyond_the_scale, pl.lit(value=True), _KIND),
    CCU807=half_unannotated_level,
)
_CHANGES = reference_rules(
    "changes",
    CCU808=check(changes, (_AT < 0) | (_AT > _LENGTH).fill_null(value=False), "timestamp"),
    CCU809=check(changes, _AT.is_null(), "timestamp"),
)
_NO_MODALITY = ~_MODALITY.is_in(MODALITIES).fill_null(value=False)
_TYPE = pl.coalesce(pl.concat_str(pl.lit("the type "), quote("modality")), pl.lit("no type"))
_NO_LENGTH = ~(_LENGTH > 0).fill_null(value=False) & _MODALITY.is_not_null()
_IS_OUTSIDE = (START < 0) | (END > _LENGTH + NEAR).fill_null(value=False)
_SIDE_OUTSIDE = pl.when(START < 0).then(pl.lit("start")).otherwise(pl.lit("end"))
_SEGMENTS = (
    *reference_rules("documents", CCU811=unlisted_document),
    *reference_rules(
        "attributes",
        CCU812=check(inputs, _NO_MODALITY, "file_id", given=_TYPE),
        CCU813=check(inputs, _NO_LENGTH, "file_id"),
    ),
    *reference_rules(
        "regions",
        CCU814=check(segments, START > END, "start"),
        CCU815=overlapping_segment,
        CCU816=check(segments, _IS_OUTSIDE, _SIDE_OUTSIDE),
        CCU819=check(segments, IS_TEXT & ((START % 1 != 0) | (END % 1 != 0)), "start"),
        CCU820=check(segments, streams.IS_STREAM & (START == END), "start"),
    ),
    *reference_rules("attributes", CCU817=not_annotated, CCU818=other_versions),
)
_INDEX = submission_rules("attributes", CCU301=missing_document, CCU302=unknown_document)
_NONE_IN_COMMON = submission_rules("instances", once=["CCU514"], CCU514=none_in_common)
_ALL_BARE = _STATUS.is_null().all().over("origin")
_INSTANCES = (*_INDEX, *streams.stretch_rules("instances"))
_OVERLAP = submission_rules("instances", CCU507=streams.overlap)
_NO_ROWS = submission_rules("documents", CCU308=no_rows)
_LEVELS = (*streams.stretch_rules("ratings"), *_NO_ROWS, *streams.LEVEL_RULES)
_CLASSES = submission_rules(
    "instances",
    CCU511=check(stretches, _STATUS.is_null() & ~_ALL_BARE, first=["origin"]),
    CCU512=check(stretches, _ALL_BARE, first=["origin"]),
    CCU508=unknown_segment,
    CCU510=check(stretches, IS_SILENT, "label", first=["origin", "label"]),
    CCU513=unknown_norm,
)
_OTHERS = (
    *submission_rules("documents", once=["CCU309"], CCU309=other_output),
    *submission_rules("instances", CCU504=unlisted_norm),
)

ND = (*_INSTANCES, *_NORMS, *_OTHERS, *_OVERLAP, *_CLASSES, *_NONE_IN_COMMON, *_SEGMENTS)
ED = (*_INSTANCES, *_EMOTIONS, *_OVERLAP, *_NONE_IN_COMMON, *_SEGMENTS)
VD = (*_INDEX, *_LEVELS, *_RATINGS, *_SEGMENTS)
AD = VD
CD = (*_INDEX, *streams.CHANGE_RULES, *_CHANGES, *_SEGMENTS)
NDMAP = submission_rules(
    "mappings",
    CCU711=absent_norm,
    CCU712=not_hidden,
    CCU713=check(mappings, pl.col("again"), target=quote("target")),
    CCU714=several_submissions,
    CCU715=_odd_submissions("hint", form_problem),
    CCU716=_odd_submissions("parts", _strange_parts),
    CCU717=_odd_submissions("task", _other_task),
)
REFERENCE = (*_SEGMENTS, *_NORMS, *_EMOTIONS, *_RATINGS, *_CHANGES)
