"""Large tables of mentions in parts: findings and scores are those of the whole files."""

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hlteval.results.verdict import Verdict
from hlteval.workflows.run.batches import NothingGiven, Submission
from hlteval.workflows.run.engine import score, validate
from hlteval.workflows.run.request import Request
from hlteval.workflows.run.verdicts import Refused
from tests.effort import tries

TASK = "lorehlt-edl"
#: Fields of mentions, the usual ones most often; the others are findings, some across documents.
RUNS = st.sampled_from(["r1"] * 8 + ["r2", " "])
ENTITIES = st.sampled_from(["NIL1", "NIL2", "NIL01", "7", "8", "007", "x"] * 2 + ["7|8", ""])
TYPES = st.sampled_from(["PER"] * 4 + ["GPE", "FAC"])
STRINGS = st.sampled_from(["Os", "Osh", "Osh-a", ""])
CONFIDENCES = st.sampled_from(["1.0", "0.5", "0.25", "1", "2"])
BREAKS = st.sampled_from(["\n"] * 6 + ["\r\n", "\n\n"])


@st.composite
def tables(draw: st.DrawFn, names: list[str]) -> str:
    """A table of mentions of some documents, mostly in their order and mostly without mistakes."""
    lines, number = [], 0
    for name in names:
        for start in draw(st.lists(st.integers(0, 6), max_size=4)):
            number += draw(st.sampled_from([1] * 9 + [0]))
            end = start + draw(st.sampled_from([1, 1, 2, 2, -1]))
            cells = (
                *(draw(RUNS), f"m{number}", draw(STRINGS), f"{name}:{start}-{end}"),
                *(draw(ENTITIES), draw(TYPES), "NAM", draw(CONFIDENCES)),
            )
            lines.append("\t".join(cells))
    if draw(st.integers(0, 9)) == 0 and lines:
        lines.insert(draw(st.integers(0, len(lines))), draw(st.sampled_from(["x", "", lines[0]])))
    return draw(BREAKS).join(lines) + draw(st.sampled_from(["\n", ""]))


@st.composite
def sides(draw: st.DrawFn) -> tuple[str, str]:
    """Two tables of documents of which most are on both sides, mostly in the same order."""
    names = draw(st.sampled_from([["d1", "d2", "d3", "d4"], ["d2", "d1", "e d"], ["a", "c", "b"]]))
    chosen = [[name for name in names if draw(st.integers(0, 5))] for _ in range(2)]
    if draw(st.integers(0, 7)) == 0:
        chosen[1].reverse()
    return draw(tables(chosen[0])), draw(tables(chosen[1]))


def outcome(request: Request) -> object:
    """The verdict or the scores as they are shown; why there are none, where that is so."""
    try:
        if not request.reference:
            return shown(validate(request))
        scores = score(request)
    except NothingGiven as reason:
        return str(reason)
    except Refused as reason:
        return str(reason), shown(reason.verdict)
    tables = {name: table.to_dict(as_series=False) for name, table in scores.tables.items()}
    counted = scores.metrics, scores.intervals, tables, scores.notes, scores.signature, scores.files
    each, evidence = scores.by_document, scores.evidence
    beside = [] if evidence is None else [evidence.texts.rows(), evidence.marks.rows()]
    return *counted, None if each is None else each.rows(), beside


def shown(verdict: Verdict) -> object:
    """A verdict with its findings."""
    return verdict, list(verdict.findings)


@settings(max_examples=tries(240), deadline=None)
@given(sides(), st.integers(1, 3), st.sampled_from(["plan", "official"]), st.booleans())
def test_parts_give_what_whole_files_give(tmp_path_factory, both, size, profile, scored):
    folder = tmp_path_factory.mktemp("parts")
    for name, text in zip(("gold.tab", "run.tab"), both, strict=True):
        (folder / name).write_bytes(text.encode())
    gold, system = str(folder / "gold.tab"), str(folder / "run.tab")
    own = {"reference": gold} if scored else {"against": gold}
    request = Request(TASK, system, profile=profile, lenient=True, max_per_code=2, **own)
    parts = Request(TASK, system, profile=profile, lenient=True, max_per_code=2, batch=size, **own)
    assert outcome(parts) == outcome(request)


#: Mistakes that only all documents together show; see the codes in the test.
GOLD = """r1\tm1\tOsh\td1:0-2\tNIL1\tPER\tNAM\t1.0
r1\tm2\tOsh\td2:0-2\tNIL1\tPER\tNAM\t0.5
r1\tm3\tOsh\td3:0-2\t7\tPER\tNAM\t1.0
"""
SYSTEM = """r1\tm1\tOsh\td1:0-2\tNIL1\tPER\tNAM\t1.0
r2\tm2\tOsh\td2:0-2\tNIL1\tGPE\tNAM\t0.5
r1\tm3\tOsh\td22:0-4\t7\tPER\tNAM\t1.0
r2\tm4\tOsh\td3:0-2\t8\tPER\tNAM\t1.0
r2\tm5\tOsh\td3:0-2\t8\tPER\tNAM\t1.0
"""


def test_rules_across_documents_conclude_from_all_parts(tmp_path: Path, monkeypatch):
    (tmp_path / "gold.tab").write_text(GOLD, "utf-8", newline="")
    (tmp_path / "run.tab").write_text(SYSTEM, "utf-8", newline="")
    gold, system = str(tmp_path / "gold.tab"), str(tmp_path / "run.tab")
    whole = validate(Request(TASK, system, against=gold))

    def fail(_: Submission) -> None:
        raise AssertionError("the files were read as a whole")

    monkeypatch.setattr(Submission, "_whole", fail)
    verdict = validate(Request(TASK, system, against=gold, batch=1))
    assert list(verdict.findings) == list(whole.findings)
    found = {(f.code, f.span.line if f.span else 0) for f in verdict.findings}
    # another run, another type of NIL1, a length, the same extent twice, d22 for d2
    expected = {("EDL302", 2), ("EDL318", 2), ("EDL319", 3), ("EDL402", 5)}
    assert found == expected | {("EDL501", 3)}


@pytest.mark.parametrize(
    ("gold", "system"),
    [
        (GOLD, SYSTEM.replace("m5", "m1")),  # an identifier in two parts
        (GOLD, SYSTEM.replace("\t8\t", "\t07\t")),  # 07 beside 7
        (GOLD.replace("d2", "d9").replace("d1", "d2").replace("d9", "d1"), SYSTEM),  # other order
        (GOLD, SYSTEM + SYSTEM.splitlines()[0] + "\n"),  # a document in two places
        (GOLD, SYSTEM.replace("0.5", "x\ty")),  # a line with too many cells
        (GOLD, SYSTEM.replace("0.5", "1.0")),  # one confidence, as a reference has
    ],
)
def test_what_parts_cannot_show_is_read_as_a_whole(tmp_path: Path, monkeypatch, gold, system):
    (tmp_path / "gold.tab").write_text(gold, "utf-8", newline="")
    (tmp_path / "run.tab").write_text(system, "utf-8", newline="")
    request = Request(TASK, str(tmp_path / "run.tab"), against=str(tmp_path / "gold.tab"), batch=1)
    read, whole = [], Submission._whole
    monkeypatch.setattr(Submission, "_whole", lambda own: read.append(own) or whole(own))
    verdict = validate(request)
    assert len(read) >= 1
    assert list(verdict.findings)
