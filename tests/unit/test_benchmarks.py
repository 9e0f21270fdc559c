"""Benchmarks: honest measurements, and data that every command accepts."""

from __future__ import annotations

import re
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from benchmarks import biased_measures
from benchmarks.__main__ import TASKS, main
from benchmarks.coverage import Plan
from benchmarks.measuring import Benchmark, Failed, Growth, Peer, Step, measure, run
from benchmarks.stages import Stages
from hlteval.cli.app import app
from hlteval.scoring import intervals


def test_peak_memory_is_that_of_the_command_alone():
    ballast = bytearray(400 << 20)
    ballast[::4096] = b"x" * len(ballast[::4096])
    assert run([sys.executable, "-c", "pass"]).peak < 100
    assert run([sys.executable, "-c", "bytearray(300 << 20)[::4096] = b'x' * 76800"]).peak > 250


def test_a_command_that_never_ends_is_killed():
    assert run([sys.executable, "-c", "while True: pass"], limit=1).code == -9


def test_a_command_that_ends_otherwise_is_no_measurement():
    refused = Step("refused", [sys.executable, "-c", "raise SystemExit(1)"])
    benchmark = Benchmark("none", "files", (1,), (1,), lambda *_: [refused])
    with pytest.raises(Failed, match="exit code 1 instead of 0"):
        list(measure(benchmark, (1,)))
    expected = Benchmark("none", "files", (1,), (1,), lambda *_: [refused._replace(code=1)])
    (row,) = measure(expected, (1,))
    assert row["exponent"] is None


def test_growth_leaves_the_start_out():
    growth = Growth()
    cpu = {1: 2.0, 10: 3.0, 100: 12.0, 200: 42.0}
    assert [growth.exponent("x", size, seconds) for size, seconds in cpu.items()] == [
        None,
        None,
        1.0,
        2.0,
    ]


def test_a_public_program_runs_beside_the_command(tmp_path):
    program = tmp_path / "program"
    program.write_text("#!/bin/sh\nexit 3\n")
    program.chmod(0o755)
    ours = [sys.executable, "-c", "pass"]
    steps = [Step(name, ours, peer=Peer(name, ())) for name in ("program", "missing")]
    benchmark = Benchmark("none", "files", (1,), (1,), lambda *_: steps)
    there, missing = measure(benchmark, (1,), tmp_path)
    assert (there["peer"], there["peer code"]) == ("program", 3)
    assert missing["peer"] is missing["x peer"] is None
    assert list(there) == list(missing)


@pytest.mark.sampled(6)
@pytest.mark.parametrize("name", [name for name in TASKS if name != "startup"])
def test_data_of_the_smallest_size_are_made(name, tmp_path):
    for number, benchmark in enumerate(import_module(f"benchmarks.{name}").BENCHMARKS):
        folder = tmp_path / str(number)
        folder.mkdir()
        steps = list(benchmark.steps((benchmark.quick or (1,))[0], folder))
        assert steps
        assert len({step.name for step in steps}) == len(steps)
        conversions = [step.command for step in steps if "convert" in step.command]
        assert all("--force" in command for command in conversions)  # the first runs twice
        produced = [file for step in steps for file in step.files]
        assert any(file.exists() for file in produced)


def test_mentions_are_validated_with_the_exit_code_that_is_expected(tmp_path):
    for number, benchmark in enumerate(import_module("benchmarks.lorehlt_edl").BENCHMARKS):
        folder = tmp_path / str(number)
        folder.mkdir()
        step = next(each for each in benchmark.steps(100, folder) if each.name == "validate")
        assert CliRunner().invoke(app, step.command[3:]).exit_code == step.code


def test_python_keeps_what_it_compiled_whatever_the_environment_says(monkeypatch):
    monkeypatch.setenv("PYTHONDONTWRITEBYTECODE", "1")
    assert run([sys.executable, "-c", "import sys; sys.exit(sys.dont_write_bytecode)"]).code == 0


