"""Parts of large files: processes and clusters give what one process gives."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import hlteval
from hlteval.sources.opening import NoRemoteError
from hlteval.tasks.task import WrongOption
from hlteval.workflows.processes.pool import Call
from hlteval.workflows.run.engine import open_check, score, validate
from hlteval.workflows.run.request import Request
from hlteval.workflows.run.workers import results
from tests.unit.workflows import killed

#: In the order of their numbers, which is not that of their names: d10 is before d9.
NAMES = [f"d{number}" for number in range(2, 14)]
LINE = "{run}\t{mention}\tOsh\t{name}:{start}-{end}\t{entity}\tPER\tNAM\t{confidence}\n"


@pytest.fixture(scope="module")
def request_(tmp_path_factory: pytest.TempPathFactory) -> Request:
    """Two tables of a dozen documents, with findings in each and across them."""
    folder = tmp_path_factory.mktemp("tables")
    for side, shift in (("gold.tab", 0), ("run.tab", 1)):
        lines = [
            LINE.format(
                run="r1", mention=f"m{number}-{start}", name=name, start=start, end=start + 2,
                entity=f"NIL{(number + start * shift) % 5}", confidence=1 / (1 + number % 2),
            )
            for number, name in enumerate(NAMES)
            for start in range(2 + number % 3 + shift)
        ]  # fmt: skip
        (folder / side).write_text("".join(lines), "utf-8", newline="")
    gold, system = str(folder / "gold.tab"), str(folder / "run.tab")
    return Request("lorehlt-edl", system, gold, against=gold)


def changed(request: Request, **values: Any) -> Request:
    return replace(request, **values)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("jobs", [2, 3])
def test_processes_give_what_whole_files_give(
    request_: Request, jobs: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    started, begin = [], subprocess.Popen
    verdict, scores = validate(request_), score(request_)
    monkeypatch.setattr(subprocess, "Popen", lambda *a, **k: started.append(1) or begin(*a, **k))
    parts = changed(request_, batch=2, jobs=jobs)
    found, numbers = validate(parts), score(parts)
    assert len(started) == 2 * jobs
    assert found == verdict
    assert [*found.findings] == [*verdict.findings]
    assert {"EDL403", "EDL404"} & verdict.by_code.keys()
    assert (numbers.metrics, numbers.signature) == (scores.metrics, scores.signature)
    alignments = (each.tables["alignment"] for each in (numbers, scores))
    assert next(alignments).equals(next(alignments))


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    distributed = pytest.importorskip("distributed")
    settings = {"n_workers": 2, "threads_per_worker": 1, "dashboard_address": None}
    with distributed.LocalCluster(**settings, host="127.0.0.1", silence_logs=50) as local:
        yield local.scheduler_address


def test_a_cluster_gives_the_same_though_a_worker_is_killed(
    request_: Request, address: str, tmp_path: Path
) -> None:
    verdict, mark = validate(request_), tmp_path / "killed"
    apart = changed(request_, batch=1, apart=True)
    check = open_check(apart)
    opening = Call(f"{killed.__name__}:open_check", (str(mark), apart))
    for batch in results(check, opening, 1, 1, address):
        check.add(batch)
    assert mark.exists()
    assert [*check.verdict().findings] == [*verdict.findings]


def test_what_no_worker_can_do_is_said(request_: Request, address: str) -> None:
    apart = changed(request_, batch=1, apart=True)
    opening = Call(f"{killed.__name__}:fail", (apart,))
    with pytest.raises(NoRemoteError, match=r"cannot do this: .*run\.tab"):
        list(results(open_check(apart), opening, 1, 1, address))


def test_a_cluster_reads_what_its_workers_can_read(request_: Request, address: str) -> None:
    with pytest.raises(WrongOption, match=r"absolute paths or URLs; run\.tab is relative"):
        validate(changed(request_, system="run.tab", cluster=address))
    with pytest.raises(WrongOption, match="--jobs has no effect with --cluster"):
        validate(changed(request_, jobs=2, cluster=address))
    with pytest.raises(WrongOption, match="standard input"):
        validate(changed(request_, system="-", cluster=address))
    arguments = (request_.task, request_.reference, request_.system)
    found = [hlteval.score(*arguments, **more).metrics for more in ({}, {"cluster": address})]
    assert found[0] == found[1]
