r"""CAS XMI: the annotations of UIMA, DKPro and INCEpTION as XML, one file per document.

Format:
    XMI 2.0, one file `<document>.xmi` per document, often with TypeSystem.xml or
    `<document>.TypeSystem.xml` beside it: each element below the root is a feature structure, its
    namespace and name the type, its attributes the features. A `Sofa` has the text, a `View`
    the structures that are indexed for it.

Conventions:
    Offsets count UTF-16 code units of the text. Only what a view has is read. `layers.py` describes
    the use of annotations, `cas.py` that of views, and why dkpro-cassis does not read the files. Of
    an exported project, `annotation/<document>/<annotator>.xmi`, or `<annotator>.zip` with such a
    file, and the curated document are the annotations of several annotators, whose identifiers
    begin with their names. Links of a chain are mentions of one entity. A record is an element,
    counted by start tags. TypeSystem.xml declares which features refer to structures; without it,
    those with the usual names do.

Example lines:
    <cas:Sofa xmi:id="1" sofaNum="1" sofaID="_InitialView" mimeType="text" sofaString="Ann sang."/>
    <type:NamedEntity xmi:id="2" sofa="1" begin="0" end="3" value="PER"/>
    <cas:View sofa="1" members="2"/>

Codes raised: XML1xx, UIM2xx, UIM3xx.
"""

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache, partial
from itertools import chain, count

from hlteval.converters.declarations import declaration
from hlteval.converters.format import ReadResult
from hlteval.converters.toolkit import source_files
from hlteval.converters.toolkit.rows import DocumentRows
from hlteval.converters.toolkit.source_files import head_of_first
from hlteval.converters.uima import layers
from hlteval.converters.uima.building import DOCUMENT, Layers, Value
from hlteval.converters.uima.cas import INITIAL, Cas, Structure, View, read_cas, resolve
from hlteval.converters.uima.layers import ARGUMENTS, LINK, Choice
from hlteval.converters.uima.types import Types, written_types
from hlteval.findings import Problem
from hlteval.representation import Corpus
from hlteval.sources import Member, Source, Unreadable, decode, sha256
from hlteval.syntax.xml_elements import Element, Malformed, Reader, encoding_problem, parse
from hlteval.syntax.xml_places import ABSENT, Named, attributes, located_findings

SUFFIX, TYPE_SYSTEM = ".xmi", ".TypeSystem.xml"
_ID = "xmi:id"
_ROOT = re.compile(r"<(?:[\w.-]+:)?XMI[\s>/]")
#: The package of types that have none.
_NO_PACKAGE = "uima.noNamespace"
_ABSENT, _REPLACEMENT = re.compile(ABSENT), "\ufffd"
_NAMESPACES = (
    ("xmlns:xmi", "http://www.omg.org/XMI"),
    ("xmlns:cas", "http:///uima/cas.ecore"),
    ("xmlns:tcas", "http:///uima/tcas.ecore"),
)
_TYPES_HEAD = '<typeSystemDescription xmlns="http://uima.apache.org/resourceSpecifier">\n<types>\n'
_HEAD = '<?xml version="1.0" encoding="UTF-8"?>\n'


def sniff(source: Source) -> bool:
    """Whether a file has the suffix, or the first the root element of XMI."""
    if source_files.has_suffix(source, SUFFIX):
        return True
    return source.kind in {"file", "stdin"} and bool(_ROOT.search(head_of_first(source.members)))


def documents(source: Source) -> Mapping[str, tuple[Member, ...]]:
    """The files of each document; those of types are with the document of their name."""
    found = layers.documents(source, SUFFIX)
    types = [member for member in source.members if _has_types(member)] if found else []
    for member in types if len(source.members) > 1 else ():
        place = layers.project_place(member)
        name = place[0] if place else member.document(member.basename.removesuffix(TYPE_SYSTEM))
        owner = name if name in found else next(iter(found))
        found = {**found, owner: (*found[owner], member)}
    return found


def _has_types(member: Member) -> bool:
    return f".{member.basename}".endswith(TYPE_SYSTEM)


def read(source: Source, **settings: str) -> Iterator[ReadResult]:
    """The documents of a source in batches, in the order of their names."""
    types, known = Types(), set[str]()
    for member in filter(_has_types, source.members):
        _add_types(types, member, known)
    take = partial(add_file, types)
    return layers.read_files(source, FORMAT.name, SUFFIX, documents, take, settings)


