"""Where plan and official differ, in numbers: docs/differences.md shows what comes out.

Each difference has an example, small files in fixtures/differences/, which both profiles are given.
A row of the page begins with the anchor of its example and ends with both numbers.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import msgspec
import polars as pl
import pytest

import hlteval
from hlteval import tasks
from hlteval.reports.scores import value_text, values_of
from hlteval.reports.terminal import visible
from hlteval.results.scores import Scores
from hlteval.workflows.run.request import Intervals
from hlteval.workflows.run.verdicts import Refused
from tests.effort import share
from tests.runs import score, validate

pytestmark = pytest.mark.long("both profiles score each example of the share")

ROOT = Path(__file__).parents[2]
PAGE, EXAMPLES = ROOT / "docs" / "differences.md", ROOT / "docs" / "difference-examples.md"
FIXTURES = ROOT / "fixtures" / "differences"
PROFILES = ("plan", "official")
ROW = re.compile(r'^\| <a id="([a-z0-9-]+)"></a>(.*) \| ([^|]*) \|$', re.M)
SAME = "-"
"""What the last cell shows of a difference that is in no number; `why` the row tells."""
NO_NUMBER = {
    "all-blocks": "both profiles refuse",
    "seedev-ties": "the number of the software changes with the settings of its machine",
    "bb-ties": "the number of the software changes with the settings of its machine",
    "bb-scorings": "what differs is how often a number is printed, and of what",
    "bb-text-spans": "the profile official does not follow the software here",
    "seedev-limits": "what is drawn differs already",
    "seedev-commutative": "arguments are not compared: whatever their order, nothing changes",
    "seedev-inside-sentences": "what differs is how often a number is printed",
    "edl-archive": "what differs is which files are looked at",
    "edl-digits": "what differs is beyond the digits that are shown",
    "edl-ceaf-time": "what differs is the time",
    "lsf-archive": "what differs is which files are looked at",
    "lsf-cropping": "the software has no such option",
    "lsf-ties": "situations are too many for an example",
    "ccu-ties": "the order of the software changes with the machine, and no number with it",
    "ccu-system-merging": "both merge only if an option asks for it",
    "ccu-congruence": "what differs is a column of a table",
    "ccu-crashes": "there is no number",
    "ccu-digits": "the last digit of a score orders no instances in a small example",
    "ccu-missing-score": "the plan refuses such a line",
    "ccu-empty-norm": "the plan refuses such a line",
    "ccu-empty-cells": "both profiles refuse",
    "ccu-absolute-path": "both profiles refuse",
    "ccu-level-missing": "both profiles refuse",
    "ccu-change-curves": "what differs is a curve in a file",
    "ccu-archive": "the software reads no archives",
    "ccu-empty-reference": "both profiles refuse",
    "seqeval-lengths": "the library refuses, and there is no number",
    "nervaluate-averages": "the library has no such number",
    "nervaluate-documents": "the library refuses, and there is no number",
    "scikit-learn-missing": "the caller of the library pairs rows",
}
ALIKE = {
    *("edl-nominals", "edl-windows", "edl-empty-confidence", "edl-colon", "edl-list-nothing"),
    "edl-offsets",
    *("lsf-no-grave-gain", "lsf-threshold"),
    *("ccu-no-file", "ccu-overlap", "ccu-no-majority", "ccu-example"),
}
"""Where the verdict is the same, but not what is reported or done."""

HEAD = """\
# Examples of differences

<!-- Made from fixtures/differences/ by tests/cli/test_differences.py; do not edit. -->

A minimal example for each row of [Differences](differences.md) that changes a score or a
verdict, with the output of `hlteval` {version}. `→` is a tab.
"""


class Example(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Files for which both profiles tell different things.

    What begins with `reference` is the reference, with `system` the submission; other files are
    named by options, or as the task, which they declare.
    """

    task: str
    measures: list[str]
    says: str
    files: dict[str, str]
    options: dict[str, str] = {}
    command: str = "score"
    lenient: bool = False
    bootstrap: int = 0


def listed() -> Iterator[tuple[str, Example, Mapping[str, str]]]:
    """The examples by their anchors, with the files that all of their task have."""
    for path in sorted(FIXTURES.glob("*.toml")):
        read = tomllib.loads(path.read_text("utf-8"))
        given = read.pop("given", {})
        yield from ((name, msgspec.convert(one, Example), given) for name, one in read.items())


CASES = {name: (example, given) for name, example, given in listed()}


def sides(example: Example, given: Mapping[str, str], folder: Path) -> dict[str, str]:
    """The reference and the submission, put into a folder: its folders, or single files."""
    found = {}
    for name, text in {**given, **example.files}.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text.encode())
        first = name.partition("/")[0]
        found[re.split(r"[.]", first)[0]] = str(folder / first)
    return found


def outcome(example: Example, given: Mapping[str, str], profile: str, folder: Path) -> list[str]:
    """What a profile tells of an example, a text for each of its measures."""
    found = sides(example, given, folder)
    options = {
        name: str(folder / value) if value in example.files else value
        for name, value in example.options.items()
    }
    chosen: dict[str, Any] = {"profile": profile, "options": options}
    task = str(folder / example.task) if example.task in example.files else example.task
    drawn = Intervals(example.bootstrap) if example.bootstrap else None
    if example.command == "validate":
        verdict = validate(task, found["system"], against=found.get("reference"), **chosen)
        return ["pass" if verdict.passed else "fail"]
    paths = found["reference"], found["system"]
    try:
        chosen |= {"lenient": example.lenient, "alignment": False, "intervals": drawn}
        scores = score(task, *paths, **chosen)
    except Refused:
        return ["no number"] * len(example.measures)
    return [value(scores, measure, drawn=bool(drawn)) for measure in example.measures]


