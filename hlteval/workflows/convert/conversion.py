"""Conversion from any format to any other, with a list of what the other cannot represent."""

from __future__ import annotations

import shutil
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from hlteval.converters import Format, ReadResult, WrongSetting
from hlteval.findings import Finding, Findings, Severity, finding, in_order
from hlteval.findings.counts import counted
from hlteval.representation import Corpus
from hlteval.results.packages import Conversion, ConvertedInput
from hlteval.sources import Listed, open_source
from hlteval.sources.archives import shown_names
from hlteval.sources.spooling import temporary_folder
from hlteval.sources.writing import check_outputs, linked_files, resolved
from hlteval.workflows.convert.inputs import Input, UnknownFormat, detected, joined
from hlteval.workflows.convert.losses import Losses, Originals, content
from hlteval.workflows.convert.outputs import Output, WrongOutput, target
from hlteval.workflows.processes.batches import Step, silent

__all__ = [
    "Lossy",
    "NotConverted",
    "UnknownFormat",
    "WrongOutput",
    "conversion",
    "convert",
    "detected",
    "read",
    "target",
]


class NotConverted(ValueError):
    """Nothing was written; `findings` say why."""

    def __init__(self, findings: list[Finding]) -> None:
        super().__init__("; ".join(finding.message for finding in findings))
        self.findings = findings


class Lossy(NotConverted):
    """A conversion would lose something, which `strict_loss` forbids."""


def read(path: str | Sequence[str], form: str | None = None) -> tuple[Corpus, list[Finding]]:
    """Read a source as one corpus, with its findings.

    Args:
        path: a folder, file or archive, or `-`; or several, which are joined by document name.
        form: name of its format; detected if it is not given.

    Raises:
        UnknownFormat: if the format cannot be detected.
        FileNotFoundError: if the path does not exist.
    """
    paths = [path] if isinstance(path, str) else [*path]
    result = joined(_inputs(paths, form, "utf-8"))
    return result.corpus, in_order(result.findings)


def _inputs(paths: Sequence[str], form: str | Sequence[str] | None, encoding: str) -> list[Input]:
    """The inputs of some paths, with a format for all or one for each."""
    forms = [form] * len(paths) if form is None or isinstance(form, str) else [*form]
    if len(forms) == 1:
        forms *= len(paths)
    if len(forms) != len(paths):
        raise UnknownFormat(
            f"{counted(len(forms), 'input format')} for {counted(len(paths), 'input')}; "
            "give one --from for all of them, "
            "or one for each"
        )
    several = len(paths) > 1
    named = zip(paths, forms, strict=True)
    return [Input.open(path, name, encoding, several=several) for path, name in named]


def convert(
    path: str | Sequence[str],
    output: str,
    *,
    from_format: str | Sequence[str] | None = None,
    to_format: str | None = None,
    strict_loss: bool = False,
    settings: Mapping[str, str] | None = None,
    encoding: str = "utf-8",
    force: bool = False,
    step: Step = silent,
) -> list[Finding]:
    """Convert a source.

    Args:
        path: of a folder, file or archive, or `-` for standard input; or several of these, which
            are joined by document name: texts and annotations of them.
        output: path to write to; `-` for standard output, for formats that are one file.
        from_format: name of the format of the source; detected if it is not given. Of several
            sources, one for all or one for each.
        to_format: name of the format to write; by default that of the suffix, see `target`.
        strict_loss: write nothing if anything would be lost, or could not be read.
        settings: of either format, by name.
        encoding: of the files that are read; files are always written in UTF-8.
        force: replace an existing file; in an existing folder, replace files with the names of new
            ones and leave all others.
        step: called after each batch with the documents that are done, and their number, which
            is None if it is known only after reading.

    Returns:
        The findings of the source, and what the format cannot represent.

    Raises:
        UnknownFormat: if a format cannot be detected.
        WrongSetting: if neither format has a setting, or it cannot have the value.
        WrongOutput: if the output is the name of a single file, and several would be written.
        Lossy: with `strict_loss`, if something would be lost or cannot be read.
        NotConverted: if nothing can be read, or the format can represent nothing of it.
        FileNotFoundError: if a path does not exist.
        FileExistsError: if the output exists and `force` is not set.
        LookupError: for an unknown encoding.
    """
    given: dict[str, Any] = {"from_format": from_format, "to_format": to_format}
    given |= {"strict_loss": strict_loss, "settings": settings, "encoding": encoding}
    run = _prepared(path, output, **given, force=force, step=step)
    run.finish()
    return in_order(run.findings)


