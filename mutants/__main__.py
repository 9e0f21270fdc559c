"""Change the scoring code a little, and see whether a unit or property test notices.

    python -m mutants [PATH ...] [--number 200] [--seed 1] [--again] [--part 1/2]

Mutants are drawn by seed from all of the modules under the paths (default: scoring). First it is
seen which tests run which lines; then each mutant has a process of its own, which runs the tests of
its lines, the fastest ones first, up to the first failure. What is found is kept in the folder, so
that an interrupted run is resumed; with `--again`, survivors are tried again. A test file is looked
at again when it or a module that it runs changes, a mutant when its module does. No conformance
case is used.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import random
import sys
from collections.abc import Iterable
from functools import partial
from itertools import groupby
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, settings

from mutants.changes import Mutant, mutants
from mutants.trial import ARGUMENTS, ROOT, child, covered, noticed

FAMILIES = ("ccu", "edl", "hub4", "mt", "scoring", "seedev", "situations")
TESTS = [f"tests/{kind}/{family}/*.py" for kind in ("unit", "properties") for family in FAMILIES]
TESTS += [
    f"tests/properties/test_{subject}.py"
    for subject in ("agreement", "assignment", "augmenting_paths", "intervals", "matching")
]
TESTS += [f"tests/unit/workflows/test_{subject}.py" for subject in ("agreement", "intervals")]
TESTS += ["tests/unit/workflows/test_scoring.py", "scoring/**/*.py"]
MOST = 15.0
"""Seconds of tests that a mutant is tried by; four times as many with `--again`."""


def main() -> None:
    """Try the mutants that the command line asks for; exit code 1 if one survives."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("paths", nargs="*", default=["scoring"], help="modules or folders")
    parser.add_argument("--number", type=int, default=200, help="how many are drawn")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--again", action="store_true", help="try survivors again")
    parser.add_argument("--part", default="1/1", help="every n-th of the mutants, from the first")
    parser.add_argument("--folder", type=Path, default=Path("build/mutants"))
    options = parser.parse_args()
    paths = [path for name in options.paths for path in modules(Path(name))]
    every = [mutant for path in paths for mutant in mutants(ROOT / path)]
    drawn = random.Random(options.seed).sample(every, min(options.number, len(every)))
    first, parts = map(int, options.part.split("/"))
    drawn = sorted(drawn, key=lambda item: (item.path, item.place))[first - 1 :: parts]
    settings.register_profile(
        "mutants", derandomize=True, database=None, deadline=None,
        phases=[Phase.explicit, Phase.generate], suppress_health_check=[HealthCheck.too_slow],
    )  # fmt: skip
    trials = Trials(drawn, options.folder, again=options.again)
    files = [path for name in TESTS for path in sorted(ROOT.glob(name))]
    scored = [
        str(path)
        for path in files
        if ("scor" if path.name.startswith("test_") else ">>>") in path.read_text("utf-8")
    ]
    pytest.main([*ARGUMENTS, "--capture=no", "--no-header", *scored], plugins=[trials])
    print(
        f"{len(drawn)} of {len(every)} mutants (seed {options.seed}): {trials.survivors} survived"
    )
    sys.exit(1 if trials.survivors else 0)


def modules(path: Path) -> list[Path]:
    """The modules at a path."""
    return sorted(path.rglob("*.py")) if path.is_dir() else [path]


def digest(path: str) -> str:
    """The digest of a module, whose lines may have moved."""
    file = ROOT / path
    return hashlib.sha256(file.read_bytes()).hexdigest() if file.is_file() else ""


class Trials:
    """A plugin that tries mutants instead of running the tests.

    Attributes:
        survivors: how many mutants no test noticed.
    """

    def __init__(self, drawn: Iterable[Mutant], folder: Path, *, again: bool) -> None:
        self.drawn, self.folder, self.again = drawn, folder.absolute(), again
        self.survivors = 0
        self.items: dict[str, pytest.Item] = {}
        self.seconds: dict[str, float] = {}
        self.lines: dict[str, dict[int, list[str]]] = {}

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        """Try all of the mutants."""
        for file, items in groupby(session.items, key=lambda item: item.nodeid.partition("::")[0]):
            self.look_at(file, list(items))
        self.items = {item.nodeid: item for item in session.items}
        for mutant in self.drawn:
            test = self.outcome(mutant)
            self.survivors += test is None
            place = f"{mutant.path.relative_to(ROOT)}:{mutant.change}"
            print(f"{'killed  ' if test else 'SURVIVED'}  {place}  [{test or ''}]", flush=True)
        return True

    def kept(self, room: str, *texts: str) -> Path:
        """The file of what is known about some texts."""
        digest = hashlib.sha256("\0".join(texts).encode()).hexdigest()
        path = self.folder / room / f"{digest[:24]}.json"
        path.parent.mkdir(parents=True, exist_ok=True)
        return path

    def look_at(self, file: str, items: list[pytest.Item]) -> None:
        """See which lines the tests of a file run, and how long they take."""
        kept = self.kept("tests", file, (ROOT / file).read_text("utf-8"))
        found: Any = json.loads(kept.read_text("utf-8")) if kept.is_file() else None
        if found is None or found["modules"] != {path: digest(path) for path in found["modules"]}:
            print(f"the lines of {file}", flush=True)
            found = child(partial(covered, items), 900, kept)
            found = found or {"seconds": {}, "lines": {}}
            found["modules"] = {
                path: digest(path) for path, lines in found["lines"].items() if lines
            }
            kept.write_text(json.dumps(found), "utf-8")
        self.seconds |= found["seconds"]
        for path, by_line in found["lines"].items():
            lines = self.lines.setdefault(path, {})
            for line, names in by_line.items():
                lines.setdefault(int(line), []).extend(names)

    def outcome(self, mutant: Mutant) -> str | None:
        """The test that notices a mutant, or None."""
        kept = self.kept("outcomes", str(mutant.place), mutant.source)
        known = json.loads(kept.read_text("utf-8")) if kept.is_file() else None
        if known and (known["noticed"] or not self.again):
            return known["noticed"]  # type: ignore[no-any-return]
        tests, seconds = self.tests_of(mutant)
        found: Any = {"noticed": None}
        if tests:
            found = child(
                partial(noticed, mutant, [self.items[test] for test in tests]),
                int(8 + 2 * seconds),
                self.kept("results", str(mutant.place), mutant.source),
            ) or {"noticed": "the end of its time"}
        change = f"{mutant.path.relative_to(ROOT)}:{mutant.change}"
        kept.write_text(json.dumps({"change": change, **found}), "utf-8")
        return found["noticed"]  # type: ignore[no-any-return]

    def tests_of(self, mutant: Mutant) -> tuple[list[str], float]:
        """The tests of the lines of a mutant, the fastest ones first, and their seconds."""
        lines = self.lines.get(mutant.path.relative_to(ROOT).as_posix(), {})
        path = mutant.path.relative_to(ROOT)
        wanted = mutant.lines if mutant.function else lines
        tests = {test for line in wanted for test in lines.get(line, []) if test in self.items}
        # No test runs what is outside of functions, but examples of the family depend on it.
        examples = {
            test
            for test in self.items
            if not mutant.function and "by_hand" in test and f"/{path.parts[1]}/" in test
        }
        total = 0.0
        chosen: list[str] = []
        for test in sorted(
            tests | examples, key=lambda t: (t not in examples, self.seconds.get(t, 0.0))
        ):
            total += self.seconds.get(test, 0.0)
            if total > MOST * (4 if self.again else 1) and chosen:
                break
            chosen.append(test)
        return chosen, total


if __name__ == "__main__":
    main()
