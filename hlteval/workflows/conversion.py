"""Conversion: from any format to any that can carry it, with a list of what it cannot carry."""

from __future__ import annotations

import shutil
import sys
import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from hlteval.converters import Format, ReadResult, WrongSetting, known, load
from hlteval.findings import Finding, finding, in_order
from hlteval.representation import Corpus
from hlteval.sources import Source, open_source, sha256, writing


class UnknownFormat(ValueError):
    """A format cannot be told from a path: an error of usage."""


class Lossy(ValueError):
    """A conversion would lose something and was told not to."""

    def __init__(self, findings: list[Finding]) -> None:
        super().__init__("; ".join(finding.message for finding in findings))
        self.findings = findings


def read(path: str, form: str | None = None) -> tuple[Corpus, list[Finding]]:
    """A source as one corpus, with what was wrong with it.

    Args:
        path: a folder, file or archive, or `-`.
        form: name of its format; told from the source where it is not given.

    Raises:
        UnknownFormat: if the format cannot be told.
        FileNotFoundError: if the path does not exist.
    """
    source = open_source(path)
    readings = list(detected(source, form).read(source))
    findings = [*source.findings, *(f for reading in readings for f in reading.findings)]
    return Corpus.concat(reading.corpus for reading in readings), in_order(findings)


def detected(source: Source, form: str | None = None) -> Format:
    """The format of a source, by its name if it is given.

    Raises:
        UnknownFormat: if there is no such format, or not exactly one that fits.
    """
    if form is not None:
        named = _named(form)
        if not named.reads:
            raise UnknownFormat(f"{form} is a write-only format")
        return named
    fitting = [candidate for name in known() if (candidate := load(name)).sniff(source)]
    suffixed = [candidate for candidate in fitting if source.path.endswith(candidate.suffixes)]
    if len(fitting) == 1 or len(suffixed) == 1:  # what looks alike is told apart by its name
        return suffixed[0] if len(suffixed) == 1 else fitting[0]
    reason = (
        "may be " + " or ".join(f.name for f in fitting) if fitting else "matches no known format"
    )
    raise UnknownFormat(f"{source.path} {reason}; set the format with --from")


def _named(name: str) -> Format:
    if name not in known():
        raise UnknownFormat(f"unknown format {name}; use one of {', '.join(known())}")
    return load(name)


def target(path: str, form: str | None = None) -> Format:
    """The format to write to a path, by its name or by the path's suffix.

    Raises:
        UnknownFormat: if it cannot be told, or cannot be written.
    """
    formats = [_named(form)] if form else [load(name) for name in known()]
    lengths = {
        f.name: max((len(s) for s in f.suffixes if path.endswith(s)), default=0) for f in formats
    }
    longest = 0 if form else max(1, *lengths.values())  # .rsd.txt before .txt
    fitting = [f for f in formats if f.write and lengths[f.name] >= longest]
    if len(fitting) != 1:
        writable = ", ".join(name for name in known() if load(name).write)
        reason = (
            f"{form} cannot be written"
            if form
            else f"the suffix of {path} does not determine the format"
        )
        raise UnknownFormat(f"{reason}; set one with --to: {writable}")
    return fitting[0]


def convert(
    path: str,
    output: str,
    *,
    from_format: str | None = None,
    to_format: str | None = None,
    strict_loss: bool = False,
    settings: Mapping[str, str] | None = None,
) -> list[Finding]:
    """Convert a source.

    Args:
        path: what to convert: a folder, file or archive, or `-`.
        output: where to; `-` for standard output, for formats that are one file.
        from_format: name of its format; told from the source where it is not given.
        to_format: name of the format to write; told from the suffix where it is not given.
        strict_loss: write nothing if anything would be lost.
        settings: of either format, by name.

    Returns:
        What was wrong with the source, and what the format has no place for.

    Raises:
        UnknownFormat: if a format cannot be told.
        WrongSetting: if neither format has a setting, or it cannot have the value.
        Lossy: with `strict_loss`, if something would be lost.
        FileNotFoundError: if a path does not exist.
        FileExistsError: if the output is a folder that holds something.
    """
    source, written = open_source(path), target(output, to_format)
    form, written = _set(detected(source, from_format), written, settings or {})
    run = _Run(form, source, written)
    if output == "-":
        run.to_stdout(strict_loss=strict_loss)
    else:
        with writing(Path(output)) as unfinished:
            run.write(unfinished, strict_loss=strict_loss)
    return in_order(run.findings)


