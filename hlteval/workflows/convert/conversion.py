"""Conversion from any format to any other, with a report of losses; the paths of outputs."""

import os
import shutil
import sys
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate
from operator import attrgetter
from pathlib import Path
from typing import TypedDict, Unpack

import polars as pl

from hlteval.converters import Format, ReadResult, WrongSetting, known, load
from hlteval.converters.toolkit.offsets import (
    CHARACTERS,
    COUNTINGS,
    Counting,
    in_characters,
    misfits,
)
from hlteval.converters.toolkit.quotes import are_at_place
from hlteval.findings import Finding, Findings, Severity, entry, finding, in_order
from hlteval.findings.counts import count_of
from hlteval.representation import Corpus
from hlteval.representation.corpus import without_orphans
from hlteval.results.packages import Conversion, ConvertedInput
from hlteval.sources import (
    LIMITS,
    Listed,
    TooManyFiles,
    finish,
    merge,
    open_source,
    unfinished_path,
)
from hlteval.sources.archives import first_names
from hlteval.sources.spooling import temporary_folder
from hlteval.sources.writing import (
    check_name,
    check_outputs,
    files_below,
    linked_files,
    resolve_path,
    sizes_below,
)
from hlteval.workflows.convert.inputs import (
    Input,
    UnknownFormat,
    join,
    known_format,
    prefer_builtin,
)
from hlteval.workflows.convert.losses import Losses, changed_files, content
from hlteval.workflows.run.batches import Progress, no_progress

#: Rows of each table, and characters of texts, that show whether an output has content.
_ROWS, _CHARACTERS = 100, 20_000


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
    result = join(_inputs(paths, form, "utf-8"))
    return result.corpus, in_order(result.findings)


def _inputs(paths: Sequence[str], form: str | Sequence[str] | None, encoding: str) -> list[Input]:
    """Open the inputs at some paths, with a format for all or one for each."""
    forms = [form] * len(paths) if form is None or isinstance(form, str) else [*form]
    if len(forms) == 1:
        forms *= len(paths)
    if len(forms) != len(paths):
        raise UnknownFormat(
            f"{count_of(len(forms), 'input format')} for {count_of(len(paths), 'input')}; "
            "give one --from for all of them, or one for each"
        )
    return [
        Input.open(path, name, encoding, several=len(paths) > 1)
        for path, name in zip(paths, forms, strict=True)
    ]


class Settings(TypedDict, total=False):
    """The arguments of a conversion beside its paths; `convert` describes them."""

    from_format: str | Sequence[str] | None
    to_format: str | None
    strict_loss: bool
    settings: Mapping[str, str] | None
    encoding: str
    force: bool
    step: Progress


def convert(path: str | Sequence[str], output: str, **settings: Unpack[Settings]) -> list[Finding]:
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
    run = _Run(path, output, settings)
    run.finish()
    return in_order(run.findings)


def conversion(path: str | Sequence[str], output: str, **settings: Unpack[Settings]) -> Conversion:
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
    run = _Run(path, output, settings)
    try:
        run.finish()
    except NotConverted as reason:
        return run.result(reason.findings, written=False)
    return run.result(run.findings, written=True)


