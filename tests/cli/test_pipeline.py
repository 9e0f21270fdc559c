"""`hlteval pipeline`: statuses, logs and results; limits, mappings, locks, and what goes wrong."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections import Counter
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

import pytest

from hlteval.sources.spooling import NotWritten
from hlteval.workflows.evaluation import pipeline as pipelines
from hlteval.workflows.evaluation.pipeline import InUse, lock_folder, pipeline
from hlteval.workflows.evaluation.pipeline_state import (
    PipelineSettings,
    WorkLimits,
    read_record,
    with_manifest,
)
from hlteval.workflows.evaluation.pipeline_work import PERFORM, Order, Outcome
from hlteval.workflows.processes import graph
from hlteval.workflows.processes.graph import Failed, Node
from tests.unit.workflows.evaluations import (
    FIXTURES,
    STREAMS,
    Doubles,
    InProcess,
    content,
    evaluation,
    links,
    packed,
    processes_in,
    streams,
)

pytestmark = pytest.mark.long("time limits are waited for")

MUC = {"measure": "muc"}


@pytest.fixture(autouse=True)
def unsynchronized(monkeypatch):
    """Nothing here is about the loss of power."""
    monkeypatch.setattr(os, "fsync", lambda _: None)


def run(root: Path, reference: Path | str = "", **more: object):
    """The statuses of a root, worked out in this process."""
    more.setdefault("options", MUC)
    made = PipelineSettings(root, str(reference or root.parent / "reference.tab"), **more)
    return pipeline(made, workers=InProcess(root))


def statuses(result) -> dict[str, str]:
    return {entry.file: entry.status for entry in result.submissions}


class Fake(Doubles):
    """Calls everything valid, and counts the orders."""

    def __init__(self, root: Path, real: Iterable[str] = ()) -> None:
        self.root, self.real = root, set(real)
        self.orders: list[tuple[str, str]] = []

    def outcome(self, order: Order) -> Outcome | Failed:
        name = Path(order.request.system).name
        self.orders.append((order.step, name))
        if name in self.real:
            ((_, outcome),) = InProcess(self.root).results([Node(PERFORM, (order,))])
            return outcome
        if order.step == "score":
            Path(order.output).mkdir()
            Path(order.output, "scores.json").write_text("{}", "utf-8")
        return Outcome("passed" if order.step == "validation" else "scored", "x\n")


def fake(root: Path, **more: object):
    workers = Fake(root)
    made = PipelineSettings(root, str(STREAMS), **more)
    return pipeline(made, workers=workers), workers.orders


def test_a_submission_gets_the_logs_and_results_of_the_plan(tmp_path):
    name, data = streams("nd")
    root = evaluation(tmp_path, (name, data))
    shutil.copytree(STREAMS, tmp_path / "reference")
    result = run(root, tmp_path / "reference", options={})
    assert statuses(result) == {name: "scored"}
    stem = name.removesuffix(".tgz")
    made = content(root)
    logs = {path for path in made if path.startswith("logs/")}
    assert logs == {f"logs/{stem}.{log}.txt" for log in ("status", "validation", "score")}
    names = {Path(path).name for path in made if path.startswith(f"results/{stem}/")}
    plan = {"validate.sh", "score.sh", "instance_alignment.tab"}
    assert names >= {*plan, "scores_by_class.tab", "scores_aggregated.tab", "scores.json"}
    for log, command in (("validation", "validate ccu-nd"), ("score", "score ccu-nd")):
        assert f"\n$ hlteval {command} ".encode() in made[f"logs/{stem}.{log}.txt"]
    # No log has a score in it: teams read these.
    values = json.loads(made[f"results/{stem}/scores.json"])["metrics"].values()
    shown = {repr(value) for value in values if value and value % 1}
    assert shown
    assert not any(value in made[path].decode() for path in logs for value in shown)


@pytest.mark.parametrize("script", ["validate.sh", "score.sh"])
def test_the_scripts_of_results_run_from_anywhere(script, tmp_path):
    root = evaluation(tmp_path, links("LCC", 1))
    run(root)
    path = root / "results" / "LCC_EDL_CP1_1.tab" / script
    python = f'#!/bin/sh\nexec "{sys.executable}" -m hlteval "$@"\n'
    (tmp_path / "hlteval").write_text(python, "utf-8")
    (tmp_path / "hlteval").chmod(0o755)
    env = {**os.environ, "PATH": f"{tmp_path}:{os.environ['PATH']}"}
    assert os.access(path, os.X_OK)
    subprocess.run([path], cwd="/", env=env, check=True, capture_output=True)


def test_a_second_run_does_nothing_and_another_place_gives_the_same(tmp_path):
    archives = [links("LCC", 1), links("COL", 1, "CITY"), ("notes.tgz", b"no archive")]
    root = evaluation(tmp_path / "one", *archives)
    first = run(root)
    assert statuses(first) == {
        "COL_EDL_CP1_1.tab.tgz": "invalid",
        "LCC_EDL_CP1_1.tab.tgz": "scored",
        "notes.tgz": "invalid",
    }
    before = content(root)
    stamps = {path: path.stat().st_mtime_ns for path in root.rglob("*.txt")}
    again = run(root)
    assert (again.done, again.submissions, content(root)) == (0, first.submissions, before)
    assert {path: path.stat().st_mtime_ns for path in root.rglob("*.txt")} == stamps
    other = evaluation(tmp_path / "two" / "deeper", *archives)
    shutil.copy(root.parent / "reference.tab", other.parent)
    run(other)
    assert content(other) == before


def test_what_changes_is_done_again_and_nothing_else(tmp_path):
    root = evaluation(tmp_path, links("LCC", 1), links("LCC", 2))
    assert run(root).done == 4
    (root / "submissions" / "LCC_EDL_CP1_2.tab.tgz").write_bytes(links("LCC", 2, "CITY")[1])
    again = run(root)
    assert again.done == 1
    assert statuses(again)["LCC_EDL_CP1_2.tab.tgz"] == "invalid"
    assert not (root / "results" / "LCC_EDL_CP1_2.tab").exists()
    assert not (root / "logs" / "LCC_EDL_CP1_2.tab.score.txt").exists()
    shutil.rmtree(root / "results" / "LCC_EDL_CP1_1.tab")
    assert run(root).done == 1  # the scores that are not there
    reference = tmp_path / "reference.tab"
    reference.write_text(reference.read_text("utf-8").replace("GPE", "LOC"), "utf-8")
    assert run(root).done == 3


def test_hostile_and_broken_archives_get_a_status_and_stop_no_other(tmp_path, shared):
    cases = sorted((shared / "cases" / "ltf-mt-packaging" / "archives").glob("A*"))
    assert len(cases) == 24
    archives = [(f"LCC_{path.name}", path.read_bytes()) for path in cases]
    root = evaluation(tmp_path, *archives, links("LCC", 1))
    before = set(tmp_path.parent.iterdir())
    result = run(root, task="lorehlt-edl")
    assert Counter(statuses(result).values()) == {"scored": 1, "invalid": 24}
    assert set(tmp_path.parent.iterdir()) == before
    assert {path.name for path in tmp_path.iterdir()} == {"root", "reference.tab"}
    assert {path.name for path in root.iterdir()} >= {"submissions", "logs", "results"}
    for entry in result.submissions:
        assert entry.reason or entry.status == "scored"


def broken(shared: Path) -> dict[str, bytes]:
    """Twenty submissions to EDL, each broken in another way."""
    cases = shared / "cases" / "ltf-mt-packaging" / "archives"
    names = [path.name for path in sorted(cases.glob("A*")) if path.stat().st_size < 10_000][:12]
    _, good = links("LCC", 1)
    return {
        **{
            f"X{at:02}_EDL_CP1_{name}": (cases / name).read_bytes() for at, name in enumerate(names)
        },
        "X90_EDL_CP1_1.tab.tgz": b"",
        "X91_EDL_CP1_1.tab.tgz": good[: len(good) // 2],
        "X92_EDL_CP1_1.tab.tgz": links("LCC", 1, "CITY")[1],
        "X93_EDL_CP1_1.tab.tgz": packed({"X93_EDL_CP1_1.tab": b"\xff\xfe\x00"}),
        "X94_EDL_CP1_1.tab.tgz": packed({"X94_EDL_CP1_1.tab": b"a\tb\n" * 1000}),
        "free name.tgz": good,
        "X95_EDL_CP1_1.tab.txt": b"text",
        "X96_EDL_CP1_1.tab.rar": b"Rar!\x1a\x07\x00",
    }


@pytest.mark.thorough
def test_two_hundred_submissions_of_which_twenty_are_broken_get_two_hundred_statuses(
    tmp_path, shared
):
    wrong = broken(shared)
    good = [(f"T{at}_EDL_CP1_1.tab.tgz", b"valid") for at in range(180)]
    root = evaluation(tmp_path, *good, *wrong.items())
    made = PipelineSettings(root, str(tmp_path / "reference.tab"), options=MUC)
    result = pipeline(made, workers=Fake(root, wrong))
    assert len(wrong) == 20
    assert result.counts == {"scored": 180, "invalid": 20}
    found = Counter(read_record(path)["status"] for path in root.glob("logs/*.status.txt"))
    assert found == {"scored": 180, "invalid": 20}
    assert {path.name for path in root.glob("results/*")} == {
        name.removesuffix(".tgz") for name, _ in good
    }


def test_only_the_first_valid_submissions_of_a_team_are_scored(tmp_path):
    archives = [streams("cd", second=at) for at in (5, 3, 1, 4, 2, 6)]
    root = evaluation(tmp_path, *archives, streams("cd", "COL"), streams("ed"))
    first, _ = fake(root)
    over = [name for name, status in statuses(first).items() if status == "over limit"]
    assert over == [streams("cd", second=6)[0]]
    assert (
        "at most 5 submissions of LCC, ccu-cd are scored (PIP103)" in first.submissions[-1].reason
    )
    # One of the first five turns out to be broken: it is not counted.
    (root / "submissions" / streams("cd", second=3)[0]).write_bytes(b"broken")
    made = PipelineSettings(root, str(STREAMS))
    second = pipeline(made, workers=Fake(root, [streams("cd", second=3)[0]]))
    assert second.counts == {"scored": 7, "invalid": 1}
    third, _ = fake(root, most=1)
    assert third.counts == {"scored": 3, "over limit": 4, "invalid": 1}
    assert len(list((root / "results").iterdir())) == 3
    fourth, _ = fake(root, most=0)
    assert fourth.counts == {"scored": 7, "invalid": 1}


def test_a_withdrawn_archive_does_not_count_and_its_results_are_moved_aside(tmp_path):
    archives = [streams("cd", second=at) for at in (1, 2, 3)]
    root = evaluation(tmp_path, *archives)
    before, _ = fake(root, most=2)
    first, _, third = (name for name, _ in archives)
    assert before.counts == {"scored": 2, "over limit": 1}
    archive = root / "submissions" / first
    archive.rename(tmp_path / "kept")
    after, orders = fake(root, most=2)
    assert statuses(after) == {archives[1][0]: "scored", third: "scored", first: "withdrawn"}
    assert orders == [("score", third)]
    stem = first.removesuffix(".tgz")
    entry = after.submissions[-1]
    assert (entry.submission, entry.task, entry.team) == (stem, "ccu-cd", "LCC")
    assert entry.reason == f"submissions/{first} is no longer there"
    assert f"its results are in withdrawn/{stem}" in entry.help
    assert (root / "withdrawn" / stem / "scores.json").is_file()
    assert len(list((root / "results").iterdir())) == 2
    assert "status: withdrawn\n" in (root / "logs" / f"{stem}.status.txt").read_text("utf-8")
    # The next run changes nothing.
    held = content(root)
    again, orders = fake(root, most=2)
    assert (again.submissions, orders, content(root)) == (after.submissions, [], held)
    # Put back, it counts again; withdrawn again, nothing that was moved is lost.
    (tmp_path / "kept").rename(archive)
    back, _ = fake(root, most=2)
    assert statuses(back) == statuses(before)
    archive.rename(tmp_path / "kept")
    fake(root, most=2)
    assert {path.name for path in (root / "withdrawn").iterdir()} == {stem, f"{stem}~1"}
    (tmp_path / "kept").rename(archive)
    fake(root, most=2)
    assert {path.name for path in (root / "results").iterdir()} == {
        name.removesuffix(".tgz") for name in (first, archives[1][0])
    }


def mapping(second: int, of: int, norm: str, team: str = "LCC") -> tuple[str, bytes]:
    target = streams("nd", second=of)[0].removesuffix(".tgz")
    name = f"CCU_P1_TA1_NDMAP_{team}_LDC2022R17-V1_20220531_0502{second:02}"
    table = f"sys_norm\tref_norm\tsub_id\n{norm}\t101\t{target}\n"
    return f"{name}.tgz", packed({f"{name}/nd.map.tab": table.encode()})


@pytest.mark.thorough
def test_the_latest_valid_mapping_of_the_same_team_wins(tmp_path):
    norms, data = streams("nd", second=1)
    root = evaluation(tmp_path, (norms, data), mapping(20, 1, "102"), mapping(10, 1, "103"))

    def mapped() -> str:
        result = run(root, STREAMS, options={})
        assert statuses(result)[norms] == "scored"
        log = root / "logs" / f"{norms.removesuffix('.tgz')}.score.txt"
        return log.read_text("utf-8").partition("--mapping submissions/")[2].split("\n")[0]

    assert mapped() == mapping(20, 1, "102")[0]
    # Of another team, of another submission, and malformed.
    other, absent = mapping(30, 1, "102", "COL"), mapping(40, 2, "102")
    for later in (other, absent, mapping(50, 1, "\t\t")):
        (root / "submissions" / later[0]).write_bytes(later[1])
    assert mapped() == mapping(20, 1, "102")[0]
    name, archive = mapping(25, 1, "103")
    (root / "submissions" / name).write_bytes(archive)
    assert mapped() == name
    # A norm without a detection is a warning.
    name, archive = mapping(51, 1, "777")
    (root / "submissions" / name).write_bytes(archive)
    assert mapped() == name
    log = root / "logs" / f"{name.removesuffix('.tgz')}.validation.txt"
    assert f" --norms submissions/{norms}" in log.read_text("utf-8")
    assert "warning[CCU711]" in log.read_text("utf-8")


def test_workers_that_crash_hang_or_take_all_memory_stop_no_other(tmp_path):
    names = ("abort", "exit", "fine1", "fine2", "first", "hang", "hungry", "kill")
    root = evaluation(tmp_path, *((f"{name}.tgz", b"x") for name in names))
    reference = str(tmp_path / "reference.tab")
    made = PipelineSettings(root, reference, task="lorehlt-edl", work=WorkLimits(1, 2000, jobs=2))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(graph, "START", 20.0)
        patch.setattr(pipelines, "PERFORM", "tests.cli.pipeline_orders:perform")
        patch.syspath_prepend(str(FIXTURES.parent))
        result = pipeline(made)
    found = {entry.submission: (entry.status, entry.reason[-8:]) for entry in result.submissions}
    assert found == {
        "abort": ("failed", "(PIP106)"),
        "exit": ("failed", "(PIP104)"),
        "fine1": ("scored", ""),
        "fine2": ("scored", ""),
        "first": ("scored", ""),
        "hang": ("failed", "(PIP105)"),
        "hungry": ("failed", "(PIP106)"),
        "kill": ("failed", "(PIP104)"),
    }
    assert not result.clean
    assert processes_in(root) == []
    # What failed is not tried again, unless there is more time or memory, or somebody asks for it.
    assert pipeline(made, workers=Fake(root)).done == 0
    assert pipeline(replace(made, work=WorkLimits(2, 2000)), workers=Fake(root)).counts == {
        "scored": 8
    }


def test_a_failed_submission_is_tried_again_on_request(tmp_path):
    root = evaluation(tmp_path, ("kill.tgz", b"x"))

    class Failing(Fake):
        def outcome(self, order):
            return Failed("crashed", "the signal SIGSEGV")

    made = PipelineSettings(root, str(tmp_path / "reference.tab"), task="lorehlt-edl")
    (entry,) = pipeline(made, workers=Failing(root)).submissions
    assert entry.reason == "the validation ended with the signal SIGSEGV (PIP104)"
    assert pipeline(made, workers=Fake(root)).done == 0
    retry = PipelineSettings(root, made.reference, task="lorehlt-edl", retry=True)
    assert pipeline(retry, workers=Fake(root)).counts == {"scored": 1}


def test_a_submission_that_changes_while_it_is_read_waits_for_the_next_run(tmp_path):
    root = evaluation(tmp_path, ("a.tgz", b"x"))

    class Changing(Fake):
        def outcome(self, order):
            outcome = super().outcome(order)
            (self.root / order.request.system).write_bytes(b"changed")
            return outcome

    made = PipelineSettings(root, str(tmp_path / "reference.tab"), task="lorehlt-edl")
    result = pipeline(made, workers=Changing(root))
    assert (result.counts, result.done, result.clean) == ({"waiting": 1}, 0, False)
    assert pipeline(made, workers=Fake(root)).counts == {"scored": 1}


def test_a_second_pipeline_says_who_works_on_the_root(tmp_path, invoke):
    root = evaluation(tmp_path, links("LCC", 1))
    with lock_folder(root):
        result = invoke("pipeline", root, "-r", tmp_path / "reference.tab")
        assert result.exit_code == 2
        assert f"in use by process {os.getpid()} on " in " ".join(result.stderr.split())
        assert not (root / "logs").exists()
        with pytest.raises(InUse), lock_folder(root):
            pass
    with lock_folder(root) as note:
        assert note == ""


def test_the_lock_of_a_process_that_ended_is_taken_over(tmp_path):
    code = (
        "import os, pathlib, sys\nfrom hlteval.workflows.evaluation.pipeline import lock_folder\n"
    )
    code += "with lock_folder(pathlib.Path(sys.argv[1])): os._exit(1)"
    with subprocess.Popen([sys.executable, "-c", code, tmp_path]) as process:
        process.wait()
    with lock_folder(tmp_path) as note:
        assert note.startswith(f"continues where process {process.pid} on ")
    with lock_folder(tmp_path) as note:
        assert note == ""


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["-r", "no"], "no such file or folder: no"),
        ([], "no reference: use --reference, or name it in the manifest"),
        (["-r", ".", "--task", "ccu-dn"], "unknown task ccu-dn; did you mean ccu-nd?"),
        (["-r", ".", "--option", "by"], "invalid --option by: use NAME=VALUE"),
        (
            ["-r", ".", "--task", "hub4", "--option", "x=1"],
            "no task of the pipeline has the option",
        ),
        (
            ["-r", ".", "--option", "mesure=muc"],
            "no task of the pipeline has the option mesure; did",
        ),
        (["-r", ".", "--task", "hub4", "--option", "beta=x"], "--beta is a number above 0, not x"),
        (["-r", ".", "--task", "hub4", "--option", "mode=x"], "invalid value x of --mode"),
        (["-r", ".", "--task", "hub4", "--profile", "official"], "no profile official"),
        (["-r", ".", "--manifest", "no.toml"], "no such file or folder: no.toml"),
    ],
)
def test_wrong_arguments_are_errors_of_usage(arguments, message, tmp_path, invoke):
    root = evaluation(tmp_path)
    result = invoke("pipeline", root, *arguments)
    assert (result.exit_code, result.stdout) == (2, "")
    assert message in " ".join(result.stderr.split())
    assert not (root / "logs").exists()


def test_a_full_disk_ends_the_pipeline_and_not_the_submission(tmp_path):
    root = evaluation(tmp_path, ("a.tgz", b"x"))

    class Full(Fake):
        def outcome(self, order):
            return Outcome("disk", reason="No space left on device")

    made = PipelineSettings(root, str(tmp_path / "reference.tab"), task="lorehlt-edl")
    with pytest.raises(NotWritten, match="No space left on device"):
        pipeline(made, workers=Full(root))
    assert pipeline(made, workers=Fake(root)).counts == {"scored": 1}


def test_a_root_without_submissions_is_an_error_of_usage(tmp_path, invoke):
    result = invoke("pipeline", tmp_path, "-r", tmp_path)
    assert result.exit_code == 2
    assert "submissions" in result.stderr


def test_the_command_prints_statuses_as_text_and_as_json(tmp_path, invoke):
    root = evaluation(tmp_path, links("LCC", 1), ("final.tgz", b"x"))
    command = ["pipeline", root, "-r", tmp_path / "reference.tab", "--option", "measure=muc"]
    result = invoke(*command, "-j", "2")
    assert result.exit_code == 0
    lines = result.stdout.splitlines()
    assert lines[-1] == "2 submissions: 1 scored, 1 invalid"
    assert [line.split()[:4] for line in lines[1:3]] == [
        ["LCC_EDL_CP1_1.tab", "lorehlt-edl", "LCC", "scored"],
        ["final", "-", "-", "invalid"],
    ]
    built = json.loads(invoke(*command, "--format", "json").stdout)
    assert (built["counts"], built["done"]) == ({"scored": 1, "invalid": 1}, 0)
    assert built["submissions"][0]["submission"] == "LCC_EDL_CP1_1.tab"


def test_names_that_are_long_equal_or_odd_have_logs_of_their_own(tmp_path):
    names = ["a.tgz", "a.zip", "a.tar.gz", "a.zip.tgz", "x" * 250 + ".tgz", "new\nline.tgz"]
    names += ["A.zip", "- b.tgz", ".hidden.tgz", "東京.tgz"]
    root = evaluation(tmp_path, *((name, b"x") for name in names))
    (root / "submissions" / "folder.tgz").mkdir()
    made = PipelineSettings(root, str(tmp_path / "reference.tab"), task="lorehlt-edl")
    result = pipeline(made, workers=Fake(root))
    assert result.counts == {"scored": 9, "invalid": 1}
    assert len(list(root.glob("logs/*.status.txt"))) == 10
    assert len({path.name.casefold() for path in root.glob("results/*")}) == 9


def test_logs_are_not_written_through_links(tmp_path):
    root = evaluation(tmp_path, ("a.tgz", b"x"))
    for folder in ("logs", "results"):
        (root / folder).mkdir()
    (tmp_path / "precious").mkdir()
    (tmp_path / "precious" / "file").write_text("text")
    (root / "logs" / "a.status.txt").symlink_to(tmp_path / "precious" / "file")
    (root / "results" / "a").symlink_to(tmp_path / "precious")
    made = PipelineSettings(root, str(tmp_path / "reference.tab"), task="lorehlt-edl")
    assert pipeline(made, workers=Fake(root)).counts == {"scored": 1}
    assert (tmp_path / "precious" / "file").read_text() == "text"
    assert [path.name for path in (tmp_path / "precious").iterdir()] == ["file"]
    assert not (root / "results" / "a").is_symlink()


@pytest.mark.parametrize(
    "folder", sorted((FIXTURES / "pipeline" / "invalid").iterdir()), ids=lambda path: path.name
)
def test_a_fixture_raises_its_code(folder, tmp_path):
    root = tmp_path / "root"
    shutil.copytree(folder, root)
    manifest = root / "manifest.toml"
    made = PipelineSettings(root, "" if manifest.exists() else str(STREAMS))
    made, found = with_manifest(made, str(manifest) if manifest.exists() else None)
    assert not found
    *others, entry = pipeline(made, workers=Fake(root)).submissions
    assert [each.status for each in others] == ["scored"] * len(others)
    assert entry.status in {"invalid", "over limit", "not scored"}
    assert entry.reason.endswith(f"({folder.name[:6]})")


def test_watching_reports_what_is_new(tmp_path):
    pytest.importorskip("watchfiles")

    root = evaluation(tmp_path, links("LCC", 1, "CITY"))
    made = PipelineSettings(root, str(tmp_path / "reference.tab"), options=MUC)
    assert pipelines.watched_paths(made) == [root / "submissions", tmp_path / "reference.tab"]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(pipelines, "_QUIET", 50)
        patch.setattr(pipelines, "_NOW_AND_THEN", 500)
        runs = pipelines.watch(made)
        assert next(runs).counts == {"invalid": 1}
        name, data = links("LCC", 2, "CITY")
        (root / "submissions" / name).write_bytes(data)
        assert next(runs).counts == {"invalid": 2}
        with pytest.raises(InUse), lock_folder(root):
            pass
        runs.close()
    with lock_folder(root):
        pass


def test_watching_without_its_library_says_what_to_install(tmp_path, invoke, monkeypatch):
    monkeypatch.setitem(sys.modules, "watchfiles", None)
    root = evaluation(tmp_path)
    result = invoke("pipeline", root, "-r", root, "--watch")
    assert result.exit_code == 2
    assert "pip install 'hlteval[watch]'" in " ".join(result.stderr.split())


@pytest.mark.thorough
def test_no_log_of_a_team_names_another_team(tmp_path):
    """A misspelt team, a wrong checkpoint, one over the limit, a broken archive, a good one."""
    teams = ("Almaty", "Bishkek", "Cusco")
    names = ("Cuscoo_EDL_CP1_1", "Cusco_EDL_CP9_1", "Cusco_EDL_CP1_1", "Cusco_EDL_CP1_2")
    others = ("Almaty_EDL_CP1_1", "Bishkek_EDL_CP1_1")
    archives = [(f"{name}.tab.tgz", links("LCC", 1)[1]) for name in (*names, *others)]
    root = evaluation(tmp_path, *archives, ("Cusco_EDL_CP1_3.tab.tgz", b"broken"))
    manifest = root / "manifest.toml"
    manifest.write_text(
        'name = "E"\ncheckpoints = ["CP1"]\n[tasks.lorehlt-edl]\nreference = "reference.tab"\n'
        '[[limits]]\nper = ["team", "task"]\nmost = 1\n'
        + "".join(f"[teams.{team}]\n" for team in teams)
    )
    shutil.copy(tmp_path / "reference.tab", root)
    made, found = with_manifest(PipelineSettings(root, options=MUC), str(manifest))
    assert not found
    entries = {each.file: each for each in pipeline(made, workers=InProcess(root)).submissions}
    assert {each.status for each in entries.values()} == {"invalid", "over limit", "scored"}
    assert "ask the organisers" in entries["Cuscoo_EDL_CP1_1.tab.tgz"].help
    for log in (root / "logs").iterdir():
        own = log.name.partition("_")[0]
        text = log.read_text("utf-8")
        assert not [team for team in teams if team in text and not own.startswith(team)], log.name
