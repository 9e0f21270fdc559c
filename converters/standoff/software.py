r"""Standoff as the evaluation software of BioNLP-ST reads it, for the profile `official`.

The software is more lenient than the format: of an event it takes the type, up to the first space,
and then every role and filler that it finds, whatever is between them. It also ends lines at
carriage returns, takes a byte order mark as a character, and reads U+FFFD for bytes that are not
UTF-8. It reads only documents that have a text. Files that it may read in another way than the
format are therefore read again, line by line:

    E1	Binding Functional_Molecule:T1 (?) Molecule:T2

has the roles `Functional_Molecule` and `(?) Molecule`.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from operator import itemgetter
from typing import Any

import polars as pl

from hlteval.converters.format import ReadResult
from hlteval.converters.standoff.dialects import BIONLP, TEXT
from hlteval.findings import Bounded, Finding, Problem, entry, part
from hlteval.representation import TABLES, Corpus

#: The codes of events without arguments and of large offsets, on which the software crashes.
NO_ARGUMENTS, TOO_LARGE = "STD105", BIONLP.large

_TABLES = ("mentions", "frames", "arguments", "modifiers", "groups", "rejected_records")
_LARGEST = 2**31 - 1
#: The kind of unreadable records of an .a1: the same annotation for reference and submission.
_GIVEN = "given"
_TRIMMED = "".join(map(chr, range(33)))
_REST = "[^\n\r\x85\u2028\u2029]"
_EVENT = re.compile(rf"(\S+) ({_REST}+)", re.ASCII)
_SPAN = re.compile(rf"(\S+) (\d+ \d+(?:;\d+ \d+)*)\t({_REST}*)", re.ASCII)
_MODIFIER = re.compile(r"(\S+) Annotation:(\S+)", re.ASCII)
_NORMALIZATION = re.compile(r"(\S+) Annotation:(\S+) Referent:(\S+)", re.ASCII)
_TYPE = re.compile(rf"(\S+)\s*{_REST}*", re.ASCII)
_EQUIVALENCE = "Equiv "
_BYTE_ORDER_MARK = "\ufeff"
_SPACE = frozenset(" \t\n\r\f\v")
#: Bytes of lines that the format may accept, and the software reads in another way.
_ODD = re.compile(rb"\r(?!\n)|[\x00-\x08\x0b\x0c\x0e-\x1f]|\xc2\x85|\xe2\x80[\xa8\xa9]")

Row = dict[str, Any]


def as_software(reference: ReadResult, system: ReadResult) -> tuple[ReadResult, ReadResult]:
    """Both sides as the software reads them.

    Documents without a text in the reference are left out, with the findings about them. The
    findings about other files stay, except for events in which the software finds no argument: it
    crashes on them.

    Args:
        reference: what the format `standoff` read of the reference, in the numbering of documents
            that both sides share; from other formats nothing changes.
        system: of the submission; the reference itself if it is checked alone.
    """
    documents = reference.corpus.documents
    known = documents.filter(pl.col("text").is_not_null())
    known = documents if known.is_empty() else known
    gold = _read_again(_only(reference, known), known)
    gold = replace(gold, corpus=gold.corpus.replace(documents=known))
    return gold, gold if system is reference else _read_again(_only(system, known), known)


def _only(result: ReadResult, known: pl.DataFrame) -> ReadResult:
    """A result without the annotations of other documents than the known ones."""
    corpus = result.corpus
    unknown = corpus.documents.join(known, on="row", how="anti")
    if unknown.is_empty():
        return result
    names = frozenset(unknown["name"])
    files = {
        member.display
        for member in result.members
        if member.document(member.basename.rpartition(".")[0]) in names
    }
    rows = unknown["row"].implode()
    kept = {
        name: table.filter(~pl.col("document").is_in(rows).fill_null(value=False))
        for name, table in corpus.tables()
        if ("document", "documents") in TABLES[name].references
    }
    findings = tuple(found for found in result.findings if found.file not in files)
    return replace(result, corpus=corpus.replace(**kept), findings=findings)


def _read_again(result: ReadResult, known: pl.DataFrame) -> ReadResult:
    """A result with the lines that the software may read in another way as it reads them."""
    corpus = result.corpus
    own = corpus.sources.filter(format=BIONLP.name).select("row", "member")
    own = own.filter(~pl.col("member").str.ends_with(TEXT))
    given = frozenset(own.filter(pl.col("member").str.ends_with(BIONLP.mentions))["row"])
    rejected = corpus.rejected_records.filter(pl.col("origin").is_in(own["row"].implode()))
    reasons = {(row["origin"], row["record"]): row for row in rejected.iter_rows(named=True)}
    odd = dict(_odd_files(result, own["row"], known))
    read = _Lines(given)
    for origin, (document, text) in odd.items():
        for record, line in enumerate(text.split("\n"), start=1):
            place = {"document": document, "origin": origin, "record": record}
            read.take(line, place | dict(reasons.get((origin, record), {})))
    # Saved corpora have the refused lines, and no files.
    rest = [row for (origin, _), row in reasons.items() if origin not in odd]
    for row in rest:
        read.take(str(row["text"]), row)
    if not odd and not rest:
        return result
    again = pl.col("origin").is_in(list(odd)).fill_null(value=False)
    kept = {name: getattr(corpus, name).filter(~again) for name in _TABLES}
    named = rejected["row"].implode()
    kept["rejected_records"] = kept["rejected_records"].filter(~pl.col("row").is_in(named))
    return replace(
        result,
        corpus=read.added_to(corpus.replace(**kept)),
        findings=(*_findings(result, read.crashes, read.spans), *_marked(result, odd)),
    )


def _marked(result: ReadResult, texts: Mapping[int, tuple[int, str]]) -> Iterator[Finding]:
    """The findings about first records after a byte order mark, which are of unknown kind.

    Args:
        result: what the format read.
        texts: document and text of the files, by origin.
    """
    for origin, (_, text) in texts.items():
        if text.startswith(_BYTE_ORDER_MARK):
            line = text[1:].split("\n", 1)[0].rstrip("\r")
            name = line.partition("\t")[0]
            values = {"given": _BYTE_ORDER_MARK + name}
            problem = Problem(BIONLP.unknown, 1, 0, len(name), values)
            yield problem.in_line(result.members[origin].display, line, name)


def _odd_files(
    result: ReadResult, own: pl.Series, known: pl.DataFrame
) -> Iterator[tuple[int, tuple[int, str]]]:
    """The files that the software may read in another way: origin, document, and all characters."""
    rows = dict(known.select("name", "row").iter_rows())
    found = {finding.file for finding in result.findings}
    for origin in own:
        member = result.members[origin]
        data = member.fetch()
        document = rows.get(member.document(member.basename.rpartition(".")[0]))
        if document is not None and data and (member.display in found or _ODD.search(data)):
            yield origin, (document, data.decode(member.encoding, "replace"))


def _findings(
    result: ReadResult, crashes: Iterable[Row], spans: Collection[tuple[int, int]]
) -> Iterator[Finding]:
    """The findings, as the software takes the lines.

    Those of lines at which it crashes are in place of others there. Offsets that are too large for
    the format, and not for the software, make text spans that are only malformed.

    Args:
        result: what the format read.
        crashes: the lines at which the software crashes.
        spans: origin and record of the text spans that the software reads.
    """
    members = {member.display: member for member in result.members}
    read = {(result.members[origin].display, record) for origin, record in spans}
    lines: dict[str, dict[int, Row]] = {}
    for row in crashes:
        lines.setdefault(result.members[row["origin"]].display, {})[row["record"]] = row
    for file, rows in lines.items():
        bounded = Bounded(members[file].max_per_code)
        for line, row in sorted(rows.items(), key=itemgetter(0)):
            bounded.add(row["crash"], line, partial(_crash, file), row)
        yield from bounded.findings
    for found in result.findings:
        places = found.further.places if found.further else (found.span and found.span.line,)
        crashed = lines.get(str(found.file), {})
        rest = [at for at, line in enumerate(places) if line not in crashed]
        if len(rest) == len(places):
            yield _smaller(found) if (str(found.file), places[0]) in read else found
        elif rest:
            yield part(found, rest)


def _smaller(found: Finding) -> Finding:
    """The finding about an offset that only the format does not take; others as they are."""
    if found.code != TOO_LARGE or found.further:
        return found
    values = {"given": "digits", "expected": BIONLP.words["OFFSET"]}
    malformed = entry(BIONLP.kinds["TW"].code)
    return malformed.finding(
        values, file=found.file, span=found.span, excerpt=found.excerpt, record=found.record
    )


def _crash(file: str, line: int, row: Mapping[str, Any]) -> Finding:
    """The finding of a line at which the software crashes."""
    problem = Problem(row["crash"], line, 0, len(row["text"]))
    return problem.in_line(file, row["text"], row["id"])


def arguments(text: str) -> Iterator[tuple[str, str]]:
    """Every role with its filler, as the software finds them in the text after the type.

    A role begins after the filler before it, and ends at a colon that no space follows.

    Examples:
        >>> list(arguments("Agent:T1 , Target:T2:T3 Tissue: T4 Hormone:T5"))
        [('Agent', 'T1'), (', Target', 'T2:T3'), ('T4 Hormone', 'T5')]
    """
    begin = 0
    while (colon := text.find(":", begin)) >= 0:
        end = colon + 1
        while end < len(text) and text[end] not in _SPACE:
            end += 1
        if colon == begin or end == colon + 1:
            begin = colon + 1
            continue
        role = text[begin:colon]
        yield role.lstrip("".join(_SPACE)) or role[-1], text[colon + 1 : end]
        begin = end
        while begin < len(text) and text[begin] in _SPACE:
            begin += 1


@dataclass
class _Lines:
    """The records that the software reads in lines.

    Attributes:
        given: the origins of .a1 files.
        rows: the rows of each table.
        crashes: the lines at which the software crashes, with the code of that as `crash`.
    """

    given: frozenset[int]
    rows: dict[str, list[Row]] = field(default_factory=lambda: {name: [] for name in _TABLES})
    crashes: list[Row] = field(default_factory=list)

    @property
    def spans(self) -> set[tuple[int, int]]:
        """Origin and record of the text spans."""
        return {(row["origin"], row["record"]) for row in self.rows["mentions"]}

    def take(self, written: str, place: Row) -> None:
        """Read a line of the format, in which the software may see several.

        Args:
            written: the line.
            place: its document, origin and record, and its row of `rejected_records` if it has one.
        """
        for line in written.split("\r"):
            if record := line.strip(_TRIMMED):
                self._record(record, place)

    def _record(self, line: str, place: Row) -> None:
        name, tab, rest = line.partition("\t")
        at: Row = {column: place[column] for column in ("document", "origin", "record")}
        letter = name[0]
        if tab and name == "*":
            if rest.startswith(_EQUIVALENCE):
                group = {**at, "group": f"{at['origin']}.{at['record']}", "kind": "Equiv"}
                members = rest.removeprefix(_EQUIVALENCE).split(" ")
                self.rows["groups"] += ({**group, "member": member} for member in members)
        elif tab and letter in "TW" and (span := _SPAN.fullmatch(rest)):
            self._span(name, span, at, place)
        elif tab and letter in "ER" and (event := _EVENT.fullmatch(rest)):
            self._event(name, event, at, place)
        elif tab and letter in "MN" and (found := _modifier(letter, rest)):
            modifier = {"modifier": name, "label": found[1], "target": found[2]}
            value = {"value": found[3] if letter == "N" else None}
            self.rows["modifiers"].append(at | modifier | value)
        else:
            self._unread(line, place)

    def _span(self, name: str, span: re.Match[str], at: Row, place: Row) -> None:
        parts = [tuple(map(int, part.split(" "))) for part in span[2].split(";")]
        if any(number > _LARGEST for numbers in parts for number in numbers):
            self._crash(TOO_LARGE, span.string, name, place)
            return
        fragments = [{"start": start, "end": end} for start, end in parts]
        offsets = {"start": min(part[0] for part in parts), "end": max(part[1] for part in parts)}
        row = {"mention": name, "label": span[1], **offsets, "text": span[3]}
        row |= {"fragments": fragments if len(parts) > 1 else None}
        self.rows["mentions"].append(at | row)

    def _event(self, name: str, event: re.Match[str], at: Row, place: Row) -> None:
        filled = tuple(arguments(event[2]))
        if not filled:
            self._crash(NO_ARGUMENTS, event.string, name, place)
            self._unread(f"{name}\t{event.string}", place)
            return
        label, _, trigger = event[1].partition(":")
        whole = not label or not trigger
        frame: Row = {"frame": name, "kind": "relation" if name[0] == "R" else "event"}
        frame |= {"label": event[1] if whole else label, "trigger": None if whole else trigger}
        frame_row = len(self.rows["frames"])
        self.rows["frames"].append(at | frame | {"row": frame_row})
        self.rows["arguments"] += (
            {**at, "frame_row": frame_row, "position": position, "role": role, "target": target}
            for position, (role, target) in enumerate(filled, start=1)
        )

    def _crash(self, code: str, line: str, name: str, place: Row) -> None:
        if place.get("code") != code:
            self.crashes.append(place | {"crash": code, "text": f"{name}\t{line}", "id": name})

    def _unread(self, line: str, place: Row) -> None:
        """A record that the software does not understand either: it drops lines without a tab."""
        name, tab, rest = line.partition("\t")
        known = _TYPE.fullmatch(rest)
        kind = BIONLP.kind(name[0]) if name[0] != "*" else None
        given = place["origin"] in self.given
        code = place.get("code", BIONLP.unknown)
        row = {
            "column": 1,
            "end_column": len(line) + 1,
            "expected": "",
            "text": line,
            **place,
            "id": name if tab else None,
            "label": known[1] if known and tab else None,
            "kind": _GIVEN if given and tab else kind.what if kind else "unknown",
            "code": BIONLP.unknown if tab and code == BIONLP.no_tab else code,
        }
        self.rows["rejected_records"].append(row if tab else row | {"code": BIONLP.no_tab})

    def added_to(self, corpus: Corpus) -> Corpus:
        """A corpus with these records, its events in the order of their lines."""
        first = corpus.frames["row"].max()
        first = 0 if not isinstance(first, int) else first + 1
        for row in self.rows["frames"]:
            row["row"] += first
        for row in self.rows["arguments"]:
            row["frame_row"] += first
        joined = {name: _with(getattr(corpus, name), rows) for name, rows in self.rows.items()}
        order = ("document", "origin", "record")
        events = joined["frames"].sort(*order, "row", maintain_order=True)
        rows = events.select(frame_row="row", _row=pl.int_range(pl.len(), dtype=pl.Int64))
        filled = joined["arguments"].join(rows, on="frame_row", maintain_order="left")
        filled = filled.with_columns(frame_row="_row").drop("_row").sort("frame_row", "position")
        joined |= {"frames": events, "arguments": filled}
        for name in ("mentions", "modifiers"):
            joined[name] = joined[name].sort(*order, maintain_order=True)
        return corpus.replace(**{name: _numbered(rows) for name, rows in joined.items()})


def _modifier(letter: str, rest: str) -> re.Match[str] | None:
    return (_MODIFIER if letter == "M" else _NORMALIZATION).fullmatch(rest)


def _with(table: pl.DataFrame, rows: Iterable[Row]) -> pl.DataFrame:
    """A table with more rows, whose other columns are null."""
    listed = [{"row": 0, **row} for row in rows]
    if not listed:
        return table
    columns = {name: kind for name, kind in table.schema.items() if name in listed[0]}
    more = pl.DataFrame(listed, schema=columns, orient="row")
    return pl.concat([table, more], how="diagonal")


def _numbered(table: pl.DataFrame) -> pl.DataFrame:
    return table.with_columns(row=pl.int_range(pl.len(), dtype=pl.Int64))
