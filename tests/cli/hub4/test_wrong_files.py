"""Files that are not what they should be give no number in silence."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

VALID = Path(__file__).parents[3] / "fixtures" / "hub4" / "valid"
CORPUS, SYSTEM, REFERENCE = (
    VALID / name for name in ("corpus.sgml", "system.tpl", "reference.tpl")
)


@pytest.fixture
def ran(invoke):
    """The exit code of a command and the codes of its findings by side, with their blocking."""

    def run(command: str, *arguments: Any) -> tuple[int, dict[str, list[str]]]:
        sides = ("-r", REFERENCE, "-s") if command == "score" else ()
        result = invoke(command, "hub4", *sides, *arguments, "--format", "json")
        found = json.loads(result.stdout)
        codes: dict[str, list[str]] = {}
        if isinstance(found["findings"], dict):  # of scores: counts
            return result.exit_code, {"counts": list(found["findings"]["code"])}
        for item in found["findings"]:
            if item["severity"] == "error":
                named = item["code"] + "!" * item["blocking"]
                codes.setdefault(item["side"], []).append(named)
        return result.exit_code, codes

    return run


def changed(path: Path, folder: Path, *pairs: tuple[str, str], ends: str = "\n") -> Path:
    text = path.read_text("utf-8")
    for old, new in pairs:
        assert old in text
        text = text.replace(old, new)
    copy = folder / f"changed-{path.name}"
    copy.write_bytes(text.replace("\n", ends).encode())
    return copy


@pytest.mark.parametrize("text", ['{"a": [1,\n2]}\n', "[]", "<?xml version='1.0'?>\n<a/>\n", "x\n"])
@pytest.mark.parametrize("command", ["score", "validate"])
def test_a_file_of_another_kind_blocks(ran, tmp_path: Path, command: str, text: str) -> None:
    path = tmp_path / "other"
    path.write_text(text, "utf-8")
    assert ran(command, path) == (1, {"submission": ["HUB227!"]})


@pytest.mark.parametrize("command", ["score", "validate"])
def test_a_corpus_is_not_a_submission(ran, command: str) -> None:
    assert ran(command, CORPUS) == (1, {"submission": ["HUB227!"]})


def test_headers_without_a_sign_block(ran, invoke, tmp_path: Path) -> None:
    path = changed(SYSTEM, tmp_path, (" :=", ""))
    assert ran("score", path) == (1, {"submission": ["HUB227!"]})
    assert "with := on the same line" in invoke("validate", "hub4", path).stdout


def test_damaged_headers_block_by_their_own_code(ran, tmp_path: Path) -> None:
    path = changed(SYSTEM, tmp_path, ("1> :=", "x> :="), ("-7> :=", "> :="))
    code, found = ran("score", path)
    assert code == 1
    assert set(found["submission"]) == {"HUB102!"}


def test_two_template_sets_are_one_error(ran, tmp_path: Path) -> None:
    for name in ("one.tpl", "two.tpl"):
        (tmp_path / name).write_bytes(SYSTEM.read_bytes())
    assert ran("score", tmp_path) == (1, {"submission": ["HUB228!"]})
    assert ran("validate", tmp_path) == (1, {"submission": ["HUB228!"]})
    (tmp_path / "two.tpl").unlink()
    assert ran("score", tmp_path)[0] == 0


def test_a_corpus_of_other_documents_blocks(ran, invoke, tmp_path: Path) -> None:
    other = changed(CORPUS, tmp_path, (" B1 ", " X1 "), (" B-2 ", " X-2 "))
    both = ("--corpus", CORPUS, "--hyp-corpus", other)
    assert ran("score", SYSTEM, *both) == (1, {"submission": ["HUB306!"]})
    shown = invoke("score", "hub4", "-r", REFERENCE, "-s", SYSTEM, *both).output
    assert "--hyp-corpus has X-2 and 1 more" in shown
    assert "pass the corpus" in shown
    code, found = ran("score", SYSTEM, "--corpus", other)
    assert code == 1
    assert found == {"submission": ["HUB306!"], "reference": ["HUB306!"]}


def test_a_document_that_a_corpus_lacks_blocks(ran, tmp_path: Path) -> None:
    part = changed(CORPUS, tmp_path, (" B-2 ", " X-2 "))
    both = ("--corpus", CORPUS, "--hyp-corpus", part)
    assert ran("score", SYSTEM, *both) == (1, {"submission": ["HUB301!"]})
    code, found = ran("score", SYSTEM, "--corpus", part, "--hyp-corpus", CORPUS)
    assert (code, found) == (1, {"reference": ["HUB301!"]})
    assert ran("score", SYSTEM, *both, "--lenient")[0] == 0


@pytest.mark.parametrize("option", ["--corpus", "--hyp-corpus", "--glm"])
def test_a_file_that_does_not_exist_is_told(invoke, tmp_path: Path, option: str) -> None:
    given = () if option == "--corpus" else ("--corpus", CORPUS)
    missing = tmp_path / "absent"
    result = invoke("score", "hub4", "-r", REFERENCE, "-s", SYSTEM, *given, option, missing)
    assert result.exit_code == 2
    assert "absent" in result.stderr


def test_extents_with_two_characters_for_a_line_end_are_reported_in_score(
    invoke, ran, tmp_path: Path
) -> None:
    text = CORPUS.read_text("utf-8")
    pairs = []
    for start, end in ((14, 16), (66, 79), (47, 52), (136, 145), (149, 152)):
        before, inside = text[:start].count("\n"), text[:end].count("\n")
        pairs.append((f"##{start}#{end}#", f"##{start + before}#{end + inside}#"))
    path = changed(SYSTEM, tmp_path, *pairs)
    code, found = ran("score", path, "--corpus", CORPUS)
    assert (code, found) == (0, {"counts": ["HUB305"]})
    run = ("score", "hub4", "-r", REFERENCE, "-s", path, "--format", "json")
    note = json.loads(invoke(*run, "--corpus", CORPUS).stdout)["notes"][0]
    command = next(part for part in note.split("`") if part.startswith("hlteval"))
    assert f"--corpus {CORPUS}" in command
    again = invoke(*command.split()[1:])
    assert "each line end counts as two characters" in again.stdout
    assert "correct texts have a wrong extent" in json.loads(invoke(*run).stdout)["notes"][0]


def test_validation_against_a_template_set_takes_a_corpus_too(invoke, tmp_path: Path) -> None:
    against = ("--against", REFERENCE, "--corpus", CORPUS)
    assert invoke("validate", "hub4", SYSTEM, *against).exit_code == 0
    path = changed(SYSTEM, tmp_path, ("##47#52#", "##48#53#"))
    assert "HUB303" in invoke("validate", "hub4", path, *against).stdout
    twice = invoke("validate", "hub4", SYSTEM, "--against", CORPUS, "--corpus", CORPUS)
    assert twice.exit_code == 2


def test_identical_corpora_are_not_aligned(invoke, tmp_path: Path) -> None:
    same = tmp_path / "same.sgml"
    same.write_bytes(CORPUS.read_bytes())
    glm = tmp_path / "map.glm"
    glm.write_text(";; x\nBREAD => {LOAF / CAKE}\n", "utf-8")
    plain = invoke("score", "hub4", "-r", REFERENCE, "-s", SYSTEM, "--format", "tsv").stdout
    for more in ((), ("--glm", glm), ("--align",), ("--unsegmented",)):
        options = ("--corpus", CORPUS, "--hyp-corpus", same, *more)
        result = invoke("score", "hub4", "-r", REFERENCE, "-s", SYSTEM, *options, "--format", "tsv")
        if more != ("--unsegmented",):
            assert result.stdout == plain, more
        assert "identical" in result.stderr


def test_a_document_in_the_wrong_case_is_one_finding(invoke, tmp_path: Path) -> None:
    more = tmp_path / "corpus.sgml"
    more.write_text(CORPUS.read_text("utf-8"), "utf-8")
    every = changed(SYSTEM, tmp_path, ("-B1-", "-b1-"))
    for path, pairs in (
        (every, ()),
        (SYSTEM, (("<TEMPLATE-B1-1> :=", "<TEMPLATE-b1-1> :="),)),
        (SYSTEM, (("<CONTEST-B1-7> :=", "<CONTEST-b1-7> :="),)),
    ):
        copy = changed(path, tmp_path, *pairs) if pairs else path
        found = json.loads(
            invoke("validate", "hub4", copy, "--corpus", more, "--format", "json").stdout
        )["findings"]
        assert [item["code"] for item in found] == ["HUB301"], pairs
        assert "B1" in found[0]["help"]
