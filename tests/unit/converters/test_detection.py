"""Formats of files by their names and first bytes: each valid fixture beside all formats."""

from __future__ import annotations

from pathlib import Path

import pytest

from hlteval.converters import BUILTIN, load
from hlteval.sources import Member, Source, open_source
from hlteval.workflows.convert.inputs import candidates, detection

FIXTURES = Path(__file__).parents[3] / "fixtures"
#: Fixtures of formats that have none in a folder of their own name.
ELSEWHERE = {
    "jsonl": ["lorehlt-edl/valid/texts.jsonl"],
    "document-list": ["lorehlt-edl/valid/documents.list"],
    "edl-tab": ["lorehlt-edl/valid/submission.tab"],
    "kb-tab": ["lorehlt-edl/valid/kb.tab"],
    "sgml-corpus": ["hub4/valid/corpus.sgml"],
}
#: Files that no program could tell, with the reason.
UNCLEAR = {
    "neleval/valid/few-columns.tsv": "its three columns are those of seedev-sentences",
    "hub4/valid/allowed.slots": "a list for an option",
    "hub4/valid/corpus.sgml": "the texts beside the templates",
    "sgml-corpus/valid/stories.sgml": "a setting names its elements",
    "brat/valid/meeting.txt": "a text without its annotations",
    "brat/valid/silence.txt": "a text without its annotations",
    "transcript/valid/identified.txt": "any text may be one",
    "transcript/valid/lines.txt": "any text may be one",
}
#: Formats that tell their files by content alone, whatever these are called.
NAMELESS = (
    *("appen", "bioc-xml", "cas-json", "cas-xmi", "conll-coref", "conllu", "doccano", "elan"),
    *("gate-xml", "label-studio", "laf", "ltf", "mteval", "prodigy", "pubannotation", "pubtator"),
    *(
        "rttm",
        "sacrebleu-tsv",
        "spacy-docbin",
        "spacy-json",
        "textgrid",
        "tmx",
        "webanno-tsv",
        "webvtt",
    ),
)


def fixtures(name: str) -> list[Path]:
    """The valid fixtures of a format: its files, and the folder if it has a file per document."""
    folder = FIXTURES / name / "valid"
    found = sorted(folder.iterdir()) if folder.is_dir() else []
    found += [folder] if folder.is_dir() and load(name).layout == "per_document" else []
    clear = [path for path in found if path.relative_to(FIXTURES).as_posix() not in UNCLEAR]
    return [FIXTURES / path for path in ELSEWHERE.get(name, ())] + clear


CASES = [(name, path) for name in BUILTIN if load(name).reads for path in fixtures(name)]


def chosen(source: Source) -> list[str]:
    return [form.name for form, reason in candidates(source) if not reason]


@pytest.mark.parametrize(
    ("name", "path"), CASES, ids=lambda each: each if isinstance(each, str) else each.name
)
def test_each_fixture_is_of_its_format_among_all(name, path):
    assert chosen(open_source(str(path))) == [name]


#: Files whose beginning is like that of another format; an empty name is that of none.
ALIKE = [
    ("a.conll", "conll-columns", "# sent_id = 1\nAnn\tB-PER\nran\tO\n"),
    ("a.conllu", "conllu", "# sent_id = 1\n# text = a\n1\ta\t_\t_\t_\t_\t_\t_\t_\t_\n"),
    ("a.conllu", "conllu", "# sent_id = 1\n# text = a\n1 a _ _ _ _ _ _ _ _\n"),
    ("a.tsv", "conllu-plus", "# global.columns = FORM NER\n# newdoc id = d\nAnn\tB-PER\nran\tO\n"),
    ("a.tab", "edl-tab", "R\tm1\tOsh\tD1:0-2\tNIL1\tGPE\tNAM\t1.0\tNo\tNo\tYes\n"),
    ("a.tsv", "label-table", "index\tpromptID\tpairID\tgold_label\n0\t63735\t63735n\tneutral\n"),
    ("a.tsv", "label-table", 'Quality\t#1 ID\t#2 ID\t#1 String\n1\t70\t71\tHe "ran\n'),
    ("a.tsv", "label-table", "id\tqid1\tqid2\tquestion1\tis_duplicate\n1\t70\t71\tDid he?\t0\n"),
    ("a.txt", "label-table", "Quality\t#1 ID\t#2 ID\t#1 String\n1\t70\t71\tHe ran\n"),
    ("a.tsv", "label-table", "label\tid1\tid2\ttext\n1\t70\t71\tHe ran\n"),
    ("a.txt", "pubtator", "70|t|He ran\n70|a|\n70\t0\t2\tHe\tSpecies\t9606\n"),
    ("a.tsv", "neleval", "D1\t1\t5\tE1\n\nD1\t7\t9\tE2\t0.5\tPER\n"),
    ("a.tsv", "neleval", "document\tstart\tend\tentity\nD1\t1\t5\tE1\n"),
    ("a.txt", "audacity", "start\tend\tlabel\n0\t1.5\tspeech\n"),
    ("a", "conll-coref", "#begin document (1); part 000\n1\t0\t0\tAnn\t(0)\n\n#end document\n"),
    ("a.txt", "audacity", "0\t1.5\tspeech\tof Ann\n"),
    ("a.json", "doccano", '[["Ann at Acme", {"entities": [[0, 3, "PER"]]}]]'),
    ("a.json", "", '[["Ann at Acme", {"spans": []}]]'),
    ("a.jsonl", "", '{"words": ["Ann", "ran"], "ner": ["B-PER", "O"]}\n'),
    ("a.jsonl", "doccano", '{"text": "Ann ran", "entities": [[0, 3, "PER"]]}\n'),
    ("a.jsonl", "doccano", '{"id": 1, "text": "Ann ran", "label": "pos"}\n'),
    ("a.jsonl", "doccano", '{"id": 1, "label": ["pos", "ne\\"g"]}\n'),
    ("a.jsonl", "", '{"id": 1, "labels": ["pos", 1]}\n'),
    ("a.jsonl", "", '{"text": "Ann ran", "label": "pos", "score": 1}\n'),
    ("a.jsonl", "prodigy", '{"text": "Ann ran", "spans": [{"start": 0, "end": 3}]}\n'),
    ("a.jsonl", "", '{"text": "Ann ran", "spans": []}\n'),
    ("a.xml", "", "<doc><p>Ann</p></doc>\n"),
    ("a.json", "speech-sf-json", "[]"),
    ("a.json", "speech-sf-json", '[{"documentid": "S1"}]'),
]


