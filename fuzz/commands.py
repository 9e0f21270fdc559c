"""Damage to the inputs, paths and outputs of commands: an answer, and no file is harmed.

    python -m fuzz.commands [--trials 1000] [--first 0]

A trial runs `score`, `compare`, `leaderboard`, `agreement`, `campaign` or `manifest` in a copy of
the demonstration. Files of it are damaged, emptied, linked, or renamed to what is not UTF-8, and
paths on the command line are empty, or an output is in the way of an input. It fails on an
exception, an exit code that is not 0, 1 or 2, a changed input, or an output of a usage error.
"""

from __future__ import annotations

import argparse
import os
import shutil
import sys
import tempfile
import traceback
from collections.abc import Callable, Mapping, Sequence
from contextlib import chdir
from functools import cache
from pathlib import Path
from random import Random
from typing import NamedTuple

from typer.testing import CliRunner

from fuzz.mutations import damage
from fuzz.subjects import FIXTURES, Seed
from hlteval.cli.app import app
from hlteval.sources.spooling import NotWritten
from hlteval.workflows import config as demo

SCORES = ("text", "json", "tsv", "markdown", "latex")
CAMPAIGN = b"""\
name = "Demo"
resamples = 20
[submissions]
system = "system"
flawed = "flawed"
[tasks.seedev-full]
reference = "reference"
"""
LINES: Mapping[str, Sequence[str]] = {
    "score": (
        "seedev-full -r reference -s system --bootstrap 9",
        "hub4 -r comparison/reference.tpl -s comparison/bold.tpl --lenient",
        "lorehlt-edl -r entities/reference.tab -s entities/flawed.tab --lenient",
        "speech-sf -r speech/annotations -s speech/system.json",
    ),
    "compare": (
        "seedev-full -r reference system flawed --bootstrap 20",
        "hub4 -r comparison/reference.tpl comparison/bold.tpl comparison/careful.tpl --lenient",
        "lorehlt-edl -r leaderboard/reference.tab leaderboard/submissions --bootstrap 20",
    ),
    "leaderboard": (
        "seedev-full -r reference system flawed --bootstrap 20",
        "hub4 -r comparison/reference.tpl comparison/bold.tpl comparison/careful.tpl --lenient",
        "lorehlt-edl -r leaderboard/reference.tab leaderboard/submissions --bootstrap 20 "
        "--names leaderboard/names.tsv",
    ),
    "agreement": (
        "lorehlt-edl annotators --bootstrap 9",
        "lorehlt-edl annotators/ada.tab annotators/bo.tab --lenient --per label",
        "seedev-full reference system --against reference",
    ),
    "campaign": ("campaign.toml", "campaign.toml -o results --cache kept"),
    "manifest": ("check manifest.toml", "check manifest.toml .", "best manifest.toml ."),
}
"""Lines of each command, all of whose words with a file are inputs."""
FORMS: Mapping[str, Sequence[str]] = {
    "agreement": SCORES,
    "campaign": ("text", "json"),
    "compare": SCORES,
    "leaderboard": (*SCORES, "html"),
    "manifest": ("text", "json"),
    "score": SCORES,
}
OUTPUTS: Mapping[str, Sequence[str]] = {
    "agreement": ("--output-file json=", "--output-file markdown=", "--report "),
    "campaign": ("-o ", "--cache "),
    "compare": ("--output-file json=", "--report ", "--plot "),
    "leaderboard": ("--output-file html=", "--output-file tsv=", "-o ", "--plot "),
    "manifest": ("--output-file json=",),
    "score": ("--output-file json=", "--output-file latex=", "--report ", "-o ", "--plot "),
}


class Trial(NamedTuple):
    """A command and what was done to its files.

    Attributes:
        command: the words after the name of the program.
        inputs: the paths that it reads.
        damages: what was damaged.
    """

    command: Sequence[str]
    inputs: Sequence[str]
    damages: Sequence[str]