def conversion(path: str | Sequence[str], output: str, **settings: Any) -> Conversion:
    """Convert a source, as `convert` does, and describe what was read, written and lost.

    Args:
        path: as for `convert`.
        output: the same.
        **settings: the other arguments of `convert`.

    Returns:
        The conversion; also where nothing was written, with the findings that say why.

    Raises:
        UnknownFormat, WrongSetting, WrongOutput: as `convert` does, but for `NotConverted`.
        FileNotFoundError, FileExistsError, LookupError: the same.
    """
    run = _prepared(path, output, **settings)
    try:
        run.finish()
    except NotConverted as reason:
        return run.described(output, reason.findings, written=False)
    return run.described(output, run.findings, written=True)


def _prepared(
    path: str | Sequence[str],
    output: str,
    *,
    from_format: str | Sequence[str] | None = None,
    to_format: str | None = None,
    strict_loss: bool = False,
    settings: Mapping[str, str] | None = None,
    encoding: str = "utf-8",
    force: bool = False,
    step: Step = silent,
) -> _Run:
    """A conversion whose arguments are checked, and that has not begun."""
    paths = [path] if isinstance(path, str) else [*path]
    destination = None if output == "-" else Output(Path(output), force=force)
    if destination:
        check_outputs([output], paths, merged=True)
        destination.check()
    inputs = _inputs(paths, from_format, encoding)
    if destination:
        beside = {
            resolved(member.display)
            for each in inputs
            if each.source.kind == "file"
            for member in each.source.members
        }
        read = beside.union(*(linked_files(path) for path in paths))
        destination = replace(destination, inputs=frozenset(read))
    written = target(output, to_format, inputs[0].form, lambda: _tables(inputs))
    inputs, written = _set(inputs, written, settings or {})
    return _Run(inputs, written, destination, strict_loss=strict_loss, step=step)


def _tables(inputs: Sequence[Input]) -> list[str]:
    """The tables of the first batch of each input that have rows."""
    corpora = (next((result.corpus for result in each.read()), Corpus()) for each in inputs)
    return [name for corpus in corpora for name, rows in corpus.tables() if rows.height]


def _set(
    inputs: Sequence[Input], written: Format, settings: Mapping[str, str]
) -> tuple[list[Input], Format]:
    """The inputs and the format that is written, with their settings."""
    reads = [{s.name for s in each.form.settings if s.of == "read"} for each in inputs]
    writes = {setting.name for setting in written.settings if setting.of == "write"}
    if unknown := settings.keys() - writes.union(*reads):
        known = ", ".join(sorted(writes.union(*reads))) or "none"
        forms = " and ".join(dict.fromkeys(each.form.name for each in inputs))
        raise WrongSetting(
            f"unknown setting {min(unknown)} of {forms} to {written.name}; use one of {known}"
        )
    changed = [
        replace(each, form=each.form.with_settings({n: settings[n] for n in settings.keys() & own}))
        for each, own in zip(inputs, reads, strict=True)
    ]
    return changed, written.with_settings({n: settings[n] for n in settings.keys() & writes})


