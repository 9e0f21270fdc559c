"""Annotations of UIMA as tables of a corpus: what the readers of this family share.

A span annotation is a mention. Its label is the feature `value` or `label`, or the only feature of
its layer; without a value it is the name of the layer. `identifier` is its entity. A relation is a
frame with the roles Governor and Dependent, an annotation with links a mention and an event with
this trigger. All other features are modifiers; one that is `true` has no value. What this project
writes has features of its own, whose names begin with `hlt_`: an annotation with a kind is a frame
alone.
"""

import re
from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import PurePath

from hlteval.converters.toolkit.rows import DocumentRows, decimal, number
from hlteval.converters.toolkit.source_files import stem
from hlteval.sources import Member, Source

DKPRO = "de.tudarmstadt.ukp.dkpro.core.api"
SENTENCE = f"{DKPRO}.segmentation.type.Sentence"
TOKEN = f"{DKPRO}.segmentation.type.Token"
POS = f"{DKPRO}.lexmorph.type.pos.POS"
MENTION = f"{DKPRO}.ner.type.NamedEntity"
RELATION = "webanno.custom.Relation"
EVENT = "webanno.custom.Event"
LINK = "webanno.custom.EventArgumentsLink"
ARGUMENTS = "arguments"
#: The roles of relations: the features that refer to both ends.
ROLES = ("Governor", "Dependent")
NAME, TEXT, KIND, TRIGGER = "hlt_name", "hlt_text", "hlt_kind", "hlt_trigger"
#: The roles of a relation that are not Governor and Dependent.
OTHER_ROLES = ("hlt_source", "hlt_target")
IDENTIFIER = "identifier"
LABELS = ("value", "label", "referenceType")
#: Features that are columns of mentions.
COLUMNS = ("mention_type", "confidence", "annotator")
#: Features that are no modifiers.
OWN = frozenset((NAME, TEXT, KIND, TRIGGER, *OTHER_ROLES, IDENTIFIER, *COLUMNS))
#: Layers of words, sentences, grammar and metadata, which are no mentions unless they are chosen.
_STRUCTURE = re.compile(
    r"uima\.|de\.tudarmstadt\.ukp\.clarin\.webanno\.api\.|org\.dkpro\.core\.api\.xml\.|"
    + re.escape(DKPRO)
    + r"\.(?:segmentation|lexmorph|syntax|metadata|structure|anomaly|transform|parameter)\."
)
#: Folders of an export of INCEpTION that have a folder for each document.
_EXPORTED = frozenset(("annotation", "curation"))
#: Most times that spans may have each character of a text, on average.
_REPEATED = 20
#: The file of a document that nobody has annotated yet.
_INITIAL = "INITIAL_CAS"


@dataclass(slots=True)
class Annotation:
    """An annotation, or a relation of two.

    Attributes:
        key: what others refer to it by in its file.
        layer: the name of its type.
        start: its first code point.
        end: one past its last.
        record: its number in the file.
        values: its features that are texts and numbers.
        ends: the keys that a relation leads from and to.
        links: the role and key of each link.
    """

    key: str
    layer: str
    start: int
    end: int
    record: int = 0
    values: dict[str, str] = field(default_factory=dict)
    ends: tuple[str, str] | None = None
    links: list[tuple[str, str]] = field(default_factory=list)


def short(layer: str) -> str:
    """The last part of the name of a layer.

    Examples:
        >>> short("webanno.custom.Event")
        'Event'
    """
    return layer.rpartition(".")[2]


class Covered:
    """The text of spans, as long as they are not too many: nested ones repeat it.

    Examples:
        >>> Covered("Ann sang.").of(0, 3)
        'Ann'
    """

    def __init__(self, text: str | None) -> None:
        self.text = text
        self.left = _REPEATED * len(text or "") + 1_000_000

    def of(self, start: int, end: int) -> str | None:
        """The text of a span; None without a text, or if all spans have too much."""
        self.left -= end - start
        return None if self.text is None or self.left < 0 else self.text[start:end]


def is_pos(layer: str) -> bool:
    """Whether a layer is that of parts of speech, or a layer of a certain one."""
    return layer.startswith(POS)


