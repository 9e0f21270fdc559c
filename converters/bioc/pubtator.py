r"""PubTator: titles and abstracts with annotations and relations, as lines of one file.

Format:
    A line `ID|t|TITLE` and a line `ID|a|ABSTRACT` for each document, then its lines of cells between
    tabs. An annotation is ID, start, end, text, type, identifier, and texts of the individual
    mentions of a composite one. A relation is ID, type, two identifiers, and whether it is novel.

Conventions:
    The text of a document is its title, a line feed and its abstract; offsets are 0-based,
    half-open code points of it. The first identifier of a cell `A|B` is the entity, others are
    candidates, if each of them has a digit: keys of tmVar (`p|SUB|V|600|E`) are one. A relation is
    a fact: it has entities as arguments, with the roles Arg1 and Arg2. A discontinuous mention is written as one
    span, from its first fragment to its last: other programs refuse a text that is not there.

Example lines:
    101|t|Ovarian and peritoneal cancer
    101	0	29	Ovarian and peritoneal cancer	Disease	D010051|D010534	Ovarian cancer|peritoneal cancer
    101	CID	D008874	D010051

Codes raised: PBTxxx.
"""  # noqa: E501

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence

import polars as pl

from hlteval.converters.bioc.writing import writable
from hlteval.converters.declarations import declaration
from hlteval.converters.toolkit import source_files
from hlteval.converters.toolkit.offsets import place_in
from hlteval.converters.toolkit.rows import LineFile, count_matching
from hlteval.converters.toolkit.span_texts import Mismatch, Mismatches, TextWindow
from hlteval.converters.toolkit.spans import candidates, count_roles, fill_texts, two_arguments
from hlteval.findings import Finding
from hlteval.findings.sequence import lists_by_key
from hlteval.representation import FACT, Corpus

#: A title or abstract, or 4 to 7 cells.
_LINE = re.compile(r"([^|\t]+)(?:\|([ta])\|(.*)|(?:\t[^\t]*){3,6})", re.S)
_NUMBER, _NUMERIC = re.compile("[0-9]{1,15}"), re.compile("[-+]?[0-9][0-9.,]*")
#: The cells of fields, of annotations and of relations.
_ANNOTATION = {"start": 1, "end": 2, "text": 3, "label": 4, "entity": 5}
_RELATION = {"label": 1, "target 1": 2, "target 2": 3, "Arg1": 2, "Arg2": 3}
#: The first line of a document, its texts, and its other lines: whether each is a relation.
Lines = tuple[int, dict[str, str], list[tuple[bool, int, list[str]]]]
#: What cells and texts cannot have.
_BREAKS, _TEXT_BREAKS = "[\x00\t\r\n]", "[\x00\r\n]"


def read_file(file: source_files.File, offsets: str) -> tuple[Corpus, Iterable[Finding]]:
    """The documents of a file, with their annotations and relations."""
    own = LineFile(file, stretch)

    def report(mismatch: Mismatch, unit: str) -> None:
        own.report("PBT202" if unit else "PBT201", mismatch.place, "text", **mismatch.values(unit))

    mismatches, tables, mentions = Mismatches(report), own.tables, own.tables["mentions"]
    # texts are looked at one after the other, also if the lines of documents alternate
    for row, (name, (first, parts, lines)) in enumerate(_lines_by_document(own).items()):
        unique = source_files.unique_name(name, file.names)
        if unique != name:
            own.report("PBT104", first, "name", name=name[:40], other=unique[:60])
        text = f"{parts.get('t', '')}\n{parts['a']}" if "a" in parts else parts.get("t")
        tables["documents"].append((0, unique, text))
        window, place, known = TextWindow(text or "", 0), place_in(text or "", offsets), set[str]()
        for is_relation, record, cells in sorted(lines):
            key, frame = (row, 0, record), len(tables["frames"])
            start, end = (int(cell) if _NUMBER.fullmatch(cell) else -1 for cell in cells[1:3])
            if is_relation:
                tables["frames"].append((*key, None, FACT, cells[1], None))
                for at, target in enumerate(cells[2:4], start=1):
                    tables["arguments"].append((*key, frame, at, f"Arg{at}", target))
                    if known and target not in known:
                        own.report("PBT301", record, f"Arg{at}", target=target[:40])
            elif min(start, end - start) < 0:
                column, given = ("start", cells[1]) if start < 0 else ("end", cells[2])
                own.reject("PBT102", record, column, column=column, given=given[:40] or "nothing")
            else:
                start, end = place(start, end)
                quote = cells[3] or (None if text is None or start < end else "")
                if text is not None and quote is not None and not window.has([(start, end)], quote):
                    mismatches.add(window.mismatch(record, [(start, end)], quote))
                known |= {cells[5], *re.split("[,;|]", cells[5])} - {""}
                entity, *others = _identifiers(cells[5])
                tables["links"] += [(*key, len(mentions), *link) for link in enumerate(others, 2)]
                mentions.append((*key, "", cells[4], start, end, None, quote, entity or None))
    mismatches.decide()
    return own.corpus("line")


