"""Runs of tests in child processes: with a mutant, or to see which tests run which lines.

Tests are collected once. A child process begins with all modules imported; a changed function gets
its new code there, and only what is outside of functions is imported again.
"""

from __future__ import annotations

import importlib.abc
import importlib.machinery
import json
import os
import resource
import signal
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from types import CodeType, FunctionType
from typing import Any

import coverage
import pytest

from mutants.changes import Mutant

ROOT = Path(__file__).parents[1]
ARGUMENTS = ["-q", "-p", "no:cacheprovider", "--shared=nowhere", "--assert=plain"]
ARGUMENTS += ["--hypothesis-profile=mutants"]


def child(work: Callable[[], object], seconds: int, result: Path) -> Any:
    """What a function gives that runs in a child process; None where it takes too long."""
    result.unlink(missing_ok=True)
    pid = os.fork()
    if not pid:
        resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))
        nothing = os.open(os.devnull, os.O_RDWR)
        for stream in (0, 1, 2):
            os.dup2(nothing, stream)
        result.write_text(json.dumps(work()), "utf-8")
        os._exit(0)
    end = time.monotonic() + 20 * seconds
    while not os.waitpid(pid, os.WNOHANG)[0]:
        time.sleep(0.02)
        if time.monotonic() > end:
            os.kill(pid, signal.SIGKILL)
            os.waitpid(pid, 0)
            break
    return json.loads(result.read_text("utf-8")) if result.is_file() else None


def covered(items: Sequence[pytest.Item]) -> Mapping[str, object]:
    """The seconds of some tests, and by module and line the tests that run it."""
    measured = coverage.Coverage(data_file=None, source=[str(ROOT / "scoring")], config_file=False)
    seconds: dict[str, float] = {}
    measured.start()
    for item in items:
        begin = time.process_time()
        measured.switch_context(item.nodeid)
        item.config.hook.pytest_runtest_protocol(item=item, nextitem=_after(item, items))
        seconds[item.nodeid] = time.process_time() - begin
    measured.stop()
    data, lines = measured.get_data(), {}
    for name in data.measured_files():
        by_line = data.contexts_by_lineno(name)
        path = Path(name).resolve().relative_to(ROOT).as_posix()
        lines[path] = {line: sorted({*tests} - {""}) for line, tests in by_line.items()}
    return {"seconds": seconds, "lines": lines}


def noticed(mutant: Mutant, items: Sequence[pytest.Item]) -> Mapping[str, str | None]:
    """The first test that fails with a mutant, if any does."""
    if not mutant.function or not replaced(mutant):
        return {"noticed": Again([item.nodeid for item in items]).run(mutant)}
    failed: list[str] = []
    items[0].config.pluginmanager.register(Failures(failed))
    for item in items:
        item.config.hook.pytest_runtest_protocol(item=item, nextitem=_after(item, items))
        if failed:
            return {"noticed": failed[0]}
    return {"noticed": None}


def _after(item: pytest.Item, items: Sequence[pytest.Item]) -> pytest.Item | None:
    place = items.index(item) + 1
    return items[place] if place < len(items) else None


def replaced(mutant: Mutant) -> bool:
    """Give the function of a mutant its new code; False where it cannot be found."""
    holder: Any = sys.modules.get(_module(mutant))
    *homes, name = mutant.function.split(".")
    for home in homes:
        holder = getattr(holder, home, None)
    found = vars(holder).get(name) if holder is not None else None
    if isinstance(found, property):
        found = found.fget
    if isinstance(found, cached_property):
        found = found.func
    found = getattr(found, "__func__", found)
    found = getattr(found, "__wrapped__", found)
    if not isinstance(found, FunctionType):
        return False
    for code in _codes(compile(mutant.code(), str(mutant.path), "exec")):
        same = code.co_firstlineno == found.__code__.co_firstlineno
        if same and code.co_qualname == found.__code__.co_qualname:
            found.__code__ = code
            return True
    return False


def _codes(code: CodeType) -> Iterator[CodeType]:
    for item in code.co_consts:
        if isinstance(item, CodeType):
            yield item
            yield from _codes(item)


def _module(mutant: Mutant) -> str:
    parts = mutant.path.relative_to(ROOT).with_suffix("").parts
    return ".".join(["hlteval", *(part for part in parts if part != "__init__")])


def _ours(name: str) -> bool:
    return name.partition(".")[0] in {"hlteval", "tests"}


class Failures:
    """A plugin that remembers the tests that fail."""

    def __init__(self, failed: list[str]) -> None:
        self.failed = failed

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Remember a failure."""
        if report.failed:
            self.failed.append(report.nodeid)


class Again(Failures):
    """A plugin for tests that are collected again, with a changed module."""

    def __init__(self, tests: Sequence[str]) -> None:
        super().__init__([])
        self.places = {test: place for place, test in enumerate(tests)}

    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        """Choose the tests, in their order."""
        items[:] = [item for item in items if item.nodeid in self.places]
        items.sort(key=lambda item: self.places[item.nodeid])

    def run(self, mutant: Mutant) -> str | None:
        """The test that fails, or None."""
        for name in [
            name for name in sys.modules if name.partition(".")[0] in {"hlteval", "tests"}
        ]:
            del sys.modules[name]
        sys.meta_path.insert(0, Finder(mutant))
        files = sorted({test.partition("::")[0] for test in self.places})
        code = pytest.main([*ARGUMENTS, "-x", *files], plugins=[self])
        return self.failed[0] if self.failed else None if code == 0 else f"pytest: {int(code)}"


class Finder(importlib.abc.MetaPathFinder):
    """Finds the module of a mutant, changed."""

    def __init__(self, mutant: Mutant) -> None:
        self.mutant, self.name = mutant, _module(mutant)

    def find_spec(self, name: str, path: Any, target: Any = None) -> Any:  # noqa: ARG002
        """The specification of the changed module."""
        spec = importlib.machinery.PathFinder.find_spec(name, path) if name == self.name else None
        if spec is not None and spec.origin is not None:
            spec.loader = Changed(name, spec.origin)
            spec.loader.mutant = self.mutant
        return spec


class Changed(importlib.machinery.SourceFileLoader):
    """Loads a mutant."""

    mutant: Mutant

    def get_code(self, fullname: str) -> CodeType:  # noqa: ARG002
        """The code of the mutant."""
        return compile(self.mutant.code(), str(self.mutant.path), "exec")
