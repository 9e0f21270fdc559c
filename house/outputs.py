"""The outputs of all commands, to compare two checkouts: `python -m house.outputs FOLDER`.

Every command runs in every output format and with its options, on the files of `hlteval demo`. Each
gets a file in FOLDER with its exit code, its output, its errors and the files that it wrote. As a
file, the script runs whichever hlteval is first on PYTHONPATH: `diff -r` compares two folders.
"""

from __future__ import annotations

import argparse
import contextlib
import hashlib
import json
import multiprocessing
import os
import re
import shutil
import sys
import tarfile
import tempfile
import tomllib
import traceback
import zipfile
import zlib
from collections.abc import Iterable, Iterator, Mapping
from concurrent.futures import ProcessPoolExecutor
from itertools import chain
from pathlib import Path
from typing import Any

from typer.testing import CliRunner, Result

import hlteval

TABLES = tomllib.loads(Path(__file__).with_name("outputs.toml").read_text("utf-8"))
"""Values of options, inputs that are not found, and further commands."""
ROLES = ("system", "baseline", "broken", "reference")
OUT = "out"
"""The folder of the outputs of a command, in the folder of the demonstration."""
JSON = ("text", "json")
SCORES = ("text", "json", "tsv", "markdown", "latex")
VERDICTS = ("text", "concise", "json", "jsonl", "sarif", "github", "junit")
Case = list[list[str]]
"""Commands that run one after the other, each as its words; they share the folder of outputs."""
_VARIABLE = (
    (r"\d{4}-\d\d-\d\d([T ]\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:?\d\d)?)?", "TIME"),
    (r"\b\d+(\.\d+)? ?(ms|s|seconds)\b", "DURATION"),
    (r'("(duration|elapsed|seconds|time)": )[\d.e-]+', r"\1DURATION"),
    (r"(Python|python|polars|Polars|hlteval)([ /]|\": \")\d+(\.\d+)+\S*", r"\1 VERSION"),
    (r"\b(pid|process) \d+", r"\1 PID"),
)


def cases(group: str) -> Iterator[Case]:
    """The cases of a group: a task, an input of conversions, a list of the table `commands`."""
    if group == "lists":
        yield from ([words] for words in _lists())
    if files := inputs(group):
        yield from ([words] for words in _task(group, files))
    if group in TABLES["inputs"]:
        yield from _conversions(group)
    lines: list[str] = TABLES["commands"].get(group, [])
    for written in lines:
        yield [line.split() for line in written.strip().splitlines()]


def groups() -> list[str]:
    """The names of all groups, the longest first."""
    from hlteval.tasks import BUILTIN

    return list(dict.fromkeys([*BUILTIN, *TABLES["commands"], *TABLES["inputs"], "lists"]))


def inputs(task: str) -> Mapping[str, str]:
    """The inputs of a task by role, from its tutorial: none if it has no output of a system."""
    files: dict[str, str] = {**TABLES["tasks"].get(task, {})}
    demo = Path(hlteval.__file__).with_name("demo")
    names = [task, task.replace("-", "/", 1), files.pop("folder", task)]
    folders = [demo / "tutorials" / name for name in names]
    folder = next((each for each in folders if each.is_dir()), None)
    if folder is None or "skip" in files:
        return {}
    paths = [*sorted(folder.iterdir()), *sorted(folder.parent.iterdir())]
    roles = {"annotations": "reference"}
    named = {
        roles.get(name, name): path.relative_to(demo).as_posix()
        for path in reversed(paths)
        if (name := path.name.partition(".")[0]) in {*ROLES, *roles}
    }
    against = {"against": named["reference"]} if "reference" in named else {}
    return {**against, **named, **files} if "system" in named else {}


def _lists() -> Iterator[list[str]]:
    """Help, explanations, schemas, tasks and formats."""
    from hlteval import tasks
    from hlteval.findings import catalogue

    for command in ("", *TABLES["names"]):
        yield [*command.split(), "--help"]
        yield [*command.split(), "--nonsense"]
    for name in tasks.BUILTIN:
        yield from (["tasks", name, "--format", form] for form in JSON)
        for command in ("validate", "score", "compare", "leaderboard", "agreement", "pack"):
            yield [command, name, "--help"]
            yield [command, name]
    yield from (["explain", code] for code in catalogue())
    prefixes = sorted({code[:3] for code in catalogue()})
    yield from (["explain", code, "--format", form] for code in prefixes for form in JSON)
    yield from (["schema", name] for name in TABLES["schemas"])
    for command in ("tasks", "formats", "schema"):
        yield from ([command, "--format", form] for form in JSON)