@pytest.mark.thorough
def test_inputs_of_every_format_are_read_by_a_command_that_accepts_them(tmp_path):
    runner = CliRunner()
    for number, benchmark in enumerate(import_module("benchmarks.formats").BENCHMARKS):
        folder = tmp_path / str(number)
        folder.mkdir()
        step = next(iter(benchmark.steps(0, folder)))
        result = runner.invoke(app, step.command[3:])
        assert result.exit_code in {0, 1}, (benchmark.name, result.output)


def test_sweeps_are_chosen_by_their_names(monkeypatch, capsys):
    (name,) = (each.name for each in import_module("benchmarks.formats").BENCHMARKS[-1:])
    measured: list[str] = []
    row = {"task": "none"}
    monkeypatch.setattr(
        "benchmarks.__main__.measure",
        lambda benchmark, *_: measured.append(benchmark.name) or [row],
    )
    monkeypatch.setattr(sys, "argv", ["benchmarks", "ltf", "formats", "--only", name])
    main()
    assert measured == [name]
    assert "| task |" in capsys.readouterr().out


def test_the_jackknife_estimates_the_bias_of_a_variance():
    """With divisor n it is s² / n too low: of 1, 2 and 6, s² is 7."""
    sample = np.array([1.0, 2.0, 6.0])
    without = [np.delete(sample, at).var() for at in intervals.groups(3, 0).argsort()]
    found = biased_measures.bias(Plan(3, 0, 0), np.array([sample.var(), *without]))
    assert found == pytest.approx(-7 / 3)


def test_intervals_of_biased_measures_are_simulated(capsys, tmp_path):
    begin, end = biased_measures.MARKS
    page = tmp_path / "page.md"
    page.write_text(f"before\n{begin}old\n{end}after\n")
    biased_measures.main(["ccu-vd", "--sizes", "6", "--corpora", "3", "--page", str(page)])
    lines = capsys.readouterr().out.splitlines()
    assert [line.split("|")[1:3] for line in lines[2:4]] == [
        [" `ccu-vd ccc` ", " 6 "],
        [" `ccu-vd kappa` ", " 6 "],
    ]
    for line in lines[2:4]:
        truth, mean, _ = map(float, line.split("|")[3:6])
        assert -1 <= mean <= 1
        assert -1 <= truth <= 1
        assert "±" in line
    text = page.read_text()
    assert text.startswith(f"before\n{begin}")
    assert text.endswith(f"{end}after\n")
    assert "old" not in text
    assert lines[2] in text


def test_the_page_has_all_biased_measures():
    page = (Path(biased_measures.__file__).parents[1] / "docs" / "intervals.md").read_text("utf-8")
    table = page.partition(biased_measures.MARKS[0])[2].partition(biased_measures.MARKS[1])[0]
    expected = [
        f"| `{task} {name}` | {size} |"
        for task, names in biased_measures.BIASED.items()
        for size in biased_measures.SIZES.split(",")
        for name in names
    ]
    assert re.findall(r"^\| `[^|]+\| \d+ \|", table, re.M) == expected


def test_the_stages_of_a_command_are_those_of_the_engine(tmp_path):
    (tmp_path / "d.txt").write_text("Ann\n")
    (tmp_path / "d.ann").write_text("T1\tPerson 0 3\tAnn\n")
    sides = ["-r", str(tmp_path), "-s", str(tmp_path)]
    words = [sys.executable, "-m", "benchmarks", "stages", "score", "mentions", *sides]
    done = subprocess.run(
        words, cwd=Path(__file__).parents[2], capture_output=True, text=True, check=True
    )
    stages = [line.split("|")[1].strip() for line in done.stdout.splitlines()[2:]]
    assert {"open", "read and align", "rules", "count", "judge", "score"} <= {*stages}


def test_a_stage_that_nobody_calls_is_an_error():
    with pytest.raises(ValueError, match="has no Stages"):
        Stages().watch("open", Plan, Stages.watch)
