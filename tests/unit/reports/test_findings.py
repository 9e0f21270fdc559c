"""The formats for programs: complete, in order, and safe to read."""

from __future__ import annotations

import json
import re
from io import StringIO
from pathlib import Path
from xml.etree import ElementTree

import msgspec
import pytest
import sarif_pydantic
from lxml import etree
from rich.console import Console

from hlteval.findings import Finding, Severity, Span, catalogue, excerpt, finding
from hlteval.reports.findings import FORMATS, render
from hlteval.results.verdict import Verdict, declared_schemas

VERSIONS = {name: schema["version"] for name, schema in declared_schemas().items()}

GOLDEN = Path(__file__).parents[2] / "golden" / "findings"
KEYS = [
    "code", "name", "severity", "blocking", "message", "file", "line", "column", "end_line",
    "end_column", "record", "help", "clause", "side",
]  # fmt: skip


def problem(code: str, severity: str = "error", **given: object) -> Finding:
    values = {"name": "a-test", "blocking": False, "message": "this is wrong"}
    return Finding(code=code, severity=Severity(severity), **(values | given))


LINE = "T1\tGene 0 4\t東京"
FINDINGS = (
    problem("TST301", "warning", message="nothing predicted", help="check the folder"),
    problem("TST102", "info", file="b.a2", record="E1"),
    problem(
        "TST101",
        file="a.a2",
        span=Span(3, 13, 15),
        excerpt=excerpt(LINE, Span(3, 13, 15)),
        message="東京 is\tno [bold]\x1b[31m\n\u202e type",
        blocking=True,
        clause="plan, 4",
    ),
    problem("TST101", file="a.a2", span=Span(2, 1, 1)),
)
VERDICT = Verdict("seedev-binary", "plan", passed=False, findings=FINDINGS)


SUFFIXES = {
    "concise": "txt", "json": "json", "jsonl": "jsonl", "sarif": "sarif", "github": "log",
    "junit": "xml",
}  # fmt: skip


@pytest.mark.parametrize(("form", "suffix"), SUFFIXES.items())
def test_snapshot(form, suffix, golden):
    golden(GOLDEN / f"machine-{form}.{suffix}", str(render(VERDICT, form)))


def test_concise_is_a_line_each():
    lines = str(render(VERDICT, "concise")).splitlines()
    assert len(lines) == 4
    assert lines[1] == "a.a2:2:1: error[TST101] this is wrong"
    assert lines[0] == "warning[TST301] nothing predicted"
    assert lines[3] == "b.a2: info[TST102] this is wrong"


def test_json_is_one_object():
    report = json.loads(str(render(VERDICT, "json")))
    head = ["schema", "version", "task", "profile", "verdict", "side", "documents", "records"]
    assert list(report) == [*head, "counts", "findings"]
    assert (report["task"], report["profile"], report["verdict"]) == (
        "seedev-binary",
        "plan",
        "fail",
    )
    assert report["counts"] == {
        "severity": {"error": 2, "warning": 1, "info": 1},
        "code": {"TST101": 2, "TST102": 1, "TST301": 1},
        "side": {"submission": 4},
    }
    assert [list(finding) for finding in report["findings"]] == [KEYS] * 4
    assert report["findings"][2] == {
        "code": "TST101",
        "name": "a-test",
        "severity": "error",
        "blocking": True,
        "message": "東京 is\tno [bold]\x1b[31m\n\u202e type",
        "file": "a.a2",
        "line": 3,
        "column": 13,
        "end_line": 3,
        "end_column": 15,
        "record": None,
        "help": None,
        "clause": "plan, 4",
        "side": "submission",
    }
    nowhere = report["findings"][0]
    assert [nowhere[key] for key in ("file", "line", "column", "end_line", "end_column")] == [
        None
    ] * 5


def test_json_lines_are_the_findings_of_json():
    lines = list(map(json.loads, str(render(VERDICT, "jsonl")).splitlines()))
    heads = {(line.pop("schema"), line.pop("version")) for line in lines}
    assert heads == {("finding", VERSIONS["finding"])}
    assert lines == json.loads(str(render(VERDICT, "json")))["findings"]


