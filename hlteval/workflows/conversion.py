"""Conversion from any format to any other, with a list of what the other cannot represent."""

from __future__ import annotations

import shutil
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from pathlib import Path

from hlteval.converters import BUILTIN, Format, ReadResult, WrongSetting, known, load
from hlteval.converters.corpus.memory import in_memory
from hlteval.findings import Finding, finding, in_order
from hlteval.representation import Corpus
from hlteval.sources import Source, open_source, sha256, writing


class UnknownFormat(ValueError):
    """The format of a path cannot be detected: an error of usage."""


class Lossy(ValueError):
    """A conversion would lose something, which `strict_loss` forbids."""

    def __init__(self, findings: list[Finding]) -> None:
        super().__init__("; ".join(finding.message for finding in findings))
        self.findings = findings


def read(path: str, form: str | None = None) -> tuple[Corpus, list[Finding]]:
    """Read a source as one corpus, with its findings.

    Args:
        path: a folder, file or archive, or `-`.
        form: name of its format; detected if it is not given.

    Raises:
        UnknownFormat: if the format cannot be detected.
        FileNotFoundError: if the path does not exist.
    """
    source = open_source(path)
    readings = list(detected(source, form).read(source))
    findings = [*source.findings, *(f for reading in readings for f in reading.findings)]
    return Corpus.concat(reading.corpus for reading in readings), in_order(findings)


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
        named = _named(form)
        if not named.reads:
            raise UnknownFormat(f"{form} is a write-only format")
        return named
    fitting = [candidate for name in known() if (candidate := load(name)).sniff(source)]
    suffixed = [candidate for candidate in fitting if source.path.endswith(candidate.suffixes)]
    fitting = _preferred(suffixed or fitting)  # what looks alike is told apart by its name
    if len(fitting) == 1:
        return fitting[0]
    names = " or ".join(candidate.name for candidate in fitting)
    reason = f"may be {names}" if names else "matches no known format"
    raise UnknownFormat(f"{source.path} {reason}; set the format with --from")


def _named(name: str) -> Format:
    if name not in known():
        raise UnknownFormat(f"unknown format {name}; use one of {', '.join(known())}")
    return load(name)


def target(
    path: str,
    form: str | None = None,
    given: Format | None = None,
    tables: Callable[[], Collection[str]] = tuple,
) -> Format:
    """The format to write to a path, by its name or by the path's suffix.

    Of several formats with the suffix, built-in ones go before those of plug-ins, then those of the
    family of the input, then those that can represent the most of its tables.

    Args:
        path: to write to.
        form: name of the format.
        given: the format of the input.
        tables: returns the names of the tables that the input has; called if they are needed.

    Raises:
        UnknownFormat: if there is no such format, or several, or it cannot be written.
    """
    if form is not None:
        named = _named(form)
        if named.write is None:
            raise UnknownFormat(f"{form} cannot be written; {_writable()}")
        return named
    formats = [load(name) for name in known()]
    fitting = _preferred([f for f in formats if f.write and path.endswith(f.suffixes)])
    lengths = [max(len(s) for s in f.suffixes if path.endswith(s)) for f in fitting]
    longest = max(lengths, default=0)  # .rsd.txt before .txt
    fitting = [f for f, length in zip(fitting, lengths, strict=True) if length == longest]
    family = [f for f in fitting if given and _family(f.name) == _family(given.name)]
    if len(fitting := family or fitting) > 1:
        present = set(tables())
        counts = {f.name: len(present.intersection(f.tables)) for f in fitting}
        fitting = [f for f in fitting if counts[f.name] == max(counts.values())]
    if len(fitting) != 1:
        names = " or ".join(f.name for f in fitting)
        reason = f", which may be {names}" if names else ""
        raise UnknownFormat(
            f"the suffix of {path} does not determine the format{reason}; {_writable()}"
        )
    return fitting[0]


def _writable() -> str:
    return "set one with --to: " + ", ".join(name for name in known() if load(name).write)


def _family(name: str) -> str:
    """The package of a format's module: `hlteval.converters.edl`, or that of a plug-in."""
    return known()[name].partition(":")[0].rpartition(".")[0]


def _preferred(formats: list[Format]) -> list[Format]:
    """The built-in ones of some formats, or all if none is."""
    return [f for f in formats if f.name in BUILTIN] or formats


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
        path: of a folder, file or archive, or `-` for standard input.
        output: path to write to; `-` for standard output, for formats that are one file.
        from_format: name of the format of the source; detected if it is not given.
        to_format: name of the format to write; by default that of the suffix, see `target`.
        strict_loss: write nothing if anything would be lost.
        settings: of either format, by name.

    Returns:
        The findings of the source, and what the format cannot represent.

    Raises:
        UnknownFormat: if a format cannot be detected.
        WrongSetting: if neither format has a setting, or it cannot have the value.
        Lossy: with `strict_loss`, if something would be lost.
        FileNotFoundError: if a path does not exist.
        FileExistsError: if the output is a folder that is not empty.
    """
    source = open_source(path)
    given = detected(source, from_format)
    written = target(output, to_format, given, lambda: _tables(given, source))
    form, written = _set(given, written, settings or {})
    run = _Run(form, source, written)
    if output == "-":
        run.to_stdout(strict_loss=strict_loss)
    else:
        with writing(Path(output)) as unfinished:
            run.write(unfinished, strict_loss=strict_loss)
    return in_order(run.findings)


def _tables(form: Format, source: Source) -> list[str]:
    """The tables of the first batch of a source that have rows."""
    corpora = (reading.corpus for reading in form.read(source))
    return [name for name, rows in next(corpora, Corpus()).tables() if rows.height]


def _set(form: Format, written: Format, settings: Mapping[str, str]) -> tuple[Format, Format]:
    """The two formats with their settings: the first is read, the second written."""
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
    """One conversion: its findings and losses while batches stream from reader to writer."""

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
        """The batches as they are written; losses are counted on the way."""
        for result in self.form.read(self.source):
            self.count_losses(result)
            yield self.target.supported(result.corpus)

    def count_losses(self, result: ReadResult) -> None:
        self.findings += result.findings
        for name, rows in result.corpus.tables():
            if rows.height and name not in self.target.tables:
                self.lost[name] += rows.height
        self.partly.update(self.target.losses(result.corpus))
        files = result.corpus.sources.select("member", "format", "sha256")
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
            yield finding("CNV103", rows=rows, what=what, format=self.target.name)

    def relaid(self, folder: Path) -> Iterable[Finding]:
        """Files of the same format that are written with other bytes."""
        for member, digest in self.digests.items():
            file = folder / member
            file = file if file.is_file() else folder / member.rpartition("/")[2]
            if digest and file.is_file() and sha256(file.read_bytes()) != digest:
                yield finding("CNV102", file=member or None, member=member or "file")
