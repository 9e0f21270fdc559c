r"""PubTator: titles and abstracts with annotations and relations, as lines of one file.

Format:
    A line `ID|t|TITLE` and a line `ID|a|ABSTRACT` for each document, then its lines of cells between
    tabs. An annotation is ID, start, end, text, type, identifier, and texts of the individual
    mentions of a composite one. A relation is ID, type, two identifiers, and whether it is novel.

Conventions:
    The text of a document is its title, a line feed and its abstract; offsets are 0-based,
    half-open code points of it. The first identifier of a cell `A|B` is the entity, others are
    candidates, if each of them has a digit: keys of tmVar (`p|SUB|V|600|E`) are one. An annotation
    whose text is the beginning and the end of what is there has these two fragments. A relation has
    entities as arguments, with the roles Arg1 and Arg2.

Example lines:
    101|t|Ovarian and peritoneal cancer
    101	0	29	Ovarian and peritoneal cancer	Disease	D010051|D010534	Ovarian cancer|peritoneal cancer
    101	CID	D008874	D010051

Codes raised: PBTxxx.
"""  # noqa: E501

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import Any

import polars as pl

from hlteval.converters.bioc.reading import LEAST, mismatch_problem
from hlteval.converters.bioc.writing import writable
from hlteval.converters.declarations import declaration
from hlteval.converters.format import ReadResult
from hlteval.converters.toolkit import source_files
from hlteval.converters.toolkit.offsets import CHARACTERS, Place, place_in
from hlteval.converters.toolkit.rows import from_dictionaries, keyed
from hlteval.converters.toolkit.span_texts import Mismatch, Mismatches, TextWindow, matching_units
from hlteval.converters.toolkit.spans import Quotes, candidates
from hlteval.findings import FieldRef, Finding, Location, Problem, line_findings
from hlteval.representation import Corpus
from hlteval.sources import Member, Source

_TEXT = re.compile(r"([^|\t]+)\|([ta])\|(.*)", re.S)
_TITLE = re.compile(r"^[^|\s]+\|t\|", re.M)
_NUMBER, _NUMERIC = re.compile("[0-9]{1,15}"), re.compile("[-+]?[0-9][0-9.,]*")
#: The cells of fields, of annotations and of relations.
_ANNOTATION = {"start": 1, "end": 2, "text": 3, "fragments": 3, "label": 4, "entity": 5}
_RELATION = {"label": 1, "target": 2, "Arg1": 2, "Arg2": 3}
#: What cells and texts cannot have, and what the first cell cannot.
_BREAKS, _TEXT_BREAKS = "[\x00\t\r\n]", "[\x00\r\n]"
_ODD_NAME = "^$|^\ufeff|[|\x00\t\r\n]"
#: Most cells of a line, and characters of a text that is divided into fragments.
_MOST, _LONGEST = 7, 300


def members(source: Source) -> tuple[Member, ...]:
    """The files that are read."""
    return source_files.with_suffix(source, ".pubtator")


def sniff(source: Source) -> bool:
    """Whether a title is at the beginning of the first file."""
    return _TITLE.search(source_files.head_of_first(members(source))) is not None


def read(source: Source, offsets: str = CHARACTERS) -> Iterator[ReadResult]:
    """The documents, a batch for each file; offsets may count another unit."""
    names: dict[str, int] = {}

    def documents(file: source_files.File) -> tuple[Corpus, Iterable[Finding]]:
        return _Lines(file).result(offsets, names)

    return source_files.read_files(source.only(members(source)), FORMAT.name, documents)


