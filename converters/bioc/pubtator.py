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
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from operator import itemgetter
from pathlib import Path
from typing import Any

import polars as pl

from hlteval.converters.bioc.reading import LEAST
from hlteval.converters.bioc.writing import writable
from hlteval.converters.declarations import declaration
from hlteval.converters.format import ReadResult
from hlteval.converters.toolkit import source_files
from hlteval.converters.toolkit.offsets import CHARACTERS, Place, place_in
from hlteval.converters.toolkit.rows import count_matching, rejected_lines, table_of
from hlteval.converters.toolkit.span_texts import UNIT_NAMES, Mismatch, Mismatches, TextWindow
from hlteval.converters.toolkit.spans import Quotes, candidates
from hlteval.findings import Finding, Problem
from hlteval.findings.sequence import lists_by_key
from hlteval.representation import FACT, Corpus
from hlteval.sources import Source
from hlteval.syntax.tsv import Lines

_TEXT = re.compile(r"([^|\t]+)\|([ta])\|(.*)", re.S)
_TITLE = re.compile(r"^[^|\s]+\|t\|", re.M)
_NUMBER, _NUMERIC = re.compile("[0-9]{1,15}"), re.compile("[-+]?[0-9][0-9.,]*")
#: The cells of fields, of annotations and of relations.
_ANNOTATION = {"start": 1, "end": 2, "text": 3, "label": 4, "entity": 5}
_RELATION = {"label": 1, "target 1": 2, "target 2": 3, "Arg1": 2, "Arg2": 3}
#: What cells and texts cannot have, and what the first cell cannot.
_BREAKS, _TEXT_BREAKS = "[\x00\t\r\n]", "[\x00\r\n]"
_ODD_NAME = "^$|^\ufeff|[|\x00\t\r\n]"
#: Most cells of a line, and characters by which what is at a place may exceed twice its text.
_MOST, _MORE = 7, 300


members = partial(source_files.with_suffix, suffix=".pubtator")


def sniff(source: Source) -> bool:
    """Whether a title is at the beginning of the first file."""
    return _TITLE.search(source_files.head_of_first(members(source))) is not None


def read(source: Source, offsets: str = CHARACTERS) -> Iterator[ReadResult]:
    """The documents, a batch for each file; offsets may count another unit."""
    names: dict[str, int] = {}
    own = source.only(members(source))
    return source_files.read_files(own, FORMAT.name, lambda file: _Rows(offsets, names).read(file))


