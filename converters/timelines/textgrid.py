r"""Praat TextGrid: instances as intervals and points on tiers, one file per document.

Format:
    Text files of Praat, long or short, one file `<document>.TextGrid` per document, in UTF-8, or in
    UTF-16 with a byte order mark. Only texts in quotation marks (twice for one), free-standing
    numbers and flags count: start and end; then of each tier its class, name, start, end and size,
    and the start, end and text of intervals, or the time and text of points. Written as long files.

Conventions:
    Times are seconds. A text is the label and the properties of an instance,
    `101 | status=adhere`; items without a text are none. The kind is the first word of the name of
    a tier, or else that of the setting `kind`. With the setting `tier`, the name is the annotator,
    or the label, such as the speaker, of every item with a text. Overlapping instances are written
    on several tiers. A record is an item, which is an interval or point, counted from 1.

Example lines:
    name = "norm"
    text = "101 | status=adhere | llr=1.5"

Codes raised: TLN1xx, TLN9xx.
"""

import re
from codecs import BOM_UTF16_BE, BOM_UTF16_LE
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from decimal import Decimal
from functools import lru_cache, partial
from math import inf, nextafter
from typing import NamedTuple

import msgspec

from hlteval.converters.declarations import declaration
from hlteval.converters.format import ReadResult
from hlteval.converters.timelines import notation
from hlteval.converters.toolkit import source_files
from hlteval.converters.toolkit.rows import DocumentRows, read_rows
from hlteval.findings import FieldRef, Location, Problem, findings_of
from hlteval.representation import Corpus
from hlteval.sources import Member, Source, Unreadable, decode
from hlteval.syntax.places import Places

SUFFIX = ".TextGrid"
_SECONDS = re.compile(notation.SECONDS)
#: A text, also one without its end; a comment; a flag; a free-standing number, with a unit.
_TOKEN = re.compile(
    r'"(?P<T>(?>[^"]*(?:""[^"]*)*))"|(?P<U>")(?s:.*)|(?<!\S)![^\n]*|(?P<F><exists>|<absent>)'
    r'|(?<!\S)(?P<N>[-+]?[0-9.][^\s"a-zA-Z%]*(?:[eE][-+]?[0-9]+)?)[a-zA-Z%]*(?!\S)'
)
#: The kinds of tokens that each class of tier has for an item.
_ITEMS = {"IntervalTier": "NNT", "TextTier": "NT"}
#: The ends of the names of tiers of points.
_POINTS = " points"
_HEADER, _TIER = re.compile("TTNNFN?"), "TTNNN"


_REJECTING = ("TLN901", "TLN903")


class Token(NamedTuple):
    """A text, number or flag: the letter of its kind, its value, and where it is in the file."""

    kind: str
    value: str
    start: int
    end: int


class Item(NamedTuple):
    """An interval or point: the name and the ordinal of its tier, and its tokens."""

    tier: str
    ordinal: int
    tokens: Sequence[Token]


def sniff(source: Source) -> bool:
    """Whether a file has the suffix, or the first one the header of a TextGrid."""
    begin = source_files.head(source).replace("\0", "")
    return source_files.has_suffix(source, SUFFIX) or bool(_SNIFFED.search(begin))


_SNIFFED = re.compile(r'^[^"]{0,40}"ooTextFile(?: short)?"[^"]{1,40}"TextGrid"')


def read(source: Source, kind: str = "norm", tier: str = "kind") -> Iterator[ReadResult]:
    """The instances of a source in batches, in the order of their documents."""
    encoded = replace(source, members=tuple(map(_decodable, source.members)))
    return read_rows(encoded, FORMAT.name, SUFFIX, partial(_take, kind=kind, tier=tier))


def _decodable(member: Member) -> Member:
    """A file, with the encoding UTF-16 if it has its byte order mark."""
    with suppress(Unreadable):  # which is reported when it is read
        if member.reader()(0, 2) in {BOM_UTF16_BE, BOM_UTF16_LE}:
            return msgspec.structs.replace(member, encoding="utf-16")
    return member