class _Lines:
    """The lines of a file as rows of the tables.

    Attributes:
        parts: the title and the abstract of each document, by the letters of their lines.
        begins: the first line of each document.
        rows: the rows of the tables, without keys.
        problems: what is wrong in the file.
    """

    def __init__(self, file: source_files.File) -> None:
        self.file = file
        self.lines = [line.removesuffix("\r") for line in (file.text or "").split("\n")]
        self.parts: dict[str, dict[str, str]] = {}
        self.begins: dict[str, int] = {}
        self.rows: defaultdict[str, list[tuple[Any, ...]]] = defaultdict(list)
        self.problems: list[Problem] = []
        self.rejected: list[Problem] = []

    def result(self, offsets: str, names: dict[str, int]) -> tuple[Corpus, list[Finding]]:
        """The corpus of the file, and the findings in it.

        Args:
            offsets: how they count.
            names: the names of documents in other files; its own are added.
        """
        records: list[tuple[int, list[str]]] = []
        for record, line in enumerate(self.lines, start=1):
            cells = line.split("\t")
            if found := _TEXT.fullmatch(line):
                name, letter, text = found.groups()
                if letter in self.parts.setdefault(name, {}):
                    self.reject("PBT103", record, 0, len(name) + 2, name=name[:40], letter=letter)
                self.parts[name].setdefault(letter, text)
            elif cells[0] and 4 <= len(cells) <= _MOST:
                self.parts.setdefault(cells[0], {})
                records.append((record, cells))
            elif line.strip():
                self.reject("PBT101", record, 0, len(line))
                continue
            self.begins.setdefault(found[1] if found else cells[0], record)
        texts = [
            f"{part.get('t', '')}\n{part['a']}" if "a" in part else part.get("t")
            for part in self.parts.values()
        ]
        places = [place_in(text or "", offsets) for text in texts]
        rows = {name: row for row, name in enumerate(self.parts)}
        mismatches = Mismatches(self.report, LEAST)
        # texts are looked at one after the other, also if the lines of documents alternate
        for record, cells in sorted(records, key=lambda each: rows[each[1][0]]):
            row = rows[cells[0]]
            if _is_relation(cells):
                self.relation((row, 0, record), cells)
                continue
            mismatch = self.annotation((row, 0, record), cells, texts[row], places[row])
            if mismatch:
                mismatches.add(mismatch)
        mismatches.decide()
        self.check_relations()
        for name, row in rows.items():
            own = source_files.unique_name(name, names)
            self.rows["documents"].append((0, own, texts[row]))
            if own != name:
                values = {"name": name[:40], "other": own[:60]}
                self.problems.append(Problem("PBT104", self.begins[name], 0, len(name), values))
        tables = {name: keyed(name, rows) for name, rows in self.rows.items()}
        rejected = (
            problem.rejection("line", self.lines[problem.record - 1], row=row, origin=0)
            for row, problem in enumerate(self.rejected)
        )
        tables["rejected_records"] = from_dictionaries("rejected_records", rejected)
        corpus = Corpus(sources=[self.file.origin], **tables)
        member, problems = self.file.member, sorted(self.problems, key=lambda each: each.record)
        return corpus, line_findings(problems, self.lines, member.display, member.max_per_code)

    def reject(self, code: str, record: int, start: int, end: int, **values: object) -> None:
        """Report a line that is not read."""
        problem = Problem(code, record, start, end, values)
        self.problems.append(problem)
        self.rejected.append(problem)

    def annotation(
        self, key: tuple[int, int, int], cells: list[str], text: str | None, place_of: Place
    ) -> Mismatch | None:
        """Add a mention; what is wrong with its text."""
        line, record = self.lines[key[2] - 1], key[2]
        for column, given in zip(("start", "end"), cells[1:3], strict=True):
            if not _NUMBER.fullmatch(given) or int(given) < int(cells[1]):
                place = source_files.cell_stretch(line, _ANNOTATION[column])
                self.reject("PBT102", record, *place, given=given[:40] or "nothing", column=column)
                return None
        start, end = place_of(int(cells[1]), int(cells[2]))
        quote = cells[3] or (None if text is None or start < end else "")
        mismatch, parts = None, None
        if text is not None and quote is not None:
            window = TextWindow(text, 0)
            near = end - start <= _LONGEST + 2 * len(quote)  # longer ones are not even compared
            if not near or not window.has([(start, end)], quote):
                parts = _fragments(text[start:end], quote, start) if near else None
                units = matching_units(window, [(start, end)], quote)
                mismatch = Mismatch(record, window, [(start, end)], quote, units)
        fragments = [{"start": a, "end": b} for a, b in parts] if parts else None
        entity, *others = _identifiers(cells[5] if cells[5:] else "")
        links = enumerate(others, start=2)
        self.rows["links"] += [(*key, len(self.rows["mentions"]), *link) for link in links]
        mention = (*key, "", cells[4], start, end, fragments, quote, entity or None)
        self.rows["mentions"].append(mention)
        return None if parts else mismatch

    def relation(self, key: tuple[int, int, int], cells: list[str]) -> None:
        """Add a relation."""
        row = len(self.rows["frames"])
        self.rows["frames"].append((*key, None, "relation", cells[1], None))
        targets = enumerate(cells[2:4], start=1)
        self.rows["arguments"] += [(*key, row, at, f"Arg{at}", target) for at, target in targets]

    def check_relations(self) -> None:
        """Report arguments that are not identifiers, in documents whose annotations have some."""
        known: dict[int, set[str]] = defaultdict(set)
        for document, *_, entity in chain(self.rows["mentions"], self.rows["links"]):
            known[document].update(() if entity is None else (entity, *re.split("[,;]", entity)))
        for document, _, record, *_, role, target in self.rows["arguments"]:
            if known[document] and target not in known[document]:
                place = source_files.cell_stretch(self.lines[record - 1], _RELATION[role])
                self.problems.append(Problem("PBT301", record, *place, {"target": target[:40]}))

    def report(self, mismatch: Mismatch, unit: str) -> None:
        """Report an annotation whose text is not there, or the unit of offsets that explains it."""
        place = source_files.cell_stretch(self.lines[mismatch.place - 1], _ANNOTATION["text"])
        values = dict(mismatch_problem(mismatch, unit).values)
        if str(values.get("hint")).startswith("use length"):
            values["hint"] = "correct the end; the start fits"
        code = "PBT202" if unit else "PBT201"
        self.problems.append(Problem(code, mismatch.place, *place, values))


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


