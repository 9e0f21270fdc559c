"""`hlteval score`: numbers, files, refusals and exit codes."""

from __future__ import annotations

import csv
import json
import re
import shlex
import shutil
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import hlteval.cli
from hlteval.tasks import seedev as seedev_metrics

Run = Callable[..., Any]
METRICS = [
    "f1",
    "recall",
    "precision",
    "ser",
    "matches",
    "substitutions",
    "insertions",
    "deletions",
    "references",
    "predictions",
]
HEAD = [
    "schema",
    "version",
    "task",
    "profile",
    "signature",
    "primary",
    "metrics",
    "intervals",
    "tables",
    "documents",
    "records",
    "findings",
    "warnings",
    "notes",
]
ALIGNMENT = [
    "document",
    "reference",
    "predicted",
    "reference_type",
    "predicted_type",
    "similarity",
    "negation",
    "missing",
    "extra",
    "wrong",
    "reference_arguments",
    "predicted_arguments",
]
FILES = ["alignment.tsv", "confusion.tsv", "metrics.tsv", "scores.json", "scorings.tsv"]


@pytest.fixture
def given(reference: Path, system: Path) -> tuple[object, ...]:
    """Scoring a submission that lacks one event of seven and is right in all others."""
    return ("score", "seedev-full", "-r", reference, "-s", system)


def test_text_names_metrics_scorings_and_the_signature(
    invoke: Run, given: tuple[object, ...]
) -> None:
    result = invoke(*given)
    assert result.exit_code == 0
    assert result.stderr == ""
    lines = result.stdout.splitlines()
    assert lines[0] == "seedev-full, profile plan"
    assert lines[1].split() == ["f1", "0.9231", "(primary)"]  # 2 * 6/7 / (1 + 6/7)
    assert any(line.split()[:2] == ["Main", "scoring"] for line in lines)
    assert "|task:seedev-full|profile:plan|" in result.stdout


def test_json_is_of_the_promised_shape(invoke: Run, given: tuple[object, ...]) -> None:
    result = invoke(*given, "--format", "json")
    assert result.exit_code == 0
    scores = json.loads(result.stdout, parse_constant=pytest.fail)  # no NaN, no Infinity
    assert list(scores) == HEAD
    assert (scores["task"], scores["profile"], scores["primary"]) == ("seedev-full", "plan", "f1")
    assert list(scores["metrics"]) == METRICS
    assert scores["metrics"] == {
        "f1": pytest.approx(12 / 13),
        "recall": pytest.approx(6 / 7),
        "precision": 1,
        "ser": pytest.approx(1 / 7),
        "matches": 6,
        "substitutions": 0,
        "insertions": 0,
        "deletions": 1,
        "references": 7,
        "predictions": 6,
    }
    assert (scores["intervals"], scores["notes"]) == ({}, [])
    assert list(scores["tables"]) == ["scorings", "alignment", "confusion"]
    rows = scores["tables"]["scorings"]
    assert all(list(row) == ["evaluation", "scoring", "measure", "value"] for row in rows)
    assert len(rows) == (1 + 21) * 7
    assert rows[0]["evaluation"] == "Standard pairing"
    assert {row["measure"]: row["value"] for row in rows[:7]} == {
        "SER": pytest.approx(1 / 7),
        "Mismatches": 0,
        "Insertions": 0,
        "Deletions": 1,
        "Precision": 1,
        "Recall": pytest.approx(6 / 7),
        "F1": pytest.approx(12 / 13),
    }
    empty = [row["value"] for row in rows if row["scoring"] == "Transcription_Or_Translation"]
    assert empty == [None, 0, 0, 0, None, None, None]
    pairs = scores["tables"]["alignment"]
    assert all(list(row) == ALIGNMENT for row in pairs)
    assert pairs[3] == {
        "document": "seed-1",
        "reference": "E4",
        "predicted": None,
        "reference_type": "Involvement_In_Process",
        "predicted_type": None,
        "similarity": 0,
        "negation": "",
        "missing": [],
        "extra": [],
        "wrong": [],
        "reference_arguments": ["Participant:T10", "Process:T9"],
        "predicted_arguments": [],
    }
    counts = {"severity": {"error": 0, "warning": 0, "info": 0}, "code": {}, "side": {}}
    assert scores["findings"] == counts