@pytest.mark.parametrize(("file", "name", "text"), ALIKE)
def test_files_that_begin_like_those_of_another_format(tmp_path, file, name, text):
    path = tmp_path / file
    path.write_text(text, "utf-8")
    assert chosen(open_source(str(path))) == ([name] if name else [])


_LONG = r"Ann said \"Hi\" to Bo. " * 400
#: Files in which a long text comes before the members of their format.
AFTER_TEXTS = [
    ("doccano", '{"id": 1, "text": "%s", "label": [[0, 3, "PER"]]}\n'),
    ("prodigy", '{"text": "%s", "_input_hash": 7, "answer": "accept", "spans": []}\n'),
    ("spacy-json", '{"text": "%s", "ents": [], "tokens": []}\n'),
    ("pubannotation", '{"text": "%s", "denotations": []}\n'),
    ("label-studio", '[{"data": {"text": "%s"}, "annotations": [{"completed_by": 1}]}]'),
    ("hf-tokens", '{"tokens": ["%s"], "ner_tags": ["O"]}\n'),
]


@pytest.mark.parametrize(("name", "line"), AFTER_TEXTS)
def test_members_may_be_after_a_long_text(tmp_path, name, line):
    path = tmp_path / "a.json"
    path.write_text(line % _LONG, "utf-8")
    assert chosen(open_source(str(path))) == [name]


@pytest.mark.parametrize("name", NAMELESS)
def test_content_tells_the_format_of_a_file_without_a_name(name):
    files = [path for path in fixtures(name) if path.is_file()]
    for data in (path.read_bytes() for path in files):
        member = Member("", "data", len(data), lambda data=data: data)
        assert chosen(Source("data", "file", (member,))) == [name]


def test_what_is_unclear_is_there():
    assert all((FIXTURES / path).exists() for path in UNCLEAR)


def test_settings_that_the_data_show_are_named():
    found = detection(str(FIXTURES / "pubtator/invalid/PBT202-utf16.pubtator"))
    assert (found.format, found.reason) == ("pubtator", "no other format accepts it")
    assert [(each.name, each.value) for each in found.settings] == [("offsets", "utf-16")]
    found = detection(str(FIXTURES / "conll-columns/valid"))
    assert [each.name for each in found.settings] == ["scheme"]


def test_reasons_say_why_another_format_comes_first(tmp_path):
    rows = detection(str(FIXTURES / "instances-csv/valid/rows.csv"))
    assert rows.reason == "other formats that accept it accept much"
    reasons = {each.format: each.reason for each in rows.candidates}
    assert reasons["instances-csv"] == ""
    assert reasons["label-table"].startswith("it accepts much")
    named = detection(str(FIXTURES / "seedev-sentences/valid/sentences.tsv"))
    assert named.reason == "its name decides between formats that accept it"
    unclear = tmp_path / "d"
    unclear.write_text("d1\t0\t3\n", "utf-8")
    both = detection(str(unclear))
    assert (both.format, [each.reason for each in both.candidates]) == ("", ["", ""])
    assert "may be seedev-sentences or neleval" in both.reason
