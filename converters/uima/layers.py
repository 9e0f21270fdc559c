"""Annotations of UIMA as tables of a corpus: what the readers of this family share.

A span annotation is a mention. Its label is the feature `value` or `label`, or the only feature of
its layer; without a value it is the name of the layer. `identifier` is its entity. A relation is a
frame with the roles Governor and Dependent, an annotation with links a mention and an event with
this trigger. All other features are modifiers; one that is `true` has no value. What this project
writes has features of its own, whose names begin with `hlt_`: an annotation with a kind is a frame
alone.
"""

import json
import re
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import PurePath

from hlteval.converters.format import ReadResult
from hlteval.converters.toolkit.rows import DocumentRows, decimal, number, read_rows
from hlteval.converters.toolkit.source_files import FindDocuments, stem
from hlteval.converters.toolkit.spans import Quotes
from hlteval.representation import COMPLETED_BY
from hlteval.sources import Member, Source, is_inner_archive

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
#: Features that are not modifiers.
OWN = frozenset((NAME, TEXT, KIND, TRIGGER, *OTHER_ROLES, IDENTIFIER, *COLUMNS))
#: Layers of words, sentences, grammar and metadata: not mentions unless they are chosen.
_STRUCTURE = re.compile(
    r"uima\.|de\.tudarmstadt\.ukp\.clarin\.webanno\.api\.|org\.dkpro\.core\.api\.xml\.|"
    + re.escape(DKPRO)
    + r"\.(?:segmentation|lexmorph|syntax|metadata|structure|anomaly|transform|parameter)\."
)
#: Folders of an export of INCEpTION that have a folder for each document.
_EXPORTED = frozenset(("annotation", "curation"))
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


def is_pos(layer: str) -> bool:
    """Whether a layer is that of parts of speech, or a layer of a certain one."""
    return layer.startswith(POS)


