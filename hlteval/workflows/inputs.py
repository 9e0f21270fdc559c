"""Inputs of a conversion: sources with their formats, read as documents of distinct names."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import msgspec

from hlteval.converters import BUILTIN, Format, ReadResult, known, load
from hlteval.converters.corpus.memory import in_memory
from hlteval.findings import Finding, finding
from hlteval.findings.suggest import did_you_mean
from hlteval.sources import Member, Source, open_source
from hlteval.sources.problems import kind_of_file, shown_names
from hlteval.workflows.naming import UniqueNames, qualified
from hlteval.workflows.table_mistakes import explained

_TEXT = ".txt"


class UnknownFormat(ValueError):
    """The format of a path cannot be detected: an error of usage."""


def detected(source: Source, form: str | None = None) -> Format:
    """The format of a source, by its name or detected from the names and first bytes of its files.

    Raises:
        UnknownFormat: if there is no such format, or several, or none that fits.
    """
    if held := in_memory(source):
        if form is not None:
            raise UnknownFormat(f"{source.path} is in memory: leave out --from")
        return held
    if form is not None:
        chosen = named(form)
        if not chosen.reads:
            raise UnknownFormat(f"{form} is a write-only format")
        return chosen
    fitting = [candidate for name in known() if (candidate := load(name)).sniff(source)]
    fitting = [candidate for candidate in fitting if not candidate.general] or fitting
    suffixed = [candidate for candidate in fitting if source.path.endswith(candidate.suffixes)]
    fitting = preferred(suffixed or fitting)  # the name decides between what looks alike
    if len(fitting) == 1:
        return fitting[0]
    names = " or ".join(candidate.name for candidate in fitting)
    if kind := "" if names else kind_of_file(source):
        raise UnknownFormat(f"{source.path} is {kind}, not text; export its content as text")
    if not source.members and source.findings:
        raise UnknownFormat(f"{source.path} cannot be read: {source.findings[0].message}")
    reason = f"may be {names}" if names else "matches no known format"
    raise UnknownFormat(f"{source.path} {reason}; set the format with --from")


def named(name: str) -> Format:
    """A format by its name.

    Raises:
        UnknownFormat: if there is none of that name.
    """
    if name not in known():
        hint = did_you_mean(name, [*known()], f"use one of {', '.join(known())}")
        raise UnknownFormat(f"unknown format {name}; {hint}")
    return load(name)


def preferred(formats: list[Format]) -> list[Format]:
    """The built-in ones of some formats, or all if none is."""
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
        source = open_source(path, encoding=encoding)
        if several and form is None and _only_texts(source):
            form = _format_of_texts(source)
        chosen = detected(source, form)
        source, remarks = _completed(chosen, source, encoding)
        source = qualified(chosen, source)
        return cls(source, chosen, (*source.findings, *remarks, *_unread(chosen, source)))

    def read(self) -> Iterator[ReadResult]:
        """The documents in batches, each with a name of its own, without the findings above."""
        names = UniqueNames(_files(self.form, self.source))
        for result in self.form.read(self.source):
            yield names.apply(replace(result, findings=tuple(self._explained(result))))

    def _explained(self, result: ReadResult) -> Sequence[Finding]:
        """The findings of a batch, with one for each mistake in all rows of a table."""

        def again(source: Source) -> list[Finding]:
            return [found for each in self.form.read(source) for found in each.findings]

        source = self.source.only(result.members)
        return explained(self.form, source, result.findings, again)


def _only_texts(source: Source) -> bool:
    names = [member.basename for member in source.members]
    return bool(names) and all(name.endswith(_TEXT) for name in names)


def _format_of_texts(source: Source) -> str:
    """The format of files that all end in `.txt`: what they look like, or else plain text."""
    try:
        found = detected(source)
    except UnknownFormat:
        return "text"
    return found.name if found.layout == "per_document" else "text"


def _files(form: Format, source: Source) -> dict[str, Sequence[Member]]:
    """The files that are read, by document; where a file holds many documents, by file."""
    files = form.documents(source)
    if form.layout == "per_document" or form.shares_documents:
        return dict(files)
    return {member.name: [member] for members in files.values() for member in members}


def _unread(form: Format, source: Source) -> Iterator[Finding]:
    """The finding about files that the format does not read, if there are any."""
    read = {member.name for members in form.documents(source).values() for member in members}
    names = [member.name or member.display for member in source.members if member.name not in read]
    if names:
        values: dict[str, Any] = {"count": len(names), "names": shown_names(names)}
        yield finding("CNV104", file=source.path, format=form.name, **values)


def _completed(form: Format, source: Source, encoding: str) -> tuple[Source, list[Finding]]:
    """A single file with those beside it that it refers to, and findings about them.

    An `.ann` file has the offsets of a `.txt`: without it, there is no text.
    """
    suffix = Path(source.path).suffix
    if source.kind != "file" or suffix not in form.needed_files or not source.members:
        return source, []
    members, findings = list(source.members), []
    for other in form.needed_files[suffix]:
        path = str(Path(source.path).with_suffix(other))
        if Path(path).is_file():
            beside = open_source(path, encoding=encoding)
            members += beside.members
            findings.append(finding("CNV202", file=source.path, beside=path))
        else:
            findings.append(finding("CNV203", file=source.path, beside=path))
    members = [msgspec.structs.replace(member, name=member.basename) for member in members]
    return replace(source, members=tuple(members)), findings
