"""Outputs of a conversion: the path that is written to, and what is there already."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hlteval.converters import Format, known, load
from hlteval.findings import Finding, finding
from hlteval.sources import Listed, finish, merge, unfinished
from hlteval.sources.archives import shown_names
from hlteval.sources.writing import check_name, resolved
from hlteval.workflows.convert.inputs import UnknownFormat, named, preferred


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
        path = resolved(self.path)
        check_name(path)
        if not path.parent.is_dir():
            raise FileNotFoundError(f"no folder {path.parent}")
        if path.is_dir():
            if not self.force and any(path.iterdir()):
                raise FileExistsError(
                    f"{self.path} is a folder that is not empty; use --force to add files to it "
                    "and replace those with the same names"
                )
        elif path.is_file():
            if not self.force:
                raise FileExistsError(f"{self.path} exists; use --force to replace it")
        elif path.exists() or path.is_symlink():
            raise FileExistsError(f"{self.path} is neither a file nor a folder")

    @contextmanager
    def unfinished(self) -> Iterator[Path]:
        """A hidden path in the same folder, at which a file or folder is created."""
        with unfinished(self.path) as path:
            yield path

    def place(self, made: Path, form: Format, documents: int) -> Iterator[Finding]:
        """Give what is complete its name.

        Args:
            made: the file or folder.
            form: the format of it.
            documents: the number of documents in it.

        Yields:
            A finding about other files that stay in the folder.

        Raises:
            WrongOutput: for several documents and the name of a file, where each has its own.
            FileExistsError: if files are in the way, or are read.
        """
        target = resolved(self.path)
        if made.is_dir() and not target.is_dir() and self._names_file(made, form):
            self._place_files(made, form, documents)
        elif made.is_dir() and target.is_dir():
            yield from self._merged(made, target)
        elif target.is_dir():
            raise WrongOutput(f"{self.path} is a folder, and {form.name} writes a file")
        elif made.is_dir() and target.exists():
            raise WrongOutput(f"{self.path} is a file, and {form.name} writes a folder")
        else:
            finish(made, target)

    def _names_file(self, made: Path, form: Format) -> bool:
        """Whether the path has the suffix of the files in a folder, with a file per document."""
        suffixes = tuple({*form.suffixes, *(file.suffix for file in _files(made))} - {""})
        per_document = form.layout == "per_document" or any(
            file.name.endswith(form.suffixes) for file in _files(made)
        )
        return per_document and bool(suffixes) and self.path.name.endswith(suffixes)

    def _place_files(self, made: Path, form: Format, documents: int) -> None:
        """Name the files of a single document like the path, each with its own suffix."""
        files = _files(made)
        targets = self._targets(files, form, documents)
        for file, target in zip(files, targets, strict=True):
            if _same(target, file):
                continue
            self._check_not_input(target)
            if os.path.lexists(target) and not self.force:
                raise FileExistsError(f"{target} exists; use --force to replace it")
        for file, target in zip(files, targets, strict=True):
            finish(file, target)

    def files(self, made: Path, form: Format, documents: int) -> list[Listed]:
        """The files as `place` names them: below a folder, or the output and files beside it.

        Raises:
            WrongOutput: as `place` does.
        """
        written = [made] if made.is_file() else _files(made)
        if made.is_file():
            names = [self.path.name]
        elif not resolved(self.path).is_dir() and self._names_file(made, form):
            names = [target.name for target in self._targets(written, form, documents)]
        else:
            names = [file.relative_to(made).as_posix() for file in written]
        sizes = (file.stat().st_size for file in written)
        return [Listed(name, "file", size) for name, size in zip(names, sizes, strict=True)]

    def _targets(self, files: Sequence[Path], form: Format, documents: int) -> list[Path]:
        """The paths of the files of a single document.

        Raises:
            WrongOutput: if there are several documents.
        """
        ends = _ends([file.name for file in files], form)
        if len({str(file).removesuffix(end) for file, end in zip(files, ends, strict=True)}) > 1:
            raise WrongOutput(
                f"{self.path} is the name of a single file, and {form.name} writes a file for each "
                f"of the {documents} documents; use a folder with --to {form.name}"
            )
        own = max((end for end in ends if self.path.name.endswith(end)), key=len, default="")
        stem = self.path.name.removesuffix(own or self.path.suffix)
        if not own:  # a suffix of the format that its files do not have
            ends = [self.path.suffix if len(files) == 1 else end for end in ends]
        return [self.path.with_name(f"{stem}{end}") for end in ends]

    def _check_not_input(self, target: Path) -> None:
        if resolved(target) in self.inputs:
            raise FileExistsError(f"{target} is an input; write to another path")

    def _merged(self, made: Path, target: Path) -> Iterator[Finding]:
        for file in _files(made):
            self._check_not_input(target / file.relative_to(made))
        others = merge(made, target)
        if others:
            values: dict[str, Any] = {"count": len(others), "names": shown_names(others)}
            yield finding("CNV108", file=str(self.path), **values)


def _same(target: Path, file: Path) -> bool:
    """Whether a path is a file with the content of another."""
    return (
        target.is_file()
        and target.stat().st_size == file.stat().st_size
        and target.read_bytes() == file.read_bytes()
    )


def _files(folder: Path) -> Sequence[Path]:
    return sorted(file for file in folder.rglob("*") if file.is_file())


def _ends(names: Sequence[str], form: Format) -> list[str]:
    """The suffix of each file: the longest of the format, or what follows the last dot.

    Examples:
        >>> from hlteval.converters import load
        >>> _ends(["d.1.ltf.xml"], load("ltf")), _ends(["d.1.txt"], load("text"))
        (['.ltf.xml'], ['.txt'])
    """
    fitting = ([s for s in form.suffixes if name.endswith(s)] for name in names)
    return [
        max(suffixes, key=len, default=Path(name).suffix)
        for name, suffixes in zip(names, fitting, strict=True)
    ]


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
        chosen = named(form)
        if chosen.write is None:
            raise UnknownFormat(f"{form} cannot be written; {_writable()}")
        return chosen
    formats = [load(name) for name in known()]
    fitting = preferred([f for f in formats if f.write and path.endswith(f.suffixes)])
    lengths = [max(len(s) for s in f.suffixes if path.endswith(s)) for f in fitting]
    longest = max(lengths, default=0)  # .rsd.txt before .txt
    fitting = [f for f, length in zip(fitting, lengths, strict=True) if length == longest]
    family = [f for f in fitting if given and _family(f.name) == _family(given.name)]
    fitting = family or fitting
    same = [f for f in fitting if given and f.evaluation == given.evaluation]
    if len(fitting := same or fitting) > 1:
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