class Choice:
    """The layers that are read, and the feature of each that is the label.

    Args:
        layer: the name of the only layer, whole or its last part; empty for all that have content.
        feature: the name of the label; empty for the usual ones.
        declared: the features of layers, as far as the file declares them.
    """

    def __init__(
        self, layer: str, feature: str, declared: Mapping[str, Iterable[str]] | None = None
    ) -> None:
        self.layer, self.feature = layer, feature
        self.features = {name: dict.fromkeys(own) for name, own in (declared or {}).items()}
        self._labels: dict[str, str] = {}

    def see(self, annotations: Iterable[Annotation]) -> None:
        """Take note of the features that annotations have."""
        for item in annotations:
            self.features.setdefault(item.layer, {}).update(dict.fromkeys(item.values))
        self._labels.clear()

    def takes(self, layer: str) -> bool:
        """Whether spans of a layer are mentions.

        Examples:
            >>> Choice("", "").takes(TOKEN), Choice("Token", "").takes(TOKEN)
            (False, True)
        """
        if self.layer:
            return self.layer in {layer, short(layer)}
        return not _STRUCTURE.match(layer)

    def label_feature(self, layer: str) -> str:
        """The feature of a layer that is the label; empty for none.

        Examples:
            >>> Choice("", "", {"a.B": ["sense"]}).label_feature("a.B")
            'sense'
        """
        if layer not in self._labels:
            known = [name for name in self.features.get(layer, ()) if name not in OWN]
            usual = [name for name in (self.feature, *LABELS) if name in known]
            self._labels[layer] = (*usual, *known)[0] if usual or len(known) == 1 else ""
        return self._labels[layer]

    def label(self, item: Annotation) -> str:
        """The label of an annotation: that of its layer where its feature has no value."""
        label = item.values.get(self.label_feature(item.layer))
        return short(item.layer) if label is None else label


def take(
    rows: DocumentRows,
    text: str | None,
    annotations: Sequence[Annotation],
    choice: Choice,
    annotator: str | None = None,
    *,
    structure: bool = True,
) -> None:
    """Add the annotations of a document that was begun.

    Args:
        rows: those of the batch.
        text: of the document.
        annotations: those of one annotator.
        choice: the layers and features.
        annotator: who annotated; identifiers begin with it, since others have the same.
        structure: whether sentences and tokens are added.
    """
    choice.see(annotations)
    covered = Covered(text)
    if structure:
        _add_structure(rows, covered, annotations)
    prefix = f"{annotator}:" if annotator is not None else ""
    names: dict[str, str] = {}
    for item in annotations:
        if item.ends is None and choice.takes(item.layer):
            names[item.key] = prefix + item.values.get(NAME, item.key)
    for item in annotations:
        if item.ends is not None and all(end in names for end in item.ends):
            name = prefix + item.values.get(NAME, item.key)
            roles = [item.values.get(*pair) for pair in zip(OTHER_ROLES, ROLES, strict=True)]
            links = [(role, names[end]) for role, end in zip(roles, item.ends, strict=True)]
            _add_frame(rows, item, name, "relation", choice.label(item), None, links, annotator)
            _add_modifiers(rows, item, name, choice)
        elif item.ends is None and item.key in names:
            _add_span(rows, covered, item, names, choice, annotator)


def _add_structure(rows: DocumentRows, covered: Covered, annotations: Sequence[Annotation]) -> None:
    """Add sentences and tokens; a token is of the last sentence that holds it."""
    segments: list[tuple[int, int, object]] = []
    for item in annotations:
        if item.layer == SENTENCE:
            segment: dict[str, object] = {"record": item.record}
            segment |= {"start": item.start, "end": item.end}
            own = covered.of(item.start, item.end)
            segment |= {"name": item.values.get("id"), "text": own}
            rows.add("segments", segment)
            segments.append((item.start, item.end, segment["row"]))
    segments.sort(key=lambda segment: segment[0])
    pos = {(a.start, a.end): a.values.get("PosValue") for a in annotations if is_pos(a.layer)}
    for item in annotations:
        if item.layer == TOKEN:
            place = {"record": item.record, "start": item.start, "end": item.end}
            own = covered.of(item.start, item.end) or ""
            more = {"text": own, "pos": pos.get((item.start, item.end))}
            row = holder(segments, item.start, item.end)
            rows.add("tokens", {**place, **more, "segment_row": row})


def holder(segments: Sequence[tuple[int, int, object]], start: int, end: int) -> object:
    """The key of the last segment, by their starts, if it holds a span; else None."""
    at = bisect_right(segments, start, key=lambda segment: segment[0]) - 1
    return segments[at][2] if at >= 0 and end <= segments[at][1] else None