class _Rows:
    """The lines of a file as rows of the tables.

    Args:
        offsets: how they count.
        names: the names of documents in other files; its own are added.

    Attributes:
        rows: the rows of the tables, without keys.
        rejected: what is wrong in lines that are not read.
        problems: what is wrong with what is read.
        mismatches: the annotations whose text is elsewhere.
    """

    def __init__(self, offsets: str, names: dict[str, int]) -> None:
        self.offsets, self.names = offsets, names
        self.rows: defaultdict[str, list[tuple[Any, ...]]] = defaultdict(list)
        self.rejected, self.problems = list[Problem](), list[Problem]()
        self.mismatches = Mismatches(self.report, LEAST)

    def read(self, file: source_files.File) -> tuple[Corpus, Iterable[Finding]]:
        """The corpus of a file, and the findings in it."""
        lines, documents = (
            Lines(file.text or ""),
            dict[str, tuple[str, dict[str, str], list[Any]]](),
        )
        for record, line in enumerate(lines, start=1):
            found, cells = _TEXT.fullmatch(line), line.split("\t")
            if not found and not (cells[0] and 4 <= len(cells) <= _MOST):
                self.rejected += [Problem("PBT101", record, 0, len(line))] if line.strip() else []
                continue
            name = found[1] if found else cells[0]
            if name not in documents:
                documents[name] = (source_files.unique_name(name, self.names), {}, [])
                if (other := documents[name][0]) != name:
                    values = {"name": name[:40], "other": other[:60]}
                    self.problems.append(Problem("PBT104", record, 0, len(name), values))
            _, parts, rows = documents[name]
            if not found:
                rows.append((_is_relation(cells), record, cells))
            elif found[2] in parts:
                values = {"name": name[:40], "letter": found[2]}
                self.rejected.append(Problem("PBT103", record, 0, len(name) + 2, values))
            else:
                parts[found[2]] = found[3]
        # texts are looked at one after the other, also if the lines of documents alternate
        for row, (name, parts, rows) in enumerate(documents.values()):
            text = f"{parts.get('t', '')}\n{parts['a']}" if "a" in parts else parts.get("t")
            self.rows["documents"].append((0, name, text))
            place, known = place_in(text or "", self.offsets), set[str]()
            for is_relation, record, cells in sorted(rows, key=itemgetter(0)):
                key, frame = (row, 0, record), len(self.rows["frames"])
                if not is_relation:
                    known.update(self.annotation(key, cells, text, place))
                    continue
                self.rows["frames"].append((*key, None, FACT, cells[1], None))
                for at, target in enumerate(cells[2:4], start=1):
                    self.rows["arguments"].append((*key, frame, at, f"Arg{at}", target))
                    if known and target not in known:
                        values = {"target": target[:40]}
                        self.problems.append(Problem("PBT301", record, 0, 0, values, f"Arg{at}"))
        self.mismatches.decide()
        every = sorted([*self.rejected, *self.problems], key=itemgetter(1))
        findings = source_files.findings_in_lines(every, lines, file.member, stretch)
        tables = {name: table_of(name, rows) for name, rows in self.rows.items()}
        rejected = rejected_lines("line", self.rejected, lines)
        return Corpus(sources=[file.origin], rejected_records=rejected, **tables), findings

    def annotation(
        self, key: tuple[int, int, int], cells: list[str], text: str | None, place_of: Place
    ) -> list[str]:
        """Add a mention, and give its identifiers."""
        for column, given in zip(("start", "end"), cells[1:3], strict=True):
            if not _NUMBER.fullmatch(given) or int(given) < int(cells[1]):
                values = {"given": given[:40] or "nothing", "column": column}
                place = stretch("\t".join(cells), column)
                self.rejected.append(Problem("PBT102", key[2], *place, values))
                return []
        start, end = place_of(int(cells[1]), int(cells[2]))
        quote = cells[3] or (None if text is None or start < end else "")
        if text is not None and quote is not None:
            window, near = TextWindow(text, 0), end - start <= _MORE + 2 * len(quote)
            if not near or not window.has([(start, end)], quote):  # longer ones are not compared
                self.mismatches.add(window.mismatch(key[2], [(start, end)], quote))
        entity, *others = _identifiers(cells[5] if cells[5:] else "")
        links = enumerate(others, start=2)
        self.rows["links"] += [(*key, len(self.rows["mentions"]), *link) for link in links]
        mention = (*key, "", cells[4], start, end, None, quote, entity or None)
        self.rows["mentions"].append(mention)
        named = [name for name in (entity, *others) if name]
        return named + [part for name in named for part in re.split("[,;]", name)]

    def report(self, mismatch: Mismatch, unit: str) -> None:
        """Report an annotation whose text is not there, or the unit of offsets that explains it."""
        about = {"what": UNIT_NAMES[unit], "setting": unit} if unit else {}
        values = about or mismatch.values(mismatch.hint)
        code = "PBT202" if unit else "PBT201"
        self.problems.append(Problem(code, mismatch.place, 0, 0, values, "text"))


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
    fields = _RELATION if _is_relation(line.split("\t")) else _ANNOTATION
    return source_files.cell_stretch(line, fields.get(field))


def write(corpora: Iterable[Corpus], path: Path) -> None:
    """All documents with their annotations and relations, an empty line after each."""
    with path.open("w", encoding="utf-8", newline="") as stream:
        for corpus in corpora:
            rows: list[tuple[int, tuple[str, ...]]] = [each[:2] for each in _annotations(corpus)]
            columns = ("document", "label", pl.coalesce("entity", "target"))
            ends = _arguments(corpus).select(columns).rows()
            pairs = zip(ends[::2], ends[1::2], strict=True)
            rows += [(first[0], (*first[1:], second[2])) for first, second in pairs]
            lines = lists_by_key(rows)
            for row, name, text in _writable(corpus).select("row", "name", "text").iter_rows():
                parts = [] if text is None else text.split("\n", 1)
                for letter, part in zip("ta", parts, strict=False):
                    stream.write(f"{name}|{letter}|{re.sub(_TEXT_BREAKS, ' ', part)}\n")
                for cells in lines.get(row, ()):
                    line = "\t".join([re.sub(_BREAKS, " ", cell) for cell in cells])
                    stream.write(f"{name}\t{line}\n")
                stream.write("\n")


