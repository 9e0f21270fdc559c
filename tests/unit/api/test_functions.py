"""The functions of `import hlteval` and what they return."""

from __future__ import annotations

import inspect
import io
import json
import subprocess
import sys
from pathlib import Path

import msgspec
import polars as pl
import pytest

import hlteval
from hlteval import tasks
from hlteval.reports import findings as reports
from hlteval.reports import systems as comparisons
from hlteval.reports.scores import FORMATS
from hlteval.workflows import config as demo

FUNCTIONS = ("compare", "convert", "inspect", "leaderboard", "pack", "read", "score", "validate")
OF_EVALUATIONS = ("best_submissions", "campaign", "check_manifest", "pipeline")
EDL = {"reference": "entities/reference.tab", "system": "entities/system.tab"}


@pytest.fixture(scope="module")
def examples(tmp_path_factory):
    folder = tmp_path_factory.mktemp("demo")
    demo.unpack(folder)
    return folder


@pytest.fixture(autouse=True)
def folder(examples, monkeypatch):
    monkeypatch.chdir(examples)


def test_the_public_names_are_listed():
    assert set(hlteval.__all__) <= set(dir(hlteval))
    assert all(getattr(hlteval, name) is not None for name in dir(hlteval))
    with pytest.raises(AttributeError, match="module 'hlteval' has no attribute 'scor'"):
        _ = hlteval.scor


def test_importing_it_imports_no_heavy_library():
    code = "import hlteval, sys; dir(hlteval); print('polars' in sys.modules, end='')"
    assert subprocess.check_output([sys.executable, "-c", code], text=True) == "False"


@pytest.mark.parametrize("name", [*FUNCTIONS, *OF_EVALUATIONS])
def test_functions_are_typed_and_documented(name):
    function = getattr(hlteval, name)
    signature = inspect.signature(function)
    assert signature.return_annotation is not signature.empty
    for parameter in signature.parameters.values():
        assert parameter.annotation is not parameter.empty
        assert f"{parameter.name}: " in function.__doc__
    assert ">>> " in function.__doc__


def test_no_option_has_the_name_of_an_argument():
    functions = [getattr(hlteval, name) for name in FUNCTIONS]
    arguments = {name for each in functions for name in inspect.signature(each).parameters}
    options = {option.name for name in tasks.task_names() for option in tasks.load(name).options}
    # hub4 has a file of options; of translations, a leaderboard computes the metrics that it has
    assert options & arguments <= {"options", "metrics"}


def test_verdicts_are_dictionaries_and_frames():
    verdict = hlteval.validate("seedev-full", Path("flawed"), against=Path("reference"))
    assert verdict.to_dict() == json.loads(reports.json(verdict))
    frame = verdict.findings.to_frame()
    assert frame["code"].to_list() == [finding.code for finding in verdict.findings]
    assert frame.select("file", "line", "column").row(0) == ("flawed/demo-1.a2", 1, 44)
    assert verdict.findings[:0].to_frame().schema == frame.schema
    assert verdict.findings == tuple(verdict.findings)
    assert isinstance(verdict.findings[:2], hlteval.Findings)
    assert repr(verdict) == "<Verdict: seedev-full, profile plan: fail; 6 errors>"


def test_scores_are_dictionaries_and_frames():
    files = ("comparison/reference.tpl", "comparison/bold.tpl")  # intervals need documents
    scores = hlteval.score("hub4", *files, bootstrap=50)
    text = FORMATS["json"](scores)
    assert msgspec.json.decode(text) == json.loads(json.dumps(scores.to_dict()))
    frame = scores.to_frame()
    assert dict(frame.select("metric", "value").rows()) == scores.metrics
    low, high = frame.filter(metric="both.f").select("low", "high").row(0)
    assert (low, high) == scores.intervals["both.f"]
    assert len(repr(scores)) < 200


def test_comparisons_are_dictionaries_and_frames():
    compared = hlteval.compare(
        "lorehlt-edl",
        EDL["reference"],
        [hlteval.read(path)[0] for path in EDL.values()],
        bootstrap=3,
    )
    assert compared.to_dict() == json.loads(comparisons.comparison_json(compared))
    assert compared.to_frame()["name"].to_list() == ["<corpus>", "<corpus> 2"]
    assert compared.to_frame("differences").height == 1
    assert len(repr(compared)) < 200
    with pytest.raises(ValueError, match="rows: expected 'systems' or 'differences', got 'x'"):
        compared.to_frame("x")


@pytest.mark.parametrize("test", [None, "jackknife"])
def test_systems_are_compared_by_a_metric_that_is_no_sum_over_documents(test):
    systems = ["tutorials/speech-sf/system.json", "tutorials/speech-sf/baseline.json"]
    compared = hlteval.compare("speech-sf", "tutorials/speech-sf/annotations", systems, test=test)
    assert "test:jackknife" in compared.signature
    assert compared.differences[0].probability == pytest.approx(0.1039, abs=1e-4)


