"""The index of codes, their pages, and who finds each."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from docs.make.code_pages import index, pages
from docs.make.origins import Origins, origins
from hlteval import converters, tasks
from hlteval.findings import catalogue

ROOT = Path(__file__).parents[3]
ROOMS = {
    "brat-conf": "brat",
    "lorehlt-sf-options": "lorehlt-sf",
    "standoff": "seedev-full",
    "seedev": "seedev-full",
    "xml": "ltf",
    "glm": "hub4",
}
"""Folders of fixtures that bear no name of a format or task, with a task that finds their codes."""


def test_the_committed_index_is_up_to_date(golden):
    golden(ROOT / "docs" / "codes.md", index())


def test_every_code_has_an_anchor_and_a_page_that_tells_how_to_silence_it():
    anchors = re.findall(r'<a id="(\w+)"></a>(\w+) \|', index())
    assert anchors == [(code.lower(), code) for code in catalogue()]
    told = pages()
    assert told.keys() == catalogue().keys()
    for code, page in told.items():
        assert f"--ignore {code}\n" in page
        assert ("`hlteval score` still rejects it" in page) is catalogue()[code].blocking
        assert "**Reported by**" in page


def test_what_nobody_reads_or_checks_is_told_by_conversions():
    found = origins()
    assert found.keys() == catalogue().keys()
    alone = {code for code, where in found.items() if where == Origins((), ())}
    assert alone == {code for code in catalogue() if code.startswith("CNV")}
    assert found["SRC201"].formats == tuple(converters.known())


A2_TASKS = (
    *("seedev-binary", "seedev-full", "bb19-norm", "bb19-norm-ner", "bb19-rel", "bb19-rel-ner"),
    *("bb19-kb", "bb19-kb-ner", "bb16-cat", "bb16-event"),
)
"""The tasks whose submissions are .a2 files."""


@pytest.mark.parametrize(
    ("code", "formats", "found_by"),
    [
        ("BRT101", ("brat",), ("mentions", "relations", "events", "coreference", "links")),
        ("EDL403", (), ("lorehlt-edl", "lorehlt-sf")),
        ("GLM101", (), ("hub4",)),
        (
            "JSN101",
            (
                *("speech-sf-json", "lorehlt-sf-json", "pubannotation", "label-studio", "doccano"),
                *("prodigy", "spacy-json", "cas-json", "bioc-json"),
            ),
            (
                *("speech-sf", "lorehlt-sf", "mentions", "relations", "events", "coreference"),
                *("links", "labels"),
            ),
        ),
        ("SEE301", (), ("seedev-binary", "seedev-full")),
        ("SEE402", (), A2_TASKS),
        ("STD101", ("standoff",), (*A2_TASKS, "mentions", "relations", "events")),
        ("LTF106", (), ("ltf",)),
        (
            "XML101",
            (
                *("tac-queries", "ltf", "laf", "bioc-xml", "gate-xml", "elan", "lorehlt-mt"),
                *("mteval", "tmx", "cas-xmi"),
            ),
            (
                *("lorehlt-edl", "lorehlt-sf", "ltf", "laf", "lorehlt-mt"),
                *("mentions", "relations", "events", "coreference", "links", "segments"),
            ),
        ),
    ],
)
def test_a_code_comes_from_where_it_comes_from(code, formats, found_by):
    assert origins()[code] == Origins(formats, found_by)


def test_a_rule_is_of_its_task_and_a_fixture_of_its_folder():
    found = origins()
    for name in tasks.BUILTIN:
        for rule in tasks.rules(tasks.load(name)):
            assert name in found[rule.code].tasks
    for fixture in (ROOT / "fixtures").glob("*/invalid/*"):
        room, code = fixture.parts[-3], fixture.name.partition("-")[0]
        where = (*found[code].formats, *found[code].tasks)
        common = {"source", "conversion", "inputs", "packing", "reference", "options"}
        common |= {"manifest", "pipeline", "campaign", "leaderboard", "config", "agreement"}
        common |= {"task-toml", "generic", "publish-toml", "codabench", "evalai"}
        family = any(name.startswith(f"{room}-") for name in where)
        assert family or room in common or {room, ROOMS.get(room)} & {*where}, fixture