def test_other_scripts_stay_readable_in_json():
    assert '"東京 is\\tno [bold]\\u001b[31m\\n\\u202e type"' in str(render(VERDICT, "json"))


@pytest.mark.parametrize("form", ["json", "jsonl"])
def test_json_does_nothing_to_a_terminal(form):
    nasty = "".join(map(chr, [*range(32), *range(127, 160), *range(0x2000, 0x2070), 0xFEFF]))
    verdict = Verdict("t", "plan", passed=False, findings=(problem("TST101", message=nasty),))
    output = str(render(verdict, form))
    assert len(output.splitlines()) == {"json": 3, "jsonl": 1}[form]
    assert not set(output) & set("\x7f\x85\x9b\u200e\u202e\u2028\u2066\ufeff")
    finding = json.loads(output)["findings"][0] if form == "json" else json.loads(output)
    assert finding["message"] == nasty


def test_no_findings():
    verdict = Verdict("t", "official", passed=True)
    assert render(verdict, "jsonl") == render(verdict, "concise") == ""
    report = json.loads(str(render(verdict, "json")))
    assert (report["verdict"], report["findings"], report["counts"]["code"]) == ("pass", [], {})


@pytest.mark.parametrize("form", ["concise", "json", "jsonl"])
def test_machines_get_everything(form):
    many = tuple(problem("TST101", file="a", span=Span(n, 1, 2)) for n in range(1, 3001))
    verdict = Verdict("t", "plan", passed=False, findings=many)
    assert str(render(verdict, form)).count("this is wrong") == 3000
    assert str(render(verdict, form, 0)).count("this is wrong") == 3000
    output = str(render(verdict, form, 1))
    assert (output.count("this is wrong"), output.count("2,999 more: ")) == (1, 1)


@pytest.mark.parametrize("form", ["json", "jsonl"])
def test_lone_surrogates_are_written_out(form):
    """A file name that is not UTF-8 reaches Python with lone surrogates."""
    broken = problem("TST101", file="d\udcff.a2", record="\ud800", message="東京 \udc80")
    whole = problem("TST102", file="東京.a2")
    output = str(render(Verdict("t", "plan", passed=False, findings=(broken, whole)), form))
    assert "東京.a2" in output.encode().decode()
    strict = msgspec.json.decode(output if form == "json" else output.splitlines()[0])
    first = strict["findings"][0] if form == "json" else strict
    assert first["file"] == "d\\udcff.a2"
    assert (first["record"], first["message"]) == ("\\ud800", "東京 \\udc80")


def test_lone_surrogates_do_not_stop_people():
    broken = problem("TST101", file="d\udcff.a2")
    output = str(render(Verdict("t", "plan", passed=False, findings=(broken,)), "concise"))
    assert output == "d\\xff.a2: error[TST101] this is wrong\n"


def test_every_format_has_its_name():
    assert list(FORMATS) == ["text", "concise", "json", "jsonl", "sarif", "github", "junit"]
    with pytest.raises(KeyError):
        render(VERDICT, "checkstyle")


def test_concise_lines_can_be_taken_apart():
    pattern = re.compile(r"(?:(.+?):)?(?:(\d+):(\d+):)? ?(error|warning|info)\[(\w+)\] (.*)")
    parts = [pattern.fullmatch(line) for line in str(render(VERDICT, "concise")).splitlines()]
    assert [part and part.group(1, 2, 3) for part in parts] == [
        (None, None, None),
        ("a.a2", "2", "1"),
        ("a.a2", "3", "13"),
        ("b.a2", None, None),
    ]


def test_sarif_is_what_its_schema_says():
    report = str(render(VERDICT, "sarif"))
    log = sarif_pydantic.Sarif.model_validate_json(report)
    (run,) = log.runs
    assert run.tool.driver.name == "hlteval"
    assert [result.level.value for result in run.results or ()] == [
        "warning", "error", "error", "note",
    ]  # fmt: skip
    assert report.isascii()


