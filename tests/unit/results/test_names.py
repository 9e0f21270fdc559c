"""Short names of systems: what differs in their paths."""

import pytest

from hlteval import converters, tasks
from hlteval.results.systems import short_names
from hlteval.sources import open_source
from hlteval.sources.opening import OpenInput

CASES = {
    "stems": {"run/a.json": "a", "run/b.json": "b"},
    "suffixes": {"run/a.json": "a.json", "run/a.tgz": "a.tgz"},
    "folders": {"x/a": "a", "y/b": "b"},
    "folders-differ": {"one/system.json": "one/system", "two/system.json": "two/system"},
    "deep": {"a/x/run.json": "a/x/run", "b/x/run.json": "b/x/run", "c.json": "c"},
    "end-of-another": {"run": "run", "old/run": "old/run", "/old/run": "/old/run"},
    "archives": {"a.tar.gz": "a", "b.tgz": "b", "c.zip": "c"},
    "versions": {"system-1.0": "system-1.0", "system-2.0": "system-2.0"},
    "dates": {"2024.01.02/": "2024.01.02", "baseline.json": "baseline"},
    "same-place": {"a": "a", "./a": "a 2", "a/": "a 3"},
    "number-taken": {"a": "a", "./a": "a 3", "x/a 2": "a 2"},
    "hidden": {".json": ".json", ".": ".", "..": "..", "/": "/", "-": "-", "": ". 2"},
    "addresses": {"s3://runs/a/out.tgz": "a/out", "s3://runs/b/out.tgz": "b/out"},
    "one": {"a/b/c.final.json": "c.final"},
    "given": {"v1.final": "v1.final", "baseline": "baseline"},
}


@pytest.mark.parametrize("named", CASES.values(), ids=CASES)
def test_systems_are_named_by_what_differs_in_their_paths(named: dict[str, str]) -> None:
    assert short_names(named) == named
    assert list(short_names(list(named))) == list(named)


def test_the_suffixes_of_submissions_are_left_out() -> None:
    declared = [tasks.load(name) for name in tasks.BUILTIN]
    names = {form for task in declared for form in (task.format, *task.submitted)}
    suffixes = {suffix for name in names for suffix in converters.load(name).suffixes}
    suffixes |= {suffix for task in declared for suffix in task.packaging.suffixes}
    assert suffixes >= {".json", ".tgz"}
    kept = {suffix for suffix in suffixes if short_names([f"a{suffix}"]) != {f"a{suffix}": "a"}}
    assert not kept


def test_no_two_systems_have_one_name() -> None:
    paths = [f"{root}{folder}/{name}" for root in ("", "./", "/") for folder in "xy"
             for name in ("a", "a 2", "a.json", "a.tgz", "a/")]  # fmt: skip
    assert len(set(short_names(paths).values())) == len(set(paths))


def test_names_that_users_give_stay_as_they_are(tmp_path) -> None:
    given = [OpenInput(open_source(str(tmp_path)), name=name) for name in ("team/v1.final", "x.y")]
    assert list(short_names(given).values()) == ["team/v1.final", "x.y"]


def test_a_thousand_deep_paths_have_short_names() -> None:
    paths = [f"/data/{team}/run/{number}/out/system.json" for team in "ab" for number in range(500)]
    assert short_names(paths)[paths[0]] == "a/run/0/out/system"
