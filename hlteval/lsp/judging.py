"""Validation of the units of documents: findings at ranges of the protocol."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path

from hlteval.converters import WrongSetting
from hlteval.findings import Finding
from hlteval.lsp.buffers import Buffer, OpenFiles
from hlteval.lsp.orders import EditorFinding, Order, UnitResult
from hlteval.lsp.text import NOWHERE, Range, Text, Units
from hlteval.lsp.units import NoUnit, Unit, configs, unit_of
from hlteval.lsp.uris import absolute, is_path
from hlteval.sources import OpenInput, Source, Unreadable, open_source
from hlteval.tasks.option import WrongOption
from hlteval.workflows.batches import NothingGiven
from hlteval.workflows.config import OWN, read_config, shown
from hlteval.workflows.selection import UnknownCode
from hlteval.workflows.validation import validate_all

USAGE = (FileNotFoundError, LookupError, NothingGiven, UnknownCode, WrongOption, WrongSetting)
"""Errors in settings: nothing can be validated then."""


def unit_results(order: Order, buffers: Mapping[str, Buffer]) -> Iterator[UnitResult]:
    """The findings of the units of documents, each unit once.

    Args:
        order: with the documents.
        buffers: by key.
    """
    groups: dict[str, list[tuple[str, Unit]]] = {}
    for path in order.paths:
        if Path(path).name == OWN and is_path(path):
            yield _of_config(path, buffers, order.units)
            continue
        try:
            unit = unit_of(path, OpenFiles(buffers), order.given, order.tasks.get(path, ""))
        except NoUnit as error:
            yield _not_judged(path, error, buffers, order.units)
        except USAGE as error:
            note = f"not validated: {error}"
            yield UnitResult(path, (path,), note=note, inputs=configs(path))
        else:
            groups.setdefault(unit.path, []).append((path, unit))
    for group in groups.values():
        yield _of_unit(group[0][1], tuple(path for path, _ in group), buffers, order.units)


def _of_unit(
    unit: Unit, paths: tuple[str, ...], buffers: Mapping[str, Buffer], units: Units
) -> UnitResult:
    files = OpenFiles(buffers, unit.encoding)
    try:
        arguments = unit.arguments(files)
        inputs = [arguments["path"], arguments["against"]]
        sources = {str(item): open_source(item) for item in inputs if item is not None}
        verdict = validate_all(
            unit.task.name, [arguments.pop("path")], selection=unit.selection, **arguments
        )
    except USAGE as error:
        note = f"not validated: {error}"
        return UnitResult(unit.path, paths, note=note, task=unit.task.name, inputs=unit.inputs)
    places = Places(files, sources, units)
    findings = places.by_path(verdict.findings, paths[0])
    return UnitResult(unit.path, paths, findings, task=unit.task.name, inputs=unit.inputs)


def _of_config(path: str, buffers: Mapping[str, Buffer], units: Units) -> UnitResult:
    """The findings about a file of defaults."""
    files = OpenFiles(buffers)
    source = files.source(path)
    findings = read_config(OpenInput(source, name=shown(Path(path)))).findings
    return UnitResult(path, (path,), Places(files, {path: source}, units).by_path(findings, path))


def _not_judged(
    path: str, error: NoUnit, buffers: Mapping[str, Buffer], units: Units
) -> UnitResult:
    """Why a document is not validated, with what is wrong with its file of defaults."""
    if not error.config:
        return UnitResult(path, (path,), note=error.reason, inputs=configs(path))
    files = OpenFiles(buffers)
    places = Places(files, {error.config: files.source(error.config)}, units)
    findings = places.by_path(error.findings, error.config)
    return UnitResult(path, (path,), findings, error.reason, inputs=(error.config,))


class Places:
    """Where findings are, in documents and in the units of the client.

    Args:
        files: the buffers.
        sources: what was read, by key.
        units: what the columns of the client count.
    """

    def __init__(self, files: OpenFiles, sources: Mapping[str, Source], units: Units) -> None:
        self.files, self.sources, self.units = files, sources, units
        self.texts: dict[str, Text | None] = {}

    @cached_property
    def keys(self) -> Mapping[str, str]:
        """The keys of files by their names in findings."""
        found: dict[str, str] = {}
        for root, source in self.sources.items():
            for member in source.members if source.kind in {"file", "folder", "stdin"} else ():
                found[member.display] = f"{root.rstrip('/')}/{member.name}" if member.name else root
        return found

    def key(self, finding: Finding) -> str | None:
        """The key of the file of a finding; None if it is about no file that an editor opens."""
        if finding.file is None:
            return None
        if finding.file in self.keys:
            return self.keys[finding.file]
        path = absolute(finding.file)
        return path if Path(path).is_file() and not _is_archive(path) else None

    def text(self, path: str) -> Text | None:
        """The text of a document as the editor has it; None if it cannot be read."""
        if path not in self.texts:
            self.texts[path] = self._read(path)
        return self.texts[path]

    def _read(self, path: str) -> Text | None:
        if path in self.files.buffers:
            return Text.of(self.files.buffers[path].text, self.units)
        try:
            content = self.files.content(path)
        except (Unreadable, OSError, ValueError):
            return None
        return Text.of(content.decode(self.files.encoding, "replace"), self.units)

    def range(self, path: str, finding: Finding) -> Range:
        """The range of a finding in its document."""
        if finding.span is None:
            return NOWHERE
        text = self.text(path)
        return text.range(finding.span) if text else NOWHERE

    def by_path(
        self, findings: Sequence[Finding], otherwise: str
    ) -> Mapping[str, tuple[EditorFinding, ...]]:
        """The findings at their ranges, by key; those of no document at another one."""
        found: dict[str, list[EditorFinding]] = {}
        for finding in findings:
            path = self.key(finding)
            place = NOWHERE if path is None else self.range(path, finding)
            found.setdefault(path or otherwise, []).append(EditorFinding(finding, place))
        return {path: tuple(findings) for path, findings in found.items()}


def _is_archive(path: str) -> bool:
    from hlteval.sources.signatures import archive_suffix

    return archive_suffix(path) is not None
