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

from hlteval.converters.bioc.reading import LEAST
from hlteval.converters.bioc.writing import writable
from hlteval.converters.declarations import declaration
from hlteval.converters.format import ReadResult
from hlteval.converters.toolkit import source_files
from hlteval.converters.toolkit.offsets import CHARACTERS, Place, place_in
from hlteval.converters.toolkit.rows import count_matching, keyed, rejected_lines
from hlteval.converters.toolkit.span_texts import UNIT_NAMES, Mismatch, Mismatches, TextWindow
from hlteval.converters.toolkit.spans import Quotes, candidates
from hlteval.findings import FieldRef, Finding, Location, Problem, line_findings
from hlteval.representation import Corpus
from hlteval.sources import Member, Source
from hlteval.syntax.tsv import Lines

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
    own = source.only(members(source))
    return source_files.read_files(own, FORMAT.name, lambda file: _Rows(file).read(offsets, names))


class _Rows:
    """The lines of a file as rows of the tables.

    Attributes:
        lines: the lines.
        rows: the rows of the tables, without keys.
        rejected: what is wrong in lines that are not read.
        mismatches: the annotations whose text is elsewhere.
        problems: what is wrong with what is read.
    """

    def __init__(self, file: source_files.File) -> None:
        self.file, self.lines = file, Lines(file.text or "")
        self.rows: defaultdict[str, list[tuple[Any, ...]]] = defaultdict(list)
        self.rejected, self.problems = list[Problem](), list[Problem]()
        self.mismatches = Mismatches(self.report, LEAST)

    def read(self, offsets: str, names: dict[str, int]) -> tuple[Corpus, list[Finding]]:
        """The corpus of the file, and the findings in it.

        Args:
            offsets: how they count.
            names: the names of documents in other files; its own are added.
        """
        documents: dict[str, tuple[int, dict[str, str], list[tuple[int, list[str]]]]] = {}
        for record, line in enumerate(self.lines, start=1):
            found, cells = _TEXT.fullmatch(line), line.split("\t")
            if not found and not (cells[0] and 4 <= len(cells) <= _MOST):
                self.rejected += [self.problem("PBT101", record, None)] if line.strip() else []
                continue
            name = found[1] if found else cells[0]
            if name not in documents:
                documents[name] = (record, {}, [])
            _, parts, annotations = documents[name]
            if not found:
                annotations.append((record, cells))
            elif found[2] in parts:
                values = {"name": name[:40], "letter": found[2]}
                self.rejected.append(Problem("PBT103", record, 0, len(name) + 2, values))
            else:
                parts[found[2]] = found[3]
        # texts are looked at one after the other, also if the lines of documents alternate
        for row, (name, (begin, parts, annotations)) in enumerate(documents.items()):
            text = f"{parts.get('t', '')}\n{parts['a']}" if "a" in parts else parts.get("t")
            place, known = place_in(text or "", offsets), set[str]()
            relations = [each for each in annotations if _is_relation(each[1])]
            for record, cells in [each for each in annotations if not _is_relation(each[1])]:
                known.update(self.annotation((row, 0, record), cells, text, place))
            for record, (_, label, *targets) in relations:
                key, frame = (row, 0, record), len(self.rows["frames"])
                self.rows["frames"].append((*key, None, "relation", label, None))
                for at, target in enumerate(targets[:2], start=1):
                    self.rows["arguments"].append((*key, frame, at, f"Arg{at}", target))
                    if known and target not in known:
                        problem = self.problem("PBT301", record, at + 1, target=target[:40])
                        self.problems.append(problem)
            own = source_files.unique_name(name, names)
            self.rows["documents"].append((0, own, text))
            if own != name:
                values = {"name": name[:40], "other": own[:60]}
                self.problems.append(Problem("PBT104", begin, 0, len(name), values))
        self.mismatches.decide()
        tables = {name: keyed(name, rows) for name, rows in self.rows.items()}
        rejected = rejected_lines("line", self.rejected, self.lines)
        corpus = Corpus(sources=[self.file.origin], rejected_records=rejected, **tables)
        member, every = self.file.member, [*self.rejected, *self.problems]
        every.sort(key=lambda problem: problem.record)
        return corpus, line_findings(every, self.lines, member.display, member.max_per_code)

    def problem(self, code: str, record: int, cell: int | None, **values: object) -> Problem:
        """The problem of a cell of a line, or of the whole line."""
        return Problem(
            code, record, *source_files.cell_stretch(self.lines[record - 1], cell), values
        )

    def annotation(
        self, key: tuple[int, int, int], cells: list[str], text: str | None, place_of: Place
    ) -> list[str]:
        """Add a mention, and give its identifiers."""
        for column, given in zip(("start", "end"), cells[1:3], strict=True):
            if not _NUMBER.fullmatch(given) or int(given) < int(cells[1]):
                values = {"given": given[:40] or "nothing", "column": column}
                self.rejected.append(self.problem("PBT102", key[2], _ANNOTATION[column], **values))
                return []
        start, end = place_of(int(cells[1]), int(cells[2]))
        quote = cells[3] or (None if text is None or start < end else "")
        parts = None
        if text is not None and quote is not None:
            window = TextWindow(text, 0)
            near = end - start <= _LONGEST + 2 * len(quote)  # longer ones are not even compared
            if not near or not window.has([(start, end)], quote):
                parts = _fragments(text[start:end], quote, start) if near else None
                if not parts:
                    self.mismatches.add(window.mismatch(key[2], [(start, end)], quote))
        fragments = [{"start": a, "end": b} for a, b in parts] if parts else None
        entity, *others = _identifiers(cells[5] if cells[5:] else "")
        links = enumerate(others, start=2)
        self.rows["links"] += [(*key, len(self.rows["mentions"]), *link) for link in links]
        mention = (*key, "", cells[4], start, end, fragments, quote, entity or None)
        self.rows["mentions"].append(mention)
        named = [name for name in (entity, *others) if name]
        return named + [part for name in named for part in re.split("[,;]", name)]

    def report(self, mismatch: Mismatch, unit: str) -> None:
        """Report an annotation whose text is not there, or the unit of offsets that explains it."""
        about = {"what": UNIT_NAMES[unit], "setting": unit} if unit else {}
        values = about or mismatch.values(mismatch.hint)
        code = "PBT202" if unit else "PBT201"
        self.problems.append(self.problem(code, mismatch.place, _ANNOTATION["text"], **values))


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
            relations = _relations(corpus).select("document", "label", "targets").iter_rows()
            rows = ((document, (label, *targets)) for document, label, targets in relations)
            annotations = (each[:2] for each in _annotations(corpus))
            for document, cells in chain(annotations, rows):
                lines[document].append("\t".join(re.sub(_BREAKS, " ", cell) for cell in cells))
            for row, name, text in _writable(corpus).select("row", "name", "text").iter_rows():
                parts = [] if text is None else text.split("\n", 1)
                for letter, part in zip("ta", parts, strict=False):
                    stream.write(f"{name}|{letter}|{re.sub(_TEXT_BREAKS, ' ', part)}\n")
                stream.writelines(f"{name}\t{line}\n" for line in lines[row])
                stream.write("\n")