class _Run:
    """One conversion: its findings and losses while batches stream from reader to writer.

    Its arguments, those of `convert`, are checked before it begins.
    """

    def __init__(self, path: str | Sequence[str], output: str, given: Settings) -> None:
        paths = [path] if isinstance(path, str) else [*path]
        self.output, self.strict_loss = output, given.get("strict_loss", False)
        self.step, force = given.get("step", no_progress), given.get("force", False)
        self.destination = None if output == "-" else Output(Path(output), force=force)
        if self.destination:
            check_outputs([output], paths, merged=True)
            self.destination.check()
        inputs = _inputs(paths, given.get("from_format"), given.get("encoding", "utf-8"))
        if self.destination:
            single = (each.source.members for each in inputs if each.source.kind == "file")
            read = {resolve_path(member.display) for members in single for member in members}
            read = read.union(*map(linked_files, paths))
            self.destination = replace(self.destination, inputs=frozenset(read))

        def tables() -> list[str]:
            """Return the tables of the first batch of each input that have rows."""
            corpora = (next((result.corpus for result in each.read()), Corpus()) for each in inputs)
            return [name for corpus in corpora for name, rows in corpus.tables() if rows.height]

        def with_settings(form: Format, names: Collection[str]) -> Format:
            return form.with_settings({name: values[name] for name in values.keys() & names})

        written = target(output, given.get("to_format"), inputs[0].form, tables)
        values = dict(given.get("settings") or {})
        reads = [{s.name for s in each.form.settings if s.of == "read"} for each in inputs]
        writes = {setting.name for setting in written.settings if setting.of == "write"}
        self.forms = " and ".join(dict.fromkeys(each.form.name for each in inputs))
        # which formats without the setting need too: their texts may come from another input
        own = "offsets" in writes.union(*reads)
        self.offsets = CHARACTERS if own else values.pop("offsets", CHARACTERS)
        if self.offsets != CHARACTERS and self.offsets not in COUNTINGS:
            ways = ", ".join([CHARACTERS, *COUNTINGS])
            raise WrongSetting(f"invalid value {self.offsets} of offsets: use one of {ways}")
        every = writes.union(*reads)
        if unknown := values.keys() - every:
            name, conversion = min(unknown), f"{self.forms} to {written.name}"
            use = f"use one of {', '.join(sorted(every)) or 'none'}"
            raise WrongSetting(f"unknown setting {name} of {conversion}; {use}")
        self.inputs = [
            replace(each, form=with_settings(each.form, names))
            for each, names in zip(inputs, reads, strict=True)
        ]
        self.target = with_settings(written, writes)
        self.losses = Losses([each.form for each in self.inputs], self.target)
        self.digests: dict[tuple[str, str], None] = {}
        self.files: Sequence[Listed] = ()
        self.findings: list[Finding] = []
        self.countings: Counter[Counting] = Counter()
        self.sample: Corpus | None = None

    def finish(self) -> None:
        """Write the output where it belongs, or raise the reason why nothing is written."""
        if self.destination is None:
            with temporary_folder() as folder:
                file = folder / "output"
                self.write(file)
                if file.is_dir():
                    name = self.target.name
                    raise WrongOutput(f"{name} writes a folder; use a path instead of -")
                with file.open("rb") as stream:
                    shutil.copyfileobj(stream, sys.stdout.buffer)
            return
        with unfinished_path(self.destination.path) as made:
            self.write(made)
            documents = len(self.losses.documents)
            self.files, findings = self.destination.place(made, self.target, documents)
            self.findings += findings

    def result(self, findings: Sequence[Finding], *, written: bool) -> Conversion:
        """Describe what was read, written and lost."""
        return Conversion(
            inputs=tuple(ConvertedInput(each.source.path, each.form.name) for each in self.inputs),
            output=self.output,
            format=self.target.name,
            written=written,
            documents=len(self.losses.documents),
            contents={word: count for word, count in self.losses.found.items() if count},
            losses=tuple(self.losses.values()),
            files=tuple(self.files) if written else (),
            findings=Findings(in_order(findings)),
        )

    def write(self, path: Path) -> None:
        """Write the output to a path, or raise the reason why it must not be kept."""
        target, losses = self.target, self.losses
        assert target.write is not None  # noqa: S101 - target() has seen to it
        try:
            target.write(self.corpora(), path)
        except TooManyFiles:
            values = {"format": target.name, "limit": LIMITS.files}
            reason = entry("CNV111").finding(values)
            raise NotConverted(in_order([*self.findings, reason])) from None
        if nothing := self.nothing(path):
            raise NotConverted(in_order([*self.findings, nothing, *losses.reasons()]))
        self.findings += self.offset_findings()
        lost = [*losses.findings()]
        if target.layout == "per_document":  # whose documents are read again without a folder
            single = losses.documents.str.extract("(?s)([^/]*)$").is_unique()
            inside = losses.documents.str.contains("/", literal=True)
            if names := losses.documents.filter(single & inside).to_list():
                lost.append(finding("CNV109", count=len(names), names=first_names(names)))
        errors = sum(item.severity == Severity.ERROR for item in self.findings)
        unread = any(item.code == "CNV104" for item in self.findings)
        if self.strict_loss and (lost or errors or unread):
            raise Lossy(in_order([*self.findings, *lost]))
        self.findings += [*lost, *changed_files(self.inputs, self.digests, path)]
        if errors:  # in spite of which it is written
            left_out = 0 if "rejected_records" in target.tables else losses.rejected
            numbers = {"document": len(losses.documents), "record": left_out, "error": errors}
            values = {f"{word}s": count_of(number, word) for word, number in numbers.items()}
            self.findings.append(entry("CNV107").finding(values))

    def corpora(self) -> Iterator[Corpus]:
        """Yield the batches as they are written, one of several inputs; losses are counted."""
        first, *others = self.inputs
        total, done = None, 0
        if others:
            results: Iterator[ReadResult] = iter([join(self.inputs)])
        else:
            if first.form.layout != "single_file":
                total = len(first.form.documents(first.source))
            self.findings += first.findings
            results = first.read()
        for result in results:
            corpus = in_characters(result.corpus, self.offsets)
            self.findings += self.explain_offsets(corpus, result.findings)
            files = result.corpus.sources.select("member", "format", "sha256").iter_rows()
            for name, form, digest in files:
                if form == self.target.name:
                    self.digests[name, digest] = None
            if self.target.separable and corpus.documents.height > LIMITS.files:
                raise TooManyFiles  # before some of them are written: each has a file of its own
            for part in self.losses.count(corpus):
                if self.sample is None:  # some rows of each table, and the beginnings of texts
                    tables = (table for table in part.tables() if table[0] != "sources")
                    kept = {name: rows.head(_ROWS) for name, rows in tables}
                    texts = pl.col("text").str.head(_CHARACTERS)
                    kept["documents"] = kept["documents"].with_columns(texts)
                    some = without_orphans(part, kept)
                    self.sample = some if self.shows_content(some) else None
                yield part
            done += result.corpus.documents.height
            self.step(done if total is None else min(done, total), total)

    def explain_offsets(self, corpus: Corpus, findings: Sequence[Finding]) -> Sequence[Finding]:
        """Count the spans that another way to count explains; leave out what follows from it.

        Args:
            corpus: a batch.
            findings: of its reader, which may have found the way itself.
        """
        suppressed = {item.code for item in findings} & {*entry("CNV208").suppressed_by}
        if suppressed or not corpus.mentions.height:  # texts of a million documents need no look
            return findings
        shifted = misfits(corpus.documents, corpus.mentions, are_at_place(corpus))
        if shifted.counting is None:
            return findings
        self.countings[shifted.counting] += shifted.explained
        return [item for item in findings if "CNV208" not in entry(item.code).suppressed_by]

    def offset_findings(self) -> Iterator[Finding]:
        """The finding about each way in which offsets seem to count."""
        for counting, count in self.countings.items():
            what = counting.called if counting.fix else f"offsets count {counting.called}"
            yield finding("CNV208", count=count, what=what, setting=counting.setting)

    def nothing(self, path: Path) -> Finding | None:
        """The finding about an output without content, or None."""
        paths = " ".join(each.source.path for each in self.inputs)
        if self.losses.documents.is_empty() and not self.losses.found.total():
            members = [member for each in self.inputs for member in each.source.members]
            counts = Counter(Path(member.basename).suffix or "other" for member in members)
            files = ", ".join(f"{count:,} {suffix}" for suffix, count in sorted(counts.items()))
            files = f"{files} {'file' if len(members) == 1 else 'files'}" if files else "no files"
            return finding("CNV105", path=paths, format=self.forms, files=files)
        # What is left out of a document goes with it: with losses, only the output itself shows it.
        certain = self.losses.holds_something and not self.losses.parts.total()
        if certain or self.has_content(path):
            return None
        values = {"format": self.target.name, "path": paths, "forms": self.forms}
        values |= {"contents": self.losses.summary, "holders": ", ".join(self.losses.holders)}
        return entry("CNV106").finding(values)

    def has_content(self, path: Path) -> bool:
        """Return whether what was written has any content when it is read again.

        A sample of it is read first: if that has some, the output has, too, and may be large.
        """
        if not self.target.reads or not path.exists():
            return path.exists() and any(self.losses.supported.values())
        if self.sample is not None:
            with temporary_folder() as folder:
                output = folder / "output"
                assert self.target.write is not None  # noqa: S101 - as for `write`
                self.target.write(iter([self.sample]), output)
                size = sum(_sizes(output))
                is_part = any(seen >= size for seen in accumulate(_sizes(path), initial=0))
                if is_part and any(map(self.shows_content, self._read_again(output))):
                    return True
        return any(map(self.shows_content, self._read_again(path)))

    def shows_content(self, corpus: Corpus) -> bool:
        """Return whether a corpus has content; where the inputs have none, a name is enough."""
        if self.losses.found.total():
            return bool(content(self.target, corpus))
        return corpus.documents.height > 0

    def _read_again(self, path: Path) -> Iterator[Corpus]:
        """Yield what was written to a path."""
        if path.exists():
            yield from (result.corpus for result in self.target.read(open_source(str(path))))