def _set(form: Format, written: Format, settings: Mapping[str, str]) -> tuple[Format, Format]:
    """The formats with their settings: of the one for reading, of the other for writing."""
    reads = {setting.name for setting in form.settings if setting.of == "read"}
    writes = {setting.name for setting in written.settings if setting.of == "write"}
    if unknown := settings.keys() - reads - writes:
        known = ", ".join(sorted(reads | writes)) or "none"
        raise WrongSetting(
            f"unknown setting {min(unknown)} of {form.name} to {written.name}; use one of {known}"
        )
    return (
        form.with_settings({name: settings[name] for name in settings.keys() & reads}),
        written.with_settings({name: settings[name] for name in settings.keys() & writes}),
    )


class _Run:
    """One conversion: what comes up while batches stream from reader to writer."""

    def __init__(self, form: Format, source: Source, target: Format) -> None:
        self.form, self.source, self.target = form, source, target
        self.findings: list[Finding] = list(source.findings)
        self.lost: Counter[str] = Counter()
        self.partly: Counter[str] = Counter()
        self.digests: dict[str, str] = {}

    def write(self, path: Path, *, strict_loss: bool) -> None:
        assert self.target.write is not None  # noqa: S101 - target() has seen to it
        self.target.write(self.corpora(), path)
        losses = list(self.losses())
        if losses and strict_loss:
            raise Lossy(losses)
        self.findings += [*losses, *self.relaid(path)]

    def to_stdout(self, *, strict_loss: bool) -> None:
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder, "output")
            self.write(file, strict_loss=strict_loss)
            if file.is_dir():
                raise UnknownFormat(f"{self.target.name} writes a folder; use a path instead of -")
            with file.open("rb") as stream:
                shutil.copyfileobj(stream, sys.stdout.buffer)

    def corpora(self) -> Iterator[Corpus]:
        """The batches, counted on their way."""
        for reading in self.form.read(self.source):
            self.take(reading)
            yield reading.corpus

    def take(self, reading: ReadResult) -> None:
        self.findings += reading.findings
        for name, rows in reading.corpus.tables():
            if rows.height and name not in self.target.tables:
                self.lost[name] += rows.height
        self.partly.update(self.target.count_losses(reading.corpus))
        self.partly.update(self.target.unplaced(reading.corpus))
        files = reading.corpus.sources.select("member", "format", "sha256")
        self.digests |= {
            name: digest for name, form, digest in files.iter_rows() if form == self.target.name
        }

    def losses(self) -> Iterable[Finding]:
        for table, rows in self.lost.items():
            carriers = ", ".join(
                name for name in known() if load(name).write and table in load(name).carries
            )
            yield finding(
                "CNV101", rows=rows, table=table, format=self.target.name, carriers=carriers
            )
        for what, rows in self.partly.items():
            if rows:
                yield finding("CNV103", rows=rows, what=what, format=self.target.name)

    def relaid(self, folder: Path) -> Iterable[Finding]:
        """Files of the same format that come out with other bytes."""
        for member, digest in self.digests.items():
            file = folder / member
            file = file if file.is_file() else folder / member.rpartition("/")[2]
            if digest and file.is_file() and sha256(file.read_bytes()) != digest:
                yield finding("CNV102", file=member or None, member=member or "file")
