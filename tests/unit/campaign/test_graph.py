"""Graphs: the same results whoever computes them, and whatever ends."""

from __future__ import annotations

import subprocess
import sys
from contextlib import closing

import pytest

from hlteval.workflows.evaluation import campaign as workflow
from hlteval.workflows.processes import graph
from hlteval.workflows.processes.graph import Failed, LocalProcesses, Node
from tests.unit.campaign import graph_functions, work
from tests.unit.campaign.demo import InProcess, run, unpacked

pytestmark = pytest.mark.long("dask starts a scheduler and workers, and one is killed")

HERE = graph_functions.__name__


def node(name, *arguments):
    return Node(f"{HERE}:{name}", arguments)


def tree(name="join"):
    return node("join", node("join", "a", node(name, "b")), "c", node("join", "d"))


@pytest.fixture(scope="module")
def processes():
    workers = LocalProcesses(2)
    yield workers
    workers.close()


def test_results_of_nodes_are_arguments_of_others(processes):
    graphs = [tree(), node("join"), tree("wrong"), node("join", "z")]
    expected = {
        0: "a+b+c+d",
        1: "",
        2: Failed("error", "an internal error (KeyError: 'b')"),
        3: "z",
    }
    assert dict(InProcess().results(graphs)) == expected
    assert dict(processes.results(graphs)) == expected


def test_what_a_process_had_when_it_ended_is_done_again(processes, tmp_path):
    again = node("join", node("once", str(tmp_path / "mark"), "b"), "c")
    assert dict(processes.results([again, node("join", "z")])) == {0: "b+c", 1: "z"}


def test_a_call_whose_process_always_ends_has_no_result():
    with closing(LocalProcesses(2, tries=1)) as processes:
        found = dict(processes.results([node("join", node("end", "x"), "y"), node("join", "z")]))
    assert found == {0: Failed("crashed", "the signal SIGKILL"), 1: "z"}


def test_a_failed_cell_is_a_row_and_the_others_have_numbers(tmp_path, monkeypatch):
    monkeypatch.setattr(workflow, "open_run", opened_run_of_plan)
    path = unpacked(tmp_path)
    result = run(path, tmp_path / "cache")
    assert result.counts == {"scored": 1, "refused": 2, "failed": 3}
    reason = "system was not scored: an internal error (RuntimeError: official) (CPN301)"
    assert reason in result.to_frame()["reason"].to_list()
    again = [row.result.status for row in run(path, tmp_path / "cache").rows if row.new]
    assert again.count("failed") == 3


class Ending(InProcess):
    """Ends at each cell."""

    def results(self, roots):
        for number, root in enumerate(roots):
            ended = Failed("crashed", "the signal SIGKILL")
            yield number, ended if root.function.endswith(":begin") else "digest"


def test_a_cell_whose_process_ends_says_how(tmp_path):
    result = run(unpacked(tmp_path), tmp_path / "cache", workers=Ending())
    assert {row.result.reason for row in result.rows} >= {
        "system was not scored: its process ended with the signal SIGKILL (CPN301)"
    }


def opened_run_of_plan(request):
    from hlteval.workflows.run.engine import open_run

    if request.profile == "official":
        raise RuntimeError(request.profile)
    return open_run(request)


@pytest.fixture(scope="module")
def example(tmp_path_factory):
    path = unpacked(tmp_path_factory.mktemp("demo"), documents=10)
    path.write_text(path.read_text().replace(', "official"', ""))
    return path


@pytest.fixture(scope="module")
def expected(example, tmp_path_factory):
    return run(example, tmp_path_factory.mktemp("cache")).to_frame()


def test_processes_give_the_same_table_though_one_is_killed(
    example, expected, processes, tmp_path, monkeypatch
):
    monkeypatch.setattr(workflow, "_WORK", work.__name__)
    result = run(example, tmp_path, workers=processes, batch=2)
    assert example.with_name(work.MARK).exists()
    assert result.to_frame().equals(expected)


@pytest.mark.thorough
def test_a_cluster_gives_the_same_table_though_a_worker_is_killed(
    example, expected, tmp_path, monkeypatch
):
    distributed = pytest.importorskip("distributed")
    from hlteval.workflows.processes.graph import Cluster

    example.with_name(work.MARK).unlink(missing_ok=True)
    monkeypatch.setattr(workflow, "_WORK", work.__name__)
    settings = {"n_workers": 2, "threads_per_worker": 1, "dashboard_address": None}
    with distributed.LocalCluster(**settings, host="127.0.0.1", silence_logs=50) as local:
        workers = Cluster(local.scheduler_address)
        result = run(example, tmp_path, workers=workers, batch=2)
        workers.close()
    assert example.with_name(work.MARK).exists()
    assert result.to_frame().equals(expected)


def test_a_cluster_that_is_not_there_is_an_error_of_usage(monkeypatch):
    pytest.importorskip("distributed")

    monkeypatch.setattr(graph, "PATIENCE", 0.2)
    with pytest.raises(FileNotFoundError, match=r"no scheduler at tcp://127\.0\.0\.1:1"):
        graph.Cluster("tcp://127.0.0.1:1")
    with pytest.raises(FileNotFoundError, match="no scheduler at no-address"):
        graph.Cluster("no-address")


SCHEDULER = """
import asyncio, distributed

async def main():
    settings = {"host": "127.0.0.1", "dashboard_address": None}
    async with distributed.Scheduler(**settings, port=0) as scheduler:
        async with distributed.Worker(scheduler.address, nthreads=1, **settings):
            print(scheduler.address, flush=True)
            await asyncio.sleep(600)

asyncio.run(main())
"""


def test_a_scheduler_that_is_lost_is_named_and_what_came_is_kept():
    pytest.importorskip("distributed")
    from hlteval.workflows.processes.graph import Cluster

    command = [sys.executable, "-c", SCHEDULER]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout
            address = process.stdout.readline().strip()
            workers = Cluster(address)
            found = workers.results(
                [node("join", "z"), *(Node("time:sleep", (60,)) for _ in range(3))]
            )
            assert next(found) == (0, "z")
            process.kill()
            with pytest.raises(
                FileNotFoundError, match=f"scheduler at {address} was lost: run it again"
            ):
                next(found)
            workers.close()
        finally:
            process.kill()


@pytest.mark.thorough
def test_a_call_with_a_share_may_take_longer_than_others():
    with closing(LocalProcesses(1, seconds=1)) as workers:
        assert dict(workers.results([Node("builtins:max", (1, 2))])) == {0: 2}
        longer = Node("time:sleep", (1.5,), 5)
        assert dict(workers.results([longer, Node("time:sleep", (1.5,))])) == {
            0: None,
            1: Failed("time", "it took too long"),
        }