def _sizes(path: Path) -> Iterator[int]:
    """Yield the size of a file, or of each file of a folder."""
    if not path.is_dir():
        yield path.stat().st_size
    else:
        yield from (size for _, size in sizes_below(path))


class WrongOutput(ValueError):
    """An output path that does not fit what is written: an error of usage."""


@dataclass(frozen=True)
class Output:
    """The path of an output.

    Attributes:
        path: of a file or folder.
        force: whether files that exist are replaced.
        inputs: the files that are read, which are never replaced.
    """

    path: Path
    force: bool = False
    inputs: frozenset[Path] = frozenset()

    def check(self) -> None:
        """Check, before any work is done, that the path can be written to.

        Raises:
            FileNotFoundError: if its folder does not exist.
            FileExistsError: if it exists, and `force` is not set.
            NotWritten: if the system does not accept its name.
        """
        path = resolve_path(self.path)
        check_name(path)
        if not path.parent.is_dir():
            raise FileNotFoundError(f"no folder {path.parent}")
        if path.is_dir() and not self.force and any(path.iterdir()):
            raise FileExistsError(
                f"{self.path} is a folder that is not empty; use --force to add files to it "
                "and replace those with the same names"
            )
        if path.is_file() and not self.force:
            raise FileExistsError(f"{self.path} exists; use --force to replace it")
        if os.path.lexists(path) and not (path.is_dir() or path.is_file()):
            raise FileExistsError(f"{self.path} is neither a file nor a folder")

    def place(self, made: Path, form: Format, documents: int) -> tuple[list[Listed], list[Finding]]:
        """Give what is complete its name.

        Args:
            made: the file or folder.
            form: the format of it.
            documents: the number of documents in it.

        Returns:
            The files, below a folder, or the output and files beside it; and a finding about other
            files that stay in the folder.

        Raises:
            WrongOutput: for several documents and the name of a file, where each has its own.
            FileExistsError: if files are in the way, or are read.
        """
        target = resolve_path(self.path)
        found = files_below(made) if made.is_dir() else {"": made.stat().st_size}
        sizes, names, findings = [*found.values()], [*found], list[Finding]()
        if not made.is_dir():
            if target.is_dir():
                raise WrongOutput(f"{self.path} is a folder, and {form.name} writes a file")
            names = [self.path.name]
            finish(made, target)
        elif target.is_dir():
            for name in names:
                self._check_not_input(target / name)
            if others := merge(made, target):
                count, stay = len(others), first_names(others)
                findings.append(finding("CNV108", file=str(self.path), count=count, names=stay))
        elif self._names_file(names, form):
            paths = self._targets(names, form, documents)
            files, names = [made / name for name in names], [path.name for path in paths]
            for file, size, path in zip(files, sizes, paths, strict=True):
                same = path.is_file() and path.stat().st_size == size
                if same and path.read_bytes() == file.read_bytes():
                    continue
                self._check_not_input(path)
                if os.path.lexists(path) and not self.force:
                    raise FileExistsError(f"{path} exists; use --force to replace it")
            for file, path in zip(files, paths, strict=True):
                finish(file, path)
        elif target.exists():
            raise WrongOutput(f"{self.path} is a file, and {form.name} writes a folder")
        else:
            finish(made, target)
        listed = zip(names, sizes, strict=True)
        return [Listed(name, "file", size) for name, size in listed], findings

    def _names_file(self, files: Sequence[str], form: Format) -> bool:
        """Return whether the path has the suffix of some files, of which each is a document."""
        own, suffixes = self.path.suffix, tuple(filter(None, form.suffixes))
        named = self.path.name.endswith(suffixes) or (own and any(f.endswith(own) for f in files))
        return bool(named) and (
            form.layout == "per_document" or any(file.endswith(form.suffixes) for file in files)
        )

    def _targets(self, files: Sequence[str], form: Format, documents: int) -> list[Path]:
        """The paths of the files of a single document.

        Raises:
            WrongOutput: if there are several documents.
        """
        ends = [
            max((s for s in form.suffixes if f.endswith(s)), key=len, default=Path(f).suffix)
            for f in files
        ]
        if len({file.removesuffix(end) for file, end in zip(files, ends, strict=True)}) > 1:
            raise WrongOutput(
                f"{self.path} is the name of a single file, and {form.name} writes a file for each "
                f"of the {documents} documents; use a folder with --to {form.name}"
            )
        end = max((end for end in ends if self.path.name.endswith(end)), key=len, default="")
        stem = self.path.name.removesuffix(end or self.path.suffix)
        if not end:  # a suffix of the format that its files do not have
            ends = [self.path.suffix if len(files) == 1 else end for end in ends]
        return [self.path.with_name(f"{stem}{end}") for end in ends]

    def _check_not_input(self, target: Path) -> None:
        if resolve_path(target) in self.inputs:
            raise FileExistsError(f"{target} is an input; write to another path")


