"""Every file that an option of a task names is judged under the name of the option."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from hlteval import Refused, tasks
from hlteval.findings import Finding
from hlteval.results.verdict import Verdict
from hlteval.tasks.task import Option
from tests.runs import score, validate

FIXTURES = Path(__file__).parents[3] / "fixtures"
SIDES = {
    "seedev-binary": ("scores/seedev-binary/reference", "scores/seedev-binary/system"),
    "seedev-full": ("scores/seedev-full/reference", "scores/seedev-full/system"),
    "speech-sf": ("speech-sf/valid/reference.json", "speech-sf/valid/submission.json"),
    "lorehlt-sf": ("lorehlt-sf-reference/valid/annotation", "lorehlt-sf/valid/submission"),
    "lorehlt-edl": ("scores/lorehlt-edl/reference.tab", "scores/lorehlt-edl/system.tab"),
    "hub4": ("hub4/valid/reference.tpl", "hub4/valid/system.tpl"),
    **{
        f"ccu-{task}": ("scores/ccu/reference", f"scores/ccu-{task}/system")
        for task in ("nd", "ed", "vd", "ad", "cd")
    },
    "ccu-ndmap": ("ccu/valid/reference", "ccu/valid/ndmap"),
    "lorehlt-mt": ("scores/lorehlt-mt/reference", "scores/lorehlt-mt/system"),
    "segments": ("segments/valid/reference.rttm", "segments/valid/submission.rttm"),
    "links": ("links/valid/reference", "links/valid/submission"),
    **{
        name: (f"{name}/valid/reference",) * 2  # which has the documents
        for name in tasks.BUILTIN
        if name.startswith("bb1")
    },
}
"""Reference and submission of the tasks that score."""
WITH = {
    ("hub4", "lexicon"): {
        "corpus": str(FIXTURES / "hub4/valid/corpus.sgml"),
        "hyp_corpus": str(FIXTURES / "hub4/valid/corpus.sgml"),
    },
    ("hub4", "hyp_corpus"): {"corpus": str(FIXTURES / "hub4/valid/corpus.sgml")},
    ("lorehlt-mt", "sf_justifications"): {
        "sf_reference": str(FIXTURES / "lorehlt-sf-reference/valid/annotation")
    },
    ("lorehlt-mt", "sf_reference"): {
        "sf_justifications": str(FIXTURES / "lorehlt-sf/valid/submission")
    },
    ("hub4", "corpus"): {"hyp_corpus": str(FIXTURES / "hub4/valid/corpus.sgml")},
}
"""Options that others need."""
DAMAGES = {
    "bytes": b"a\tb\t\xff\xfe\n",
    "nul": b"a\tb\t\x00\n",
    "archive": b"PK\x03\x04 cut",
    "prose": b'Dear colleague, {"here": "is"} the\nfile\n',
    "empty": b"",
    "mark": b"\xef\xbb\xbf\n",
}


class Use(NamedTuple):
    """An option of a task with a file."""

    task: str
    option: Option
    damage: str


def uses() -> Iterator[Use]:
    """Each damage of each file that an option of any task names."""
    for task in sorted(tasks.BUILTIN):
        for option in tasks.load(task).options:
            if option.is_file:
                yield from (Use(task, option, damage) for damage in DAMAGES)


def damaged(use: Use, folder: Path) -> Path:
    """The file of an option: its name says zip where it is no archive only by chance."""
    path = folder / ("file.zip" if use.damage == "archive" else "file")
    path.write_bytes(DAMAGES[use.damage])
    return path


def checked(option: Option) -> bool:
    """Whether the file of an option is read when a submission is validated."""
    return "validate" in option.commands and not option.reference_format


def params(chosen: Iterable[Use]) -> list[Any]:
    return [pytest.param(use, id=f"{use.task}-{use.option.name}-{use.damage}") for use in chosen]


VALIDATED = params(use for use in uses() if checked(use.option))
SCORED = params(use for use in uses() if "score" in use.option.commands)


def test_all_files_of_options_are_tried() -> None:
    tried = {(use.task, use.option.name) for use in uses()}
    assert tried >= {("lorehlt-edl", "type_weights"), ("seedev-binary", "sentences")}
    others = {
        (task, option.name)
        for task in tasks.BUILTIN
        for option in tasks.load(task).options
        if option.is_input and not option.is_file
    }
    # options in a file are an error of usage, as on the command line
    assert others == {("hub4", "options")}


def test_every_use_is_tried() -> None:
    assert {use.id for use in (*VALIDATED, *SCORED)} == {use.id for use in params(uses())}


@pytest.mark.sampled(4)
@pytest.mark.parametrize("use", VALIDATED)
def test_a_damaged_file_is_no_problem_of_the_validated_submission(use: Use, tmp_path: Path) -> None:
    options = {use.option.name: str(damaged(use, tmp_path))}
    verdict = validate(use.task, str(FIXTURES / SIDES[use.task][1]), options=options)
    assert judged(verdict, f"--{use.option.flag}")
    assert own(verdict) == own(validated(use.task))
    assert verdict.outcome == "undecided"


@pytest.mark.sampled(24)
@pytest.mark.parametrize("use", SCORED)
def test_a_damaged_file_is_no_problem_of_the_scored_submission(use: Use, tmp_path: Path) -> None:
    options = {use.option.name: str(damaged(use, tmp_path))}
    given = {**options, **WITH.get((use.task, use.option.name), {})}
    reference, system = (str(FIXTURES / path) for path in SIDES[use.task])
    found = verdict_of_score(use, reference, system, given)
    assert judged(found, f"--{use.option.flag}"), found.findings
    assert own(found) == own(scored(use.task))


@cache
def validated(task: str) -> Verdict:
    return validate(task, str(FIXTURES / SIDES[task][1]))


@cache
def scored(task: str) -> Verdict:
    sides = (str(FIXTURES / path) for path in SIDES[task])
    return score(task, *sides, alignment=False).verdict


def judged(verdict: Verdict, side: str) -> bool:
    """Whether there are findings under the name of the option, and under no other option."""
    sides = {finding.side for finding in verdict.findings if finding.side.startswith("--")}
    return sides == {side}


def own(verdict: Verdict) -> list[Finding]:
    return [finding for finding in verdict.findings if finding.side == "submission"]


def verdict_of_score(use: Use, reference: str, system: str, options: dict[str, str]) -> Verdict:
    """The verdict of scoring: refused, unless the file can be read, or changes no number."""
    side = f"--{use.option.flag}"
    try:
        scores = score(use.task, reference, system, options=options, alignment=False)
    except Refused as refused:
        blocking = {item.side for item in refused.verdict.findings if item.blocking}
        assert blocking == {side}
        assert f"in the file of {side}" in str(refused)
        return refused.verdict
    errors = [item for item in scores.verdict.findings if item.severity == "error"]
    # scores of situations by themselves, and texts, change no number
    assert not errors or use.option.adds == "texts" or use.option.name == "sf_scores"
    assert any(side in note for note in scores.notes)
    return scores.verdict


@pytest.mark.parametrize(
    ("option", "content", "code"),
    [("type_weights", "GPE\tPER\t2\n", "OPT103"), ("exclude", "ENG_D1\t20\t10\n", "OPT105")],
)
def test_what_is_out_of_range_gives_no_numbers_in_plan(
    option: str, content: str, code: str, tmp_path: Path
) -> None:
    path = tmp_path / "table"
    path.write_text(content, "utf-8")
    reference, system = (str(FIXTURES / file) for file in SIDES["lorehlt-edl"])
    given = {option: str(path), "measure": "strong_typed_mention_match"}
    with pytest.raises(Refused, match=code):
        score("lorehlt-edl", reference, system, options=given)
    official = score("lorehlt-edl", reference, system, profile="official", options=given)
    assert code in official.verdict.by_code
    assert any(code in note for note in official.notes)


def test_the_fix_names_a_command_that_shows_the_findings(tmp_path: Path) -> None:
    path = tmp_path / "weights"
    path.write_text("GPE\tPER\t2\n", "utf-8")
    reference, system = (str(FIXTURES / file) for file in SIDES["lorehlt-edl"])
    given = {"type_weights": str(path), "measure": "strong_typed_mention_match"}
    scores = score("lorehlt-edl", reference, system, options=given, lenient=True)
    (note,) = [note for note in scores.notes if "--type-weights (" in note]
    assert f"`hlteval score lorehlt-edl -r {reference} -s {system}" in note
    assert f"--type-weights {path}`" in note
