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
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from operator import itemgetter
from typing import Any

import polars as pl

from hlteval.converters.format import ReadResult
from hlteval.converters.standoff.dialects import BIONLP, TEXT
from hlteval.findings import Bounded, Finding, Problem, part
from hlteval.representation import Corpus, of_documents
from hlteval.sources import Member

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
_OTHERS = {"M": _MODIFIER, "N": _NORMALIZATION}
_FORMS = {**dict.fromkeys("TW", _SPAN), **dict.fromkeys("ER", _EVENT), **_OTHERS}
_TYPE = re.compile(rf"(\S+)\s*{_REST}*", re.ASCII)
_EQUIVALENCE = "Equiv "
_BYTE_ORDER_MARK = "\ufeff"
_SPACE = frozenset(" \t\n\r\f\v")
#: Bytes of lines that the format may accept, and the software reads in another way.
_ODD = re.compile(rb"\r(?!\n)|[\x00-\x08\x0b\x0c\x0e-\x1f]|\xc2\x85|\xe2\x80[\xa8\xa9]")

Row = Mapping[str, Any]


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
    files = {member.display for member in result.members if _document(member) in names}
    findings = tuple(each for each in result.findings if each.file not in files)
    kept = of_documents(corpus, known["name"]).replace(documents=corpus.documents)
    return replace(result, corpus=kept, findings=findings)


def _document(member: Member) -> str:
    """The name of the document of a file."""
    return member.document(member.basename.rpartition(".")[0])


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
    findings = (*_findings(result, read), *_byte_order_marks(result, odd))
    return replace(result, corpus=read.added_to(corpus.replace(**kept)), findings=findings)


def _odd_files(
    result: ReadResult, own: pl.Series, known: pl.DataFrame
) -> Iterator[tuple[int, tuple[int, str]]]:
    """The files that the software may read in another way: origin, document, and all characters."""
    rows = dict(known.select("name", "row").iter_rows())
    found = {finding.file for finding in result.findings}
    for origin in own:
        member = result.members[origin]
        data = member.fetch()
        document = rows.get(_document(member))
        if document is not None and data and (member.display in found or _ODD.search(data)):
            yield origin, (document, data.decode(member.encoding, "replace"))


def _byte_order_marks(
    result: ReadResult, texts: Mapping[int, tuple[int, str]]
) -> Iterator[Finding]:
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


def _findings(result: ReadResult, read: _Lines) -> Iterator[Finding]:
    """The findings, as the software takes the lines.

    Those of lines at which it crashes are in place of others there. Offsets that are too large for
    the format, and not for the software, make text spans that are only malformed.

    Args:
        result: what the format read.
        read: what the software reads in the lines.
    """
    members, mentions = result.members, read.rows["mentions"]
    spans = {(members[row["origin"]].display, row["record"]) for row in mentions}
    crashes: dict[int, dict[int, Row]] = {}
    for row in read.crashes:
        crashes.setdefault(row["origin"], {})[row["record"]] = row
    lines = {members[origin].display: rows for origin, rows in crashes.items()}
    for origin, rows in crashes.items():
        member = members[origin]
        bounded = Bounded(member.max_per_code)
        for line, row in sorted(rows.items(), key=itemgetter(0)):
            bounded.add(row["crash"], line, partial(_crash, member.display), row)
        yield from bounded.findings
    for found in result.findings:
        places = found.further.places if found.further else (found.span and found.span.line,)
        rest = [at for at, line in enumerate(places) if line not in lines.get(str(found.file), {})]
        too_large = found.code == TOO_LARGE and not found.further
        if len(rest) < len(places):
            yield from [part(found, rest)] if rest else []
        elif too_large and (str(found.file), places[0]) in spans:
            values = {"given": "digits", "expected": BIONLP.words["OFFSET"]}
            malformed = Problem(BIONLP.kinds["TW"].code, 0, 0, 0, values)
            yield malformed.finding(str(found.file), found.span, found.excerpt, found.record)
        else:
            yield found