def target(
    path: str,
    form: str | None = None,
    given: Format | None = None,
    tables: Callable[[], Collection[str]] = tuple,
) -> Format:
    """The format to write to a path, by its name or by the path's suffix.

    Of several formats with the suffix, built-in ones go before those of plug-ins, then those of the
    family of the input, then those of its evaluation, then those that can represent the most of its
    tables.

    Args:
        path: to write to.
        form: name of the format.
        given: the format of the input.
        tables: returns the names of the tables that the input has; called if they are needed.

    Raises:
        UnknownFormat: if there is no such format, or several, or it cannot be written.
    """
    if form is not None:
        chosen = known_format(form)
        if chosen.write is None:
            raise UnknownFormat(f"{form} cannot be written; {_writable()}")
        return chosen
    formats = [load(name) for name in known()]
    fitting = prefer_builtin([f for f in formats if f.write and path.endswith(f.suffixes)])
    lengths = [max(len(s) for s in f.suffixes if path.endswith(s)) for f in fitting]
    longest = max(lengths, default=0)  # .rsd.txt before .txt
    fitting = [f for f, length in zip(fitting, lengths, strict=True) if length == longest]

    def family(form: Format) -> str:
        """The package of a format's module: `hlteval.converters.edl`, or that of a plug-in."""
        return known()[form.name].partition(":")[0].rpartition(".")[0]

    for trait in (family, attrgetter("evaluation")):
        fitting = [f for f in fitting if given and trait(f) == trait(given)] or fitting
    if len(fitting) > 1:
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