@pytest.mark.parametrize(
    ("task", "profile", "undefined", "primary", "rows"),
    [
        ("full", "plan", set(), "f1", 22 * 7),
        ("full", "official", {"f1"}, "ser", 25 * 6),
        ("binary", "plan", set(), "f1", 23 * 6),
        ("binary", "official", {"ser"}, "f1", (56 - 25) * 6),
    ],
)
def test_what_is_ruled_out_is_null(
    task: str,
    profile: str,
    undefined: set[str],
    primary: str,
    rows: int,
    invoke: Run,
    reference: Path,
    tmp_path: Path,
) -> None:
    corpus = reference.parent / task
    for name in ("seed-1.a2", "seed-2.a2"):
        text = (corpus / name).read_text("utf-8").replace("*\tEquiv T2 T6\n", "")
        (tmp_path / name).write_text(text, "utf-8")
    result = invoke(
        "score", f"seedev-{task}", "-r", corpus, "-s", tmp_path,
        "--profile", profile, "--format", "json",
    )  # fmt: skip
    scores = json.loads(result.stdout)
    assert {name for name, value in scores["metrics"].items() if value is None} == undefined
    assert scores["primary"] == primary
    assert len(scores["tables"]["scorings"]) == rows


def test_sentences_add_an_evaluation(invoke: Run, reference: Path) -> None:
    binary = reference.parent / "binary"
    sentences = reference.parents[2] / "seedev-sentences" / "valid" / "sentences.tsv"
    given = ("score", "seedev-binary", "-r", binary, "-s", binary, "--format", "json")
    plain = json.loads(invoke(*given).stdout)
    told = json.loads(invoke(*given, "--sentences", sentences).stdout)
    names = [row["evaluation"] for row in told["tables"]["scorings"]]
    assert sorted(set(names)) == ["Inside sentences", "Standard pairing"]
    assert told["metrics"] == plain["metrics"]
    assert "sentences:" in told["signature"]
    assert "sentences:" not in plain["signature"]
    # The option belongs to the task.
    assert invoke("score", "seedev-full", "-r", reference, "-s", reference, "--sentences", sentences).exit_code == 2  # fmt: skip  # noqa: E501


def test_a_fault_in_the_sentences_is_told(invoke: Run, reference: Path) -> None:
    binary = reference.parent / "binary"
    faulty = reference.parents[2] / "seedev-sentences" / "invalid" / "SNT101-blanks.tsv"
    given = ("score", "seedev-binary", "-r", binary, "-s", binary, "--sentences", faulty)
    result = invoke(*given, "--format", "json")
    assert result.exit_code == 1
    (wrong,) = (item for item in json.loads(result.stdout)["findings"] if item["blocking"])
    assert (wrong["code"], wrong["side"]) == ("SNT101", "--sentences")
    lenient = invoke(*given, "--lenient", "--format", "json")
    assert json.loads(lenient.stdout)["findings"]["code"].get("SNT101") == 1


def test_tsv_markdown_and_latex(invoke: Run, given: tuple[object, ...]) -> None:
    tsv = invoke(*given, "--format", "tsv").stdout
    assert [line.split("\t")[0] for line in tsv.splitlines()] == METRICS
    assert float(tsv.splitlines()[0].split("\t")[1]) == pytest.approx(12 / 13)
    markdown = invoke(*given, "--format", "markdown").stdout
    assert "| Main scoring | 0.1429 | 0 | 0 | 1 | 1.0000 | 0.8571 | 0.9231 |\n" in markdown
    latex = invoke(*given, "--format", "latex").stdout
    assert r"Main scoring & 0.1429 & 0 & 0 & 1 & 1.0000 & 0.8571 & 0.9231 \\" in latex
    assert r"Functional\_Equivalence & " in latex