class _Run:
    """One conversion: its findings and losses while batches stream from reader to writer."""

    def __init__(
        self,
        inputs: Sequence[Input],
        target: Format,
        destination: Output | None,
        *,
        strict_loss: bool,
        step: Step,
    ) -> None:
        self.inputs, self.target, self.strict_loss, self.step = inputs, target, strict_loss, step
        self.destination = destination
        self.files: Sequence[Listed] = ()
        self.findings: list[Finding] = []
        self.losses = Losses([each.form for each in inputs], target)
        self.digests: dict[tuple[str, str], None] = {}

    def finish(self) -> None:
        """Write the output where it belongs, or raise the reason why nothing is written."""
        if self.destination is None:
            self.to_stdout()
            return
        with self.destination.unfinished() as made:
            self.write(made)
            documents = len(self.losses.documents)
            self.files = self.destination.files(made, self.target, documents)
            self.findings += self.destination.place(made, self.target, documents)

    def described(self, output: str, findings: Sequence[Finding], *, written: bool) -> Conversion:
        """What was read, written and lost."""
        return Conversion(
            inputs=tuple(ConvertedInput(each.source.path, each.form.name) for each in self.inputs),
            output=output,
            format=self.target.name,
            written=written,
            documents=len(self.losses.documents),
            contents={word: count for word, count in self.losses.found.items() if count},
            losses=tuple(self.losses.listed()),
            files=tuple(self.files) if written else (),
            findings=Findings(in_order(findings)),
        )

    def write(self, path: Path) -> None:
        """Write the output to a path, or raise the reason why it must not be kept."""
        assert self.target.write is not None  # noqa: S101 - target() has seen to it
        self.target.write(self.corpora(), path)
        if nothing := self.nothing(path):
            raise NotConverted(in_order([*self.findings, nothing, *self.losses.reasons()]))
        losses = [*self.losses.findings(), *self.shortened()]
        errors = [found for found in self.findings if found.severity == Severity.ERROR]
        unread = [found for found in self.findings if found.code == "CNV104"]
        if self.strict_loss and (losses or errors or unread):
            raise Lossy(in_order([*self.findings, *losses]))
        self.findings += [
            *losses,
            *Originals(self.inputs, self.digests).relaid(path),
            *self.in_spite_of(len(errors)),
        ]

    def to_stdout(self) -> None:
        """Write the output to standard output."""
        with temporary_folder() as folder:
            file = folder / "output"
            self.write(file)
            if file.is_dir():
                raise WrongOutput(f"{self.target.name} writes a folder; use a path instead of -")
            with file.open("rb") as stream:
                shutil.copyfileobj(stream, sys.stdout.buffer)

    def corpora(self) -> Iterator[Corpus]:
        """The batches as they are written; losses are counted on the way."""
        done, total = 0, self.total
        for result in self.results():
            self.findings += result.findings
            self.note_digests(result.corpus)
            yield from self.losses.counted(result.corpus)
            done += result.corpus.documents.height
            self.step(done if total is None else min(done, total), total)

    @property
    def total(self) -> int | None:
        """The number of documents; None if known only after reading, as for several inputs."""
        first, *others = self.inputs
        if others or first.form.layout == "single_file":
            return None
        return len(first.form.documents(first.source))

    def results(self) -> Iterator[ReadResult]:
        """The batches as they are read; several inputs are one batch."""
        if len(self.inputs) > 1:
            yield joined(self.inputs)
            return
        self.findings += self.inputs[0].findings
        yield from self.inputs[0].read()

    def note_digests(self, corpus: Corpus) -> None:
        """Note the files of a batch that have the format of the output."""
        files = corpus.sources.select("member", "format", "sha256")
        self.digests |= {
            (name, digest): None
            for name, form, digest in files.iter_rows()
            if form == self.target.name
        }

    def nothing(self, path: Path) -> Finding | None:
        """The finding about an output without content, or None."""
        paths = " ".join(each.source.path for each in self.inputs)
        forms = " and ".join(dict.fromkeys(each.form.name for each in self.inputs))
        if not self.losses.documents and not self.losses.found.total():
            return finding("CNV105", path=paths, format=forms, files=_files(self.inputs))
        # What is left out of a document goes with it: with losses, only the output itself shows it.
        certain = self.losses.holds_something and not self.losses.parts.total()
        if certain or self.found_again(path):
            return None
        values: dict[str, Any] = {
            "contents": self.losses.summary,
            "holders": ", ".join(self.losses.holders),
            "forms": forms,
        }
        return finding("CNV106", format=self.target.name, path=paths, **values)

    def found_again(self, path: Path) -> bool:
        """Whether what was written has any content when it is read again."""
        if not self.target.reads or not path.exists():
            return path.exists() and any(self.losses.supported.values())
        names_only = not self.losses.found.total()
        again = (result.corpus for result in self.target.read(open_source(str(path))))
        return any(
            corpus.documents.height > 0 if names_only else content(self.target, corpus)
            for corpus in again
        )

    def shortened(self) -> Iterable[Finding]:
        """The documents that are read again without the folder in their name."""
        if self.target.layout != "per_document":
            return
        stems = Counter(name.rpartition("/")[2] for name in self.losses.documents)
        names = [n for n in self.losses.documents if "/" in n and stems[n.rpartition("/")[2]] == 1]
        if names:
            yield finding("CNV109", count=len(names), names=shown_names(names))

    def in_spite_of(self, errors: int) -> Iterable[Finding]:
        """What was written although there are errors, and what was left out."""
        if errors:
            left_out = 0 if "rejected_records" in self.target.tables else self.losses.rejected
            yield finding(
                "CNV107",
                documents=counted(len(self.losses.documents), "document"),
                records=counted(left_out, "record"),
                errors=counted(errors, "error"),
            )


def _files(inputs: Sequence[Input]) -> str:
    """The files of the inputs in words, by suffix."""
    counts: dict[str, int] = {}
    for each in inputs:
        for member in each.source.members:
            suffix = Path(member.basename).suffix or "other"
            counts[suffix] = counts.get(suffix, 0) + 1
    listed = [f"{count:,} {suffix}" for suffix, count in sorted(counts.items())]
    total = sum(counts.values())
    return f"{', '.join(listed)} {'file' if total == 1 else 'files'}" if listed else "no files"