def test_sarif_tells_place_rule_and_blocking():
    (run,) = json.loads(str(render(VERDICT, "sarif")))["runs"]
    assert run["columnKind"] == "unicodeCodePoints"
    submission, _, placed, _ = run["results"]
    assert "locations" not in submission
    assert placed["locations"][0]["physicalLocation"] == {
        "artifactLocation": {"uri": "a.a2"},
        "region": {"startLine": 3, "startColumn": 13, "endColumn": 15},
    }
    assert placed["properties"] == {"blocking": True, "side": "submission", "clause": "plan, 4"}
    for result in run["results"]:
        assert run["tool"]["driver"]["rules"][result["ruleIndex"]]["id"] == result["ruleId"]


def test_sarif_says_what_the_catalogue_says_of_a_code():
    verdict = Verdict(
        "", "", passed=False, findings=(finding("SRC201", offset=3, byte="0xe9", guess=""),)
    )
    (run,) = json.loads(str(render(verdict, "sarif")))["runs"]
    (rule,) = run["tool"]["driver"]["rules"]
    entry = catalogue()["SRC201"]
    assert rule["shortDescription"]["text"] == entry.title
    assert rule["defaultConfiguration"] == {"level": "error"}
    assert entry.clause in rule["help"]["text"]


def test_sarif_names_files_by_uri():
    verdict = Verdict("", "", passed=False, findings=(problem("TST101", file="a b/東.a2#1?"),))
    (run,) = json.loads(str(render(verdict, "sarif")))["runs"]
    location = run["results"][0]["locations"][0]["physicalLocation"]["artifactLocation"]
    assert location == {"uri": "a%20b/%E6%9D%B1.a2%231%3F"}


def test_a_workflow_command_is_a_line_that_nothing_breaks():
    strange = problem(
        "TST101", file="a,b:c%.a2", span=Span(1, 2, 3), message="50% of\nit\x1b", help="mend: it"
    )
    report = str(render(Verdict("", "", passed=False, findings=(strange,)), "github"))
    assert report == (
        "::error file=a%2Cb%3Ac%25.a2,title=TST101 a-test,line=1,col=2,endColumn=3"
        "::50%25 of%0Ait\\x1b%0Amend: it\n"
    )


JUNIT = etree.RelaxNG(
    etree.fromstring("""
<grammar xmlns="http://relaxng.org/ns/structure/1.0"
         datatypeLibrary="http://www.w3.org/2001/XMLSchema-datatypes">
  <start><element name="testsuites">
    <ref name="counts"/><oneOrMore><ref name="suite"/></oneOrMore>
  </element></start>
  <define name="counts">
    <attribute name="name"/>
    <attribute name="tests"><data type="nonNegativeInteger"/></attribute>
    <attribute name="failures"><data type="nonNegativeInteger"/></attribute>
    <attribute name="errors"><data type="nonNegativeInteger"/></attribute>
    <attribute name="skipped"><data type="nonNegativeInteger"/></attribute>
    <attribute name="time"><data type="decimal"/></attribute>
  </define>
  <define name="suite"><element name="testsuite">
    <ref name="counts"/><zeroOrMore><ref name="case"/></zeroOrMore>
  </element></define>
  <define name="case"><element name="testcase">
    <attribute name="classname"/><attribute name="name"/>
    <attribute name="time"><data type="decimal"/></attribute>
    <optional><element name="failure">
      <attribute name="type"/><attribute name="message"/><text/>
    </element></optional>
    <optional><element name="system-out"><text/></element></optional>
  </element></define>
</grammar>""")
)
"""The part of the format that all programs read which show JUnit."""


