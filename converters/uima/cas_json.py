r"""CAS JSON: the annotations of UIMA and INCEpTION as JSON, one file per document.

Format:
    UIMA CAS JSON 0.4, one object per file: `%TYPES` declares the types, `%FEATURE_STRUCTURES` are
    the structures, each with `%ID`, `%TYPE` and its features, and `%VIEWS` has the members of each
    view. A feature that begins with `@` refers to another structure, one with `#` is a number that
    JSON may not have.

Conventions:
    Those of CAS XMI (`cas_xmi.py`): offsets count UTF-16 code units, only members of views are
    read, and features and links mean the same. A record is a structure, in the order of the file.

Example lines:
    {"%FEATURE_STRUCTURES": [
      {"%ID": 1, "%TYPE": "uima.cas.Sofa", "sofaNum": 1, "sofaID": "_InitialView", "sofaString": "Ann."},
      {"%ID": 2, "%TYPE": "custom.Span", "@sofa": 1, "begin": 0, "end": 3, "value": "PER"}],
     "%VIEWS": {"_InitialView": {"%SOFA": 1, "%MEMBERS": [2]}}}

Codes raised: JSNxxx, for invalid JSON; UIM2xx, UIM3xx.
"""  # noqa: E501

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Any

from hlteval.converters.declarations import declaration
from hlteval.converters.format import ReadResult
from hlteval.converters.toolkit import source_files
from hlteval.converters.toolkit.json_documents import compact
from hlteval.converters.toolkit.rows import DocumentRows
from hlteval.converters.toolkit.source_files import head_of_first
from hlteval.converters.uima import layers
from hlteval.converters.uima.building import Layers
from hlteval.converters.uima.cas import INITIAL, Cas, Structure, View, read_cas, take_arrays
from hlteval.converters.uima.layers import ARGUMENTS, LINK, Choice
from hlteval.converters.uima.types import Types, written_types
from hlteval.findings import Bounded, FieldRef, Finding, Location, Problem
from hlteval.representation import Corpus
from hlteval.sources import Member, Source, decode
from hlteval.syntax.json_text import KINDS, Layout, format_path, items, strict
from hlteval.syntax.places import Path, Places

SUFFIX = ".cas.json"
_STRUCTURES, _VIEWS, _TYPES = "%FEATURE_STRUCTURES", "%VIEWS", "%TYPES"
_MEMBERS = re.compile(r'"%(?:TYPES|FEATURE_STRUCTURES|VIEWS)"[ \t\r\n]*:')
_SOFA = "uima.cas.Sofa"


def sniff(source: Source) -> bool:
    """Whether the first file that ends in .json has members of this format."""
    begin = head_of_first(source_files.with_suffix(source, ".json"))
    return begin.lstrip()[:1] == "{" and bool(_MEMBERS.search(begin))


documents = partial(layers.documents, suffix=SUFFIX)


def read(source: Source, **settings: str) -> Iterator[ReadResult]:
    """The documents of a source in batches, in the order of their names."""
    return layers.read_files(source, FORMAT.name, SUFFIX, documents, add_file, settings)


def add_file(rows: DocumentRows, origin: int, name: str, text: str, choice: Choice) -> None:
    """Add the documents of a file, and what is wrong in it."""
    reader = _Reader(text, rows.files.members[origin])
    cas = reader.cas()
    if cas is None:
        rows.begin(origin, name)
    else:
        read_cas(rows, origin, name, cas, reader.report, choice)
    rows.findings += reader.bounded.findings


def syntax_problems(text: str) -> Iterator[Problem]:
    """The problems of a text that is not valid JSON."""
    if not text.strip():
        yield Problem("JSN115", 0, 0, 0, {"wanted": "an object, `{ }`"})
        return
    parsed = items(text)
    yield from parsed.problems
    for item in parsed.parsed:
        yield from item.problems