def _add_types(types: Types, member: Member, known: set[str]) -> None:
    """Add the types of a file, unless it is known; one that cannot be read declares none."""
    try:
        data = member.fetch()
        if (digest := sha256(data)) in known:  # each user of a project has the same
            return
        known.add(digest)
        text = decode(data, display=member.display, encoding=member.encoding).text or ""
        elements = parse(text).elements
    except (Unreadable, Malformed):
        return
    texts: dict[int, dict[str, str]] = defaultdict(dict)
    for element in elements:
        if element.parent is not None:
            texts[element.parent.ordinal][_local(element.tag)] = element.text.strip()
    for element in elements:
        own, of_type = texts[element.ordinal], element.parent and element.parent.parent
        name = own.get("name", "")
        if _local(element.tag) == "typeDescription":
            types.add(name, own.get("supertypeName", ""), {})
        elif _local(element.tag) == "featureDescription" and of_type is not None:
            ranges = types.ranges[texts[of_type.ordinal].get("name", "")]
            ranges[name] = own.get("rangeTypeName", "")


def _local(tag: str) -> str:
    return tag.rpartition(":")[2]


def add_file(
    types: Types, rows: DocumentRows, origin: int, name: str, text: str, choice: Choice
) -> None:
    """Add the documents of a file, and what is wrong in it."""
    member, problems = rows.files.members[origin], list[Named]()
    if _has_types(member) and len(rows.files.members) > 1:
        return
    try:
        parsed = Reader(text).read()
    except Malformed as reason:
        rows.findings += located_findings(text, [(reason.problem, None)], member)
        rows.begin(origin, name)
        return
    elements = parsed.elements
    if problem := encoding_problem(parsed.encoding, member.encoding):
        problems.append((problem, None))
    if _local(elements[0].tag) != "XMI":
        problems.append((elements[0].problem("XML110", root="xmi:XMI"), None))
        rows.begin(origin, name)
    else:

        def report(record: int, code: str, field: str = "", **values: object) -> Problem:
            element = elements[max(0, record - 1)]
            problem = element.problem(code, field, **values)
            problems.append((problem, element.attributes.get(_ID)))
            return problem

        cas = _cas(elements, types, problems)
        read_cas(rows, origin, name, cas, report, choice)
    rows.findings += located_findings(text, problems, member)


def _cas(elements: Sequence[Element], types: Types, problems: list[Named]) -> Cas:
    """The structures and views of a file."""
    structures: dict[str, Structure] = {}
    views: dict[str, View] = {}
    members: dict[str, tuple[Sequence[str], int]] = {}
    spaces = _namespaces(elements[0])
    for element in elements[1:]:
        if element.parent is not elements[0]:
            continue
        name = type_name(element, spaces)
        own, key = element.attributes, element.attributes.get(_ID, "")
        if name == "uima.cas.Sofa":
            views[key] = View(
                own.get("sofaID", INITIAL), own.get("sofaString"), (), element.ordinal
            )
        elif name == "uima.cas.View":
            members[own.get("sofa", "")] = own.get("members", "").split(), element.ordinal
        elif name != "uima.cas.NULL" and (not key or key in structures):
            problems.append((element.problem("UIM205", _ID, id=key[:40] or "nothing"), key))
        elif name != "uima.cas.NULL":
            values = {k: own[k] for k in own if k != _ID and not k.startswith("xmlns:")}
            structures[key] = Structure(key, name, element.ordinal, values)
    for key, (listed, record) in members.items():
        view = views.setdefault(key, View(INITIAL, None))
        view.members, view.record = listed, record
    resolve(structures, types)
    return Cas(structures, list(views.values()), types)


def _namespaces(element: Element) -> dict[str, str]:
    """The names of packages by the prefixes that an element declares.

    Examples:
        >>> space = "http:///de/a/type.ecore"
        >>> _namespaces(Element(1, "x", {"xmlns:t": space}, None, 1, 1, []))
        {'t': 'de.a.type'}
    """
    declared = (
        (name.removeprefix("xmlns:"), value.removeprefix("http:///").removesuffix(".ecore"))
        for name, value in element.attributes.items()
        if name.startswith("xmlns:")
    )
    return {prefix: space.replace("/", ".") for prefix, space in declared}


def type_name(element: Element, spaces: Mapping[str, str]) -> str:
    """The name of the type of an element."""
    prefix, colon, name = element.tag.rpartition(":")
    own = {**spaces, **_namespaces(element)} if "xmlns:" + prefix in element.attributes else spaces
    if not colon:
        return name
    package = own.get(prefix, prefix)
    return name if package == _NO_PACKAGE else f"{package}.{name}"