def of_junit(verdict: Verdict) -> ElementTree.Element:
    """The report of a verdict, which is valid and whose numbers are those of its cases."""
    written = str(render(verdict, "junit"))
    JUNIT.assertValid(etree.fromstring(written.encode()))
    root = ElementTree.fromstring(written)
    for part in (root, *root):
        cases = list(part.iter("testcase"))
        failed = [case for case in cases if case.find("failure") is not None]
        assert (part.get("tests"), part.get("failures")) == (str(len(cases)), str(len(failed)))
    return root


def test_junit_has_a_case_for_each_file():
    root = of_junit(msgspec.structs.replace(VERDICT, files_judged=("a.a2", "b.a2", "c.a2")))
    (suite,) = root
    cases = {case.get("name"): case for case in suite}
    assert list(cases) == ["submission", "a.a2", "b.a2", "c.a2"]
    failure = cases["a.a2"].find("failure")
    assert failure is not None
    assert (failure.get("message"), failure.get("type")) == ("2 errors", "TST101")
    heads = [line for line in str(failure.text).splitlines() if "error[" in line]
    assert [head.split(" ")[0] for head in heads] == ["2:1:", "3:13:"]
    assert cases["b.a2"].findtext("system-out") == "info[TST102] this is wrong"
    assert not list(cases["c.a2"])


def test_junit_of_nothing_is_a_test_that_passed():
    root = of_junit(Verdict("t", "plan", passed=True))
    assert (root.get("tests"), root.get("failures")) == ("1", "0")
    assert root.find("testsuite/testcase/*") is None


OF_A_REFERENCE = Verdict(
    "seedev-binary",
    "plan",
    passed=True,
    findings=(
        problem("TST301", "warning", file="a.a2"),
        problem("TST101", file="r.a2", span=Span(2, 1, 3), side="reference"),
        problem("TST101", blocking=True, side="--kb"),
    ),
    paths={"submission": "run", "reference": "gold"},
)


def test_findings_of_other_sides_have_a_heading_of_their_own() -> None:
    stream = StringIO()
    Console(file=stream, width=80).print(render(OF_A_REFERENCE, "text"), soft_wrap=True)
    shown = stream.getvalue()
    first, _, rest = shown.partition("\n--kb\n")
    options, _, reference = rest.partition("\nreference: gold\n")
    assert "TST301" in first
    assert "TST101" not in first
    assert "TST101" in options
    assert "r.a2:2:1" in reference
    assert "\nside        code    severity         count  title\n" in reference
    assert "\nreference   TST101  error                1  a-test\n" in reference
    closing = "pass: 1 warning in 1 file; --kb: 1 error; reference: 1 error in 1 file (seedev"
    assert closing in reference


def test_every_format_tells_the_side_of_a_finding() -> None:
    assert json.loads(str(render(OF_A_REFERENCE, "json")))["counts"]["side"] == {
        "submission": 1,
        "--kb": 1,
        "reference": 1,
    }
    lines = [json.loads(line) for line in str(render(OF_A_REFERENCE, "jsonl")).splitlines()]
    assert [line["side"] for line in lines] == ["submission", "--kb", "reference"]
    (run,) = json.loads(str(render(OF_A_REFERENCE, "sarif")))["runs"]
    assert [result["properties"]["side"] for result in run["results"]] == [
        line["side"] for line in lines
    ]
    assert "title=TST101 a-test (reference),line=2" in str(render(OF_A_REFERENCE, "github"))
    assert "r.a2:2:1: error[TST101] reference: this" in str(render(OF_A_REFERENCE, "concise"))


def test_only_errors_of_what_is_judged_are_failed_tests() -> None:
    def failed(verdict: Verdict) -> dict[str | None, str | None]:
        return {suite.get("name"): suite.get("failures") for suite in of_junit(verdict)}

    names = ("submission: run", "--kb", "reference: gold")
    assert failed(OF_A_REFERENCE) == dict.fromkeys(names, "0")
    undecided = msgspec.structs.replace(OF_A_REFERENCE, passed=False, decided=False)
    assert failed(undecided) == dict(zip(names, "011", strict=True))
    assert json.loads(str(render(undecided, "json")))["verdict"] == "undecided"
