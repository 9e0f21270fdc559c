"""What is refused is checked, but its statistics are not counted."""

from __future__ import annotations

from pathlib import Path

import pytest

from hlteval import tasks
from hlteval.workflows.run.verdicts import Refused
from tests.runs import score

FIXTURES = Path(__file__).parents[3] / "fixtures"
SCORES = FIXTURES / "scores" / "seedev-full"
HUB4 = FIXTURES / "hub4" / "valid"


@pytest.fixture
def two(tmp_path: Path) -> tuple[str, str]:
    """A reference and a submission of two documents."""
    for side in ("reference", "system"):
        (tmp_path / side).mkdir()
        for path in (SCORES / side).iterdir():
            for name in ("seed-1", "seed-2"):
                (tmp_path / side / f"{name}{path.suffix}").write_bytes(path.read_bytes())
    return str(tmp_path / "reference"), str(tmp_path / "system")


@pytest.fixture
def counted(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The names of the documents of each batch whose statistics are counted, as they are."""
    names: list[str] = []
    for task in ("seedev-full", "hub4"):
        metric = type(tasks.load(task).scorer("plan", {}))
        usual = metric.statistics

        def noting(self, reference, *rest, usual=usual, **more):
            names.append(" ".join(reference.documents["name"]))
            return usual(self, reference, *rest, **more)

        monkeypatch.setattr(metric, "statistics", noting)
    return names


@pytest.mark.parametrize(
    ("document", "before"), [("seed-1", []), ("seed-2", ["seed-1"])], ids=["first", "last"]
)
def test_nothing_is_counted_from_the_batch_on_that_blocks(
    document: str, before: list[str], two: tuple[str, str], counted: list[str]
) -> None:
    Path(two[1], f"{document}.a2").write_bytes(b"E1\tUnknown_Type A:T1\n")
    with pytest.raises(Refused, match="SEE"):
        score("seedev-full", *two, batch=1)
    assert counted == before
    score("seedev-full", *two, batch=1, lenient=True)
    assert counted == [*before, "seed-1", "seed-2"]


def test_nothing_is_counted_beside_a_file_of_an_option_that_blocks(
    tmp_path: Path, counted: list[str]
) -> None:
    damaged, whole = tmp_path / "corpus.sgml", HUB4 / "corpus.sgml"
    damaged.write_bytes(b"\xff\n")
    sides = str(HUB4 / "reference.tpl"), str(HUB4 / "system.tpl")
    with pytest.raises(Refused, match="in the file of --corpus"):
        score("hub4", *sides, options={"corpus": str(damaged), "hyp_corpus": str(whole)})
    assert not counted


@pytest.mark.parametrize(("before", "in_vain"), [(0, []), (3, ["seed-1"])], ids=["at-once", "late"])
def test_what_seems_to_block_and_does_not_changes_no_number(
    before: int,
    in_vain: list[str],
    two: tuple[str, str],
    counted: list[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Such as a finding that the verdict leaves out: then all batches are counted."""
    usual = score("seedev-full", *two, batch=1)
    counted.clear()
    answers = iter([False] * before)
    monkeypatch.setattr("hlteval.workflows.run.engine.Run._blocks", lambda *_: next(answers, True))
    found = score("seedev-full", *two, batch=1)
    assert counted == [*in_vain, "seed-1", "seed-2"]
    assert (found.metrics, found.signature) == (usual.metrics, usual.signature)
    assert found.tables.keys() == usual.tables.keys()
    assert all(table.equals(found.tables[name]) for name, table in usual.tables.items())