class _Reader:
    """Makes structures and views of a file, and reports its problems at their places.

    Attributes:
        bounded: takes the findings.
        root: the value of the file.
        items: the structures, each with its step in the path: their names may be identifiers.
    """

    def __init__(self, text: str, member: Member) -> None:
        self.text, self.display = text, member.display
        self.bounded = Bounded(member.max_per_code)
        self.places = Places(text)
        self.layout = Layout(text, len(text) - len(text.lstrip(" \t\r\n")))
        self.valid, self.root = strict(text.encode())
        is_object = self.valid and isinstance(self.root, dict)
        structures = self.root.get(_STRUCTURES) if is_object else None
        self.items: Sequence[tuple[str | int, Any]] = []
        if isinstance(structures, dict):
            self.items = [*structures.items()]
        elif isinstance(structures, list):
            self.items = [*enumerate(structures)]
        self.arrays: dict[str, list[str]] = {}

    def add(self, problem: Problem, path: str) -> None:
        """Add the finding of a problem at a path of the file."""
        self.bounded.add(problem.code, path, self._explain, problem)

    def _explain(self, path: str, problem: Problem) -> Finding:
        problem = problem._replace(values={"path": path, **problem.values})
        return self.places.finding(problem, self.display, path)

    def report(self, record: int, code: str, field: str = "", **values: object) -> Problem:
        """Add the problem of a field of a structure, by its number; 0 for the file."""
        field = "" if self.bounded.is_full(code) else field  # others are only counted
        return self.report_at(self.path(record, field), code, **values)

    def report_at(self, path: Path, code: str, **values: object) -> Problem:
        """Add the problem of a part of the file."""
        start = self.layout.start
        span = (start, min(start + 1, len(self.text)))
        if path and not self.bounded.is_full(code):
            span = self.layout.place(path)
        problem = Problem(code, 0, *span, values)
        self.add(problem, format_path(path))
        return problem

    def path(self, record: int, field: str) -> Path:
        """The path to a field of a structure, or to the structure if it has no such field."""
        if not 0 < record <= len(self.items):
            return ()
        at, item = self.items[record - 1]
        path: Path = (_STRUCTURES, at)
        if field == "members":
            view = item.get("sofaID") if isinstance(item, dict) else None
            members = (_VIEWS, str(view or INITIAL), "%MEMBERS")
            return path if self.layout.find(members) is None else members
        names = ((*path, sign + field) for sign in ("", "@", "#", "%"))
        found = (each for each in names if field and self.layout.find(each) is not None)
        return next(found, path)

    def cas(self) -> Cas | None:
        """All that is in the file; None if it has no structures."""
        if not self.valid:
            for problem in syntax_problems(self.text):
                self.add(problem, "$")
            return None
        if not self.check((), dict, self.root):
            return None
        listed = self.root.get(_STRUCTURES)
        if not isinstance(listed, dict) and not self.check((_STRUCTURES,), list, listed):
            return None
        structures: dict[str, Structure] = {}
        sofas: dict[str, View] = {}
        for record, (at, item) in enumerate(self.items, start=1):
            if not self.check((_STRUCTURES, at), dict, item):
                continue
            key = at if at and isinstance(at, str) else _reference(item.get("%ID"))
            name = item.get("%TYPE")
            if key is None or key in structures or key in sofas or not isinstance(name, str):
                self.report(record, "UIM205", "ID", id=str(key or "nothing")[:40])
            elif name == _SOFA:
                text, view = item.get("sofaString"), item.get("sofaID")
                own = text if isinstance(text, str) else None
                sofas[key] = View(view if isinstance(view, str) else INITIAL, own, (), record)
            else:
                structures[key] = self.structure(key, name, item, record)
        take_arrays(structures, self.arrays)
        return Cas(structures, self.views(sofas), self.types())

    def check(self, path: Path, wanted: type, value: Any) -> bool:
        """Whether a value has a type; if not, that is reported."""
        if isinstance(value, wanted):
            return True
        given = KINDS.get(type(value), "something else")
        self.report_at(path, "UIM206", given=given, wanted=KINDS[wanted])
        return False

    def structure(self, key: str, name: str, item: Mapping[str, Any], record: int) -> Structure:
        """A structure with its features, as text."""
        found = Structure(key, name, record)
        for feature, value in item.items():
            if feature.startswith("@"):
                if feature != "@sofa" and (target := _reference(value)) is not None:
                    found.references[feature[1:]] = [target]
            elif feature == "%ELEMENTS" and isinstance(value, list):
                self.arrays[key] = [target for each in value if (target := _reference(each))]
            elif not feature.startswith("%") and (written := text_of(value)) is not None:
                found.values[feature.lstrip("#^")] = written
        return found

    def views(self, sofas: Mapping[str, View]) -> list[View]:
        """The views, also those without members."""
        listed = self.root.get(_VIEWS, {})
        if not self.check((_VIEWS,), dict, listed):
            return [*sofas.values()]
        named = {view.name: view for view in sofas.values()}
        views = {id(view): view for view in sofas.values()}
        for name, item in listed.items():
            if not self.check((_VIEWS, name), dict, item):
                continue
            members = item.get("%MEMBERS", [])
            view = sofas.get(_reference(item.get("%SOFA")) or "") or named.get(name)
            view = view or View(name, None)
            if self.check((_VIEWS, name, "%MEMBERS"), list, members):
                view.members = [key for each in members if (key := _reference(each))]
            views[id(view)] = view
        return [*views.values()]

    def types(self) -> Types:
        """The types that the file declares."""
        types, listed = Types(), self.root.get(_TYPES, {})
        for name, item in listed.items() if isinstance(listed, dict) else ():
            if isinstance(item, dict):
                ranges = {
                    feature: str(own.get("%RANGE"))
                    for feature, own in item.items()
                    if not feature.startswith("%") and isinstance(own, dict)
                }
                types.add(name, str(item.get("%SUPER_TYPE")), ranges)
        return types