def _writable(corpus: Corpus) -> pl.DataFrame:
    """The documents whose names can be the first cell of a line."""
    return corpus.documents.filter(~pl.col("name").str.contains(_ODD_NAME))


def _annotations(corpus: Corpus) -> Iterator[tuple[int, tuple[str, ...], bool, list[str]]]:
    """The mentions of a corpus: their documents and cells, and what these may not keep.

    Returns:
        Also whether fragments do not follow from the text, and the identifiers in the last cell.
    """
    texts = dict(corpus.documents.drop_nulls("text").select("row", "text").iter_rows())
    quotes = {row: Quotes(text) for row, text in texts.items()}
    others = candidates(corpus)
    columns = ("row", "document", "label", "start", "end", "fragments", "text", "entity")
    rows = corpus.mentions.filter(writable()).select(columns).iter_rows()
    for row, document, label, start, end, fragments, text, entity in rows:
        quoted = text is not None
        if quoted and fragments is not None:
            spans = [(part["start"], part["end"]) for part in fragments]
            own = texts.get(document, "")[start:end]
            quoted = _fragments(own, re.sub(_BREAKS, " ", text), start) == spans
        there = "" if quoted or document not in quotes else quotes[document].at((start, end))
        names = [entity or "", *others.get(row, ())]
        cells = (str(start), str(end), text if quoted else there or "", label, "|".join(names))
        yield document, cells, bool(fragments) and not quoted, names


def _relations(corpus: Corpus) -> pl.DataFrame:
    """The relations with exactly two arguments; mentions among these become their entities."""
    mentions = corpus.mentions.filter(pl.col("mention") != "").unique(["document", "mention"])
    named = mentions.select("document", "entity", target="mention", is_mention=True)
    relations = corpus.frames.filter(kind="relation").select("label", frame_row="row")
    rows = corpus.arguments.sort("frame_row", "position")
    rows = rows.join(named, on=["document", "target"], how="left", maintain_order="left")
    pairs = rows.group_by("frame_row", maintain_order=True).agg(
        pl.col("document").first(),
        targets=pl.coalesce("entity", "target"),
        odd=(pl.col("role") != pl.format("Arg{}", "position")).sum(),
        mentions=pl.col("is_mention").count(),
    )
    pairs = pairs.filter(pl.col("targets").list.len() == 2)
    return pairs.join(relations, on="frame_row", maintain_order="left")


def count_losses(corpus: Corpus) -> Mapping[str, int]:
    """The counts of what PubTator cannot represent of its tables, by name."""
    pairs, placed = _relations(corpus), corpus.mentions.filter(writable())
    unclear = apart = 0
    for _, _, has_lost, names in _annotations(corpus):
        unclear += has_lost
        apart += names != _identifiers("|".join(names))
    relations = corpus.frames.filter(kind="relation")
    links = corpus.links.join(placed, left_on="mention_row", right_on="row", how="semi")
    some = pl.concat([placed.select("document"), pairs.select("document")])
    silent = corpus.documents.join(some, left_on="row", right_on="document", how="anti")
    texts = corpus.documents["text"].str.replace("\n", "", literal=True)
    cells = (corpus.mentions, corpus.links, corpus.frames, corpus.arguments)
    return {
        "names that cannot begin a line": corpus.documents.height - _writable(corpus).height,
        "documents without anything": silent["text"].null_count(),
        "texts with more than one line break": int(texts.str.contains(_TEXT_BREAKS).sum()),
        "identifiers of mentions": corpus.mentions.filter(pl.col("mention") != "").height,
        "mentions outside of texts": corpus.mentions.height - placed.height,
        "mentions whose fragments do not follow from their text": unclear,
        "mentions whose entities cannot be in one cell": apart,
        "candidates without an entity": corpus.links.height - links["entity"].count(),
        "relations without exactly two arguments": relations.height - pairs.height,
        "arguments other than Arg1 and Arg2": int(pairs["odd"].sum()),
        "arguments that are mentions, which become entities": int(pairs["mentions"].sum()),
        "cells with line breaks or tabs": count_matching(_BREAKS, *cells),
    }


FORMAT = declaration(__name__)
