"""Bundles of EvalAI: what its reader of configurations and its workers refuse or pass over.

Its workers import the evaluation script as a package, and call `evaluate` with the annotation of a
phase and the one file that a participant uploaded; an exception is what the participant sees.
"""

import json
import sys
from collections.abc import Iterator
from pathlib import Path as FilePath
from tempfile import TemporaryDirectory

from hlteval.findings import Finding, finding
from hlteval.syntax.places import Path
from hlteval.validators.platforms.bundle import (
    Bundle,
    Configuration,
    at,
    check_program,
    items_of,
    tables_of,
)
from hlteval.validators.platforms.codabench import moment_of
from hlteval.validators.platforms.trial import Trial, judge_scores, run_apart, unpack

#: The names of the configuration, and the Python of the platform's own workers.
NAMES, PYTHON = ("challenge_config.yaml", "challenge_config.yml"), (3, 9)
_PAGES = ("description", "evaluation_details", "terms_and_conditions", "submission_guidelines")
#: The files that a bundle may have to try its program with.
_EXAMPLES = ("example.zip", "sample_submission.zip", "sample_submission.json", "submission.json")


def check(bundle: Bundle) -> Iterator[Finding]:
    """Yield what is wrong with a bundle."""
    configuration = Configuration(bundle, next(name for name in NAMES if name in bundle.files))
    yield from configuration.check_schema("evalai")
    content = configuration.content
    if not isinstance(content, dict):
        return
    for key in _PAGES:
        yield from configuration.check_file((key,), (".html",))
    yield from configuration.check_file(("image",), (".png", ".jpg", ".jpeg"))
    yield from check_dates(configuration, ())
    for path, _ in tables_of(content, "challenge_phases"):
        yield from configuration.check_file((*path, "description"), (".html",))
        yield from configuration.check_file((*path, "test_annotation_file"))
        yield from check_dates(configuration, path)
    yield from check_identifiers(configuration)
    problems = list(configuration.check_file(("evaluation_script",), (".zip",)))
    yield from problems
    written = content.get("evaluation_script")
    part = bundle.part(written) if isinstance(written, str) and not problems else None
    if part is not None:
        yield from part.source.findings
        yield from check_script(part) if part.is_whole else ()


def check_dates(configuration: Configuration, path: Path) -> Iterator[Finding]:
    """Yield what is wrong with the dates of the challenge or of a phase."""
    table = at(configuration.content, path)
    dates = {key: moment_of(table.get(key)) for key in ("start_date", "end_date")}
    for key, date in dates.items():
        if isinstance(table.get(key), str) and date is None:
            reason = f"{key} is not a date: {table[key]}"
            yield configuration.finding("BDL209", *path, key, reason=reason)
    start, end = dates.values()
    if start and end and start > end:
        reason = "end_date is before start_date"
        yield configuration.finding("BDL209", *path, "end_date", reason=reason)


def check_identifiers(configuration: Configuration) -> Iterator[Finding]:
    """Yield what is wrong with identifiers of leaderboards, phases and splits, and with labels."""
    content = configuration.content
    unique = {
        "leaderboard": ("id",),
        "challenge_phases": ("id", "codename"),
        "dataset_splits": ("id", "codename"),
    }
    for name, keys in unique.items():
        for key in keys:
            yield from configuration.check_unique((name,), key)
    for path, board in tables_of(content, "leaderboard"):
        labels, place = at(board, ("schema", "labels")), (*path, "schema", "default_order_by")
        if isinstance(labels, list) and (order := at(content, place)) is not None:
            yield from configuration.check_defined([(place, order)], labels, "label")
    named = {"challenge_phase_id": "challenge_phases", "leaderboard_id": "leaderboard"}
    named["dataset_split_id"] = "dataset_splits"
    splits = tables_of(content, "challenge_phase_splits")
    for key, kind in named.items():
        known = [table.get("id") for _, table in tables_of(content, kind)]
        given = [((*path, key), split[key]) for path, split in splits if key in split]
        yield from configuration.check_defined(given, known, key.removesuffix("_id"))
    seen = set[str]()
    for path, split in splits:
        value = "/".join(str(split.get(key)) for key in named)
        if value in seen:
            key = "phase, leaderboard and split"
            yield configuration.finding("BDL207", *path, key=key, value=value)
        seen.add(value)