def _fragments(there: str, quote: str, start: int) -> list[tuple[int, int]] | None:
    """The fragments of a discontinuous span whose text is the beginning and end of what is there.

    Examples:
        >>> _fragments("ovarian and peritoneal cancer", "ovarian cancer", 10)
        [(10, 17), (33, 39)]
    """
    end, there = start + len(there), re.sub(_BREAKS, " ", there)
    for at in [space.start() for space in re.finditer(" ", quote[:_LONGEST])][::-1]:
        first, last = quote[:at], quote[at + 1 :]
        longer = first and last and len(there) > len(quote)
        if longer and there.startswith(first) and there.endswith(last):
            return [(start, start + at), (end - len(last), end)]
    return None


def locate(member: Member, places: Sequence[FieldRef]) -> list[Location | None]:
    """The cells of lines; a record is a line."""

    def stretch(line: str, field: str) -> tuple[int, int]:
        fields = _RELATION if _is_relation(line.split("\t")) else _ANNOTATION
        return source_files.cell_stretch(line, fields.get(field))

    return source_files.locate_lines(member, places, stretch)


def write(corpora: Iterable[Corpus], path: Path) -> None:
    """All documents with their annotations and relations, an empty line after each."""
    with path.open("w", encoding="utf-8", newline="") as stream:
        for corpus in corpora:
            lines: dict[int, list[str]] = defaultdict(list)
            pairs = _pairs(corpus).with_columns(target=pl.coalesce("entity", "target"))
            relations = pairs.group_by("frame_row", maintain_order=True).agg(
                pl.col("document", "label").first(), "target"
            )
            rows = ((row, label, *two) for _, row, label, two in relations.iter_rows())
            for document, *cells in chain(_annotations(corpus), rows):
                lines[document].append("\t".join(re.sub(_BREAKS, " ", cell) for cell in cells))
            for row, name, text in _writable(corpus).select("row", "name", "text").iter_rows():
                parts = (text or "").split("\n", 1) if text is not None else []
                for letter, part in zip("ta", parts, strict=False):
                    stream.write(f"{name}|{letter}|{re.sub(_TEXT_BREAKS, ' ', part)}\n")
                stream.writelines(f"{name}\t{line}\n" for line in lines[row])
                stream.write("\n")


def _writable(corpus: Corpus) -> pl.DataFrame:
    """The documents whose names can be the first cell of a line."""
    return corpus.documents.filter(~pl.col("name").str.contains(_ODD_NAME))