def _take(rows: DocumentRows, origin: int, name: str, text: str, kind: str, tier: str) -> None:
    """Add the intervals and points of a file, and what is wrong in it."""
    member, places = rows.files.members[origin], Places(text)
    rows.begin(origin, name)
    items, problems = _parse(text)
    parse = lru_cache(maxsize=1000)(notation.parse)  # many texts are alike
    last: dict[int, float] = {}
    for record, item in enumerate(items, start=1):
        wrong = [problem._replace(record=record) for problem in _times(item, last)]
        problems += wrong
        if not wrong or wrong[0].code != "TLN903":
            problems += _instance(rows, record, item, kind, tier, parse)
    problems.sort(key=lambda problem: problem.start)
    for problem in problems:
        if problem.code in _REJECTING:
            span = places.span(problem.start, problem.end)
            moved = problem._replace(start=span.column - 1, end=span.end_column - 1)
            given = text[problem.start : problem.end]
            rows.add("rejected_records", moved.rejection("instance", given))
    rows.findings += findings_of(
        ((problem.start, problem) for problem in problems),
        lambda _, problem: places.finding(problem, member.display),
        member.max_per_code,
    )


def _parse(text: str) -> tuple[list[Item], list[Problem]]:
    """The intervals and points of a file, and what is wrong between them.

    Examples:
        >>> header = '"ooTextFile" "TextGrid" 0 9 <exists> 1 '
        >>> _parse(f'{header} "IntervalTier" "norm" 0 9 1 0 9 "101"')[0][0].tokens[2].value
        '101'
    """
    tokens = [
        Token(found.lastgroup, found[found.lastgroup].replace('""', '"'), *found.span())
        for found in _TOKEN.finditer(text)
        if found.lastgroup
    ]
    kinds = "".join(token.kind for token in tokens)
    header = _HEADER.match(kinds)
    is_grid = header is not None and tokens[1].value == "TextGrid"
    problems = [] if is_grid else [Problem("TLN902", 0, 0, len(text.partition("\n")[0]))]
    items, sizes, wrong = list[Item](), list[Token](), set[int]()
    at, shape, name, end = header.end() if header else 0, "", "", 0
    while at < len(tokens):
        token = tokens[at]
        if token.value in _ITEMS and kinds.startswith(_TIER, at):
            shape, name = _ITEMS[token.value], tokens[at + 1].value
            end = at = at + len(_TIER)
            sizes.append(tokens[at - 1])
        elif shape and kinds.startswith(shape, at):
            items.append(Item(name, len(sizes), tokens[at : at + len(shape)]))
            end = at = at + len(shape)
        else:
            if at in {0, end}:  # the first of several
                values = {"given": text[token.start : token.end][:40]}
                problems.append(Problem("TLN901", 0, token.start, token.end, values))
                wrong.add(len(sizes))
            at += 1
    counts = Counter(item.ordinal for item in items)
    for ordinal, size in enumerate(sizes, start=1):
        if ordinal not in wrong and size.value != str(counts[ordinal]):
            numbers: dict[str, object] = {"given": size.value[:20], "count": counts[ordinal]}
            problems.append(Problem("TLN905", 0, size.start, size.end, numbers))
    return items, problems


def _times(item: Item, last: dict[int, float]) -> Iterator[Problem]:
    """The problems of the times of an item: those that make it unreadable, or its place.

    Args:
        item: the item.
        last: the end of the items of each tier so far, which is updated.
    """
    times = item.tokens[:-1]
    for time in times:
        if not _SECONDS.fullmatch(time.value) or float(time.value) < float(times[0].value):
            values = {"given": time.value[:40]}
            yield Problem("TLN903", 0, time.start, time.end, values)
            return
    start, end, before = *(float(times[at].value) for at in (0, -1)), last.get(item.ordinal, -1.0)
    if start < before or (len(times) == 1 and start == before):
        numbers = {"given": times[0].value[:40], "before": _plain(before), "tier": item.tier[:40]}
        yield Problem("TLN904", 0, times[0].start, times[0].end, numbers)
    last[item.ordinal] = max(end, before)