def value(scores: Scores, measure: str, *, drawn: bool) -> str:
    """A metric, its interval where one is drawn, or a value of the table of scorings."""
    values = values_of(tasks.load(scores.task), measure.rpartition(" / ")[2])
    if measure in scores.intervals:
        low, high = (value_text(limit, values) for limit in scores.intervals[measure])
        return f"{low} to {high}"
    if drawn:
        return "no interval"
    if " / " not in measure:
        return value_text(scores.metrics[measure], values)
    names = dict(zip(("evaluation", "scoring", "measure"), measure.split(" / "), strict=True))
    rows = scores.tables["scorings"].filter(*(pl.col(name) == said for name, said in names.items()))
    return value_text(rows["value"][0], values) if rows.height else "not given"


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[tuple[str, ...]]]:
    """What both profiles tell of every example: rows of a measure and two texts.

    Of those that are not in the share, it is what the page of examples tells.
    """
    found = rows_of_page()
    for name in {*share(CASES, 6), *(CASES.keys() - found.keys())}:
        example, given = CASES[name]
        both = [outcome(example, given, item, tmp_path_factory.mktemp(name)) for item in PROFILES]
        found[name] = list(zip(example.measures, *both, strict=True))
    return found


def rows_of_page() -> dict[str, list[tuple[str, ...]]]:
    """The rows of each example of the page of examples."""
    _, *sections = re.split(r"^### (.*)$", EXAMPLES.read_text("utf-8"), flags=re.M)
    row = re.compile(r"^\| `(.*)` \| (.*) \| (.*) \|$", re.M)
    return {name: row.findall(text) for name, text in zip(*[iter(sections)] * 2, strict=True)}


def cell(name: str, rows: list[tuple[str, ...]]) -> str:
    """The last cell of a row: both numbers, with a link to the example."""
    parts = (
        f"`{measure.rpartition(' / ')[2]}` {plan} / {official}" for measure, plan, official in rows
    )
    return f"[{', '.join(parts)}](difference-examples.md#{name})"


def test_every_number_of_the_page_is_what_comes_out(results, golden):
    page = PAGE.read_text("utf-8")

    def filled(row: re.Match[str]) -> str:
        last = cell(row[1], results[row[1]]) if row[1] in results else SAME
        return f'| <a id="{row[1]}"></a>{row[2]} | {last} |'

    dated = re.sub(r"(?<=version )\d+\.\d+\.\d+", hlteval.__version__, page)
    golden(PAGE, ROW.sub(filled, dated))


def test_every_row_has_an_anchor_of_its_own_and_an_example_or_a_reason():
    page = PAGE.read_text("utf-8")
    rows = [line for line in page.splitlines() if line.startswith("| ") and line[2:6] != "case"]
    anchors = [match[1] for row in rows if (match := ROW.match(row))]
    assert len(anchors) == len(rows)
    assert len(set(anchors)) == len(anchors)
    assert set(anchors) == {*CASES, *NO_NUMBER}
    assert not NO_NUMBER.keys() & CASES.keys()
    assert f"version {hlteval.__version__}" in page


def test_the_profiles_differ_in_every_example_but_for_verdicts_that_are_alike(results):
    for name, rows in results.items():
        differ = any(plan != official for _, plan, official in rows)
        assert differ is (name not in ALIKE), name


def test_the_examples_are_shown(results, golden):
    parts = [HEAD.format(version=hlteval.__version__)]
    for path in sorted(FIXTURES.glob("*.toml")):
        read = tomllib.loads(path.read_text("utf-8"))
        given = read.pop("given", {})
        parts.append(f"## {path.stem}\n")
        if given:
            parts += ["Each of these has the documents and entities of one small text:\n"]
            parts += [file(name, text) for name, text in given.items()]
        parts += [section(name, CASES[name][0], results[name]) for name in read]
    golden(EXAMPLES, "\n".join(parts))


def section(name: str, example: Example, rows: list[tuple[str, ...]]) -> str:
    """An example on its page: its files, how it is run, and what comes out."""
    files = [file(path, text) for path, text in example.files.items()]
    table = ["| | plan | official |", "|---|---|---|"]
    table += [f"| `{measure}` | {plan} | {official} |" for measure, plan, official in rows]
    parts = [f"### {name}\n", f"{example.says}\n", *files]
    return "\n".join([*parts, f"```sh\n{command(example)}\n```\n", *table, ""])


def file(name: str, text: str) -> str:
    """A file as a block, after its name."""
    ends = " (its lines end in CR LF)" if "\r\n" in text else ""
    lines = text.replace("\r\n", "\n").removesuffix("\n").split("\n")
    body = "\n".join(map(visible, lines))
    block = f"\n\n```text\n{body}\n```\n" if text else " is empty.\n"
    return f"`{name}`{ends}{':' if text else ''}{block}"


def command(example: Example) -> str:
    """How an example is run; the profile is put behind."""
    names = {name.partition("/")[0] for name in example.files}
    (system,) = (name for name in names if name.startswith("system"))
    reference = next((name for name in names if name.startswith("reference")), "")
    known = (
        {option.name: option for option in tasks.load(example.task).options}
        if example.options
        else {}
    )
    options = [f"--{known[name].flag} '{said}'" for name, said in example.options.items()]
    if example.command == "validate":
        against = f" --against {reference}" if reference else ""
        return " ".join([f"hlteval validate {example.task} {system}{against}", *options])
    lenient = ["--lenient"] if example.lenient else []
    drawn = [f"--bootstrap {example.bootstrap}"] if example.bootstrap else []
    run = f"hlteval score {example.task} -r {reference} -s {system}"
    return " ".join([run, *options, *lenient, *drawn])