def generate(number: int, folder: Path) -> Trial:
    """A trial in an empty folder, which gets the files; equal numbers give equal trials."""
    draw = Random(f"commands {number}")
    _unpack(folder)
    command = list(LINES)[number % len(LINES)]
    words = draw.choice(LINES[command]).split()
    paths = [n for n, word in enumerate(words) if (folder / word).exists() and word != "."]
    damages = [
        draw.choice(_DAMAGES)(folder, words, draw.choice(paths), draw)
        for _ in range(draw.choice((0, 1, 1, 1, 2, 3)))
    ]
    inputs = [words[at] for at in paths] + (["reference"] if command == "campaign" else [])
    words += ["--format", draw.choice(FORMS[command])]
    if draw.random() < 0.6:
        option = draw.choice(OUTPUTS[command])
        words += [*f"{option}{_output(folder, words, paths, draw)}".split(" ", 1)]
    return Trial([command, *words], inputs, damages)


def _unpack(folder: Path) -> None:
    for name, data in _files().items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(data)


@cache
def _files() -> Mapping[str, bytes]:
    """The files of the demonstration, with a manifest and a campaign."""
    with tempfile.TemporaryDirectory(prefix="fuzz-") as folder:
        demo.unpack(Path(folder))
        shutil.rmtree(Path(folder, "tutorials"))
        found = content(Path(folder))
    manifest = next(iter(sorted((FIXTURES / "manifest/valid").rglob("*.toml"))))
    return {**found, "campaign.toml": CAMPAIGN, "manifest.toml": manifest.read_bytes()}


def _output(folder: Path, words: Sequence[str], paths: Sequence[int], draw: Random) -> str:
    """The path of an output: good, or one that would replace or change an input."""
    given = words[draw.choice(paths)]
    inside = [path for path in sorted(folder.rglob("*")) if path.is_file()]
    return draw.choice(
        [
            *("new.html", "new.svg", "deep/new/out", ""),
            *(given, f"{given}/new.html", f"./{given}", f"other/../{given}", "link/new"),
            *(str(draw.choice(inside).relative_to(folder)), ".", "..", "system"),
        ]
    )


def _inside(folder: Path, word: str) -> Path | None:
    """A file or folder that a word names, if it is in the folder of the trial."""
    path = Path(os.path.normpath(folder / word))
    return path if word.strip() and folder in path.parents and path.exists() else None


def _file(folder: Path, word: str, draw: Random) -> Path:
    """A file that a word of the command names, or of the folder that it names."""
    path = _inside(folder, word)
    files = [path, *sorted(path.rglob("*"))] if path else []
    others = sorted(folder.glob("*/*"))
    return draw.choice([*filter(Path.is_file, files)] or [*filter(Path.is_file, others)])


def _damage(folder: Path, words: list[str], at: int, draw: Random) -> str:
    path = _file(folder, words[at], draw)
    data = path.read_bytes()
    for _ in range(draw.choice((1, 1, 2, 5))):
        data = damage(data, draw, [Seed({"": data}, single=True)])
    path.write_bytes(data)
    return f"damaged {path.relative_to(folder)!s}"


def _nothing(folder: Path, words: list[str], at: int, draw: Random) -> str:
    """Nothing that could be scored is left of an input."""
    data = draw.choice((b"", b"\n", b"\0", b"{}", b"[]", b"\xff\xfe", b"x\ty\n"))
    path = _inside(folder, words[at])
    for file in [path, *sorted(path.rglob("*"))] if path else []:
        if file.is_file():
            file.write_bytes(data)
    return f"{words[at]} has nothing but {data!r}"


def _empty_path(folder: Path, words: list[str], at: int, draw: Random) -> str:  # noqa: ARG001
    words[at] = draw.choice(("", "", " ", "/dev/null", "absent", "-"))
    return f"word {at} is {words[at]!r}"


def _link(folder: Path, words: list[str], at: int, draw: Random) -> str:
    """A link in place of an input: to it, to itself, to nothing, or to what holds it."""
    path, moved = _inside(folder, words[at]), folder / f"moved-{at}"
    if path is None or path.is_symlink() or moved.exists():
        return "nothing"
    path.rename(moved)
    kind = draw.choice(("whole", "loop", "nothing", "parent", "only"))
    if kind == "only":  # a folder of nothing but a link
        path.mkdir()
        (path / "link").symlink_to(moved)
    else:
        targets = {"whole": moved, "loop": path, "parent": path.parent}
        path.symlink_to(targets.get(kind, folder / "absent"))
    return f"{words[at]} is a link: {kind}"