def _instance(
    rows: DocumentRows,
    record: int,
    item: Item,
    kind: str,
    tier: str,
    parse: Callable[..., notation.Note],
) -> Iterator[Problem]:
    """Add the instance of an item, if it has a text; what is wrong with this.

    Args:
        rows: those of the file.
        record: the ordinal of the item.
        item: the item, whose times are valid.
        kind: of instances on tiers without one.
        tier: the use of the names of tiers.
        parse: `notation.parse`.
    """
    text = item.tokens[-1]
    if not text.value.strip():
        return
    first = item.tier.lower().split()[:1]
    own = first[0] if tier == "kind" and first and first[0] in notation.INSTANCES else ""
    note = parse(text.value, with_kind=not own)
    if tier == "label":
        note = notation.Note("", item.tier, {}, [])
    for problem in note.problems:
        yield problem._replace(start=text.start, end=text.end)
    by = {"annotator": item.tier} if tier == "annotator" else {}
    note = note._replace(kind=own or note.kind, values={**by, **note.values})
    times = [float(time.value) for time in item.tokens[:-1]]
    notation.add_instance(rows, record, note, kind, start=times[0], end=times[-1])


def locate(member: Member, places: Sequence[FieldRef]) -> list[Location | None]:
    """The numbers of starts and ends, and the texts of all else."""
    member = _decodable(member)
    text = decode(member.fetch(), display=member.display, encoding=member.encoding).text or ""
    items, lines = _parse(text)[0], Places(text)
    found: list[Location | None] = []
    for place in places:
        if not 1 <= place.record <= len(items):
            found.append(None)
            continue
        tokens = items[place.record - 1].tokens
        token = tokens[{"start": 0, "end": len(tokens) - 2}.get(place.field, -1)]
        span = lines.span(token.start, token.end)
        found.append(Location(span, lines.excerpt(span)))
    return found


def as_files(corpus: Corpus) -> Iterator[tuple[str, str]]:
    """The file of each document with its instances, with the name of the original one."""
    rows = notation.rows_in_seconds(corpus, "instances").filter(notation.fits("instances"))
    columns = ("document", "kind", "start", "end", notation.text("instances"))
    instances = defaultdict[int, list[notation.Stretch]](list)
    for document, kind, start, end, text in rows.select(columns).iter_rows():
        point = start == end  # points of one time cannot be on one tier
        own = (kind + _POINTS, start, nextafter(end, inf)) if point else (kind, start, end)
        instances[document].append((*own, text))
    for row, path in source_files.output_paths(corpus, FORMAT.name, SUFFIX).items():
        yield path, _file(instances[row])


def _file(instances: Sequence[notation.Stretch]) -> str:
    """The content of a file."""
    ends = [start if _POINTS in name else end for name, start, end, _ in instances]
    last = _plain(max([1.0, *ends]))
    tiers = notation.tiers(instances)
    lines = ['File type = "ooTextFile"', 'Object class = "TextGrid"', "", "xmin = 0"]
    lines += [f"xmax = {last}", f"tiers? <{'exists' if tiers else 'absent'}>"]
    lines += [f"size = {len(tiers)}", "item []:"] if tiers else []
    for ordinal, (name, stretches) in enumerate(tiers.items(), start=1):
        points = _POINTS in name
        what, kind = ("points", "TextTier") if points else ("intervals", "IntervalTier")
        body = stretches if points else [*_without_gaps(stretches, float(last))]
        lines += [f"    item [{ordinal}]:", f'        class = "{kind}"', f'        name = "{name}"']
        lines += [
            "        xmin = 0",
            f"        xmax = {last}",
            f"        {what}: size = {len(body)}",
        ]
        for number, (_, start, end, text) in enumerate(body, start=1):
            quoted = text.replace('"', '""')
            times = [("number", start)] if points else [("xmin", start), ("xmax", end)]
            lines.append(f"        {what} [{number}]:")
            lines += [f"            {field} = {_plain(time)}" for field, time in times]
            lines.append(f'            {"mark" if points else "text"} = "{quoted}"')
    return "\n".join([*lines, ""])


def _without_gaps(stretches: Iterable[notation.Stretch], last: float) -> Iterator[notation.Stretch]:
    """The intervals of a tier with empty ones between them: those of Praat leave no gaps."""
    time = 0.0
    for kind, start, end, text in stretches:
        if time < start:
            yield kind, time, start, ""
        yield kind, start, end, text
        time = end
    if time < last:
        yield "", time, last, ""


def _plain(time: float) -> str:
    """A time without an exponent."""
    return format(Decimal(repr(time)), "f")


def count_losses(corpus: Corpus) -> Mapping[str, int]:
    """The counts of what intervals and points cannot represent."""
    return notation.count_losses(corpus, FORMAT.name, SUFFIX)


FORMAT = declaration(__name__)