def test_the_signature_tells_what_the_numbers_depend_on(
    invoke: Run, given: tuple[object, ...], system: Path, zipped: Path, reference: Path
) -> None:
    def signature(*options: object, of: Path = system) -> str:
        words = [of if word == system else word for word in given]
        result = invoke(*words, "--format", "json", *options)
        return str(json.loads(result.stdout)["signature"])

    first = signature()
    assert signature() == first
    assert signature(of=zipped) == first  # the same files, otherwise packed
    assert signature("--profile", "official") != first
    assert signature("--lenient") != first
    (system / "seed-1.a2").write_text("", "utf-8")
    assert signature() != first


def test_a_folder_takes_everything(invoke: Run, given: tuple[object, ...], tmp_path: Path) -> None:
    folder = tmp_path / "scores"
    result = invoke(*given, "-o", folder, "--format", "json")
    assert result.exit_code == 0
    assert sorted(file.name for file in folder.iterdir()) == FILES
    assert json.loads((folder / "scores.json").read_text("utf-8")) == json.loads(result.stdout)
    with (folder / "alignment.tsv").open(encoding="utf-8", newline="") as stream:
        rows = list(csv.reader(stream, delimiter="\t"))
    assert rows[0] == ALIGNMENT
    assert len(rows) == 1 + 7
    assert (folder / "metrics.tsv").read_text("utf-8").startswith("f1\t0.92")
    assert [path.name for path in tmp_path.iterdir() if path.name.startswith(".")] == []


def test_a_folder_of_scores_is_replaced_and_no_other(
    invoke: Run, given: tuple[object, ...], tmp_path: Path
) -> None:
    folder = tmp_path / "scores"
    folder.mkdir()
    assert invoke(*given, "-o", folder).exit_code == 0
    (folder / "older.tsv").write_text("")
    assert invoke(*given, "-o", folder, "--profile", "official").exit_code == 0
    assert sorted(file.name for file in folder.iterdir()) == FILES
    (folder / "paper.tex").write_text("mine")
    result = invoke(*given, "-o", folder)
    assert result.exit_code == 2
    assert result.stdout == ""
    assert "files other than scores" in result.stderr
    assert (folder / "paper.tex").read_text() == "mine"
    assert '"profile":"official"' in (folder / "scores.json").read_text("utf-8")


@pytest.mark.parametrize("name", ["data.tsv", "scores.json/x", "notes.txt"])
def test_a_folder_of_something_else_stays(
    name: str, invoke: Run, given: tuple[object, ...], tmp_path: Path
) -> None:
    file = tmp_path / "mine" / name
    file.parent.mkdir(parents=True)
    file.write_text("mine")
    assert invoke(*given, "-o", tmp_path / "mine").exit_code == (0 if "/" in name else 2)
    assert "/" in name or file.read_text() == "mine"


def test_a_folder_that_cannot_be_made(
    invoke: Run, given: tuple[object, ...], tmp_path: Path
) -> None:
    result = invoke(*given, "-o", tmp_path / "no" / "such" / "folder")
    assert result.exit_code == 2
    assert result.stdout == ""


def test_what_blocks_is_refused_and_no_scores_are_printed(
    invoke: Run, reference: Path, flawed: Path, tmp_path: Path
) -> None:
    given = ("score", "seedev-full", "-r", reference, "-s", flawed)
    for form in ("text", "json", "tsv"):
        result = invoke(*given, "--format", form, "-o", tmp_path / "scores")
        assert result.exit_code == 1
        shown = result.stdout if form == "json" else result.stderr
        assert form == "json" or result.stdout == ""
        assert "SEE205" in shown
        assert "--lenient" in result.stderr
    assert not (tmp_path / "scores").exists()
    result = invoke(*given, "--format", "json", "--lenient")
    assert result.exit_code == 0
    scores = json.loads(result.stdout)
    assert scores["findings"]["code"] == {"SEE205": 1}
    assert "SEE205" in scores["notes"][0]
    assert scores["signature"].endswith("|lenient:yes")
    assert "1 error in the submission" in result.stderr