def _add_span(
    rows: DocumentRows,
    covered: Covered,
    item: Annotation,
    names: Mapping[str, str],
    choice: Choice,
    annotator: str | None,
) -> None:
    """Add a mention, an event, or both."""
    values, name, label = item.values, names[item.key], choice.label(item)
    links = [(role, names[key]) for role, key in item.links if key in names]
    if KIND in values:
        frame = name if NAME in values else None
        kind = "relation" if values[KIND] == "relation" else "event"
        trigger = values.get(TRIGGER)
        _add_frame(rows, item, frame, kind, label, trigger, links, annotator)
    else:
        written = values.get("confidence")
        confidence = None if written is None else number(written)
        canonical = confidence is not None and decimal(confidence) == written
        own: dict[str, object] = {"record": item.record, "start": item.start, "end": item.end}
        own |= {"mention": name, "label": label}
        more = {"text": values[TEXT] if TEXT in values else covered.of(item.start, item.end)}
        more |= {"entity": values.get(IDENTIFIER), "mention_type": values.get("mention_type")}
        more |= {"confidence_text": None if canonical else written}
        more |= {"annotator": values.get("annotator", annotator)}
        own |= {column: value for column, value in more.items() if value is not None}
        rows.add("mentions", own if confidence is None else own | {"confidence": confidence})
        if links:
            frame = f"{name}.event"
            _add_frame(rows, item, frame, "event", label, name, links, annotator)
    _add_modifiers(rows, item, name, choice)


def _add_frame(
    rows: DocumentRows,
    item: Annotation,
    name: str | None,
    kind: str,
    label: str,
    trigger: str | None,
    links: Sequence[tuple[str, str]],
    annotator: str | None,
) -> None:
    """Add a frame with its arguments."""
    who = item.values.get("annotator", annotator)
    frame: dict[str, object] = {"record": item.record, "frame": name, "kind": kind, "label": label}
    frame |= {"trigger": trigger, "annotator": who}
    rows.add("frames", frame)
    for position, (role, target) in enumerate(links, start=1):
        own = {"frame_row": frame["row"], "position": position, "role": role, "target": target}
        rows.add("arguments", {"record": item.record, **own})


def _add_modifiers(rows: DocumentRows, item: Annotation, name: str, choice: Choice) -> None:
    """Add the features that are neither the label nor a column."""
    label = choice.label_feature(item.layer)
    for feature, value in item.values.items():
        if feature != label and feature not in OWN:
            own = {"modifier": f"{name}.{feature}", "label": feature, "target": name}
            given = None if value == "true" else value
            rows.add("modifiers", {"record": item.record, **own, "value": given})


# The files of documents: of each annotator, where a project was exported.


def project_place(member: Member) -> tuple[str, str] | None:
    """The document and the annotator of a file of an exported project; None for others.

    Examples:
        >>> project_place(Member("p/annotation/d1.txt/anna.xmi", "", 0, bytes))
        ('d1.txt', 'anna')
    """
    parts = PurePath(member.name).parts
    if len(parts) < 3 or parts[-3] not in _EXPORTED:
        return None
    return parts[-2], PurePath(parts[-1]).stem


def documents(source: Source, suffix: str) -> Mapping[str, tuple[Member, ...]]:
    """The files of each document; of an exported project, those of its annotators.

    Args:
        source: the files.
        suffix: of those that are read, if they are several; the format's own may be longer.
    """
    single = source.kind in {"file", "stdin"}
    end = f".{suffix.rpartition('.')[2]}"
    chosen: dict[str, list[Member]] = {}
    for member in source.members:
        if single or member.basename.endswith(end):
            place = project_place(member)
            chosen.setdefault(place[0] if place else stem(member, suffix), []).append(member)
    return {name: tuple(sorted(chosen[name], key=is_initial)) for name in sorted(chosen)}


def is_initial(member: Member) -> bool:
    """Whether a file is a document of an exported project as it was before annotation.

    It is the last of the files of its document, and read only if there are no others.
    """
    place = project_place(member)
    return place is not None and place[1] == _INITIAL


def annotator_of(member: Member) -> str | None:
    """The annotator of a file of an exported project."""
    place = None if is_initial(member) else project_place(member)
    return place[1] if place else None