def _lines_by_document(own: LineFile) -> dict[str, Lines]:
    """The first line of each document, its title and abstract, and the cells of other lines."""
    documents: dict[str, Lines] = {}
    for record, line in enumerate(own.lines, start=1):
        if found := _LINE.fullmatch(line):
            name, letter, text = found.groups()
            _, parts, rows = documents.setdefault(name, (record, {}, []))
            if letter is None:
                cells = line.split("\t")
                rows.append((_is_relation(cells), record, [*cells, ""]))
            elif letter in parts:
                own.reject("PBT103", record, "name", name=name[:40], letter=letter)
            else:
                parts[letter] = text
        elif line.strip():
            own.reject("PBT101", record)
    return documents


def _is_relation(cells: Sequence[str]) -> bool:
    return len(cells) == 4 or (len(cells) == 5 and not _NUMERIC.fullmatch(cells[1]))


def _identifiers(cell: str) -> list[str]:
    """The identifiers in a cell.

    Examples:
        >>> _identifiers("D010051|D010534"), _identifiers("p|SUB|V|600|E")
        (['D010051', 'D010534'], ['p|SUB|V|600|E'])
    """
    parts = cell.split("|")
    return parts if all(re.search("[0-9]", part) for part in parts) else [cell]


def stretch(line: str, field: str) -> tuple[int, int]:
    """The place of a field, which is a cell."""
    if field == "name":  # which ends before a bar or a tab
        return 0, len(re.split(r"[|\t]", line, maxsplit=1)[0])
    fields = _RELATION if _is_relation(line.split("\t")) else _ANNOTATION
    return source_files.cell_stretch(line, fields.get(field))


def as_text(corpus: Corpus) -> Iterator[str]:
    """All documents with their annotations and relations, an empty line after each."""
    annotations = ((document, cells) for document, cells, _ in _annotations(corpus))
    lines = lists_by_key((*annotations, *_relations(corpus)))
    for row, name, text in corpus.documents.select("row", "name", "text").iter_rows():
        for letter, part in zip("ta", [] if text is None else text.split("\n", 1), strict=False):
            yield f"{name}|{letter}|{re.sub(_TEXT_BREAKS, ' ', part)}\n"
        for cells in lines.get(row, ()):
            yield "\t".join([name, *(re.sub(_BREAKS, " ", cell) for cell in cells)]) + "\n"
        yield "\n"


def _annotations(corpus: Corpus) -> Iterator[tuple[int, list[str], list[str]]]:
    """The mentions of a corpus: their documents, cells, and the identifiers in the last cell."""
    whole, others = pl.when(pl.col("fragments").is_null()).then("text"), candidates(corpus)
    rows = corpus.mentions.filter(writable()).with_columns(text=whole).drop("fragments")
    rows = fill_texts(corpus.replace(mentions=rows)).mentions.fill_null("")
    columns = ("row", "document", pl.col("start", "end").cast(pl.String), "text", "label", "entity")
    for row, document, *cells, entity in rows.select(columns).iter_rows():
        names = [entity, *others.get(row, ())]
        yield document, [*cells, "|".join(names)], names


def _relations(corpus: Corpus) -> Iterator[tuple[int, list[str]]]:
    """The relations with exactly two arguments: their documents and cells, with entities."""
    rows = corpus.mentions.select("document", "mention", "entity").drop_nulls().iter_rows()
    ends, entities = two_arguments(corpus), {tuple(key): entity for *key, entity in rows}
    frames = corpus.frames.select("row", "document", "kind", "label").iter_rows()
    for row, document, kind, label in (frame for frame in frames if frame[0] in ends):
        known = {} if kind == FACT else entities
        yield document, [label, *(known.get((document, end), end) for end in ends[row])]


def count_losses(corpus: Corpus) -> Mapping[str, int]:
    """The counts of what PubTator cannot represent of its tables, by name."""
    apart = sum(names != _identifiers("|".join(names)) for *_, names in _annotations(corpus))
    texts, frames = corpus.documents["text"].str.replace("\n", "", literal=True), corpus.frames
    cells = (corpus.mentions, corpus.links, frames, corpus.arguments)
    return {
        "texts with more than one line break": int(texts.str.contains(_TEXT_BREAKS).sum()),
        "mentions outside of texts": corpus.mentions.filter(~writable()).height,
        "mentions whose entities cannot be in one cell": apart,
        "candidates without an entity": corpus.links["entity"].null_count(),
        "relations without exactly two arguments": frames.height - len(two_arguments(corpus)),
        "relations of mentions, written with their entities": frames.filter(kind="relation").height,
        "roles other than Arg1 and Arg2": count_roles(corpus),
        "cells with line breaks or tabs": count_matching(_BREAKS, *cells),
    }


FORMAT = declaration(__name__)
