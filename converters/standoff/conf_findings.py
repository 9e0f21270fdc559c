"""Annotations of brat beside the annotation.conf of their folder: labels, arguments and values.

brat itself shows what its configuration does not declare, but does not prevent it. A folder without
an annotation.conf has that of the folder above, up to the folder that is read. What a section that
is not there would declare is not checked. The names that a visual.conf gives to labels are not
labels, but show which one is meant.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache, partial
from pathlib import PurePosixPath

import msgspec
import polars as pl

from hlteval.converters.standoff.annotation_conf import parse
from hlteval.converters.standoff.conf_rules import VALUES, FolderConf
from hlteval.findings import Bounded, FieldRef, Finding, Location, Problem
from hlteval.representation import Corpus
from hlteval.sources import Member, Unreadable, decode
from hlteval.syntax.places import Places
from hlteval.syntax.tsv import shorten

CONF, VISUAL = "annotation.conf", "visual.conf"
#: Gives the places of fields of a file.
Locate = Callable[[Member, Sequence[FieldRef]], list[Location | None]]


def configurations(members: Sequence[Member]) -> Iterator[Member]:
    """The files of configuration, among tens of thousands of others."""
    ends = (CONF, VISUAL)
    some = (each for each in members if (each.name or each.display).endswith(ends))
    return (member for member in some if member.basename in ends)


def read_folders(members: Sequence[Member]) -> dict[str, FolderConf]:
    """The configuration of each folder that has an annotation.conf."""
    texts: dict[str, dict[str, tuple[str, str]]] = {CONF: {}, VISUAL: {}}
    for member in dict.fromkeys(configurations(members)):
        try:
            data = member.fetch()
        except Unreadable:
            continue
        read = decode(data, display=member.display, encoding=member.encoding, replace=True)
        text = (read.text or "").replace("\r\n", "\n")
        texts[member.basename][_folder(member)] = text, member.display
    return {
        folder: FolderConf(parse(text, display), label_names(texts[VISUAL].get(folder, ("",))[0]))
        for folder, (text, display) in texts[CONF].items()
    }


def with_configurations(
    documents: Mapping[str, tuple[Member, ...]], members: Sequence[Member]
) -> dict[str, tuple[Member, ...]]:
    """The files of each document, with the configurations of its folder and those above."""
    own: dict[str, list[Member]] = {}
    for member in configurations(members):
        own.setdefault(_folder(member), []).append(member)
    if not own:
        return dict(documents)
    return {
        name: (
            *files,
            *(m for up in PurePosixPath(files[0].name).parents for m in own.get(str(up), ())),
        )
        for name, files in documents.items()
    }


def _folder(member: Member) -> str:
    return str(PurePosixPath(member.name).parent)


def label_names(visual: str) -> dict[str, str]:
    r"""The labels by the names, in small letters, that the text of a visual.conf gives them.

    Examples:
        >>> label_names("[labels]\nPerson | Human being | Hum\n[drawing]\nPerson bgColor:red\n")
        {'human being': 'Person', 'hum': 'Person'}
    """
    section = re.search(r"(?m)^\[labels\][^\n]*\n([^\[]*)", visual)
    names: dict[str, str] = {}
    for line in (section[1] if section else "").split("\n"):
        label, *others = (part.strip() for part in line.split("#")[0].split("|"))
        for name in others:
            names.setdefault(name.casefold(), label)
    return names


def check(
    corpus: Corpus, members: Sequence[Member], folders: Mapping[str, FolderConf], locate: Locate
) -> Iterator[Finding]:
    """Give the findings about the records of a batch that its configurations do not allow.

    Args:
        corpus: of the batch.
        members: its files.
        folders: the configurations.
        locate: finds the places of fields.
    """
    if not folders:
        return

    @cache
    def nearest(folder: str) -> str | None:
        above = (folder, *map(str, PurePosixPath(folder).parents))
        return next((up for up in above if up in folders), None)

    own: dict[int, FolderConf] = {}
    alike: dict[tuple[object, ...], list[int]] = {}  # many folders have copies of one file
    for origin, member in enumerate(members):
        folder = nearest(member.name.rpartition("/")[0] or ".")
        if folder is not None:
            own[origin] = folders[folder]
            key = (own[origin].conf.text, *own[origin].names.items())
            alike.setdefault(key, []).append(origin)
    for origins in alike.values():
        inside = pl.col("origin").is_in(origins)
        tables = {name: getattr(corpus, name).filter(inside) for name in _TABLES}
        wrong = own[origins[0]].wrong(corpus.replace(**tables))
        for (origin,), rows in wrong.group_by("origin", maintain_order=True):
            at = int(str(origin))
            member, conf = members[at], Places(own[at].conf.text)
            bounded = Bounded(member.max_per_code)
            nth = pl.int_range(pl.len()).over("code")
            few = rows.filter(nth <= member.max_per_code) if member.max_per_code else rows
            refs = [FieldRef(*place) for place in few.select("record", "field").iter_rows()]
            places = dict(zip(refs, locate(member, refs), strict=True))
            files = (member.display, own[at].conf.path)
            explain = partial(_explain_row, files=files, conf=conf, places=places)
            for row in rows.iter_rows(named=True):
                bounded.add(row["code"], row["record"], explain, row)
            yield from bounded.findings


def _explain_row(
    record: int,
    row: Mapping[str, str],
    *,
    files: tuple[str, str],
    conf: Places,
    places: Mapping[FieldRef, Location | None],
) -> Finding:
    """The finding about a row of `_WRONG`, with the line of the configuration as its clause."""
    location = places[FieldRef(record, row["field"])]
    values = {name: row[name] or "" for name in ("id", *VALUES)}
    span, excerpt = (location.span, location.excerpt) if location else (None, None)
    problem = Problem(row["code"], record, 0, 0, values)
    finding = problem.finding(files[0], span, excerpt, row["id"])
    conf.seek(int(row["at"]))
    written = shorten(conf.text[conf.begin : conf.end].strip())
    clause = f"{files[1]}, line {conf.line}: {written}"
    return msgspec.structs.replace(finding, clause=clause)


_TABLES = ("mentions", "frames", "modifiers", "groups", "arguments")