def _task(task: str, files: Mapping[str, str]) -> Iterator[list[str]]:
    """The commands of a task; `files` has its inputs by role, and options."""
    system, broken, baseline = (files[role] for role in ("system", "broken", "baseline"))
    reference = ["-r", files["reference"]] if "reference" in files else []
    against = ["--against", files["against"]] if files.get("against") else []
    against += files.get("validate", "").split()
    more = files.get("score", "").split()
    annotations = [*reference[1:], system, baseline]
    for command, words, formats in (
        ("validate", [broken, *against], VERDICTS),
        ("score", [*reference, "-s", system, *more], SCORES),
        ("compare", [*reference, system, baseline, "--bootstrap", "20"], SCORES),
        ("leaderboard", [*reference, system, baseline, "--bootstrap", "20"], (*SCORES, "html")),
        ("agreement", [*annotations, "--bootstrap", "20"], SCORES),
        ("pack", [system, *against], ()),
    ):
        call = [command, task, *words]
        if formats:
            yield [*call, *(f"--output-file={form}={OUT}/{form}" for form in formats)]
        yield from ([*call, *options.split()] for options in TABLES["options"][command])
        if command in {"validate", "score"}:
            yield from ([*call, *options] for options in _own_options(task, command))
    yield ["validate", task, system, *against]
    yield ["validate", task, files.get("reference", system), "--as", "reference"]
    yield ["pack", task, broken, *against, "-o", f"{OUT}/packed"]
    for options in ([], ["--lenient", "--format", "json"]):
        yield ["score", task, *reference, "-s", broken, *options]
        yield ["leaderboard", task, *reference, broken, system, "--bootstrap", "20", *options]
    yield ["compare", task, *reference, system, broken, "--bootstrap", "20"]


def _own_options(task: str, command: str) -> Iterator[list[str]]:
    """Each option that a task has itself, with each of its values."""
    from hlteval import tasks

    for option in tasks.load(task).options:
        if command in option.commands:
            name = f"--{option.flag}"
            if option.switch:
                yield [name]
            values = option.choices or TABLES["values"].get(option.name, ["nonsense"])
            yield from ([name, *value.split()] for value in (() if option.switch else values))


def _conversions(source: str) -> Iterator[Case]:
    """An input in every format that can be written, and each result read again."""
    path = TABLES["inputs"][source].split()
    listed = {
        form["name"]: form
        for form in json.loads(_invoke(["formats", "--format=json"]).stdout)["formats"]
    }
    for name, form in listed.items():
        if form["writes"]:
            again = ["convert", f"{OUT}/{name}", f"{OUT}/again.jsonl", "--from", name]
            written = ["convert", *path, f"{OUT}/{name}", "--to", name]
            yield [written, again] if form["reads"] else [written]
    yield [["convert", *path, f"{OUT}/x.jsonl", "--format", "json"]]
    yield [["convert", *path, f"{OUT}/x.jsonl", "--from", source, "--strict-loss"]]
    for setting in listed[source]["settings"]:
        for value in setting["choices"] or ["nonsense"]:
            words = ["--set", f"{setting['name']}={value}", "--from", source]
            yield [["convert", *path, f"{OUT}/x", *words, "--to", "jsonl"]]
            yield [["convert", *path, f"{OUT}/x", *words, "--to", source]]


def record(case: Case, demo: Path) -> str:
    """Run a case and return all that comes of it, without what differs from run to run."""
    shutil.rmtree(demo / OUT, ignore_errors=True)
    (demo / OUT / "submissions").mkdir(parents=True)
    parts = list(chain.from_iterable(_call(words) for words in case))
    for path in sorted((demo / OUT).rglob("*")):
        if path.is_file() and "cache" not in path.parts:
            parts.append(f"--- {path.relative_to(demo).as_posix()}\n{_content(path)}")
    text = "\n".join(parts).replace(str(demo), "DEMO")
    for pattern, name in _VARIABLE:
        text = re.sub(pattern, name, text)
    return text + "\n"