def check_script(program: Bundle) -> Iterator[Finding]:
    """Yield what is wrong with the evaluation script as a package."""
    text = (program.read("__init__.py") or b"").decode("utf-8", "replace")
    if "__init__.py" not in program.files or "evaluate" not in text:
        inside = [name for name in program.files if name.endswith("/__init__.py")]
        in_folder = inside and "__init__.py" not in program.files
        reason = f"{inside[0]} is in a folder" if in_folder else "__init__.py has no evaluate"
        yield finding("BDL310", file=program.source.path, reason=reason)
        return
    for name in ("__init__.py", "main.py"):
        if name in program.files:
            yield from check_program(program, name, PYTHON)
    if any(name.startswith("packages/hlteval/") for name in program.files):
        yield finding("BDL311", file=program.display("main.py"))


_DRIVER = """
import importlib, json, sys
sys.path.insert(0, sys.argv[1])
module = importlib.import_module("challenge_data.challenge_1")
result = module.evaluate(sys.argv[2], sys.argv[3], sys.argv[4], submission_metadata={})
with open(sys.argv[5], "w") as file:
    json.dump(result, file)
"""


def try_program(bundle: Bundle, max_time: int) -> tuple[list[Finding], str]:
    """Run the evaluation script of a bundle on its example, as a worker of EvalAI does.

    Args:
        bundle: the bundle, in which nothing is wrong.
        max_time: seconds that the script may take at most.

    Returns:
        The findings, and how the script ran.
    """
    configuration = Configuration(bundle, next(name for name in NAMES if name in bundle.files))
    content = configuration.content
    example = next((name for name in _EXAMPLES if name in bundle.files), "")
    phase = at(content, ("challenge_phases", 0))
    if not example:
        wanted, hint = "example of a submission", "add example.zip, which the platform passes over"
        path = "evaluation_script"
        return [configuration.finding("BDL407", path, wanted=wanted, hint=hint)], ""
    with TemporaryDirectory(prefix="hlteval-") as folder:
        root, script = FilePath(folder), bundle.part(content["evaluation_script"])
        (root / "challenge_data").mkdir()
        (root / "challenge_data" / "__init__.py").write_bytes(b"")
        if script is not None:
            unpack(script, root / "challenge_data" / "challenge_1")
        files = {"annotation": phase.get("test_annotation_file", ""), "submission": example}
        paths = []
        for name, written in files.items():
            file = root / f"{name}{FilePath(written).suffix}"
            file.write_bytes(bundle.read(written) or b"")
            paths.append(str(file))
        (root / "output").mkdir()
        for place in (root, *root.rglob("*")):
            place.chmod(0o777 if place.is_dir() else 0o644)
        result = root / "output" / "result.json"
        words = [sys.executable, "-c", _DRIVER, folder, *paths, str(phase["codename"])]
        trial = run_apart([*words, str(result)], root / "output", max_time)
        found = list(judge(configuration, trial, result, max_time))
    return found, f"the evaluation script ran {trial.seconds:.1f} s {trial.isolation}"


def judge(
    configuration: Configuration, trial: Trial, result: FilePath, limit: int
) -> Iterator[Finding]:
    """Yield what is wrong with a run of an evaluation script, and with what it returned."""
    content, place = configuration.content, ("evaluation_script",)
    if trial.status is None:
        yield configuration.finding("BDL406", *place, limit=limit)
        return
    if trial.status:
        reason = "evaluate raised an exception"
        yield configuration.finding("BDL401", *place, reason=reason, hint=trial.summary)
        return
    phase = at(content, ("challenge_phases", 0, "id"))
    splits = {
        split.get("id"): split.get("codename") for _, split in tables_of(content, "dataset_splits")
    }
    wanted: dict[str, object] = {}
    for _, each in tables_of(content, "challenge_phase_splits"):
        if each.get("challenge_phase_id") == phase:
            wanted[str(splits.get(each.get("dataset_split_id")))] = each.get("leaderboard_id")
    try:
        returned = json.loads(result.read_text("utf-8"))
    except (OSError, ValueError, RecursionError):  # the script has ended its process, or more
        returned = None
    items = returned.get("result") if isinstance(returned, dict) else None
    if not isinstance(items, list) or not items:
        reason = "evaluate returns no list of results"
        yield configuration.finding("BDL402", *place, reason=reason)
        return
    for item in items:
        name = next(iter(item), "") if isinstance(item, dict) else ""
        scores = item[name] if name else None
        if name not in wanted or not isinstance(scores, dict):
            reason = f"no split {name} of the first phase; use {', '.join(wanted) or 'another'}"
            yield configuration.finding("BDL402", *place, reason=reason)
            continue
        columns: dict[str, Path] = {}
        for path, board in tables_of(content, "leaderboard"):
            if board.get("id") == wanted[name]:
                labels = items_of(content, *path, "schema", "labels")
                columns |= {str(label): place_of_label for place_of_label, label in labels}
        yield from judge_scores(configuration, place, scores, columns)