def test_a_refusal_shows_what_blocks_and_counts_the_rest(
    invoke: Run, reference: Path, flawed: Path, tmp_path: Path
) -> None:
    folder = shutil.copytree(flawed, tmp_path / "a run")
    file = min(folder.glob("*.a2"))
    lines = "".join(f"E{n}\tBinding Functional_Molecule:T99 Molecule:T98\n" for n in range(70, 90))
    file.write_text(file.read_text("utf-8") + lines, "utf-8")
    result = invoke("score", "seedev-full", "-r", reference, "-s", folder)
    assert result.exit_code == 1
    assert set(re.findall(r"^\w+\[(\w+)\]", result.stderr, re.M)) == {"SEE205"}
    assert re.search(r"^not shown: \d+ errors.*; to see all findings, run$", result.stderr, re.M)
    command = result.stderr.splitlines()[-1]
    assert command == f"  hlteval validate seedev-full '{folder}' --against {reference}"
    told = invoke(*shlex.split(command)[1:])
    assert "STD302" in told.stdout
    assert len(result.stderr.splitlines()) < 20
    official = invoke(
        "score", "seedev-full", "-r", reference, "-s", folder, "--profile", "official"
    ).stderr
    assert official.endswith(f"--against {reference} --profile official\n")


def test_where_the_software_crashes_there_is_no_official_number(
    invoke: Run, reference: Path
) -> None:
    path = reference.parent.parent / "invalid" / "STD105-no-argument"
    given = ("score", "seedev-full", "-r", reference, "-s", path, "--lenient")
    assert invoke(*given).exit_code == 0
    result = invoke(*given, "--profile", "official")
    assert (result.exit_code, result.stdout) == (1, "")
    assert "no official score" in result.stderr


def test_errors_that_do_not_block_are_scored(invoke: Run, reference: Path) -> None:
    path = reference.parent.parent / "invalid" / "STD302-no-such-entity"
    result = invoke("score", "seedev-full", "-r", reference, "-s", path, "--format", "json")
    assert result.exit_code == 0
    scores = json.loads(result.stdout)
    assert scores["metrics"]["predictions"] == 5
    command = f"hlteval validate seedev-full {path} --against {reference}"
    told = f"1 error in the submission (STD302); for details, run `{command}`"
    assert told in scores["notes"]
    assert told in result.stderr


def test_a_record_of_the_reference_that_cannot_be_read_gives_no_numbers(
    invoke: Run, reference: Path, tmp_path: Path
) -> None:
    faulty = shutil.copytree(reference, tmp_path / "faulty")
    file = min(faulty.glob("*.a2"))
    file.write_text(file.read_text("utf-8").replace("\t", " ", 1), "utf-8")
    given = ("score", "seedev-full", "-r", faulty, "-s", reference, "--format", "json")
    refused = invoke(*given)
    assert refused.exit_code == 1
    assert "blocking findings in the reference" in json.loads(refused.stdout)["reason"]
    result = invoke(*given, "--lenient")
    assert result.exit_code == 0
    command = f"hlteval validate seedev-full {faulty} --as reference"
    assert json.loads(result.stdout)["notes"] == [
        "scored despite 1 blocking finding (STD101): missing documents and unreadable records are "
        "left out, all other records count as written",
        f"1 error in the reference (STD101); for details, run `{command}`",
    ]
    alone = invoke(*command.split()[1:], "--format", "json")
    assert alone.exit_code == 1
    assert json.loads(alone.stdout)["counts"]["side"] == {"reference": 1}


def test_an_unknown_document_is_a_false_positive_in_plan_only(
    invoke: Run, reference: Path, system: Path
) -> None:
    (system / "seed-9.a2").write_text("E1\tBinding Functional_Molecule:T1 Molecule:T2\n", "utf-8")
    for profile, insertions in (("plan", 1), ("official", 0)):
        result = invoke(
            "score", "seedev-full", "-r", reference, "-s", system, "--profile", profile,
            "--format", "json",
        )  # fmt: skip
        assert result.exit_code == 0
        assert json.loads(result.stdout)["metrics"]["insertions"] == insertions


