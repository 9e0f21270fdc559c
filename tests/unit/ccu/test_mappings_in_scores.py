"""A mapping that `score` is given is checked as `validate ccu-ndmap` checks it."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from hlteval import Refused, score
from hlteval.workflows.run.engine import open_run
from hlteval.workflows.run.request import Request, SharedReference

SCORES = Path(__file__).parents[3] / "fixtures/scores"
SYSTEM = str(SCORES / "ccu-nd/system")
HEADER = "sys_norm\tref_norm\tsub_id\n"
NAMED = "CCU_P1_TA1_ND_LCC_LDC2022R17-V1_20220719_110203"


@pytest.fixture
def reference(tmp_path: Path) -> str:
    """An annotation where 112 is hidden."""
    folder = tmp_path / "reference"
    shutil.copytree(SCORES / "ccu/reference", folder)
    info = "norm\tcurrent_type\thidden_for\tdefinition_file\n101\tknown\t\tx\n112\thidden\t\tx\n"
    (folder / "docs/norm_info.tab").write_text(info, "utf-8")
    return str(folder)


def written(folder: Path, *rows: str) -> str:
    path = folder / "nd.map.tab"
    path.write_text(HEADER + "".join(f"{row}\n" for row in rows), "utf-8")
    return str(path)


def test_a_right_mapping_is_used(reference: str, tmp_path: Path) -> None:
    given = {"mapping": written(tmp_path, f"110\t112\t{NAMED}")}
    result = score("ccu-nd", reference, SYSTEM, options=given)
    assert not [note for note in result.notes if "--mapping" in note]


def test_the_check_of_a_mapping_leaves_nothing_for_the_systems_of_a_comparison(
    reference: str, tmp_path: Path
) -> None:
    given = {"mapping": written(tmp_path, f"110\t112\t{NAMED}")}
    shared = SharedReference()
    open_run(Request("ccu-nd", SYSTEM, reference, options=given, shared=shared))
    assert shared == SharedReference()


def test_a_mapping_of_a_norm_without_a_detection_finds_nothing(
    reference: str, tmp_path: Path
) -> None:
    given = {"mapping": written(tmp_path, f"999\t112\t{NAMED}")}
    result = score("ccu-nd", reference, SYSTEM, options=given)
    (note,) = (note for note in result.notes if note.startswith("--mapping"))
    assert note.endswith("nd.map.tab:2:1: the submission has no norm 999 (rows: 1) (CCU711)")
    assert (result.metrics["ap.112"], result.metrics["precision.112"]) == (0, None)
    assert result.metrics["map.hidden"] == 0


@pytest.mark.parametrize(
    ("rows", "code"),
    [
        ((f"110\t101\t{NAMED}",), "CCU712"),
        ((f"110\t112\t{NAMED}", f"109\t112\t{NAMED[:-1]}4"), "CCU714"),
        (("110\t112\tmine",), "CCU715"),
        ((f"110\t112\t{NAMED.replace('_ND_', '_ED_')}",), "CCU717"),
    ],
)
def test_a_wrong_mapping_gives_no_number(
    rows: tuple[str, ...], code: str, reference: str, tmp_path: Path
) -> None:
    given = {"mapping": written(tmp_path, *rows)}
    with pytest.raises(Refused) as refused:
        score("ccu-nd", reference, SYSTEM, options=given)
    found = [item for item in refused.value.verdict.findings if item.side == "--mapping"]
    assert [item.code for item in found] == [code]
    assert found[0].file == given["mapping"]
    scores = score("ccu-nd", reference, SYSTEM, options=given, profile="official")
    assert any(code in note for note in scores.notes)  # the official scorer takes all of them


def test_what_cannot_be_read_is_reported_once(reference: str, tmp_path: Path) -> None:
    given = {"mapping": written(tmp_path, f"110\t112\t{NAMED}", "110\t112")}
    with pytest.raises(Refused) as refused:
        score("ccu-nd", reference, SYSTEM, options=given)
    found = [item.code for item in refused.value.verdict.findings if item.side == "--mapping"]
    assert len(found) == 1