def _call(words: list[str]) -> Iterator[str]:
    """Run a command in this process: its line, exit code, output and errors.

    `< FILE` is its standard input; `complete LINE` is what bash asks for the words of a line.
    """
    arguments, env, stdin = words, {}, None
    if "<" in words:
        arguments, stdin = words[:-2], Path(words[-1]).read_bytes()
    elif words[:1] == ["complete"]:
        line = " ".join(words[1:]) + (" " if words[-1][-1].isalnum() else "")
        env = {"_HLTEVAL_COMPLETE": "complete_bash", "COMP_WORDS": line}
        env |= {"COMP_CWORD": str(line.count(" ")), "_TYPER_COMPLETE_ARGS": line}
        arguments = []
    result = _invoke(arguments, env=env, input=stdin)
    yield f"$ hlteval {' '.join(words)}\nexit code {result.exit_code}"
    yield f"--- stdout\n{result.stdout}\n--- stderr\n{result.stderr}"
    if result.exception and not isinstance(result.exception, SystemExit):
        yield "".join(traceback.format_exception_only(result.exception))


def _invoke(arguments: list[str], **settings: Any) -> Result:
    from hlteval.cli.app import app

    return CliRunner().invoke(app, arguments, prog_name="hlteval", **settings)


def _content(path: Path) -> str:
    """The text of a file; what has none is told by its digest, an archive by its members."""
    data = path.read_bytes()
    members = [("", data)]
    with contextlib.suppress(UnicodeDecodeError):
        return data.decode()
    if zipfile.is_zipfile(path):
        with zipfile.ZipFile(path) as archive:
            members = [(name, archive.read(name)) for name in archive.namelist()]
    elif path.suffix == ".tgz":  # which may be damaged
        with contextlib.suppress(tarfile.TarError, EOFError), tarfile.open(path) as tar:
            files = [(each.name, tar.extractfile(each)) for each in tar.getmembers()]
            members = [(name, file.read() if file else b"") for name, file in files]
    return "\n".join(f"{name} {hashlib.sha256(held).hexdigest()}" for name, held in members)


def file_name(case: Case) -> str:
    """The name of the file of a case: its first command, and a number for what is left out."""
    line = "\n".join(" ".join(words) for words in case)
    words = re.sub(r"[^\w.,=-]+", "_", " ".join(case[0]).replace("tutorials/", ""))
    return f"{case[0][0] if case[0] else 'hlteval'}/{words[:120]}-{zlib.crc32(line.encode()):08x}"


def write_group(group: str, output: Path, only: str) -> int:
    """Run the cases of a group whose commands contain `only`; returns their number."""
    os.environ |= {"COLUMNS": "100", "TERM": "dumb", "NO_COLOR": "1", "CI": "", "TZ": "UTC"}
    number = 0
    with tempfile.TemporaryDirectory(prefix="hlteval-") as folder:
        demo = Path(folder)
        shutil.copytree(Path(hlteval.__file__).with_name("demo"), demo, dirs_exist_ok=True)
        for name, text in TABLES["files"].items():
            (demo / name).parent.mkdir(exist_ok=True)
            (demo / name).write_text(text, "utf-8")
        os.chdir(demo)
        for case in cases(group):
            if any(only in " ".join(words) for words in case):
                file = output / f"{file_name(case)}.txt"
                file.parent.mkdir(parents=True, exist_ok=True)
                file.write_text(record(case, demo), "utf-8", "surrogateescape")
                number += 1
        os.chdir("/")
    return number


def main(arguments: Iterable[str] | None = None) -> None:
    """Write the outputs of all commands, or of those that are named."""
    parser = argparse.ArgumentParser(prog="python -m house.outputs", description=__doc__)
    parser.add_argument("folder", type=Path, metavar="FOLDER")
    parser.add_argument("--only", default="", help="commands that contain this text")
    parser.add_argument("--jobs", type=int, default=2, help="number of processes")
    given = parser.parse_args(None if arguments is None else list(arguments))
    output = given.folder.absolute()
    with ProcessPoolExecutor(given.jobs, multiprocessing.get_context("spawn")) as pool:
        runs = [pool.submit(write_group, group, output, given.only) for group in groups()]
        number = sum(run.result() for run in runs)
    sys.stdout.write(f"{number} files in {given.folder}\n")


if __name__ == "__main__":
    main()
