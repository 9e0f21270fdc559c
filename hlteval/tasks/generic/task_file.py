"""Files that declare a task (`NAME.task.toml`): the tables and keys that they can have.

The classes declare the structure; docs.make.manifest_grammars makes grammars/task.schema.json of
them, by which files are checked and editors help. What a key means is in the `Options` of the unit
(`hlteval.scoring.generic`), which have fields of the same names. What a preset fills is in
presets.toml.
"""

from collections.abc import Mapping
from typing import Annotated, Literal, get_args

import msgspec

Name = Annotated[str, msgspec.Meta(min_length=1)]
_UNIQUE = {"uniqueItems": True}
Names = Annotated[tuple[Name, ...], msgspec.Meta(extra_json_schema=_UNIQUE)]
SomeNames = Annotated[tuple[Name, ...], msgspec.Meta(min_length=1, extra_json_schema=_UNIQUE)]
_PAIR = {"minItems": 2, "maxItems": 2}
Range = Annotated[tuple[float, ...], msgspec.Meta(extra_json_schema=_PAIR)]
_CREDITS = {"examples": ["full", "half", "iou", "jaccard", "wang:FILE", "wang:FILE:0.65"]}
_CREDIT = msgspec.Meta(
    pattern="^(full|half|iou|jaccard|wang:[^:]+(:[^:]*)?)$", extra_json_schema=_CREDITS
)
Unit = Literal[
    "mentions", "relations", "events", "clusters", "links", "labels", "segments", "transcripts"
]
Average = Literal["micro", "macro", "weighted", "samples"]
Averages = Annotated[tuple[Average, ...], msgspec.Meta(min_length=1, extra_json_schema=_UNIQUE)]
Criterion = Literal["label", "document", "language"]
Criteria = Annotated[tuple[Criterion, ...], msgspec.Meta(extra_json_schema=_UNIQUE)]
UNITS: tuple[Unit, ...] = get_args(Unit)
#: The built-in tasks of units that have another name.
BUILTIN_OF: Mapping[str, str] = {"clusters": "coreference"}


class TaskTable(msgspec.Struct, frozen=True):
    """The task itself.

    Attributes:
        unit: what is compared.
        name: of the task, as signatures and reports have it.
        title: one line for people.
        specification: the document that defines it.
        preset: the tool that the profile `official` equals.
    """

    unit: Unit
    name: Name = ""
    title: Name = ""
    specification: Name = ""
    preset: Name = ""


class LabelTable(msgspec.Struct, frozen=True):
    """The labels of units.

    Attributes:
        declared: all labels, in the order of tables.
        from_: an annotation.conf of brat that declares them.
        ignore: labels that are left out on both sides.
        map: a label that stands for another, on both sides.
        undeclared: what another label is.
        parents: the parent of a label, or the labels that are one.
        kind: whether labels are names or numbers, such as similarities from 0 to 5.
        range: the least and the greatest number.
    """

    declared: SomeNames = ()
    from_: Name = msgspec.field(default="", name="from")
    ignore: Names = ()
    map: Mapping[str, Name] = {}
    undeclared: Literal["error", "warning", "ignore"] = "error"
    parents: Mapping[str, Name] = {}
    kind: Literal["names", "numbers"] = "names"
    range: Range = ()


class MatchTable(msgspec.Struct, frozen=True):
    """When two units are the same, and how much a pair counts.

    Attributes:
        span: what spans have in common.
        threshold: the least share, of the measure that `span` names.
        label: what labels have in common; `mapped` where those of the system are names of its own.
        pairing: how pairs are chosen.
        credit: how much a pair of different spans counts, or of different links, `wang` with the
            path of an ontology and the weight of a step.
        singletons: whether clusters of one mention count.
        collar: seconds around boundaries that do not count, in total.
        skip_overlap: whether time with several speakers does not count.
        lowercase: whether letter case is ignored.
        punctuation: whether punctuation is compared.
        unicode: the normalization form of texts.
        contiguous: whether documents are compared as a whole.
        standardize: whether texts are compared in jiwer's standard form.
    """

    span: Literal[
        "exact", "overlap", "iou", "contains", "tokens", "end", "head", "partial", "none"
    ] = "exact"
    threshold: float = 0.0
    label: Literal["equal", "none", "ancestor", "mapped"] = "equal"
    pairing: Literal["set", "optimal", "greedy-file-order", "greedy-score"] = "set"
    credit: Annotated[str, _CREDIT] = "full"
    singletons: Literal["keep", "remove"] = "keep"
    collar: Annotated[float, msgspec.Meta(ge=0)] = 0.0
    skip_overlap: bool = False
    lowercase: bool = False
    punctuation: Literal["keep", "remove"] = "keep"
    unicode: Literal["none", "NFC", "NFKC"] = "none"
    contiguous: bool = False
    standardize: bool = False


class FrameTable(msgspec.Struct, frozen=True):
    """The arguments of relations or events.

    Attributes:
        arguments: what of an argument has to be equal.
        roles: by label and role, the labels of what may fill it.
        symmetric: labels whose arguments can be swapped.
        optional: roles that an event need not have.
        at_most: most relations of a label in a document.
    """

    arguments: Literal["span+label", "span", "end", "end+label", "overlap"] = "span+label"
    roles: Mapping[str, Mapping[str, Names]] = {}
    symmetric: Names = ()
    optional: Names = ()
    at_most: Mapping[str, int] = {}


class ScoreTable(msgspec.Struct, frozen=True):
    """The scores.

    Attributes:
        measures: the measures, of units that have several.
        average: the averages over labels.
        macro_over: the labels that macro-averages are over.
        average_labels: the labels that averages are over.
        by: tables beside the total.
        undefined: what a ratio of 0 and 0 is.
        also: what else is scored.
        primary: the metric that ranks.
    """

    measures: SomeNames = ()
    average: Averages = ("micro",)
    macro_over: Literal["declared", "reference", "seen"] = "reference"
    average_labels: SomeNames = ()
    by: Criteria = ()
    undefined: Literal["none", 0, 1] = "none"
    also: Names = ()
    primary: Name = ""


class AgreementTable(msgspec.Struct, frozen=True):
    """How the agreement of annotators is measured.

    Attributes:
        unit: what annotators judge; that of the task if it is empty.
        coefficient: of agreement.
    """

    unit: Name = ""
    coefficient: Literal["alpha", "kappa", "f1"] = "alpha"


class TaskFile(msgspec.Struct, frozen=True):
    """A file that declares a task.

    Attributes:
        task: what it is.
        read: the format, its settings, and those of either side.
        labels: of units.
        match: when two units are the same.
        relations: the arguments of relations.
        events: the arguments of events.
        scores: what is computed.
        agreement: of annotators.
    """

    task: TaskTable
    read: Mapping[str, object] = {}
    labels: LabelTable = LabelTable()
    match: MatchTable = MatchTable()
    relations: FrameTable = FrameTable()
    events: FrameTable = FrameTable()
    scores: ScoreTable = ScoreTable()
    agreement: AgreementTable = AgreementTable()
