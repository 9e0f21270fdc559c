r"""PubAnnotation: annotated texts in JSON, as used by PubAnnotation and TextAE.

Format:
    One object per document (grammars/pubannotation.schema.json): alone in a file, in an array, or
    one per line (JSON Lines). It has a `text`; `denotations`, which assign a type (`obj`) to a
    `span`; `blocks`, the same for longer spans; `relations` between two of these; `attributes` of
    any of these (formerly `modifications`); or `tracks`, the annotations of several projects.

Conventions:
    Offsets are 0-based, half-open code points; a discontinuous span is an array of spans. The
    document name consists of `sourcedb`, `sourceid` and `divid`. Identifiers in a track are
    prefixed with its number in the tables (`2:T1`). A record is a document, a track, or an item of
    these, in order. An attribute whose `obj` is true has no value. Unknown members are kept as they
    are.

    Additional members represent what PubAnnotation does not define: events are denotations with a
    member `frame` (kind and trigger), and each argument is a relation with a member `argument` (its
    position); relations with roles other than subj and obj have a member `roles`; an equivalence is
    a chain of relations with a member `group`; the entity of a mention is an attribute with a
    member `column`; the text of a mention that differs from the document is a member `text`. Other
    programs ignore them.

Example lines:
    {"sourcedb": "PubMed", "sourceid": "101", "text": "IRF-4 binds PU.1.", "denotations": [
      {"id": "T1", "span": {"begin": 0, "end": 5}, "obj": "Protein"},
      {"id": "T2", "span": {"begin": 12, "end": 16}, "obj": "Protein"}],
     "relations": [{"id": "R1", "subj": "T1", "pred": "binds", "obj": "T2"}]}

Codes raised: JSNxxx, for invalid JSON; PUBxxx.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from itertools import chain
from pathlib import Path as FilePath

from hlteval.converters.declarations import declaration
from hlteval.converters.format import ReadResult
from hlteval.converters.pubannotation import writing
from hlteval.converters.pubannotation.reading import (
    Annotations,
    Reporter,
    compact,
    file_content,
    records,
    title,
)
from hlteval.converters.pubannotation.writing import files, spread
from hlteval.converters.toolkit import source_files
from hlteval.converters.toolkit.source_files import beginning, unique_name
from hlteval.findings import FieldRef, Location
from hlteval.representation import Corpus
from hlteval.sources import Member, Source, decode
from hlteval.syntax.json_text import Layout
from hlteval.syntax.places import Path, Places

_SUFFIX = ".json"
_MEMBERS = re.compile(r'"(?:denotations|sourceid|sourcedb)"[ \t\r\n]*:')


def members(source: Source) -> tuple[Member, ...]:
    """The files that are read, in the order of their names."""
    return tuple(chain.from_iterable(source_files.documents(source, _SUFFIX).values()))


def sniff(source: Source) -> bool:
    """Whether the file, or the first of a folder that ends in .json, has members of this format."""
    files = source.members
    if source.kind not in {"file", "stdin"}:
        files = tuple(file for file in files if file.basename.endswith(_SUFFIX))[:1]
    begin = beginning(files[0]) if files else ""
    return begin.lstrip()[:1] in {"[", "{"} and bool(_MEMBERS.search(begin))


def read(source: Source) -> Iterator[ReadResult]:
    """The documents of a source, some hundred at a time, however many are in a file."""
    names: dict[str, int] = {}
    for batch in source_files.batches(source, FORMAT.name, _SUFFIX):
        rows, findings = Annotations(), list(batch.findings)
        for origin, stem, text in batch.texts:
            content, record = file_content(text), 1
            reporter = Reporter(content, batch.members[origin])
            for index in range(len(content.values)):
                name = stem if content.single else f"{stem}-{index + 1}"
                record += _take(rows, reporter, names, index, name, (origin, record))
                content.values[index] = None
                if rows.is_full:
                    corpus = Corpus(sources=batch.sources, **rows.tables())
                    findings += reporter.bounded.take()
                    yield ReadResult(corpus, tuple(findings), tuple(batch.members))
                    rows = Annotations()
                    findings.clear()
            findings += reporter.bounded.findings
        corpus = Corpus(sources=batch.sources, **rows.tables())
        yield ReadResult(corpus, tuple(findings), tuple(batch.members))


def _take(
    rows: Annotations,
    reporter: Reporter,
    names: dict[str, int],
    index: int,
    stem: str,
    place: tuple[int, int],
) -> int:
    """Add a document, report its problems, and give its number of records."""
    document = reporter.content.values[index]
    if index in reporter.content.unreadable or not isinstance(document, dict):
        rows.rejected.append(reporter.rejected(index, len(rows.rejected), *place))
        return 1
    bad, own = reporter.schema_errors(index), title(document, stem)
    name = unique_name(own, names)
    if name != own:
        reporter.report(index, "PUB106", ("sourceid",), name=own, other=name)
    count = rows.take(document, name, place, bad, partial(reporter.report, index))
    reporter.settle()
    return count


def locate(member: Member, places: Sequence[FieldRef]) -> list[Location | None]:
    """Where records are; a field is a member of theirs. Of a document, only where it starts."""
    text = decode(member.fetch(), display=member.display, encoding=member.encoding).text or ""
    content, wanted = file_content(text), {place.record for place in places}
    paths: dict[int, tuple[int, Path]] = {}
    record = 1
    for index, document in enumerate(content.values):
        readable = isinstance(document, dict) and index not in content.unreadable
        for path in records(document) if readable else [()]:
            if record in wanted:
                paths[record] = (index, path)
            record += 1
    lines, layouts = Places(text), dict[int, Layout]()
    found: list[Location | None] = []
    for place in places:
        if place.record not in paths:
            found.append(None)
            continue
        index, path = paths[place.record]
        layout = layouts.setdefault(index, Layout(text, content.extents[index][0]))
        path = (*path, place.field) if layout.stretch((*path, place.field)) else path
        span = lines.span(*layout.place(path))
        found.append(Location(span, lines.excerpt(span)))
    return found


def write(corpora: Iterable[Corpus], path: FilePath, layout: str = "array") -> None:
    """All documents.

    Args:
        corpora: the batches.
        path: the file, or the folder.
        layout: `array` is one file with an array; `lines` one with a document a line; `files` a
            folder with a file each, where it was in a folder or archive of this format.
    """
    if layout == "files":
        source_files.write_files((file for corpus in corpora for file in files(corpus)), path)
        return
    rows = (document for corpus in corpora for _, document in writing.documents(corpus))
    with path.open("w", encoding="utf-8", newline="") as stream:
        if layout == "lines":
            stream.writelines(f"{compact(document)}\n" for document in rows)
            return
        stream.write("[")
        for number, document in enumerate(rows):
            stream.write(f"{',' if number else ''}\n{spread(document)}")
        stream.write("\n]\n")


FORMAT = declaration(__name__)
