"""What cannot be read yields no further findings about what is then missing."""

from __future__ import annotations

import json
import re
import shutil
import zipfile
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

from hlteval import validate
from hlteval.findings import Finding, catalogue

FIXTURES = Path(__file__).parents[3] / "fixtures"
FULL = FIXTURES / "standoff" / "valid" / "full"
CORPUS = FIXTURES / "hub4" / "valid" / "corpus.sgml"
FRAMES = FIXTURES / "speech-sf-json" / "valid" / "frames.json"
AGAINST = {
    "seedev-full": FULL,
    "lorehlt-edl": FIXTURES / "lorehlt-edl" / "valid" / "texts.jsonl",
    "ltf": None,
    "laf": FIXTURES / "ltf" / "valid",
    "lorehlt-mt": FIXTURES / "mt" / "valid" / "ltf",
    "hub4": CORPUS,
    "speech-sf": FIXTURES / "appen" / "valid",
}


def found(task: str, path: Path, against: Path | None = None) -> list[Finding]:
    verdict = validate(task, str(path), against=str(against) if against else None)
    return [finding for finding in verdict.findings if finding.side == "submission"]


@pytest.mark.parametrize("task", AGAINST)
@pytest.mark.parametrize(
    ("name", "content", "code"),
    [
        ("x.tgz", b"BZh91AY&SY", "SRC102"),
        ("x.zip", b"PK\x03\x04 cut", "SRC105"),
        ("x.zip", b"<html>", "SRC101"),
    ],
)
def test_a_refused_archive_has_one_finding(
    task: str, name: str, content: bytes, code: str, tmp_path: Path
) -> None:
    path = tmp_path / name
    path.write_bytes(content)
    assert [finding.code for finding in found(task, path, AGAINST[task])] == [code]


def test_an_archive_with_a_rejected_member_misses_no_documents(tmp_path: Path) -> None:
    path = tmp_path / "x.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("../seed-1.a2", "")
    assert [finding.code for finding in found("seedev-full", path, FULL)] == ["SRC111"]


@pytest.mark.parametrize(
    ("task", "name", "content", "code"),
    [
        ("lorehlt-edl", "x.tab", b"\xe9\xff bad", "SRC201"),
        ("hub4", "x.tpl", b"\xe9\xff bad", "SRC201"),
        ("ltf", "x.ltf.xml", b"\xe9\xff bad", "SRC201"),
        ("speech-sf", "x.json", b"\xe9\xff bad", "SRC201"),
        ("speech-sf", "x.json", b"[", "JSN115"),
    ],
)
def test_a_file_that_cannot_be_read_has_one_finding(
    task: str, name: str, content: bytes, code: str, tmp_path: Path
) -> None:
    path = tmp_path / name
    path.write_bytes(content)
    assert [finding.code for finding in found(task, path, AGAINST[task])] == [code]


def test_two_runs_in_an_archive_are_one_finding(tmp_path: Path) -> None:
    path = tmp_path / "two.zip"
    with zipfile.ZipFile(path, "w") as archive:
        for run in ("run-1", "run-2"):
            for name in ("seed-1.a2", "seed-2.a2"):
                archive.write(FULL / name, f"{run}/{name}")
    counts = Counter(finding.code for finding in found("seedev-full", path, FULL))
    alone = Counter(finding.code for finding in found("seedev-full", FULL, FULL))
    assert (counts["SEE408"], counts["SEE409"]) == (0, 1)
    assert sum((counts - alone).values()) <= 2


@pytest.mark.parametrize(
    ("value", "codes"),
    [(lambda frames: {"frames": frames}, ["SFJ201"]), (lambda _: "x", ["SFJ201"])],
)
def test_what_is_not_an_array_has_one_finding(
    value: Callable[[object], object], codes: list[str], tmp_path: Path
) -> None:
    path = tmp_path / "x.json"
    path.write_text(json.dumps(value(json.loads(FRAMES.read_text("utf-8")))), "utf-8")
    assert [finding.code for finding in found("speech-sf", path)] == codes


def test_a_misspelt_role_is_not_missing_as_well(tmp_path: Path) -> None:
    folder = tmp_path / "in"
    shutil.copytree(FULL, folder)
    text = (FULL / "seed-1.a2").read_text("utf-8").replace("Agent:", "agent:")
    (folder / "seed-1.a2").write_text(text, "utf-8")
    assert {finding.code for finding in found("seedev-full", folder)} == {"SEE201"}


def longer(line: str) -> str | None:
    """A token or a segment that ends two characters later."""
    end = re.search(r'end_char="(\d+)"', line)
    return line.replace(end[0], f'end_char="{int(end[1]) + 2}"') if end else None


def spaced(line: str) -> str | None:
    return line.replace("\t", " ", 1) if "\t" in line else None


def cut(line: str) -> str | None:
    return line[:-4] if len(line) > 6 else None


