"""Inputs of about 1 MB of every format, each large in one way: validated, or read by a conversion.

A format that a task reads is validated by it, beside the other fixtures of the task. The inputs
come from the first valid and the first invalid fixture of the format: inflated.py.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from pathlib import Path

from benchmarks.inflated import Inflated, inflated
from benchmarks.measuring import Benchmark, Step, hlteval
from fuzz.subjects import CONTEXTS, FIXTURES, Seed, Use, readers, seeds, uses
from hlteval.converters import load
from hlteval.sources import open_source


def steps(reader: str, size: int, folder: Path) -> Iterator[Step]:
    """Validate or convert each input of a format; the size is in thousands of bytes."""
    valid, *others = seeds(reader)
    for number, seed in enumerate((valid, *others[-1:])):
        kind = "wrong, " if number else ""
        for large in inflated(seed, size * 1000):
            path = _written(large, seed, folder / "input")
            command = _command(reader, path, folder / "output.jsonl")
            yield Step(f"{kind}{large.kind}", command, [path], code=None)


def _written(large: Inflated, seed: Seed, folder: Path) -> Path:
    """The files of an input, alone in a folder; their path."""
    for old in sorted(folder.rglob("*"), reverse=True):
        old.unlink() if old.is_file() else old.rmdir()
    for name, content in large.files.items():
        file = folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content)
    return folder / next(iter(large.files)) if seed.single else folder


def _command(reader: str, path: Path, output: Path) -> tuple[str, ...]:
    """A command that reads an input: validation if a task has a use for it.

    `--against` is the last choice: it recognises the format, for which an input may be too damaged.
    """
    for use in sorted(uses(reader), key=lambda use: use.role == "against"):
        if use.role != "against" or load(reader).sniff(open_source(str(path))):
            return _validation(use, path)
    return hlteval("convert", path, output, "--from", reader, "--force")


def _validation(use: Use, path: Path) -> tuple[str, ...]:
    context = CONTEXTS[use.task]
    files: dict[str, Path | str] = {
        "submission": FIXTURES / context.submission,
        "against": FIXTURES / context.against if context.against else "",
        **{name: FIXTURES / value for name, value in context.options.items()},
        use.role: path,
    }
    submission = files.pop("submission")
    given = [part for name, file in files.items() if file for part in (f"--{name}", file)]
    return hlteval("validate", use.task, submission, *given)


BENCHMARKS = tuple(
    Benchmark(f"formats: {reader}", "KB", (1_000,), (), partial(steps, reader))
    for reader in readers()
)