def as_files(corpus: Corpus) -> Iterator[tuple[str, Iterable[str]]]:
    """The names of the files of each document and of its types, with their content in pieces."""
    built = corpus.cached(Layers)
    cached = lru_cache(maxsize=100)
    head, type_system = cached(head_of), cached(_type_system)  # those of most are alike
    for row, name in source_files.output_paths(corpus, FORMAT.name, SUFFIX).items():
        yield name, _file(row, built, head)
        used = dict.fromkeys((item.layer, *item.values) for item in built.annotations[row])
        yield name.removesuffix(SUFFIX) + TYPE_SYSTEM, type_system(tuple(used))


def head_of(used: Sequence[str]) -> tuple[str, Mapping[str, str]]:
    """The beginning of a file, and the tags of its layers.

    Examples:
        >>> head_of(["custom.A"])[1]
        {'custom.A': 'custom:A', 'uima.tcas.DocumentAnnotation': 'tcas:DocumentAnnotation'}
    """
    spaces = prefixes_of(used)
    tags = {layer: f"{spaces[_address(layer)]}:{layers.short(layer)}" for layer in used}
    tags[DOCUMENT] = "tcas:DocumentAnnotation"
    own = ((f"xmlns:{prefix}", space) for space, prefix in spaces.items())
    declared = attributes([("xmi:version", "2.0"), *_NAMESPACES, *own])
    return f'{_HEAD}<xmi:XMI{declared}>\n<cas:NULL xmi:id="0"/>\n', tags


def _file(
    row: int, built: Layers, head: Callable[[Sequence[str]], tuple[str, Mapping[str, str]]]
) -> Iterator[str]:
    """The content of the file of a document, in pieces."""
    text, items = built.texts[row], built.annotations[row]
    begin, tags = head((*dict.fromkeys([*(item.layer for item in items), LINK]),))
    yield begin
    for number, layer, features in built.structures(row, arrays=False):
        pairs = ((name.removeprefix("@"), _attribute(value)) for name, value in features.items())
        yield _element(tags[layer], [(_ID, str(number)), *pairs])
    sofa = [(_ID, "1"), ("sofaNum", "1"), ("sofaID", INITIAL), ("mimeType", "text")]
    yield _element("cas:Sofa", [*sofa, ("sofaString", text)])
    members = _attribute([*range(2, len(items) + 3)])
    yield f"{_element('cas:View', [('sofa', '1'), ('members', members)])}</xmi:XMI>\n"


def _attribute(value: Value) -> str | None:
    """The value of a feature, or the numbers that it refers to."""
    if isinstance(value, list):
        return " ".join(map(str, value))
    return None if value is None else str(value)


def prefixes_of(names: Iterable[str]) -> dict[str, str]:
    """The prefixes of the addresses of the namespaces of types.

    Examples:
        >>> prefixes_of(["webanno.custom.Event", "custom.A"])
        {'http:///webanno/custom.ecore': 'custom', 'http:///custom.ecore': 'custom2'}
    """
    spaces: dict[str, str] = {}
    for name in names:
        prefix = name.split(".")[-2]
        used = set(spaces.values())
        prefixes = chain([prefix], (f"{prefix}{number}" for number in count(2)))
        spaces.setdefault(_address(name), next(each for each in prefixes if each not in used))
    return spaces


def _address(name: str) -> str:
    """The address of the namespace of a type."""
    return f"http:///{name.rpartition('.')[0].replace('.', '/')}.ecore"


def _element(tag: str, pairs: Iterable[tuple[str, str | None]]) -> str:
    """An element with attributes; what XML cannot hold is replaced."""
    return f"<{tag}{_ABSENT.sub(_REPLACEMENT, attributes(pairs))}/>\n"


def _type_system(used: Iterable[Sequence[str]]) -> str:
    """The content of TypeSystem.xml for layers, each with features that annotations have."""
    types, parts = written_types(used), [_HEAD, _TYPES_HEAD]
    for name, supertype in types.supertypes.items():
        parts.append(f"<typeDescription>\n<name>{name}</name>\n<description/>\n")
        parts.append(f"<supertypeName>{supertype}</supertypeName>\n<features>\n")
        for feature, range_ in types.ranges[name].items():
            element = f"<elementType>{LINK}</elementType>" if feature == ARGUMENTS else ""
            parts.append(
                f"<featureDescription><name>{feature}</name><description/>"
                f"<rangeTypeName>{range_}</rangeTypeName>{element}</featureDescription>\n"
            )
        parts.append("</features>\n</typeDescription>\n")
    return "".join([*parts, "</types>\n</typeSystemDescription>\n"])


def count_losses(corpus: Corpus) -> Mapping[str, int]:
    """The counts of what the files cannot represent."""
    built = corpus.cached(Layers)
    return {
        **source_files.count_without_file(corpus, FORMAT.name, SUFFIX),
        **built.losses,
        "texts with characters that XML cannot hold": built.count_texts(ABSENT),
    }


FORMAT = declaration(__name__)