def test_archives_and_standard_input(
    invoke: Run, given: tuple[object, ...], reference: Path, zipped: Path, tmp_path: Path
) -> None:
    folder = invoke(*given, "--format", "tsv").stdout
    assert invoke(*given[:4], "-s", zipped, "--format", "tsv").stdout == folder
    piped = invoke(*given[:4], "-s", "-", "--format", "tsv", stdin=zipped.read_bytes())
    assert piped.stdout == folder
    gold = tmp_path / "gold.zip"
    with zipfile.ZipFile(gold, "w") as archive:
        for file in reference.iterdir():
            archive.write(file, f"gold/{file.name}")
    assert invoke(*given[:2], "-r", gold, "-s", zipped, "--format", "tsv").stdout == folder


def test_a_hostile_archive_is_refused(invoke: Run, reference: Path, tmp_path: Path) -> None:
    path = tmp_path / "run1.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("../seed-1.a2", "E1\tBinding A:T1\n")
    result = invoke("score", "seedev-full", "-r", reference, "-s", path)
    assert (result.exit_code, result.stdout) == (1, "")
    assert "SRC111" in result.stderr


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("score seedev-full -r nowhere -s SYS", "no such file or folder: nowhere"),
        ("score seedev-full -r REF -s nowhere", "no such file or folder: nowhere"),
        ("score seedev-binary -r REF -s SYS --sentences nowhere", "nowhere"),
        ("score seedev-full -r REF", "-s"),
        ("score seedev-full -s SYS", "-r"),
        ("score no-such-task -r REF -s SYS", "no-such-task"),
        ("score seedev-full -r REF -s SYS --profile strict", "'strict'"),
        ("score seedev-full -r REF -s SYS --format xml", "'xml'"),
    ],
)
def test_usage(line: str, told: str, invoke: Run, reference: Path, system: Path) -> None:
    paths = {"REF": reference, "SYS": system}
    result = invoke(*[paths.get(part, part) for part in line.split()])
    assert result.exit_code == 2
    assert result.stdout == ""
    assert told in " ".join(result.stderr.replace("│", " ").split())


def test_an_error_of_the_program_is_no_error_of_the_data(
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    given: tuple[object, ...],
    tmp_path: Path,
) -> None:
    def fail(*_: object) -> None:
        raise RuntimeError("not thought of")

    monkeypatch.setattr(seedev_metrics, "full", fail)
    monkeypatch.setattr(sys, "argv", ["hlteval", *map(str, given), "-o", str(tmp_path / "out")])
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    with pytest.raises(SystemExit) as ended:
        hlteval.cli.main()
    assert ended.value.code == 3
    output = capsys.readouterr()
    assert output.out == ""
    assert "internal error: RuntimeError: not thought of" in output.err
    assert not (tmp_path / "out").exists()


def test_a_closed_pipe_is_no_error(program: Run, reference: Path, system: Path) -> None:
    line = f"hlteval score seedev-full -r {reference} -s {system} --format json | head -c 1"
    done = program(line, system)
    assert (done.stdout, done.stderr) == ("{", "")


def test_as_a_program(program: Run, reference: Path, system: Path) -> None:
    """Exit code and both streams, as a shell sees them."""
    line = f"hlteval score seedev-full -r {reference} -s {system} --format tsv; echo $? >&2"
    done = program(line, system)
    assert done.stdout.startswith("f1\t0.92")
    assert done.stderr == "0\n"


@pytest.mark.parametrize(
    ("line", "told"),
    [
        (("score", "ltf"), "ltf cannot be scored"),
        (("compare", "nope"), "unknown task nope; use one of seedev-binary"),
        (("validate", "seedev-ful", "x"), "unknown task seedev-ful; did you mean seedev-full?"),
        (("validate", "rttm", "x"), "rttm is a format; use a task: segments"),
        (("validate", __file__), "the task comes before the file, such as mentions; use one of"),
    ],
)
def test_a_task_that_is_none_is_told_with_those_there_are(
    invoke: Run, line: tuple[str, ...], told: str
) -> None:
    result = invoke(*line)
    assert result.exit_code == 2
    assert told in " ".join(result.stderr.replace("│", " ").split())