def _reference(value: Any) -> str | None:
    """The identifier of a structure as text; None if it is not a number.

    Examples:
        >>> _reference(7), _reference(True), _reference("7")
        ('7', None, None)
    """
    return str(value) if type(value) is int and abs(value) < 1 << 63 else None


def text_of(value: Any) -> str | None:
    """A feature as text.

    Examples:
        >>> text_of(True), text_of(0.5), text_of(None), text_of([])
        ('true', '0.5', None, None)
    """
    if isinstance(value, str):
        return value
    is_number = isinstance(value, bool | float) or _reference(value) is not None
    return compact(value) if is_number else None


def locate(member: Member, places: Sequence[FieldRef]) -> list[Location | None]:
    """The places of structures, and of their features as fields."""
    text = decode(member.fetch(), display=member.display, encoding=member.encoding).text or ""
    reader = _Reader(text, member)
    found: list[Location | None] = []
    for place in places:
        path = reader.path(place.record, place.field)
        if not path:
            found.append(None)
            continue
        span = reader.places.span(*reader.layout.place(path))
        found.append(Location(span, reader.places.excerpt(span)))
    return found


def as_files(corpus: Corpus) -> Iterator[tuple[str, Iterator[str]]]:
    """The name of the file of each document, and its content in pieces."""
    built = corpus.cached(Layers)
    for row, name in source_files.output_paths(corpus, FORMAT.name, SUFFIX).items():
        yield name, _file(row, built)


def _file(row: int, built: Layers) -> Iterator[str]:
    """The content of the file of a document, a structure a line."""
    text, annotations = built.texts[row], built.annotations[row]
    sofa = {"%ID": 1, "%TYPE": _SOFA, "sofaNum": 1, "sofaID": INITIAL, "mimeType": "text"}
    types = written_types((item.layer, *item.values) for item in annotations)
    declared = ",\n  ".join(
        f"{compact(name)}: {compact(type_members(types, name))}" for name in types.supertypes
    )
    first = sofa if text is None else sofa | {"sofaString": text}
    yield f'{{"{_TYPES}": {{\n  {declared}}},\n "{_STRUCTURES}": [\n  {compact(first)}'
    for number, layer, features in built.structures(row, arrays=True):
        own = {name: value for name, value in features.items() if value is not None}
        yield f",\n  {compact({'%ID': number, '%TYPE': layer, **own})}"
    views = {INITIAL: {"%SOFA": 1, "%MEMBERS": [*range(2, len(annotations) + 3)]}}
    yield f'],\n "{_VIEWS}": {compact(views)}}}\n'


def type_members(types: Types, name: str) -> dict[str, object]:
    """The declaration of a type."""
    found: dict[str, object] = {"%NAME": name, "%SUPER_TYPE": types.supertypes[name]}
    for feature, range_ in types.ranges[name].items():
        own = f"{LINK}[]" if feature == ARGUMENTS else range_
        found[feature] = {"%NAME": feature, "%RANGE": own}
    return found


def count_losses(corpus: Corpus) -> Mapping[str, int]:
    """The counts of what the files cannot represent."""
    losses = corpus.cached(Layers).losses
    return {**source_files.count_without_file(corpus, FORMAT.name, SUFFIX), **losses}


FORMAT = declaration(__name__)
