"""Outputs of a conversion: the path that is written to, and what is there already."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from pathlib import Path

from hlteval.converters import Format, known, load
from hlteval.findings import Finding, finding
from hlteval.sources import Listed, finish, merge
from hlteval.sources.archives import shown_names
from hlteval.sources.writing import check_name, resolved
from hlteval.workflows.convert.inputs import UnknownFormat, known_format, prefer_builtin


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
        target = resolved(self.path)
        files = [made] if made.is_file() else _files(made)
        sizes = [file.stat().st_size for file in files]
        names = [file.relative_to(made).as_posix() for file in files]
        findings = []
        if not made.is_dir():
            if target.is_dir():
                raise WrongOutput(f"{self.path} is a folder, and {form.name} writes a file")
            names = [self.path.name]
            finish(made, target)
        elif target.is_dir():
            for file in files:
                self._check_not_input(target / file.relative_to(made))
            if others := merge(made, target):
                count, stay = len(others), shown_names(others)
                findings.append(finding("CNV108", file=str(self.path), count=count, names=stay))
        elif self._names_file(files, form):
            paths = self._targets(files, form, documents)
            names = [path.name for path in paths]
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

    def _names_file(self, files: Sequence[Path], form: Format) -> bool:
        """Return whether the path has the suffix of some files, of which each is a document."""
        suffixes = tuple({*form.suffixes, *(file.suffix for file in files)} - {""})
        per_document = form.layout == "per_document" or any(
            file.name.endswith(form.suffixes) for file in files
        )
        return per_document and bool(suffixes) and self.path.name.endswith(suffixes)

    def _targets(self, files: Sequence[Path], form: Format, documents: int) -> list[Path]:
        """The paths of the files of a single document.

        Raises:
            WrongOutput: if there are several documents.
        """
        ends = [
            max((s for s in form.suffixes if file.name.endswith(s)), key=len, default=file.suffix)
            for file in files
        ]
        if len({str(file).removesuffix(end) for file, end in zip(files, ends, strict=True)}) > 1:
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
        if resolved(target) in self.inputs:
            raise FileExistsError(f"{target} is an input; write to another path")


def _files(folder: Path) -> Sequence[Path]:
    return sorted(file for file in folder.rglob("*") if file.is_file())


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
