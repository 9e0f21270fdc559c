r"""GATE documents: texts with annotations in sets, one XML file per document.

Format:
    XML as defined in grammars/gate.rng, one file `<document>.xml` per document: a text with nodes,
    then sets of annotations from one node to another, and sets of relations between annotations,
    all of which may have features. A set has a name, but for the default set.

Conventions:
    The place of a node is where it is in the text; its id is the same place, counted in UTF-16 code
    units. Names of sets are annotators, by the setting `annotators`; the setting `set` chooses one
    (`default` is that without a name). Without it, all are read but Original markups, which has the
    tags of the original document. Members of relations are arguments with the roles Arg1, Arg2
    and so on. Features of java.lang types are modifiers, and true is one without a value; but the
    feature `entity` of an annotation is its entity, and `identifier` replaces the id, which must
    be a number. A record is an element, counted by start tags.

Example lines:
    <TextWithNodes><Node id="0"/>Ann<Node id="3"/> at Acme</TextWithNodes>
    <Annotation Id="0" Type="Person" StartNode="0" EndNode="3">

Codes raised: XML1xx, GATxxx.
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import accumulate, chain, pairwise
from typing import Any, NamedTuple

import polars as pl

from hlteval.converters.declarations import declaration
from hlteval.converters.format import ReadResult
from hlteval.converters.toolkit import source_files
from hlteval.converters.toolkit.rows import DocumentRows, count_matching, read_rows
from hlteval.converters.toolkit.spans import Quotes, count_roles
from hlteval.findings import FieldRef, Location
from hlteval.findings.sequence import lists_by_key
from hlteval.representation import Corpus
from hlteval.sources import Member, Source
from hlteval.syntax import xml_places
from hlteval.syntax.xml_elements import Element, Reader, examine

SUFFIX = ".xml"
#: A node in the text around it, since XML cannot have it.
_NODE = "\0"
_TYPES, _STRING, _BOOLEAN = "java.lang.", "java.lang.String", "java.lang.Boolean"
_ANNOTATION, _RELATION = "Annotation", "Relation"
#: The features that are not modifiers.
_IDENTIFIER, _ENTITY = "identifier", "entity"
#: The set that has the tags of an HTML or XML file as annotations.
_MARKUP = "Original markups"
_INTEGER = re.compile("0|[1-9][0-9]{0,8}")
_HEAD = '<?xml version="1.0" encoding="UTF-8"?>\n<GateDocument version="3">\n'
#: The attributes of fields.
_ITEM = {"mention": "Id", "frame": "Id", "label": "Type"}
_FIELDS = {**_ITEM, "start": "StartNode", "end": "EndNode", "value": "text", "target": "Members"}
#: The value of a feature by its name, None for true, and the element of this value.
_Features = dict[str, tuple[str | None, Element]]


documents = partial(source_files.documents, suffix=SUFFIX)


def sniff(source: Source) -> bool:
    """Whether the first file has the root element of GATE."""
    members = source_files.with_suffix(source, SUFFIX)
    return "<GateDocument" in source_files.head_of_first(members)


def read(source: Source, set: str = "", annotators: str = "yes") -> Iterator[ReadResult]:  # noqa: A002
    """The documents of a source in batches, in the order of their names."""
    take = partial(_take, wanted=set, annotators=annotators == "yes")
    return read_rows(source, FORMAT.name, SUFFIX, take)


class _Reader(Reader):
    """A reader that keeps the places of nodes in the text around them."""

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        if tag == "Node" and self.open:
            self.open[-1].chunks.append(_NODE)
        super().start(tag, attributes)


def _take(
    rows: DocumentRows, origin: int, name: str, text: str, wanted: str, *, annotators: bool
) -> None:
    """Add the document of a file, and what is wrong in it."""
    member = rows.files.members[origin]
    found = examine(text, "gate", member.encoding, _Reader)
    whole = next((each for each in found.elements if each.tag == "TextWithNodes"), None)
    pieces = whole.text.split(_NODE) if whole else []
    content = "".join(pieces)
    rows.begin(origin, name, text=content if whole else None)
    problems: list[xml_places.Named] = [(problem, None) for problem in found.problems]
    nodes = [each for each in found.parsed.elements if each.tag == "Node" and each.parent is whole]
    places = _places(nodes, pieces, problems)
    features = _features(found.elements, problems)
    chosen, names = list[tuple[Element, str, str | None]](), dict[str, str]()
    markup = list[Element]()
    for element in found.elements:
        by = element.parent.attributes.get("Name") if element.parent else None
        if by == _MARKUP and not wanted:
            markup += [element] * (element.tag == _ANNOTATION)
        elif element.tag in {_ANNOTATION, _RELATION} and wanted in {"", by or "default"}:
            own = element.attributes.get("Id", "")
            given, _ = features[element.ordinal].get(_IDENTIFIER, (None, element))
            names.setdefault(own, given or own)
            chosen.append((element, given or own, by if annotators else None))
    for first in markup[:1]:
        problems.append((first.problem("GAT105", "", count=len(markup)), None))
    document = _Document(rows, Quotes(content), places, names, problems)
    for element, identifier, by in chosen:
        own_features = features[element.ordinal]
        own_features.pop(_IDENTIFIER, None)
        if element.tag == _ANNOTATION:
            entity, _ = own_features.pop(_ENTITY, (None, element))
            more = {"mention": identifier, "entity": entity, "annotator": by}
            if not document.add_mention(element, more):
                continue
        else:
            document.add_frame(element, {"frame": identifier, "annotator": by})
        for label, (value, at) in own_features.items():
            row = {"record": at.ordinal, "modifier": "", "label": label}
            rows.add("modifiers", {**row, "target": identifier, "value": value})
    rows.findings += xml_places.located_findings(text, problems, member)


def _places(
    nodes: Sequence[Element], pieces: Sequence[str], problems: list[xml_places.Named]
) -> dict[str, int]:
    """The places of nodes by their ids; the first one with another id is a problem."""
    found, first = dict[str, int](), len(problems)
    units = accumulate(len(piece.encode("utf-16-le")) // 2 for piece in pieces)
    for node, place, unit in zip(nodes, accumulate(map(len, pieces)), units, strict=False):
        given = node.attributes.get("id", "")
        found.setdefault(given, place)
        if given != str(unit) and len(problems) == first:
            hint = "; it counts characters" if given == str(place) else ""
            values = {"given": given[:20], "place": unit, "hint": hint}
            problems.append((node.problem("GAT103", "id", **values), None))
    return found


def _features(
    elements: Sequence[Element], problems: list[xml_places.Named]
) -> defaultdict[int, _Features]:
    """The features of each element by its ordinal; the first of another type is a problem."""
    found: defaultdict[int, _Features] = defaultdict(dict)
    names, others = dict[int, str](), list[Element]()
    for element in elements:
        feature = element.parent
        if feature is None or feature.parent is None or feature.tag != "Feature":
            continue
        kind = element.attributes.get("className", _STRING)
        if element.tag == "Name":
            names[feature.ordinal] = element.text
        elif kind.startswith(_TYPES):
            value = None if (kind, element.text) == (_BOOLEAN, "true") else element.text
            found[feature.parent.ordinal][names.get(feature.ordinal, "")] = (value, element)
        else:
            others.append(element)
    for first in others[:1]:
        values = {"count": len(others), "type": first.attributes["className"][:60]}
        problems.append((first.problem("GAT104", "className", **values), None))
    return found


class _Document(NamedTuple):
    """A document while its annotations and relations are added.

    Attributes:
        rows: the rows of the batch.
        quotes: the texts of spans.
        places: the places of nodes by their ids.
        names: the identifiers of annotations and relations by their ids.
        problems: what is wrong, with the id of the element.
    """

    rows: DocumentRows
    quotes: Quotes
    places: Mapping[str, int]
    names: Mapping[str, str]
    problems: list[xml_places.Named]

    def add_mention(self, element: Element, more: Mapping[str, object]) -> bool:
        """Add the mention of an annotation; whether it has a place."""
        given = {name: element.attributes.get(name, "") for name in ("StartNode", "EndNode")}
        lost = [name for name, node in given.items() if node not in self.places]
        wrong = [element.problem("GAT101", name, given=given[name][:40]) for name in lost]
        start, end = (self.places.get(node, 0) for node in given.values())
        if not wrong and start > end:
            wrong.append(element.problem("GAT102", "EndNode", start=start, end=end))
        label = element.attributes.get("Type", "")
        for problem in wrong:
            self.rows.add("rejected_records", problem.rejection("mention", label))
            self.problems.append((problem, element.attributes.get("Id")))
        if not wrong:
            quote = self.quotes.at((start, end))
            row = {"record": element.ordinal, "label": label, "text": quote, **more}
            self.rows.add("mentions", {**row, "start": start, "end": end})
        return not wrong

    def add_frame(self, element: Element, more: Mapping[str, object]) -> None:
        """Add a relation with its members, of which unknown ones are problems."""
        own, label = {"record": element.ordinal}, element.attributes.get("Type", "")
        frame: dict[str, object] = {**own, "kind": "relation", "label": label, **more}
        self.rows.add("frames", frame)
        members = [each for each in element.attributes.get("Members", "").split(";") if each]
        for at, member in enumerate(members, start=1):
            if member not in self.names:
                problem = element.problem("GAT201", "Members", given=member[:40])
                self.problems.append((problem, element.attributes.get("Id")))
            row = {**own, "frame_row": frame["row"], "position": at, "role": f"Arg{at}"}
            self.rows.add("arguments", {**row, "target": self.names.get(member, member)})


def locate(member: Member, places: Sequence[FieldRef]) -> list[Location | None]:
    """The attributes of annotations and relations, and the values of features."""
    moved = [FieldRef(place.record, _FIELDS.get(place.field, "")) for place in places]
    return xml_places.locate_elements(member, moved)


def as_files(corpus: Corpus) -> Iterator[tuple[str, str]]:
    """The file of each document, with the name of the original one."""
    columns = ("document", "mention", "label", "annotator", "start", "end", "entity")
    mentions = _by_first(_placed_mentions(corpus).select(columns))
    frames = _by_first(corpus.frames.select("document", "frame", "label", "annotator", "row"))
    ordered = corpus.arguments.sort("frame_row", "position")
    arguments = _by_first(ordered.select("frame_row", "target"))
    modifiers = _by_first(corpus.modifiers.select("document", "target", "label", "value"))
    texts = dict(corpus.documents.select("row", pl.col("text").fill_null("")).iter_rows())
    for row, path in source_files.output_paths(corpus, FORMAT.name, SUFFIX).items():
        own, relations = mentions.get(row, []), frames.get(row, [])
        names = [each[0] or "" for each in (*own, *relations)]
        ids = annotation_ids(names)
        id_of = dict(zip(reversed(names), reversed(ids), strict=True))
        known = (each for each in modifiers.get(row, ()) if each[0] in id_of)
        features = lists_by_key((id_of[target], feature) for target, *feature in known)
        for name, number in zip(names, ids, strict=True):
            if name not in {"", number}:
                features.setdefault(number, []).insert(0, [_IDENTIFIER, name])
        nodes, text = text_with_nodes(texts[row], {at for each in own for at in each[3:5]})
        sets: defaultdict[tuple[str, str | None], list[str]] = defaultdict(list)
        sets[_ANNOTATION, None] = []
        for number, (_, label, by, *rest) in zip(ids, (*own, *relations), strict=True):
            pairs = [("Id", number), ("Type", label)]
            more: Iterable[Sequence[Any]] = features.get(number, ())
            tag = _ANNOTATION if len(rest) > 1 else _RELATION
            if tag == _ANNOTATION:
                start, end, entity = rest
                pairs += [("StartNode", nodes[start]), ("EndNode", nodes[end])]
                more = [*([] if entity is None else [(_ENTITY, entity)]), *more]
            else:
                targets = chain.from_iterable(arguments.get(rest[0], ()))
                pairs.append(("Members", ";".join(id_of[one] for one in targets if one in id_of)))
            sets[tag, by].append(_element(tag, pairs, more))
        parts = [_HEAD, text]
        for (tag, by), elements in sorted(sets.items(), key=lambda item: item[0][0]):
            head = "" if by is None else xml_places.attributes([("Name", _clean(by))])
            parts += [f"<{tag}Set{head}>\n", *elements, f"</{tag}Set>\n"]
        yield path, "".join([*parts, "</GateDocument>\n"])


def _by_first(rows: pl.DataFrame) -> dict[int, list[tuple[Any, ...]]]:
    """Rows by their first column, which they are without."""
    return lists_by_key((row[0], row[1:]) for row in rows.iter_rows())


def annotation_ids(names: Sequence[str]) -> list[str]:
    """The ids of annotations: identifiers that are numbers, or else numbers that are free.

    Examples:
        >>> annotation_ids(["T1", "0", "7", "7"])
        ['1', '0', '7', '2']
    """
    left = {name for name in names if _INTEGER.fullmatch(name)}
    free = iter([str(at) for at in range(2 * len(names)) if str(at) not in left])
    found = []
    for name in names:
        found.append(name if name in left else next(free))
        left.discard(name)
    return found


def text_with_nodes(text: str, offsets: set[int]) -> tuple[dict[int, str], str]:
    r"""The ids of nodes by their places, and the element of the text with them.

    Args:
        text: the text.
        offsets: the places of nodes in it, in code points.

    Examples:
        >>> text_with_nodes("\U0001f95b!", {1})[0]
        {0: '0', 1: '2', 2: '3'}
    """
    places = sorted({0, len(text), *offsets})
    pieces = [text[start:end] for start, end in pairwise([*places, len(text)])]
    units = accumulate((len(piece.encode("utf-16-le")) // 2 for piece in pieces), initial=0)
    nodes = dict(zip(places, map(str, units), strict=False))
    named = zip(nodes.values(), pieces, strict=True)
    content = "".join(
        f'<Node id="{node}"/>{xml_places.escape(_clean(piece))}' for node, piece in named
    )
    return nodes, f"<TextWithNodes>{content}</TextWithNodes>\n"


def _element(tag: str, pairs: Sequence[tuple[str, str]], features: Iterable[Sequence[Any]]) -> str:
    """An element with its features."""
    lines = [f"<{tag}{xml_places.attributes([(name, _clean(value)) for name, value in pairs])}>\n"]
    for name, value in features:
        kind, text = (_BOOLEAN, "true") if value is None else (_STRING, value)
        lines.append(
            f'<Feature><Name className="{_STRING}">{xml_places.escape(_clean(name))}</Name>'
            f'<Value className="{kind}">{xml_places.escape(_clean(text))}</Value></Feature>\n'
        )
    return "".join([*lines, f"</{tag}>\n"])


def _clean(text: str) -> str:
    """A text with spaces for characters that XML does not have."""
    return re.sub(xml_places.ABSENT, " ", text)


def _placed_mentions(corpus: Corpus) -> pl.DataFrame:
    """The mentions that are in the text of their document."""
    sizes = corpus.documents.select(document="row", size=pl.col("text").str.len_chars())
    rows = corpus.mentions.join(sizes, on="document", how="left", maintain_order="left")
    start, end = pl.col("start"), pl.col("end")
    return rows.filter((start >= 0) & (start <= end) & (end <= pl.col("size"))).drop("size")


def count_losses(corpus: Corpus) -> Mapping[str, int]:
    """The counts of what GATE documents cannot represent of the tables that they have."""
    mentions, key = _placed_mentions(corpus), ["document", "target"]
    texts = dict(corpus.documents.select("row", "text").iter_rows())
    spans = mentions.drop_nulls("text").select("document", "start", "end", "text").iter_rows()
    frames = corpus.frames.select("document", target=pl.col("frame").fill_null(""))
    named = pl.concat([mentions.select("document", target="mention"), frames])
    modifiers, arguments = corpus.modifiers, corpus.arguments
    taken = ~pl.struct(*key, "label").is_first_distinct()
    taken |= pl.col("label").is_in([_ENTITY, _IDENTIFIER])
    tables = (corpus.documents, mentions, corpus.frames, arguments, modifiers)
    return {
        **source_files.count_without_file(corpus, FORMAT.name, SUFFIX),
        "characters not allowed in XML": count_matching(xml_places.ABSENT, *tables),
        "mentions outside of texts": corpus.mentions.height - mentions.height,
        "texts of mentions that differ from the document": sum(
            texts[row][start:end] != text for row, start, end, text in spans
        ),
        "identifiers that are empty": named.filter(target="").height,
        "attributes of unknown items": modifiers.join(named, on=key, how="anti").height,
        "attributes with a name that is taken": modifiers.filter(taken).height,
        "arguments of unknown items": arguments.join(named, on=key, how="anti").height,
        "roles other than Arg1, Arg2 and so on": count_roles(corpus),
    }


FORMAT = declaration(__name__)