def test_markdown_and_latex_have_the_intervals(invoke: Run) -> None:
    demo = Path(__file__).parents[2] / "hlteval" / "demo" / "comparison"
    given = ("score", "hub4", "-r", demo / "reference.tpl", "-s", demo / "careful.tpl")
    drawn = (*given, "--bootstrap", "50")
    limits = json.loads(invoke(*drawn, "--format", "json").stdout)["intervals"]
    low, high = limits["both.f"]
    between = f"[{low:.4f}, {high:.4f}]"
    markdown = invoke(*drawn, "--format", "markdown").stdout
    assert "| metric | value | interval |\n|---|---:|---:|\n" in markdown
    assert f"| both.f | 0.9268 | {between} |\n" in markdown
    latex = invoke(*drawn, "--format", "latex").stdout
    head = "\\begin{tabular}{lrr}\n\\toprule\nmetric & value & interval \\\\\n\\midrule\n"
    assert head in latex
    assert f"both.f & 0.9268 & {between} \\\\\n" in latex
    for form in ("markdown", "latex"):
        assert "interval" not in invoke(*given, "--format", form).stdout


def test_quiet_prints_only_the_value_of_the_primary_metric(
    invoke: Run, reference: Path, system: Path, tmp_path: Path
) -> None:
    given = ("score", "seedev-full", "-r", reference, "-s", system)
    whole = tmp_path / "scores.txt"
    done = invoke(*given, "-q", "--output-file", f"text={whole}")
    assert (done.exit_code, done.stdout, done.stderr) == (0, "0.9231\n", "")
    assert whole.read_text("utf-8") == invoke(*given).stdout
    bugs = (*given, "--profile", "official")
    ser = json.loads(invoke(*bugs, "--format", "json").stdout)["metrics"]["ser"]
    assert invoke(*bugs, "--quiet").stdout == f"{ser:.4f}\n"
    for more in (("--format", "json"), ("--wide",), ("--columns", "f1")):
        refused = invoke(*given, "--quiet", *more)
        assert refused.exit_code == 2
        assert "--quiet has no effect with" in refused.stderr


def test_quiet_shows_what_is_undefined_and_keeps_warnings(
    invoke: Run, reference: Path, tmp_path: Path
) -> None:
    (tmp_path / "empty").mkdir()
    for suffix in (".a1", ".a2", ".txt"):
        (tmp_path / "empty" / f"d1{suffix}").write_text("", "utf-8")
    given = ("-r", tmp_path / "empty", "-s", tmp_path / "empty", "-q")
    done = invoke("score", "seedev-full", *given)
    assert (done.exit_code, done.stdout) == (0, "-\n")
    table = tmp_path / "nothing.jsonl"
    table.write_text("", "utf-8")
    done = invoke("score", "seedev-full", "-r", reference, "-s", table, "--lenient", "-q")
    assert done.stdout == "0.0000\n"
    assert done.stderr == "WARNING: nothing was read of the submission: 0 documents, 0 records\n"


def test_the_confusion_of_labels_is_a_matrix(invoke: Run, reference: Path, system: Path) -> None:
    given = ("score", "seedev-full", "-r", reference, "-s", system, "--confusion")
    done = invoke(*given)
    assert done.exit_code == 0, done.stderr
    title = "Confusion of labels (rows: reference, columns: system)"
    assert title in done.stdout
    assert title not in invoke(*given[:-1]).stdout
    (head,) = [line for line in invoke(*given, "--format", "markdown").stdout.splitlines()
               if "(none)" in line and "---" not in line and line.count("|") > 3][:1]  # fmt: skip
    assert head.strip("| ").endswith("(none)")
    refused = invoke(*given, "--format", "json")
    assert refused.exit_code == 2
    assert "--confusion has no effect" in refused.stderr


def test_a_task_without_labels_has_no_confusion(invoke: Run) -> None:
    folder = Path("hlteval/demo/comparison")
    sides = ("-r", folder / "reference.tpl", "-s", folder / "bold.tpl")
    done = invoke("score", "hub4", *sides, "--confusion")
    assert done.exit_code == 2
    assert "hub4 has no labels that can be confused" in done.stderr