def _odd_name(folder: Path, words: list[str], at: int, draw: Random) -> str:
    """The name of an input or of a file in it is not UTF-8, or has other odd characters."""
    odd = draw.choice((b"a\xffb", b"\xed\xa0\x80", b"a\nb", b"a\tb", b"=1+2", b"\x1b[31m", b"*"))
    given = _inside(folder, words[at])
    if given is None:
        return "nothing"
    path = _file(folder, words[at], draw) if draw.random() < 0.5 else given
    name = os.fsdecode(odd) + path.suffix
    path.rename(path.with_name(name))
    if path == given:
        words[at] = str(path.with_name(name).relative_to(folder))
    return f"{path.relative_to(folder)!s} is {odd!r}"


def _same(folder: Path, words: list[str], at: int, draw: Random) -> str:  # noqa: ARG001
    """One input in place of another."""
    words[at] = draw.choice(("reference", "system", "annotators", "comparison", "speech", "."))
    return f"word {at} is {words[at]}"


_DAMAGES: Sequence[Callable[[Path, list[str], int, Random], str]] = (
    *(_damage,) * 5,
    *(_nothing, _empty_path, _link, _odd_name, _odd_name, _same),
)


def run(trial: Trial, folder: Path) -> str:
    """Run a trial in its folder; why it fails, empty for success."""
    before = content(folder)
    read = {name for name in before if _is_read(folder, name, trial.inputs)}
    with chdir(folder):
        result = CliRunner().invoke(app, list(trial.command), env={"HLTEVAL_CACHE": "kept"})
    error = result.exception
    if isinstance(error, NotWritten):
        return _harm(before, content(folder), read, 2)
    if error is not None and not isinstance(error, SystemExit):
        return "".join(traceback.format_exception(error))
    if result.exit_code not in {0, 1, 2}:
        return f"exit code {result.exit_code}: {result.output}"
    if "Traceback" in result.output or "internal error" in result.output:
        return result.output
    return _harm(before, content(folder), read, result.exit_code)


def content(folder: Path) -> dict[str, bytes]:
    """The files below a folder by path; of a link, where it leads."""
    found = {}
    for parent, folders, files in os.walk(folder):
        for name in (*folders, *files):
            path = Path(parent, name)
            if path.is_symlink():
                found[str(path.relative_to(folder))] = os.fsencode(path.readlink())
            elif path.is_file():
                found[str(path.relative_to(folder))] = path.read_bytes()
    return found


def _is_read(folder: Path, name: str, inputs: Sequence[str]) -> bool:
    """Whether a file is an input or in one; any other may be replaced by an output."""
    real = Path(os.path.realpath(folder / name))
    roots = [Path(os.path.realpath(folder / each)) for each in inputs if each.strip()]
    return any(real == root or root in real.parents for root in roots)


def _harm(
    before: Mapping[str, bytes], after: Mapping[str, bytes], read: set[str], code: int
) -> str:
    """What a command did to files that it should not have done."""
    kept = before if code == 2 else read
    changed = [name for name in kept if after.get(name) != before[name]]
    new = [name for name in after if name not in before]
    if changed:
        return f"exit code {code}, and changed {changed}"
    if code == 2 and new:
        return f"exit code 2, and wrote {new}"
    parts = [name for name in new if name.endswith(".part")]
    return f"left {parts}" if parts else ""


def main() -> None:
    """Run trials from a first number; exit code 1 if one fails."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--trials", type=int, default=1000)
    parser.add_argument("--first", type=int, default=0, help="first number")
    options = parser.parse_args()
    failed = 0
    for number in range(options.first, options.first + options.trials):
        folder = Path(tempfile.mkdtemp(prefix="fuzz-"))
        trial = generate(number, folder)
        reason = run(trial, folder)
        shutil.rmtree(folder, ignore_errors=True)
        if reason:
            failed += 1
            print(f"{number}: {trial}\n{reason}", flush=True)
    print(f"{options.trials} trials, {failed} failed")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