def _crash(file: str, line: int, row: Mapping[str, Any]) -> Finding:
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

    def take(self, written: str, place: Row) -> None:
        """Read a line of the format, in which the software may see several.

        Args:
            written: the line.
            place: its document, origin and record, and its row of `rejected_records` if it has one.
        """
        at: Row = {column: place[column] for column in ("document", "origin", "record")}
        for line in filter(None, (record.strip(_TRIMMED) for record in written.split("\r"))):
            name, tab, rest = line.partition("\t")
            match = _FORMS[name[0]].fullmatch(rest) if tab and name[0] in _FORMS else None
            if tab and name == "*":
                if rest.startswith(_EQUIVALENCE):
                    group = {**at, "group": f"{at['origin']}.{at['record']}", "kind": "Equiv"}
                    members = rest.removeprefix(_EQUIVALENCE).split(" ")
                    self.rows["groups"] += ({**group, "member": member} for member in members)
            elif match is None:
                self._reject(line, place)
            elif match.re is _SPAN:
                self._span(name, match, at, place)
            elif match.re is _EVENT:
                self._event(name, match, at, place)
            else:
                value = match[3] if match.re is _NORMALIZATION else None
                modifier = {"modifier": name, "label": match[1], "target": match[2], "value": value}
                self.rows["modifiers"].append({**at, **modifier})

    def _span(self, name: str, span: re.Match[str], at: Row, place: Row) -> None:
        parts = [tuple(map(int, part.split(" "))) for part in span[2].split(";")]
        if any(number > _LARGEST for numbers in parts for number in numbers):
            self._crash(TOO_LARGE, span.string, name, place)
            return
        fragments = [{"start": start, "end": end} for start, end in parts]
        mention = {
            "mention": name,
            "label": span[1],
            "start": min(start for start, _ in parts),
            "end": max(end for _, end in parts),
            "text": span[3],
            "fragments": fragments if len(parts) > 1 else None,
        }
        self.rows["mentions"].append({**at, **mention})

    def _event(self, name: str, event: re.Match[str], at: Row, place: Row) -> None:
        filled = tuple(arguments(event[2]))
        if not filled:
            self._crash(NO_ARGUMENTS, event.string, name, place)
            self._reject(f"{name}\t{event.string}", place)
            return
        label, _, trigger = event[1].partition(":")
        frame_row = len(self.rows["frames"])
        frame = {
            "row": frame_row,
            "frame": name,
            "kind": "relation" if name[0] == "R" else "event",
            "label": label if label and trigger else event[1],
            "trigger": trigger if label and trigger else None,
        }
        self.rows["frames"].append({**at, **frame})
        self.rows["arguments"] += (
            {**at, "frame_row": frame_row, "position": position, "role": role, "target": target}
            for position, (role, target) in enumerate(filled, start=1)
        )

    def _crash(self, code: str, line: str, name: str, place: Row) -> None:
        if place.get("code") != code:
            text = f"{name}\t{line}"
            self.crashes.append({**place, "crash": code, "text": text, "id": name})

    def _reject(self, line: str, place: Row) -> None:
        """A record that the software does not understand either: it drops lines without a tab."""
        name, tab, rest = line.partition("\t")
        label = _TYPE.fullmatch(rest)
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
            "label": label[1] if label and tab else None,
            "kind": _GIVEN if given and tab else kind.what if kind else "unknown",
            "code": BIONLP.unknown if tab and code == BIONLP.no_tab else code,
        }
        self.rows["rejected_records"].append(row if tab else row | {"code": BIONLP.no_tab})

    def added_to(self, corpus: Corpus) -> Corpus:
        """A corpus with these records, its events in the order of their lines."""
        last = corpus.frames["row"].max()
        first = last + 1 if isinstance(last, int) else 0
        joined = {}
        for name, rows in self.rows.items():
            table: pl.DataFrame = getattr(corpus, name)
            if rows:
                listed = [{"row": 0, **row} for row in rows]
                schema = {key: kind for key, kind in table.schema.items() if key in listed[0]}
                more = pl.DataFrame(listed, schema=schema, orient="row")
                more = more.with_columns(pl.col("^(row|frame_row)$") + first)
                table = pl.concat([table, more], how="diagonal")
            joined[name] = table
        order = ("document", "origin", "record")
        events = joined["frames"].sort(*order, "row", maintain_order=True)
        numbers = events.select(frame_row="row", _row=pl.int_range(pl.len(), dtype=pl.Int64))
        filled = joined["arguments"].join(numbers, on="frame_row", maintain_order="left")
        filled = filled.with_columns(frame_row="_row").drop("_row").sort("frame_row", "position")
        joined |= {"frames": events, "arguments": filled}
        for name in ("mentions", "modifiers"):
            joined[name] = joined[name].sort(*order, maintain_order=True)
        number = pl.int_range(pl.len(), dtype=pl.Int64)
        keyed = {name: table.with_columns(row=number) for name, table in joined.items()}
        return corpus.replace(**keyed)
