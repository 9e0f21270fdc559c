"""Inputs of a conversion: their formats, the names of their documents, and several as one."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from operator import attrgetter
from pathlib import Path
from typing import NamedTuple

import msgspec
import polars as pl

from hlteval.converters import BUILTIN, Format, ReadResult, known, load
from hlteval.converters.corpus.memory import in_memory
from hlteval.converters.toolkit.source_files import unique_name
from hlteval.converters.toolkit.spans import other_texts
from hlteval.findings import FieldRef, Finding, entry, finding
from hlteval.findings.sequence import lists_by_key
from hlteval.findings.suggest import did_you_mean
from hlteval.representation import TABLES, Corpus
from hlteval.results.packages import Candidate, Detection, LikelySetting
from hlteval.sources import Member, Source, Unreadable, open_source
from hlteval.sources.archives import first_names, kind_of_file
from hlteval.workflows.run.tables import explain_tables


def qualify(form: Format, source: Source) -> Source:
    """Qualify the files of a source by their folders where documents have the same name.

    The files of a document have different suffixes; where two of them have the same name, they are
    those of several documents.

    Examples:
        >>> from hlteval.converters import load
        >>> names = ["a/d1.ann", "b/d1.ann", "b/d2.ann"]
        >>> members = tuple(Member(name, name, 0, bytes) for name in names)
        >>> source = qualify(load("brat"), Source("x", "folder", members))
        >>> list(load("brat").documents(source))
        ['a/d1', 'b/d1', 'd2']
    """
    if form.layout != "per_document":
        return source
    shared = {
        member.name
        for members in form.documents(source).values()
        if len({member.basename for member in members}) < len(members)
        for member in members
    }
    if not shared:
        return source
    members = (msgspec.structs.replace(m, qualified=m.name in shared) for m in source.members)
    return replace(source, members=tuple(members))


def with_unique_names(
    results: Iterable[ReadResult], files: Mapping[str, Sequence[Member]]
) -> Iterator[ReadResult]:
    """Give documents that have the name of an earlier one another name, with a finding for each.

    Args:
        results: the batches of a source.
        files: the files of the source that make up documents, by any key; a document with rows from
            files of several keys is several documents.
    """
    groups = {m.name: group for group, own in enumerate(files.values()) for m in own}
    known, places = dict[str, int](), dict[str, str]()
    # names of their own are seen by their hashes alone: a million takes little time and memory
    hashes, earlier = set[int](), list[tuple[pl.DataFrame, Mapping[int, str]]]()
    for result in results:
        corpus = result.corpus
        of_files = [groups.get(member.name, -1) for member in result.members]
        if len(set(of_files)) > 1 and len(of_files) == corpus.sources.height:
            corpus = separate(corpus, of_files)
        shown = (member.display for member in result.members)
        displays = dict(zip(corpus.sources["row"], shown, strict=False))
        listed = corpus.documents.select("origin", "name")
        own = set(listed["name"].hash())
        if not known and len(own) == listed.height and hashes.isdisjoint(own):
            hashes |= own
            earlier.append((listed, displays))
            yield replace(result, corpus=corpus)
            continue
        for before, files_before in earlier:
            for origin, name in before.iter_rows():
                known[name], places[name] = 1, files_before.get(origin, "")
        earlier.clear()
        findings, names = list(result.findings), list[str]()
        for origin, name in listed.iter_rows():
            place = displays.get(origin, "")
            new = unique_name(name, known)
            if new != name:
                values = {"name": name, "new": new, "first": places.get(name, "")}
                findings.append(entry("CNV201").finding(values, file=place or None, record=name))
            places.setdefault(new, place)
            names.append(new)
        documents = corpus.documents.with_columns(name=pl.Series(names, dtype=pl.String))
        corpus = corpus.replace(documents=documents)
        yield replace(result, corpus=corpus, findings=tuple(findings))


def separate(corpus: Corpus, groups: Sequence[int]) -> Corpus:
    """Divide the documents of a corpus that have rows from files of two groups.

    Args:
        corpus: of documents that may have.
        groups: the group of each row of `sources`.

    Examples:
        >>> source = {"path": "x", "format": "x", "sha256": ""}
        >>> place = {"document": 0, "record": 1, "start": 0, "end": 1}
        >>> mention = {**place, "mention": "m", "label": "X"}
        >>> corpus = Corpus(
        ...     sources=[{**source, "row": row, "member": f"{row}.tab"} for row in (0, 1)],
        ...     documents=[{"row": 0, "origin": 0, "name": "d1"}],
        ...     mentions=[{**mention, "row": row, "origin": row} for row in (0, 1)],
        ... )
        >>> separate(corpus, [7, 8]).mentions["document"].to_list()
        [0, 1]
    """
    key = pl.Series("group", groups, dtype=pl.Int64)
    group_of = corpus.sources.select(origin="row").with_columns(key)
    both = {("document", "documents"), ("origin", "sources")}
    placed = {name: rows for name, rows in corpus.tables() if both <= {*TABLES[name].references}}
    pairs = pl.concat(rows.select("document", "origin").unique() for rows in placed.values())
    pairs = pairs.drop_nulls().unique().join(group_of, on="origin").select("document", "group")
    home = corpus.documents.select("row", "name", "origin")
    home = home.join(group_of, on="origin", how="left", maintain_order="left")
    first = pairs.group_by(row="document").agg(first=pl.col("group").min())
    home = home.join(first, on="row", how="left", maintain_order="left")
    home = home.select("row", "name", home=pl.coalesce("group", "first"))
    pairs = pairs.join(home, left_on="document", right_on="row", how="left")
    others = pairs.filter(pl.col("group") != pl.col("home")).unique().sort("document", "group")
    if others.is_empty():
        return corpus
    count = int(corpus.documents["row"].max() or 0) + 1  # type: ignore[arg-type]
    others = others.with_columns(new=pl.int_range(pl.len(), dtype=pl.Int64) + count)
    origins = group_of.group_by("group").agg(pl.col("origin").min())
    made = others.join(origins, on="group", maintain_order="left")
    made = made.select("origin", "name", row="new")
    documents = pl.concat([corpus.documents, made], how="diagonal")
    on = ["document", "origin"]
    new = group_of.join(others, on="group").select(*on, _new="new")
    tables = {
        name: rows.join(new, on=on, how="left", maintain_order="left")
        .with_columns(document=pl.coalesce("_new", "document"))
        .drop("_new")
        for name, rows in placed.items()
        if rows.height
    }
    return corpus.replace(documents=documents, **tables)


class UnknownFormat(ValueError):
    """The format of a path cannot be detected: an error of usage."""


def detect_format(source: Source, form: str | None = None) -> Format:
    """The format of a source, by its name or detected from the names and first bytes of its files.

    Raises:
        UnknownFormat: if there is no such format, or several, or none that fits.
    """
    if held := in_memory(source):
        if form is not None:
            raise UnknownFormat(f"{source.path} is in memory: leave out --from")
        return held
    if form is not None:
        chosen = known_format(form)
        if not chosen.reads:
            raise UnknownFormat(f"{form} is a write-only format")
        return chosen
    return _first(source, candidates(source))


def _first(source: Source, found: Iterable[tuple[Format, str]]) -> Format:
    """The format that comes before all others that accept a source.

    Raises:
        UnknownFormat: if several do, or none.
    """
    fitting = [candidate for candidate, reason in found if not reason]
    if len(fitting) == 1:
        return fitting[0]
    names = " or ".join(candidate.name for candidate in fitting)
    if kind := "" if names else kind_of_file(source):
        raise UnknownFormat(f"{source.path} is {kind}, not text; export its content as text")
    if not source.members and source.findings:
        raise UnknownFormat(f"{source.path} cannot be read: {source.findings[0].message}")
    reason = f"may be {names}" if names else "matches no known format"
    raise UnknownFormat(f"{source.path} {reason}; set the format with --from")


#: Reasons for or against a format.
_BY_NAME = "the name has the suffix of another"
_SPECIFIC = "other formats that accept it accept much"


def candidates(source: Source) -> list[tuple[Format, str]]:
    """The formats that accept a source, each with the reason why others come before it.

    The reason is empty for those that come first: one, if the format of the source is clear.
    """
    every = [candidate for name in known() if (candidate := load(name)).sniff(source)]
    specific = [candidate for candidate in every if not candidate.general] or every
    suffixed = [candidate for candidate in specific if source.path.endswith(candidate.suffixes)]
    named = suffixed or specific  # the name decides between what looks alike
    first = prefer_builtin(named)
    reasons = (
        (specific, "it accepts much, so that any other format comes before it"),
        (named, _BY_NAME),
        (first, "formats of plug-ins come after those of hlteval"),
    )
    return [
        (each, next((reason for kept, reason in reasons if each not in kept), "")) for each in every
    ]


def detection(path: str, encoding: str = "utf-8") -> Detection:
    """The format of a path with the reason, the formats that accept it, and likely settings.

    Args:
        path: of a folder, file or archive; `-` for standard input.
        encoding: of its files.

    Raises:
        FileNotFoundError: if the path does not exist.
        LookupError: for an unknown encoding.
    """
    from hlteval.tasks.generic.draft import LIKELY, likely_settings

    source = open_source(path, encoding=encoding)
    found = candidates(source)
    accepting = tuple(Candidate(form.name, form.title, reason) for form, reason in found)
    try:
        form = _first(source, found)
    except UnknownFormat as error:
        return Detection(path=path, format="", reason=str(error), candidates=accepting)
    settings: tuple[LikelySetting, ...] = ()
    if not LIKELY.isdisjoint(setting.name for setting in form.settings if setting.of == "read"):
        opened = Input.of(source, form.name, encoding, several=False)
        corpus = Corpus.concat(result.corpus for result in opened.read())
        settings = tuple(LikelySetting(*each) for each in likely_settings(form, corpus))
    others = {reason for _, reason in found if reason}
    reason = _SPECIFIC if others else "no other format accepts it"
    if _BY_NAME in others:
        reason = "its name decides between formats that accept it"
    return Detection(
        path=path, format=form.name, reason=reason, candidates=accepting, settings=settings
    )


def known_format(name: str) -> Format:
    """Return a format by its name.

    Raises:
        UnknownFormat: if there is none of that name.
    """
    if name not in known():
        hint = did_you_mean(name, [*known()], f"use one of {', '.join(known())}")
        raise UnknownFormat(f"unknown format {name}; {hint}")
    return load(name)


def prefer_builtin(formats: list[Format]) -> list[Format]:
    """Return the built-in ones of some formats, or all if none is."""
    return [f for f in formats if f.name in BUILTIN] or formats


@dataclass(frozen=True)
class Input:
    """A source and the format that it is read as.

    Attributes:
        source: the source, whose files are qualified where names collide.
        form: its format, with its settings.
        findings: what concerns the source as a whole, such as files that are not read.
    """

    source: Source
    form: Format
    findings: tuple[Finding, ...] = ()

    @classmethod
    def open(
        cls, path: str, form: str | None = None, encoding: str = "utf-8", *, several: bool = False
    ) -> Input:
        """Open a path.

        Args:
            path: of a folder, file or archive; `-` for standard input.
            form: the name of its format; detected if it is not given.
            encoding: of its files.
            several: whether it is one of several inputs: then a folder of `.txt` files that are of
                no other format is read as `text`.

        Raises:
            UnknownFormat: if the format cannot be detected.
            FileNotFoundError: if the path does not exist.
            LookupError: for an unknown encoding.
        """
        return cls.of(open_source(path, encoding=encoding), form, encoding, several=several)

    @classmethod
    def of(
        cls, source: Source, form: str | None = None, encoding: str = "utf-8", *, several: bool
    ) -> Input:
        """Take a source that is open; the arguments and errors are those of `open`."""
        names = [member.basename for member in source.members]
        if several and form is None and names and all(name.endswith(".txt") for name in names):
            form = "text"
            with suppress(UnknownFormat):
                look = detect_format(source)
                form = look.name if look.layout == "per_document" else "text"
        chosen = detect_format(source, form)
        source, findings = _complete(chosen, source, encoding)
        source = qualify(chosen, source)
        read = {m.name for members in chosen.documents(source).values() for m in members}
        unread = [m.name or m.display for m in source.members if m.name not in read]
        if unread:
            values = {"format": chosen.name, "count": len(unread), "names": first_names(unread)}
            findings.append(entry("CNV104").finding(values, file=source.path))
        return cls(source, chosen, (*source.findings, *findings))

    def read(self) -> Iterator[ReadResult]:
        """The documents in batches, each with a name of its own, without the findings above."""
        files: Mapping[str, Sequence[Member]] = self.form.documents(self.source)
        if self.form.layout != "per_document" and not self.form.shares_documents:
            files = {member.name: [member] for members in files.values() for member in members}

        def findings_of(source: Source) -> list[Finding]:
            return [found for each in self.form.read(source) for found in each.findings]

        def explain(result: ReadResult) -> ReadResult:
            source = self.source.only(result.members)
            findings = explain_tables(self.form, source, result.findings, findings_of)
            return replace(result, findings=tuple(findings))

        return with_unique_names(map(explain, self.form.read(self.source)), files)


def _complete(form: Format, source: Source, encoding: str) -> tuple[Source, list[Finding]]:
    """Add to a single file those beside it that it refers to, with findings about them.

    An `.ann` file has the offsets of a `.txt`: without it, there is no text.
    """
    suffix = Path(source.path).suffix
    if source.kind != "file" or suffix not in form.needed_files or not source.members:
        return source, []
    members, findings = list(source.members), []
    for other in form.needed_files[suffix]:
        path = str(Path(source.path).with_suffix(other))
        present = Path(path).is_file()
        members += open_source(path, encoding=encoding).members if present else ()
        code = "CNV202" if present else "CNV203"
        findings.append(finding(code, file=source.path, beside=path))
    members = [msgspec.structs.replace(member, name=member.basename) for member in members]
    return replace(source, members=tuple(members)), findings


_JOINING_TEXT = "text"
#: What the tables of a document bring to it; of each kind there is one input that brings it. Of
#: translations, each role and set is a kind of its own.
_KINDS: Mapping[str, str] = {
    **dict.fromkeys(("segments", "tokens"), "segments"),
    **dict.fromkeys(("mentions", "links", "frames", "arguments", "fills"), "annotations"),
    **dict.fromkeys(("sentiments", "modifiers", "groups"), "annotations"),
    **dict.fromkeys(("instances", "ratings", "changes", "responses"), "annotations"),
    "regions": "segments",
}


#: The columns of documents that are fields of `_Document`.
_OWN = ("row", "origin", "name", "text")


@dataclass
class _Document:
    """A document of an input: its row of `documents`, its input and the kinds of what it brings.

    Attributes:
        others: its other columns, of which the first value that there is counts.
        text_part: the input that its text is from.
    """

    row: int
    origin: int | None
    name: str
    text: str | None
    others: Mapping[str, object]
    part: int
    kinds: set[str]
    text_part: int

    def conflict(self, other: _Document) -> str:
        """Name what this and another document both bring; empty if they complement each other.

        A text may be in both, with or without line feeds at its end.
        """
        both = self.kinds & other.kinds
        first, second = ((each.text or "").rstrip("\n") for each in (self, other))
        if _JOINING_TEXT in both and first != second:
            return "different texts"
        return ", ".join(sorted(both - {_JOINING_TEXT}))

    def unite(self, other: _Document) -> None:
        """Take what another has and this has not."""
        if self.text is None or len(other.text or "") > len(self.text):
            self.origin = self.origin if other.text is None else other.origin
            self.text_part = other.part
            self.text = other.text
        self.kinds |= other.kinds
        known = {name: value for name, value in self.others.items() if value is not None}
        self.others = {**other.others, **known}


class _Part(NamedTuple):
    """One input: its path and format, its corpus and the file of each of its rows of `sources`."""

    path: str
    form: Format
    corpus: Corpus
    members: Sequence[Member | None]


def join(inputs: Sequence[Input]) -> ReadResult:
    """Several inputs as one corpus.

    What several inputs have of a document of one name is one document where each brings something
    else: one the text, another the annotations. Otherwise they stay two documents, with a finding.
    Mentions are checked against a text of another input.

    Args:
        inputs: at least one.

    Returns:
        The corpus, with the findings of all inputs and of the join.
    """
    findings: list[Finding] = []
    parts = []
    for each in inputs:
        results = list(each.read())
        findings += [*each.findings, *(f for result in results for f in result.findings)]
        members: list[Member | None] = []  # unknown in a saved corpus
        for result in results:
            size = result.corpus.sources.height
            members += result.members if len(result.members) == size else [None] * size
        corpus = Corpus.concat(result.corpus for result in results)
        parts.append(_Part(each.source.path, each.form, corpus, members))
    corpus = Corpus.concat(part.corpus for part in parts)
    if len(parts) > 1:
        corpus, documents = _unite(parts, corpus, findings)
        names = [set(part.corpus.documents["name"]) for part in parts]
        for at, part in enumerate(parts):  # one that has no document in common with any other
            others = set().union(*(own for index, own in enumerate(names) if index != at))
            if names[at] and others and names[at].isdisjoint(others):
                own, foreign = (first_names([*each]) for each in (names[at], others))
                findings.append(finding("CNV205", file=part.path, names=own, others=foreign))
        rows = corpus.documents
        if rows["text"].null_count() not in {0, rows.height}:  # spans whose text only others have
            spans = corpus.mentions.select(row="document").unique()
            bare = rows.filter(pl.col("text").is_null()).join(spans, on="row", how="semi")
            if bare.height:
                values = {"count": bare.height, "names": first_names(bare["name"].to_list())}
                findings.append(entry("CNV206").finding(values))
        findings += _wrong_offsets(parts, corpus, documents)
    return ReadResult(corpus, tuple(findings))


def _unite(
    parts: Sequence[_Part], corpus: Corpus, findings: list[Finding]
) -> tuple[Corpus, Sequence[_Document]]:
    """Unite the documents of one name where they complement each other.

    Args:
        parts: the inputs.
        corpus: all documents of theirs.
        findings: takes one for each document that stays beside another of its name.

    Returns:
        The corpus of the documents, and these.
    """
    keys: dict[int, int] = {}
    united: list[_Document] = []
    by_name = lists_by_key((document.name, document) for document in _documents(parts, corpus))
    for documents in by_name.values():
        kept: list[_Document] = []
        for document in documents:
            reasons = [(other, document.conflict(other)) for other in kept]
            target = next((other for other, reason in reasons if not reason), None)
            if target is not None:
                target.unite(document)
                keys[document.row] = target.row
                continue
            for other, reason in reasons[:1]:
                path, first = parts[document.part].path, parts[other.part].path
                values = {"name": document.name, "what": reason, "other": first}
                conflict = entry("CNV204").finding(values, file=path, record=document.name)
                findings.append(conflict)
            kept.append(document)
        united += kept
    united.sort(key=attrgetter("row"))
    names: dict[str, int] = {}
    for document in united:
        document.name = unique_name(document.name, names)
    tables = {
        name: rows.with_columns(pl.col("document").replace(keys))
        for name, rows in corpus.tables()
        if rows.height and "document" in rows.columns and keys
    }
    rows = [{**each.others, **{name: getattr(each, name) for name in _OWN}} for each in united]
    tables["documents"] = pl.DataFrame(rows, schema=TABLES["documents"].schema)
    return corpus.replace(**tables), united


def _wrong_offsets(
    parts: Sequence[_Part], corpus: Corpus, documents: Sequence[_Document]
) -> Iterator[Finding]:
    """The mentions of one input that do not fit the text of another, at their places."""
    files = [(part, member) for part in parts for member in part.members]
    texts = {document.row: parts[document.text_part] for document in documents}
    for group in other_texts(corpus).partition_by("origin"):
        part, member = files[group["origin"][0]]
        rows = [row for row in group.iter_rows(named=True) if texts[row["document"]] is not part]
        if member is None or not rows:
            continue
        try:
            locations = part.form.locate(member, [FieldRef(r["record"], "text") for r in rows])
        except Unreadable:
            locations = [None for _ in rows]
        for row, location in zip(rows, locations, strict=True):
            there = f"the text there is {str(row['there'])[:40]!r}"
            yield finding(
                "CNV207",
                file=member.display,
                span=location.span if location else None,
                excerpt=location.excerpt if location else None,
                record=str(row["mention"]) or None,
                start=row["start"],
                end=row["end"],
                given=str(row["text"] or "")[:40],
                actual=there if row["fit"] else "the text ends before",
            )


def _documents(parts: Sequence[_Part], corpus: Corpus) -> Iterator[_Document]:
    """The documents of all inputs, with what each brings."""
    kinds: defaultdict[int, set[str]] = defaultdict(set)
    for table, kind in _KINDS.items():
        for document in getattr(corpus, table)["document"].unique():
            kinds[document].add(kind)
    texts = corpus.translations.select("document", "role", "set").unique(maintain_order=True)
    for document, role, name in texts.iter_rows():
        kinds[document].add(f"translations of the {role} {name or ''}".rstrip())
    for document in corpus.documents.drop_nulls("text")["row"]:
        kinds[document].add(_JOINING_TEXT)
    owners = [at for at, part in enumerate(parts) for _ in range(part.corpus.documents.height)]
    columns = corpus.documents.select(*_OWN, pl.struct(pl.exclude(_OWN)).alias("others"))
    for part, cells in zip(owners, columns.iter_rows(), strict=True):
        row, origin, name, text, others = cells
        yield _Document(row, origin, name, text, others, part, kinds[row], part)