def misnamed(line: str) -> str | None:
    return line.replace("start_char", "startchar") if "start_char" in line else None


def unbracketed(line: str) -> str | None:
    return line.replace("<", "").replace('"', "") if "<CONTEST" in line else None


LTF = FIXTURES / "ltf" / "valid" / "water-1.ltf.xml"
HUB = FIXTURES / "hub4" / "valid" / "system.tpl"
EDL = FIXTURES / "lorehlt-edl" / "valid" / "submission.tab"
DAMAGES = [
    ("seedev-full", FULL, "seed-1.a2", spaced),
    ("seedev-full", FULL, "seed-1.a2", cut),
    ("seedev-full", FULL, "seed-1.a1", spaced),
    ("seedev-full", FULL, "seed-1.a1", cut),
    ("lorehlt-edl", EDL, EDL.name, spaced),
    ("lorehlt-edl", EDL, EDL.name, cut),
    ("ltf", LTF, LTF.name, longer),
    ("ltf", LTF, LTF.name, misnamed),
    ("hub4", HUB, HUB.name, unbracketed),
]
OTHER_LINES = {"HUB301", "HUB303", "HUB224", "HUB212"}
"""Findings on other lines that are true whatever caused them."""


@pytest.mark.parametrize(
    ("task", "base", "name", "damage"),
    DAMAGES,
    ids=[f"{task}-{name}-{damage.__name__}" for task, _, name, damage in DAMAGES],
)
def test_a_damaged_record_has_one_finding_and_others_none(
    task: str, base: Path, name: str, damage: Callable[[str], str | None], tmp_path: Path
) -> None:
    against = AGAINST[task] if task == "hub4" else None
    before = {(item.code, item.message) for item in found(task, base, against)}
    lines = (base / name if base.is_dir() else base).read_text("utf-8").split("\n")
    tried = 0
    for at, line in enumerate(lines[:14]):
        broken = damage(line)
        if broken is None:
            continue
        tried += 1
        target = tmp_path / f"{at}"
        shutil.copytree(base, target) if base.is_dir() else target.mkdir()
        file = target / name
        file.write_text("\n".join([*lines[:at], broken, *lines[at + 1 :]]), "utf-8")
        new = found(task, target if base.is_dir() else file, against)
        new = [item for item in new if (item.code, item.message) not in before]
        elsewhere = [item for item in new if not item.span or item.span.line != at + 1]
        assert {item.code for item in elsewhere} <= OTHER_LINES, (line, broken)
        assert len({item.code for item in new} - OTHER_LINES) <= 1, (line, broken)
    assert tried


def test_what_an_entry_follows_from_exists() -> None:
    codes = catalogue()
    for entry in codes.values():
        for root in entry.suppressed_by:
            assert [code for code in codes if code.startswith(root) and code != entry.code]
        assert bool(entry.suppressed_by) or not (entry.unresolved or entry.unreferenced)
        for template in (entry.unresolved, entry.unreferenced):
            names = set(re.findall(r"{(\w+)}", template))
            assert names <= entry.fields


def test_what_is_left_out_blocks_through_its_cause(tmp_path: Path) -> None:
    folder = tmp_path / "in"
    shutil.copytree(FULL, folder)
    with (folder / "seed-1.a2").open("a", encoding="utf-8") as file:
        file.write("#1\tAnnotatorNotes T1\tchecked\n")
    (item,) = (item for item in found("seedev-full", folder) if item.code.startswith("S"))
    assert (item.code, item.blocking) == ("STD102", True)


def outcome(task: str, system: Path, reference: Path) -> tuple[str, set[str]]:
    """The verdict, and the errors of the submission."""
    verdict = validate(task, str(system), against=str(reference))
    own = {f.code for f in verdict.of("submission").findings if f.severity == "error"}
    assert any(f.side == "reference" for f in verdict.findings)
    return verdict.outcome, own


@pytest.mark.parametrize("line", ["\t, broken {", "T1 Gene 0 4", "T1\tGene", "", "T1\tGene x y\tz"])
@pytest.mark.parametrize("kind", ["full", "binary"])
def test_a_malformed_line_of_the_reference_never_fails_a_submission(
    kind: str, line: str, tmp_path: Path
) -> None:
    """Each line of the reference, in a document of its own: what refers to it may be right."""
    folder = FIXTURES / "standoff" / "valid" / kind
    text, entities, events = (
        (folder / f"seed-1.{end}").read_bytes() for end in ("txt", "a1", "a2")
    )
    lines = entities.decode().split("\n")
    gold, system = tmp_path / "gold", tmp_path / "run"
    for number in range(len(lines) - 1):
        changed = [*lines[:number], line or lines[number][:-2], *lines[number + 1 :]]
        for side, end, content in (
            *((side, "txt", text) for side in (gold, system)),
            *((side, "a2", events) for side in (gold, system)),
            (gold, "a1", "\n".join(changed).encode()),
            (system, "a1", entities),
        ):
            side.mkdir(exist_ok=True)
            (side / f"d{number}.{end}").write_bytes(content)
    verdict = validate(f"seedev-{kind}", str(system), against=str(gold))
    assert {f.file for f in verdict.of("reference").findings} >= {
        str(path) for path in gold.glob("*.a1")
    }
    assert verdict.outcome in {"pass", "undecided"}
    assert {f.code for f in verdict.of("submission").findings if f.severity == "error"} == set()


