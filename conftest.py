"""Configuration of pytest: options, profiles of hypothesis, and the shared cases."""

import gc
import os
from collections import Counter, defaultdict
from collections.abc import Generator
from importlib import import_module
from itertools import chain
from pathlib import Path
from types import ModuleType

import pytest
from _pytest.doctest import DoctestModule
from hypothesis import HealthCheck, settings

from tests.effort import THOROUGH, cells_tried, step, thorough

# Machines may be slow; in continuous integration, the same examples are tried each time.
settings.register_profile("here", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("ci", settings.get_profile("here"), derandomize=True, database=None)
settings.load_profile("ci" if os.environ.get("CI") else "here")

# Runs of METEOR are short here: what the second compiler of Java makes would not be used.
os.environ.setdefault("JDK_JAVA_OPTIONS", "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC")

# As the command line does, before anything imports Polars; test_later_columns.py has both engines.
os.environ.setdefault("POLARS_ENGINE_AFFINITY", "in-memory")

ROOT = Path(__file__).parent
ROOMS = ("converters", "grammars", "scoring", "validators")


class RoomDoctests(DoctestModule):
    """The examples of a module in a room at the root: it is imported as a part of hlteval."""

    def _getobj(self) -> ModuleType:
        parts = self.path.relative_to(ROOT).with_suffix("").parts
        return import_module(".".join(("hlteval", *parts)).removesuffix(".__init__"))


@pytest.hookimpl(wrapper=True)
def pytest_collect_file(
    file_path: Path, parent: pytest.Collector
) -> Generator[None, list[pytest.Collector], list[pytest.Collector]]:
    """Collect the examples of the rooms under the names that their modules have."""
    collectors = yield
    path = file_path.relative_to(ROOT) if file_path.is_relative_to(ROOT) else Path()
    if path.suffix == ".py" and path.parts[0] in ROOMS:
        return [RoomDoctests.from_parent(parent, path=file_path)]
    return collectors


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--shared",
        type=Path,
        default=ROOT.parent / "shared",
        help="folder of the conformance cases; their tests are skipped where it is absent",
    )
    parser.addoption(
        "--thorough",
        action="store_true",
        help="try everything, as where files are named, and not a share (tests/effort.py)",
    )
    parser.addoption("--mutations", type=int, help="number of damaged files per format")
    parser.addoption("--update-golden", action="store_true", help="rewrite the expected outputs")


def pytest_configure(config: pytest.Config) -> None:
    """Say how much is tried before tests are imported, and keep a worker on its core.

    Polars hands every query to a thread of its own: across cores, that took a sixth of the time.
    """
    whole = config.getoption("--thorough") or config.getoption("--update-golden")
    if whole or config.args != config.getini("testpaths"):
        os.environ[THOROUGH] = "1"
    else:
        settings.register_profile("share", settings(), max_examples=12)
        settings.load_profile("share")
    config.option.mutations = config.option.mutations or (12 if thorough() else 3)
    worker = getattr(config, "workerinput", None)
    if worker is None or not hasattr(os, "sched_setaffinity"):
        return
    cores = sorted(os.sched_getaffinity(0))
    if len(cores) == worker["workercount"]:
        os.sched_setaffinity(0, {cores[int(worker["workerid"][2:]) % len(cores)]})


LONG = (
    *("unit/lsp/test_same_findings", "cli/test_pages", "unit/docs/test_site"),
    *("cli/test_environment", "unit/workflows/test_later_columns", "cli/test_differences"),
    *("properties/test_conversions", "properties/test_damage", "properties/test_hints"),
)
"""The files that take longest: they come first, so that no worker ends long before others."""


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Begin with the files that take longest; leave out what is not in the share."""
    if not thorough():
        functions = [item.nodeid.partition("[")[0] for item in items]
        cells, numbers = Counter(functions), defaultdict[str, int](int)
        kept, left = list[pytest.Item](), list[pytest.Item]()
        for name, item in zip(functions, items, strict=True):
            sampled = item.get_closest_marker("sampled")
            of = sampled.args[0] if sampled else step(cells[name])
            is_tried = numbers[name] in cells_tried(name, cells[name], of)
            out = not is_tried or item.get_closest_marker("thorough")
            (left if out else kept).append(item)
            numbers[name] += 1
        items[:] = kept
        config.hook.pytest_deselected(items=left)
    ranks = {f"tests/{name}.py": rank for rank, name in enumerate(LONG)}
    items.sort(key=lambda item: ranks.get(item.nodeid.partition("::")[0], len(LONG)))


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """What is collected stays until the end: looking for garbage in it took half of the time.

    Tests leave little garbage, so it is looked for seldom.
    """
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.set_threshold(20_000, 20, 100)
        gc.enable()


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """List the tests that take over 5 s and do not say why, with the mark `long`."""
    seconds = defaultdict[str, float](float)
    for report in chain.from_iterable(terminalreporter.stats.values()):
        if isinstance(report, pytest.TestReport) and "long" not in report.keywords:
            seconds[report.nodeid] += report.duration
    for name in sorted(seconds, key=seconds.__getitem__, reverse=True):
        if seconds[name] > 5:
            terminalreporter.write_line(f"{name} takes {seconds[name]:.0f} s and does not say why")


@pytest.fixture(scope="session")
def shared(request: pytest.FixtureRequest) -> Path:
    """The folder of the conformance cases."""
    folder: Path = request.config.getoption("--shared")
    if not folder.is_dir():
        pytest.skip(f"CONFORMANCE NOT CHECKED: no folder {folder} (give one with --shared)")
    return folder