def test_options_are_values_of_python():
    files = ("templettes/reference.tpl", "templettes/system.tpl")
    typed = hlteval.score("hub4", *files, noisy=True, align=False, fillers=["uh", "um"], beta=2)
    text = {"noisy": "yes", "fillers": "uh,um", "beta": "2"}
    assert hlteval.score("hub4", *files, options=text).signature == typed.signature
    in_file = io.StringIO('noisy = true\nfillers = ["uh", "um"]\nbeta = 2\n')
    assert hlteval.score("hub4", *files, options={"options": in_file}).metrics == typed.metrics


def test_any_input_can_be_the_file_of_an_option():
    names = pl.DataFrame({"name": ["ENG_D1"]})
    for documents in (io.StringIO("ENG_D1\n"), io.BytesIO(b"ENG_D1\n"), {"documents": names}):
        scores = hlteval.score("lorehlt-edl", **EDL, documents=documents)
        assert scores.metrics == hlteval.score("lorehlt-edl", **EDL).metrics
    weights = b"PER\tORG\t0.5\n"
    one, two = (
        hlteval.score("lorehlt-edl", **EDL, type_weights=io.BytesIO(content))
        for content in (weights, weights * 2)
    )
    assert one.metrics == two.metrics
    assert one.signature != two.signature


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"bootstap": 3}, "unknown option bootstap of lorehlt-edl; did you mean bootstrap?"),
        ({"metrik": "muc"}, "unknown option metrik of lorehlt-edl; did you mean metric?"),
        ({"options": {"metrik": "muc"}}, "unknown option metrik of lorehlt-edl; did you mean"),
        ({"kb": "x"}, "kb: kb belongs to `hlteval validate lorehlt-edl`"),
        ({"measure": "muc", "options": {"measure": "muc"}}, "measure: set twice"),
        ({"profile": "oficial"}, "profile: unknown profile oficial; did you mean official?"),
        ({"task": "lorehlt-ed"}, "task: unknown task lorehlt-ed; did you mean lorehlt-edl?"),
        ({"task": "ltf"}, "task: ltf cannot be scored: it supports validation only"),
        ({"encoding": "latin"}, "encoding: unknown encoding"),
        ({"bootstrap": -1}, "bootstrap: expected a number 0 or more, got -1"),
        ({"confidence": 95}, "confidence: expected a number above 0 and below 1, got 95"),
        ({"by": "typ"}, "invalid value typ of by: "),
    ],
)
def test_wrong_values_say_what_is_right(arguments, message):
    if "encoding" in arguments:
        arguments = {"encoding": "utf-9"}
    with pytest.raises(ValueError, match=r".") as caught:
        hlteval.score(**{"task": "lorehlt-edl", **EDL, **arguments})
    assert str(caught.value).startswith(message)


def test_an_unknown_metric_is_an_error_with_a_suggestion():
    with pytest.raises(hlteval.WrongOption, match=r"metric recal of .*; did you mean recall"):
        hlteval.compare("seedev-full", "reference", ["system"], metric="recal")


def test_output_goes_to_files_that_are_open_for_bytes(tmp_path):
    output = io.BytesIO()
    assert hlteval.convert("entities/system.tab", output, to_format="jsonl") == ()
    hlteval.convert("entities/system.tab", tmp_path / "system.jsonl")
    assert output.getvalue() == (tmp_path / "system.jsonl").read_bytes()
    with (tmp_path / "named.tab").open("wb") as named:  # the suffix of its name is the format
        hlteval.convert(io.BytesIO(output.getvalue()), named, from_format="jsonl")
    assert hlteval.read(tmp_path / "named.tab")[0].mentions.height == 5
    for wrong, message in (
        (io.BytesIO(), "output: has no name with a suffix; set to_format"),
        (io.BytesIO(), "output: the format writes a folder; use a path"),
    ):
        form = "corpus" if "folder" in message else None
        with pytest.raises(hlteval.WrongArgument, match=message):
            hlteval.convert("entities/system.tab", wrong, to_format=form)
    with pytest.raises(TypeError, match="output: is open for text"):
        hlteval.convert("entities/system.tab", io.StringIO(), to_format="jsonl")


def test_systems_have_the_names_of_a_mapping():
    with Path("entities/system.tab").open("rb") as system:
        compared = hlteval.compare(
            "lorehlt-edl", EDL["reference"], {"ours": system, "gold": EDL["reference"]}, bootstrap=3
        )
    assert {each.name for each in compared.systems} == {"ours", "gold"}


def test_refusals_say_what_to_do_in_python():
    with pytest.raises(hlteval.Refused) as caught:
        hlteval.score("seedev-full", "reference", "flawed")
    assert caught.value.fix == "fix the blocking findings, or use lenient to score the rest"
    assert caught.value.verdict.findings.to_frame().height == 6