class Choice:
    """The settings of a file: the layers that are read, and the feature of each that is the label.

    Args:
        layer: the name of the only layer, whole or its last part; empty for all that have content.
        feature: the name of the label; empty for the usual ones.
        unit: what offsets count.
    """

    def __init__(self, layer: str = "", feature: str = "", unit: str = "utf-16") -> None:
        self.layer, self.feature, self.unit = layer, feature, unit
        self.features: defaultdict[str, dict[str, None]] = defaultdict(dict)
        self._labels: dict[str, str] = {}

    def see(self, layer: str, features: Iterable[str]) -> None:
        """Take note of features that a layer has."""
        known = self.features[layer]
        for feature in features:
            if feature not in known:
                known[feature] = None
                self._labels.clear()

    def takes(self, layer: str) -> bool:
        """Whether spans of a layer are mentions.

        Examples:
            >>> Choice().takes(TOKEN), Choice("Token").takes(TOKEN)
            (False, True)
        """
        if self.layer:
            return self.layer in {layer, short(layer)}
        return not _STRUCTURE.match(layer)

    def label_feature(self, layer: str) -> str:
        """The feature of a layer that is the label; empty for none.

        Examples:
            >>> choice = Choice()
            >>> choice.see("a.B", ["sense"])
            >>> choice.label_feature("a.B")
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
    origin: int,
    name: str,
    text: str | None,
    annotations: Iterable[Annotation],
    choice: Choice,
    annotator: str | None = None,
    language: str | None = None,
) -> bool:
    """Begin a document, or go on with it, and add the annotations of an annotator.

    Args:
        rows: those of the batch.
        origin: row of the file.
        name: of the document, whose text is that of the first file that has one.
        text: in this file.
        annotations: those of one annotator; sentences and tokens are those of the first one.
        choice: the layers and features.
        annotator: who annotated; identifiers begin with it, since others have the same.
        language: of the document.

    Returns:
        Whether the text is that of the document; annotations of another one are left out.
    """
    is_new = rows.begin(origin, name, text=text, language=language)
    row = rows.tables["documents"][rows.documents[name]]
    known = text if row.get("text") is None else str(row["text"])
    row |= {"text": known, "language": row.get("language") or language}
    if text not in {known, None}:
        return False
    annotations = [*annotations]
    for item in annotations:
        choice.see(item.layer, item.values)
    document = _Document(rows, known, choice, annotator)
    if is_new:
        document.add_structure(annotations)
    document.add(annotations)
    if annotator is not None and not document.names:  # who has annotated it, and found nothing
        entry = f"$.annotations[{len(rows.tables.get('attributes', ())) + 1}]"
        own = {"element": entry, "name": COMPLETED_BY[0], "value": json.dumps(annotator)}
        rows.add("attributes", {"record": 1, **own})
    return True


class _Document:
    """A document while the annotations of one annotator are added.

    Attributes:
        quotes: the texts of spans.
        names: the identifiers of mentions and events by their keys.
    """

    def __init__(
        self, rows: DocumentRows, text: str | None, choice: Choice, annotator: str | None
    ) -> None:
        self.rows, self.text, self.choice, self.annotator = rows, text, choice, annotator
        self.quotes = Quotes(text or "")
        self.names: dict[str, str] = {}

    def quote(self, start: int, end: int) -> str | None:
        """The text of a span; None without a text, or if all spans have too much."""
        return None if self.text is None else self.quotes.at((start, end))

    def add_structure(self, annotations: Sequence[Annotation]) -> None:
        """Add sentences and tokens; a token is of the last sentence that holds it."""
        segments: list[tuple[int, int, object]] = []
        for item in annotations:
            if item.layer == SENTENCE:
                segment = self.place(item)
                segment |= {"name": item.values.get("id"), "text": self.quote(item.start, item.end)}
                self.rows.add("segments", segment)
                segments.append((item.start, item.end, segment["row"]))
        segments.sort(key=lambda segment: segment[0])
        pos = {(a.start, a.end): a.values.get("PosValue") for a in annotations if is_pos(a.layer)}
        for item in annotations:
            if item.layer == TOKEN:
                span = item.start, item.end
                own: dict[str, object] = {"text": self.quote(*span) or "", "pos": pos.get(span)}
                own["segment_row"] = holder(segments, *span)
                self.rows.add("tokens", self.place(item) | own)

    def place(self, item: Annotation) -> dict[str, object]:
        """The columns of the place of an annotation."""
        return {"record": item.record, "start": item.start, "end": item.end}

    def add(self, annotations: Sequence[Annotation]) -> None:
        """Add mentions, relations and events."""
        for item in annotations:
            if item.ends is None and self.choice.takes(item.layer):
                self.names[item.key] = self.name(item)
        for item in annotations:
            if item.ends is None and item.key in self.names:
                self.add_span(item)
            elif item.ends is not None and all(end in self.names for end in item.ends):
                pairs = zip(OTHER_ROLES, ROLES, item.ends, strict=True)
                links = [(item.values.get(own, role), end) for own, role, end in pairs]
                self.add_frame(item, self.name(item), "relation", links)
                self.add_modifiers(item)

    def name(self, item: Annotation) -> str:
        """The identifier of an annotation, which begins with the annotator."""
        prefix = f"{self.annotator}:" if self.annotator is not None else ""
        return prefix + item.values.get(NAME, item.key)

    def add_span(self, item: Annotation) -> None:
        """Add a mention, an event, or both."""
        values, name = item.values, self.names[item.key]
        links = [link for link in item.links if link[1] in self.names] if item.links else []
        if KIND in values:
            frame = name if NAME in values else None
            kind = "relation" if values[KIND] == "relation" else "event"
            self.add_frame(item, frame, kind, links, values.get(TRIGGER))
        else:
            written = values.get("confidence")
            confidence = None if written is None else number(written)
            canonical = confidence is not None and decimal(confidence) == written
            quote = values[TEXT] if TEXT in values else self.quote(item.start, item.end)
            mention = {
                **self.place(item),
                "mention": name,
                "label": self.choice.label(item),
                "text": quote,
                "entity": values.get(IDENTIFIER),
                "mention_type": values.get("mention_type"),
                "confidence": confidence,
                "confidence_text": None if canonical else written,
                "annotator": values.get("annotator", self.annotator),
            }
            self.rows.add("mentions", mention)
            if links:
                self.add_frame(item, f"{name}.event", "event", links, name)
        self.add_modifiers(item)

    def add_frame(
        self,
        item: Annotation,
        name: str | None,
        kind: str,
        links: Sequence[tuple[str, str]],
        trigger: str | None = None,
    ) -> None:
        """Add a frame with its arguments."""
        frame: dict[str, object] = {"record": item.record, "frame": name, "kind": kind}
        frame |= {"label": self.choice.label(item), "trigger": trigger}
        frame["annotator"] = item.values.get("annotator", self.annotator)
        self.rows.add("frames", frame)
        for position, (role, key) in enumerate(links, start=1):
            own = {"frame_row": frame["row"], "position": position, "role": role}
            target = self.names[key]
            self.rows.add("arguments", {"record": item.record, **own, "target": target})

    def add_modifiers(self, item: Annotation) -> None:
        """Add the features that are neither the label nor a column."""
        label, name = self.choice.label_feature(item.layer), ""
        for feature, value in item.values.items():
            if feature != label and feature not in OWN:
                name = name or self.name(item)
                own = {"modifier": f"{name}.{feature}", "label": feature, "target": name}
                own_value = None if value == "true" else value
                self.rows.add("modifiers", {"record": item.record, **own, "value": own_value})


def holder(segments: Sequence[tuple[int, int, object]], start: int, end: int) -> object:
    """The key of the last segment, by their starts, if it holds a span; else None."""
    at = bisect_right(segments, start, key=lambda segment: segment[0]) - 1
    return segments[at][2] if at >= 0 and end <= segments[at][1] else None


# The files of documents: of each annotator, where a project was exported.


def project_place(member: Member) -> tuple[str, str] | None:
    """The document and the annotator of a file of an exported project; None for others.

    Examples:
        >>> project_place(Member("p/annotation/d1.txt/anna.xmi", "", 0, bytes))
        ('d1.txt', 'anna')
        >>> project_place(Member("curation/d1.txt/CURATION_USER.zip/d1.xmi", "", 0, bytes))
        ('d1.txt', 'CURATION_USER')
        >>> project_place(Member("d1.txt/anna.tsv", "p/annotation/d1.txt/anna.tsv", 0, bytes))
        ('d1.txt', 'anna')
    """
    parts = PurePath(member.name).parts
    if len(parts) > 3 and is_inner_archive("/".join(parts[:-1])):
        parts = parts[:-1]
    # the folder that has those of documents may be what was passed
    above = parts[-3:-2] or PurePath(member.display).parts[-3:-2]
    if len(parts) < 2 or _EXPORTED.isdisjoint(above):
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
    members = [each for each in source.members if project_place(each)] or source.members
    for member in members:
        if single or member.basename.endswith(end):
            place = project_place(member)
            chosen.setdefault(place[0] if place else stem(member, suffix), []).append(member)
    return {name: tuple(sorted(chosen[name], key=is_initial)) for name in sorted(chosen)}


def read_files(
    source: Source,
    form: str,
    suffix: str,
    find: FindDocuments,
    take_file: Callable[[DocumentRows, int, str, str, Choice], None],
    settings: Mapping[str, str],
) -> Iterator[ReadResult]:
    """The documents of a source in batches, in the order of their names.

    Args:
        source: the files.
        form: the name of the format.
        suffix: of its files.
        find: gives the files of each document.
        take_file: adds a file: its row of `sources`, the name of its document, its text and what
            is read of it.
        settings: the settings of reading.
    """

    def add(rows: DocumentRows, origin: int, name: str, text: str) -> None:
        if name not in rows.documents or not is_initial(rows.files.members[origin]):
            own = (settings[name] for name in ("layer", "feature", "offsets"))
            take_file(rows, origin, name, text, Choice(*own))

    return read_rows(source, form, suffix, add, find)


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