def test_what_is_wrong_beside_a_malformed_reference_still_fails(tmp_path: Path) -> None:
    for name in ("gold", "run"):
        shutil.copytree(FULL, tmp_path / name)
    with (tmp_path / "gold" / "seed-1.a1").open("a", encoding="utf-8") as stream:
        stream.write("broken\n")
    with (tmp_path / "run" / "seed-2.a2").open("a", encoding="utf-8") as stream:
        stream.write("E90\tBindng Functional_Molecule:T1\nE91\tBinding Molecule:T99\n")
    verdict, own = outcome("seedev-full", tmp_path / "run", tmp_path / "gold")
    assert verdict == "fail"
    assert own >= {"SEE101", "STD302"}  # that document of the reference is in order


def test_a_document_only_in_a_malformed_line_is_not_unknown(tmp_path: Path) -> None:
    content = (FIXTURES / "lorehlt-edl" / "valid" / "submission.tab").read_text("utf-8")
    gold = tmp_path / "gold.tab"
    kept = [line for line in content.split("\n") if "IL_D2" not in line]
    gold.write_text("\n".join([*kept[:-1], "NIST_1\tm9\tx\tIL_D2 0-2\tNIL1\tPER\tNAM\t1.0", ""]))
    system = tmp_path / "run.tab"
    system.write_text(content, "utf-8")
    assert outcome("lorehlt-edl", system, gold) == ("undecided", set())
    gold.write_text("\n".join(kept), "utf-8")
    own = {f.code for f in validate("lorehlt-edl", str(system), against=str(gold)).findings}
    assert "EDL501" in own


def test_two_runs_of_mentions_in_an_archive_are_a_finding(tmp_path: Path) -> None:
    """Not one for each line that the other run has as well."""
    path = tmp_path / "two.zip"
    with zipfile.ZipFile(path, "w") as archive:
        for name in ("a.tab", "b.tab"):
            archive.write(EDL, name)
    counts = Counter(finding.code for finding in found("lorehlt-edl", path))
    assert counts["EDL105"] == 1
    assert not {code for code in counts if code.startswith(("EDL3", "EDL4"))}
    assert sum(counts.values()) <= 5


@pytest.mark.parametrize(
    ("change", "remarks"),
    [
        pytest.param({}, ["SSF102", "SSF105"], id="none"),
        pytest.param({"TypeConfidence": "high"}, ["SSF102"], id="of-its-segment"),
        pytest.param({"DocumentID": "D2", "Type": 7}, ["SSF105"], id="of-the-other"),
        pytest.param({"DocumentID": 1}, [], id="of-any"),
    ],
)
def test_frames_that_are_not_read_are_not_missing(
    change: dict[str, object], remarks: list[str], tmp_path: Path
) -> None:
    frames = [
        {"DocumentID": "D1", "Type": label, "TypeConfidence": confidence}
        for label, confidence in (("Shelter", 0.5), ("Evacuation", 0.4))
    ]
    frames[1] |= change
    (tmp_path / "x.json").write_text(json.dumps(frames), "utf-8")
    (tmp_path / "segments.list").write_text("D1\nD2\n", "utf-8")
    codes = {
        item.code for item in found("speech-sf", tmp_path / "x.json", tmp_path / "segments.list")
    }
    assert sorted(code for code in codes if code.startswith("SSF10")) == remarks


@pytest.mark.parametrize("last", ["", "\n" + json.dumps({"text": "x", "label": [[0, 9, "X"]]})])
def test_a_span_that_its_reader_finds_beyond_the_text_is_found_once(
    last: str, tmp_path: Path
) -> None:
    path, task = tmp_path / "d.jsonl", tmp_path / "own.task.toml"
    task.write_text('[task]\nunit = "mentions"\n[read]\nformat = "doccano"\n')
    spans = [[3, 6, "PER"], [10, 13, "LOC"], [4, 4, "X"]]  # UTF-16 units
    path.write_text(json.dumps({"text": "\N{GRINNING FACE} Ann at Osh", "label": spans}) + last)
    findings = found(str(task), path)
    codes = Counter(item.code for item in findings)
    assert codes == Counter(JAN201=1 + bool(last), JAN202=1)
    assert all(item.blocking for item in findings)