def _writable(corpus: Corpus) -> pl.DataFrame:
    """The documents whose names can be the first cell of a line."""
    return corpus.documents.filter(~pl.col("name").str.contains(_ODD_NAME))


def _annotations(corpus: Corpus) -> Iterator[tuple[int, tuple[str, ...], list[str]]]:
    """The mentions of a corpus: their documents, cells, and the identifiers in the last cell."""
    texts = corpus.documents.drop_nulls("text").select("row", "text").iter_rows()
    quotes, others = {row: Quotes(text) for row, text in texts}, candidates(corpus)
    columns = ("row", "document", "label", "start", "end", "fragments", "text", "entity")
    none = Quotes("")
    rows = corpus.mentions.filter(writable()).select(columns).iter_rows()
    for row, document, label, start, end, fragments, text, entity in rows:
        is_own = text is not None and fragments is None
        there = text if is_own else quotes.get(document, none).at((start, end))
        names = [entity or "", *others.get(row, ())]
        yield document, (str(start), str(end), there or "", label, "|".join(names)), names


def _relations(corpus: Corpus) -> pl.DataFrame:
    """The relations of mentions and of entities."""
    return corpus.frames.filter(pl.col("kind").is_in(["relation", FACT]))


def _arguments(corpus: Corpus) -> pl.DataFrame:
    """The arguments of relations with exactly two, with the entities of those that are mentions."""
    mentions = corpus.mentions.filter(pl.col("mention") != "").unique(["document", "mention"])
    named = mentions.select("document", "entity", target="mention", kind=pl.lit("relation"))
    relations = _relations(corpus).select("label", "kind", frame_row="row")
    rows = corpus.arguments.sort("frame_row", "position").filter(pl.len().over("frame_row") == 2)
    rows = rows.join(relations, on="frame_row", maintain_order="left")
    named = named.with_columns(is_mention=True)
    return rows.join(named, on=["document", "target", "kind"], how="left", maintain_order="left")


def count_losses(corpus: Corpus) -> Mapping[str, int]:
    """The counts of what PubTator cannot represent of its tables, by name."""
    ends, placed = _arguments(corpus), corpus.mentions.filter(writable())
    apart = sum(names != _identifiers("|".join(names)) for *_, names in _annotations(corpus))
    odd = ends.filter(pl.col("role") != pl.format("Arg{}", "position"))
    links = corpus.links.join(placed, left_on="mention_row", right_on="row", how="semi")
    some = pl.concat([placed.select("document"), ends.select("document")])
    silent = corpus.documents.join(some, left_on="row", right_on="document", how="anti")
    texts = corpus.documents["text"].str.replace("\n", "", literal=True)
    cells = (corpus.mentions, corpus.links, corpus.frames, corpus.arguments)
    return {
        "names that cannot begin a line": corpus.documents.height - _writable(corpus).height,
        "documents without anything": silent["text"].null_count(),
        "texts with more than one line break": int(texts.str.contains(_TEXT_BREAKS).sum()),
        "identifiers of mentions": corpus.mentions.filter(pl.col("mention") != "").height,
        "mentions outside of texts": corpus.mentions.height - placed.height,
        "mentions whose entities cannot be in one cell": apart,
        "candidates without an entity": corpus.links.height - links["entity"].count(),
        "relations without exactly two arguments": _relations(corpus).height - ends.height // 2,
        "arguments other than Arg1 and Arg2": odd.height,
        "arguments that are mentions, which become entities": ends["is_mention"].count(),
        "cells with line breaks or tabs": count_matching(_BREAKS, *cells),
    }


FORMAT = declaration(__name__)