def _annotations(corpus: Corpus) -> Iterator[tuple[Any, ...]]:
    """The mentions of a corpus: the document, and the further cells."""
    texts = dict(corpus.documents.drop_nulls("text").select("row", "text").iter_rows())
    quotes = {row: Quotes(text) for row, text in texts.items()}
    others = candidates(corpus)
    columns = ("row", "document", "label", "start", "end", "fragments", "text", "entity")
    rows = corpus.mentions.filter(writable()).select(columns).iter_rows()
    for row, document, label, start, end, fragments, text, entity in rows:
        there = text or ""
        if text is None or fragments is not None:
            own = texts.get(document, "")[start:end] if text is not None else ""
            if not (fragments and _follow(fragments, own, text, start)):
                there = (document in quotes and quotes[document].at((start, end))) or ""
        identifiers = "|".join([entity or "", *others.get(row, ())])
        yield document, str(start), str(end), there, label, identifiers


def _follow(fragments: list[dict[str, int]], there: str, text: str | None, start: int) -> bool:
    """Whether the fragments of a mention follow from its text and what is there."""
    spans = [(part["start"], part["end"]) for part in fragments]
    return text is not None and _fragments(there, re.sub(_BREAKS, " ", text), start) == spans


def _pairs(corpus: Corpus) -> pl.DataFrame:
    """The arguments of relations with exactly two, with the `entity` of mentions they refer to."""
    mentions = corpus.mentions.filter(pl.col("mention") != "").unique(["document", "mention"])
    named = mentions.select("document", "entity", target="mention", is_mention=True)
    relations = corpus.frames.filter(kind="relation").select("label", frame_row="row")
    rows = corpus.arguments.filter(pl.len().over("frame_row") == 2).sort("frame_row", "position")
    rows = rows.join(relations, on="frame_row", maintain_order="left")
    return rows.join(named, on=["document", "target"], how="left", maintain_order="left")


def count_losses(corpus: Corpus) -> Mapping[str, int]:
    """The counts of what PubTator cannot represent of its tables, by name."""
    texts = dict(corpus.documents.drop_nulls("text").select("row", "text").iter_rows())
    pairs, placed = _pairs(corpus), corpus.mentions.filter(writable())
    columns = ("document", "start", "end", "text", "fragments")
    unclear = [
        start
        for document, start, end, text, fragments in placed.select(columns).iter_rows()
        if fragments and not _follow(fragments, texts.get(document, "")[start:end], text, start)
    ]
    others = candidates(corpus)
    named = [[entity or "", *others.get(row, ())] for row, entity in placed["row", "entity"].rows()]
    divided = [names for names in named if names != _identifiers("|".join(names))]
    unwritten = corpus.links.height - sum(len(names) - 1 for names in named)
    odd = pl.any_horizontal(pl.col(pl.String).str.contains(_BREAKS)).fill_null(value=False)
    cells = [corpus.mentions, corpus.links, corpus.frames, corpus.arguments]
    some = pl.concat([placed.select("document"), pairs.select("document")])
    silent = corpus.documents.join(some, left_on="row", right_on="document", how="anti")
    relations = corpus.frames.filter(kind="relation")
    ordered = pl.col("role") == pl.format("Arg{}", "position")
    breaks = [re.search(_TEXT_BREAKS, text.replace("\n", "", 1)) for text in texts.values()]
    return {
        "names that cannot begin a line": corpus.documents.height - _writable(corpus).height,
        "documents without anything": silent.filter(pl.col("text").is_null()).height,
        "texts with more than one line break": len([*filter(None, breaks)]),
        "identifiers of mentions": corpus.mentions.filter(pl.col("mention") != "").height,
        "mentions outside of texts": corpus.mentions.height - placed.height,
        "mentions whose fragments do not follow from their text": len(unclear),
        "mentions whose entities cannot be in one cell": len(divided),
        "candidates without an entity": unwritten,
        "relations without exactly two arguments": relations.height - pairs.height // 2,
        "arguments other than Arg1 and Arg2": pairs.filter(~ordered).height,
        "arguments that are mentions, which become entities": pairs["is_mention"].count(),
        "cells with line breaks or tabs": sum(table.filter(odd).height for table in cells),
    }


FORMAT = declaration(__name__)
