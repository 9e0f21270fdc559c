"""CAS XMI, CAS JSON and WebAnno TSV: what is read and written, and where problems are found."""

from __future__ import annotations

import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from hlteval import convert, read
from hlteval.converters import WrongSetting, load
from hlteval.converters.uima.tsv_reading import split, unescape
from hlteval.converters.uima.tsv_writing import TEXT_ESCAPES, Segmentation, escape
from hlteval.findings import FieldRef, Finding, Span
from hlteval.representation import Corpus, annotators_by_document
from hlteval.sources import Member, open_source
from hlteval.workflows.convert.inputs import detect_format

FIXTURES = Path(__file__).parents[3] / "fixtures"
FORMATS = ("cas-xmi", "cas-json", "webanno-tsv")
#: File, line, column and end column.
PLACES = """
cas-xmi     UIM201-no-sofa.xmi                     2    1 212
cas-xmi     UIM202-sign.xmi                        3   46  48
cas-xmi     UIM203-end-first.xmi                   3   54  55
cas-xmi     UIM203-too-large.xmi                   3   54  56
cas-xmi     UIM204-two-texts                       5   17  18
cas-xmi     UIM205-same-number.xmi                 4   27  28
cas-xmi     UIM301-governor.xmi                    4   66  67
cas-xmi     UIM301-link.xmi                        5   51  52
cas-xmi     UIM301-member.xmi                      5   29  32
cas-xmi     UIM302-no-dependent.xmi                4    1  83
cas-xmi     UIM303-not-indexed.xmi                 4    1  70
cas-json    JSN106-no-comma.cas.json               2    2   3
cas-json    UIM202-float.cas.json                  4  102 105
cas-json    UIM203-too-large.cas.json              4  112 114
cas-json    UIM205-no-number.cas.json              5    3   4
cas-json    UIM206-number.cas.json                 2   25  26
cas-json    UIM206-structure.cas.json              4    3   6
cas-json    UIM301-governor.cas.json               5   82  83
cas-json    UIM301-member.cas.json                 5   54  55
cas-json    UIM303-not-indexed.cas.json            5    3   4
webanno-tsv UIM101-version-2.webanno.tsv           1    1  22
webanno-tsv UIM102-no-cell.webanno.tsv             8    1  14
webanno-tsv UIM103-one-off.webanno.tsv            10   11  14
webanno-tsv UIM104-characters.webanno.tsv          6    9  10
webanno-tsv UIM105-bracket.webanno.tsv             7   13  19
webanno-tsv UIM105-target.webanno.tsv             11   24  27
webanno-tsv UIM204-two-texts                       5    1  28
webanno-tsv UIM107-repeated.webanno.tsv             7   13 2814
webanno-tsv UIM301-no-annotation.webanno.tsv      11   24  27
"""
ROWS = [line.split() for line in PLACES.strip().splitlines()]
MARKET = "\U0001f600 Ann works at Acme Inc\nShe sold old chairs."
XMI = (
    '<xmi:XMI xmlns:xmi="http://www.omg.org/XMI" xmlns:cas="http:///uima/cas.ecore"'
    ' xmlns:c="http:///c.ecore">{}</xmi:XMI>'
)
SOFA = '<cas:Sofa xmi:id="1" sofaNum="1" sofaID="_InitialView" sofaString="Ann sang."/>'
TSV = "#FORMAT=WebAnno TSV 3.3\n#T_SP=c.Span|value\n\n\n"
Taken = Callable[..., tuple[Corpus, list[Finding]]]


@pytest.fixture
def taken(tmp_path: Path) -> Taken:
    """Reads what stands in a file."""

    def take(
        content: str, form: str = "webanno-tsv", **settings: str
    ) -> tuple[Corpus, list[Finding]]:
        file = tmp_path / f"d{load(form).suffixes[0]}"
        file.write_text(content, "utf-8", newline="")
        results = list(load(form).with_settings(settings).read(open_source(str(file))))
        corpus = Corpus.concat(result.corpus for result in results)
        corpus.check_keys()
        return corpus, [finding for result in results for finding in result.findings]

    return take


def spans(corpus: Corpus, *columns: str) -> list[tuple[object, ...]]:
    return corpus.mentions.select("label", "text", *columns).rows()


def relations(corpus: Corpus) -> dict[tuple[str, str], list[tuple[str, str | None]]]:
    """The frames by kind and label, with the texts of their arguments by role."""
    texts = dict(corpus.mentions.select("mention", "text").rows())
    found: dict[tuple[str, str], list[tuple[str, str | None]]] = {}
    for row, kind, label in corpus.frames.select("row", "kind", "label").iter_rows():
        own = corpus.arguments.filter(frame_row=row).select("role", "target").iter_rows()
        found[kind, label] = [(role, texts[target]) for role, target in own]
    return found


def test_every_invalid_file_has_its_place() -> None:
    names = {path.name for form in FORMATS for path in (FIXTURES / form / "invalid").iterdir()}
    assert names == {row[1] for row in ROWS}


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row[1])
def test_a_mistake_is_found_at_its_place(row: list[str]) -> None:
    form, name, *place = row
    _, findings = read(str(FIXTURES / form / "invalid" / name), form)
    (only,) = findings
    assert only.code == name.partition("-")[0]
    assert only.span is not None
    assert [only.span.line, only.span.column, only.span.end_column] == [*map(int, place)]


@pytest.mark.parametrize("form", FORMATS)
def test_the_market_is_read(form: str) -> None:
    corpus, findings = read(str(FIXTURES / form / "valid"), form)
    assert findings == []
    assert corpus.documents["text"].to_list() == [MARKET]
    held = spans(corpus, "start", "end", "entity")
    assert ("PER", "Ann", 2, 5, "Q1") in held
    assert ("ORG", "Acme Inc", 15, 23, None) in held
    assert ("GOODS", "old chairs", 33, 43, None) in held
    found = relations(corpus)
    assert found["relation", "works for"] == [("Governor", "Ann"), ("Dependent", "Acme Inc")]
    assert found["event", "sale"] == [("seller", "Ann"), ("goods", "old chairs")]
    assert "\U0001f600" in corpus.tokens["text"] or form == "cas-json"
    assert corpus.segments["text"][0] == MARKET.split("\n", maxsplit=1)[0]


@pytest.mark.parametrize("form", ["cas-xmi", "webanno-tsv"])
def test_a_chain_is_an_entity(form: str) -> None:
    corpus, _ = read(str(FIXTURES / form / "valid"), form)
    chained = corpus.mentions.filter(entity="chain-1")
    assert chained.select("label", "text").rows() == [("name", "Ann"), ("pronoun", "She")]
    relation = corpus.modifiers.filter(label="referenceRelation")
    assert relation["value"].to_list() == ["same"]


def test_a_flag_has_no_value_and_a_layer_with_features_has_its_name() -> None:
    corpus, _ = read(str(FIXTURES / "cas-xmi/valid"), "cas-xmi")
    assert ("Stance", "She") in spans(corpus)
    assert corpus.modifiers.filter(target="14").select("modifier", "label", "value").rows() == [
        ("14.polarity", "polarity", "against"),
        ("14.sure", "sure", None),
    ]


@pytest.mark.parametrize(
    ("settings", "labels"),
    [
        ({"layer": "Stance"}, ["Stance"]),
        ({"layer": "webanno.custom.Stance", "feature": "polarity"}, ["against"]),
        ({"layer": "POS_PROPN", "feature": "PosValue"}, ["SYM"]),
        ({"layer": "Nothing"}, []),
    ],
)
def test_a_layer_and_its_label_are_chosen(settings: dict[str, str], labels: list[str]) -> None:
    form = load("cas-xmi").with_settings(settings)
    (result,) = form.read(open_source(str(FIXTURES / "cas-xmi/valid/market.xmi")))
    assert result.corpus.mentions["label"].to_list() == labels


def test_views_are_annotators_or_documents(taken: Taken) -> None:
    corpus, told = read(str(FIXTURES / "cas-json/valid"), "cas-json")
    assert told == []
    ben = corpus.mentions.filter(annotator="ben")
    assert ben.select("mention", "label", "text").rows() == [("ben:16", "ORG", "Ann")]
    other = SOFA.replace('"1"', '"5"').replace("_InitialView", "de").replace("Ann sang", "Sie sang")
    span = '<c:A xmi:id="{}" sofa="1" begin="0" end="3" value="{}"/>'
    views = '<cas:View sofa="1" members="2"/><cas:View sofa="5" members="6"/>'
    body = span.format(2, "PER") + span.format(6, "PRO") + SOFA + other + views
    corpus, findings = taken(XMI.format(body), "cas-xmi")
    assert findings == []
    assert corpus.documents.select("name", "text").rows() == [
        ("d", "Ann sang."), ("d:de", "Sie sang."),
    ]  # fmt: skip
    assert corpus.mentions.select("document", "label", "text").rows() == [
        (0, "PER", "Ann"), (1, "PRO", "Sie"),
    ]  # fmt: skip


def test_the_first_view_is_an_annotator_where_others_have_annotations(taken: Taken) -> None:
    """Only then: a second view with words alone is nobody's."""
    other = SOFA.replace('"1"', '"5"').replace("_InitialView", "GoldView")
    span = '<c:A xmi:id="{}" sofa="1" begin="0" end="3" value="{}"/>'
    views = '<cas:View sofa="1" members="2"/><cas:View sofa="5" members="{}"/>'
    body = span.format(2, "PER") + span.format(6, "ORG") + SOFA + other + views
    corpus, _ = taken(XMI.format(body.format(6)), "cas-xmi")
    assert corpus.mentions.select("mention", "annotator").rows() == [
        ("_InitialView:2", "_InitialView"), ("GoldView:6", "GoldView"),
    ]  # fmt: skip
    corpus, _ = taken(XMI.format(body.format("")), "cas-xmi")
    assert corpus.mentions.select("mention", "annotator").rows() == [("2", None)]


@pytest.mark.parametrize("archive", [False, True])
def test_an_exported_project_has_annotators(tmp_path: Path, archive: bool) -> None:
    files = {
        "annotation/d1.txt/anna.tsv": "PER",
        "annotation/d1.txt/ben.tsv": "ORG",
        "annotation/d1.txt/INITIAL_CAS.tsv": "_",
        "annotation/d2.txt/INITIAL_CAS.tsv": "_",
        "annotation/d2.txt/ben.tsv": "_",
        "curation/d1.txt/CURATION_USER.tsv": "PER",
    }
    path = tmp_path / ("project.zip" if archive else "project")
    for name, label in files.items():
        content = f"{TSV}#Text=Ann sang\n1-1\t0-3\tAnn\t{label}\t\n1-2\t4-8\tsang\t_\t\n"
        if archive:
            with zipfile.ZipFile(path, "a") as stream:
                stream.writestr(name, content)
        else:
            (path / name).parent.mkdir(parents=True, exist_ok=True)
            (path / name).write_text(content, "utf-8")
    assert detect_format(open_source(str(path))).name == "webanno-tsv"
    corpus, findings = read(str(path))
    assert findings == []
    assert corpus.documents["name"].to_list() == ["d1.txt", "d2.txt"]
    assert corpus.mentions.select("document", "mention", "label", "annotator").rows() == [
        (0, "anna:T1", "PER", "anna"),
        (0, "ben:T1", "ORG", "ben"),
        (0, "CURATION_USER:T1", "PER", "CURATION_USER"),
    ]
    assert {*annotators_by_document(corpus).rows()} == {
        (0, "anna"), (0, "ben"), (0, "CURATION_USER"), (1, "ben"),
    }  # fmt: skip
    assert corpus.tokens.height == 4  # once for each document


def test_the_folder_of_annotations_alone_has_annotators(tmp_path: Path) -> None:
    for name, label in {"d1.txt/anna": "PER", "d1.txt/ben": "ORG", "d2.txt/anna": "LOC"}.items():
        path = tmp_path / "annotation" / f"{name}.tsv"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"{TSV}#Text=Ann\n1-1\t0-3\tAnn\t{label}\t\n", "utf-8")
    corpus, findings = read(str(tmp_path / "annotation"))
    assert findings == []
    assert corpus.documents["name"].to_list() == ["d1.txt", "d2.txt"]
    assert corpus.mentions.select("document", "label", "annotator").rows() == [
        (0, "PER", "anna"), (0, "ORG", "ben"), (1, "LOC", "anna"),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("written", "unit"), [("0-1 2-5", "characters"), ("0-2 3-6", "utf-16"), ("0-4 5-8", "bytes")]
)
def test_offsets_count_a_unit(taken: Taken, written: str, unit: str) -> None:
    first, second = written.split()
    content = (
        f"{TSV}#Text=\U0001f600 Ann\n1-1\t{first}\t\U0001f600\t_\t\n1-2\t{second}\tAnn\tPER\t\n"
    )
    corpus, findings = taken(content, offsets=unit)
    assert findings == []
    assert spans(corpus, "start", "end") == [("PER", "Ann", 2, 5)]
    if unit != "utf-16":
        _, (only,) = taken(content)
        assert only.code == "UIM104"
        assert f"--set offsets={unit}" in (only.help or "")


def test_units_of_tsv(taken: Taken) -> None:
    """Parts of tokens, empty spans, several of one token, and values with escapes."""
    content = (
        f"{TSV}#Text=Re\\tplay\n#Text=it\n1-1\t0-2\tRe\t*[1]|a\\|b\\_[2]\t\n1-2\t3-7\tplay\t*[1]\t\n"
        "1-2.1\t3-5\tpl\t\\*\t\n1-2.2\t7-7\t\tx\t\n1-3\t8-10\tit\t_\t\n"
    )
    corpus, findings = taken(content)
    assert findings == []
    assert corpus.documents["text"].to_list() == ["Re\tplay\nit"]
    assert spans(corpus, "start", "end") == [
        ("Span", "Re\tplay", 0, 7), ("a|b_", "Re", 0, 2), ("*", "pl", 3, 5), ("x", "", 7, 7),
    ]  # fmt: skip
    assert corpus.tokens["text"].to_list() == ["Re", "play", "it"]


def test_sentences_of_tsv_are_where_their_first_tokens_are(taken: Taken) -> None:
    content = (
        f"{TSV}#Text=A\n1-1\t0-1\tA\t_\t\n\n#Text=B\n2-1\t1-2\tB\t_\t\n\n"
        "#Text= C\n3-1\t5-6\tC\tX\t\n"
    )
    corpus, findings = taken(content)
    assert findings == []
    assert corpus.documents["text"].to_list() == ["AB\n  C"]
    assert spans(corpus) == [("X", "C")]


def test_other_versions_and_relations_of_words(taken: Taken) -> None:
    pos = "de.tudarmstadt.ukp.dkpro.core.api.lexmorph.type.pos.POS"
    content = (
        f"#FORMAT=WebAnno TSV 3.2\n#T_SP={pos}|PosValue\n"
        f"#T_RL=x.Dependency|DependencyType|BT_{pos}\n\n\n"
        "#Text=Ann sang\n1-1\t0-3\tAnn\tNNP\tSUBJ\t1-2\t\n1-2\t4-8\tsang\tVBD\t_\t_\t\n"
    )
    corpus, findings = taken(content)
    assert findings == []
    assert corpus.tokens["pos"].to_list() == ["NNP", "VBD"]
    assert corpus.mentions.is_empty()
    assert corpus.frames.is_empty()


def test_numbers_of_relations(taken: Taken) -> None:
    content = (
        "#FORMAT=WebAnno TSV 3.3\n#T_SP=c.Span|value\n#T_RL=c.Near|label|BT_c.Span\n\n\n#Text=a b\n"
        "1-1\t0-1\ta\tP[1]|Q[2]\t_\t_\t\n1-2\t2-3\tb\tR\tnear|far\t1-1[2_0]|1-1[1_0]\t\n"
    )
    corpus, findings = taken(content)
    assert findings == []
    names = dict(corpus.mentions.select("mention", "label").rows())
    rows = corpus.arguments.select("frame_row", "target").rows()
    assert [(row, names[target]) for row, target in rows] == [
        (0, "Q"),
        (0, "R"),
        (1, "P"),
        (1, "R"),
    ]
    assert corpus.frames["label"].to_list() == ["near", "far"]


def test_a_relation_has_a_source(taken: Taken) -> None:
    content = (
        "#FORMAT=WebAnno TSV 3.3\n#T_SP=c.Span|value\n#T_RL=c.Near|label|BT_c.Span\n\n\n#Text=a b\n"
        "1-1\t0-1\ta\tP\t_\t_\t\n1-2\t2-3\tb\tR\tnear\t_\t\n"
    )
    corpus, (only,) = taken(content)
    assert (only.code, only.span) == ("UIM105", Span(line=8, column=18, end_column=19))
    assert corpus.frames.is_empty()
    assert spans(corpus) == [("P", "a"), ("R", "b")]


def test_a_line_that_is_not_a_token_moves_no_others(taken: Taken) -> None:
    content = (
        f"{TSV}#Text=Ann sang\n1-1\t0-3\n1-2\t4-8\tsang\tX\t\n\n#Text=Ja\n2-1\t9-11\tJa\tY\t\n"
    )
    corpus, (only,) = taken(content)
    assert only.code == "UIM102"
    assert corpus.documents["text"].to_list() == ["Ann sang\nJa"]
    assert spans(corpus, "start") == [("X", "sang", 4), ("Y", "Ja", 9)]


@pytest.mark.parametrize("token", [(1, 3), (0, 1), (1, 2), (2, 3)])
def test_tokens_with_white_space_move_no_sentences(tmp_path: Path, token: tuple[int, int]) -> None:
    text = " \tb a\nc"
    place = {"row": 0, "document": 0, "origin": 0, "record": 1}
    row = {**place, "start": token[0], "end": token[1], "text": text[slice(*token)]}
    document = {"row": 0, "name": "d", "text": text}
    sentence = {**place, "start": 0, "end": 5, "text": text[:5]}
    corpus = Corpus(documents=[document], segments=[sentence], tokens=[row])
    form = load("webanno-tsv")
    assert form.write is not None
    form.write([corpus], tmp_path / "out")
    (result,) = form.read(open_source(str(tmp_path / "out")))
    assert result.findings == ()
    assert result.corpus.documents["text"].to_list() == [text]
    assert text[slice(*token)] in result.corpus.tokens["text"]


def test_sentences_and_tokens_that_are_not_written_are_counted() -> None:
    place = {"document": 0, "origin": 0, "record": 1, "start": 0, "end": 3, "text": "Ann"}
    rows = [{"row": at, **place} for at in range(2)]
    for text, sentences, tokens in (("Ann", 1, 1), (None, 2, 2)):
        corpus = Corpus(
            documents=[{"row": 0, "name": "d", "text": text}], segments=rows, tokens=rows
        )
        lost = load("webanno-tsv").count_losses(corpus)
        assert lost.get("segments that do not cover the text") == sentences
        assert lost.get("tokens that overlap or are in no sentence") == tokens


@pytest.mark.parametrize("value", ["a_b", "*", "_", "x[1]", "a|b;c", "->", "\\", "\t\n\r", "-", ""])
def test_values_and_texts_are_escaped(value: str) -> None:
    assert unescape(escape(value)) == value
    assert unescape(value.translate(TEXT_ESCAPES)) == value
    assert split(f"{escape(value)}|x", "|") == [escape(value), "x"]


def test_control_characters_are_replaced_in_xml(tmp_path: Path) -> None:
    source = tmp_path / "in"
    source.mkdir()
    (source / "d.txt").write_text("a\x01b", "utf-8")
    (source / "d.ann").write_text("T1\tX 2 3\tb\n", "utf-8")
    findings = convert(str(source), str(tmp_path / "out"), from_format="brat", to_format="cas-xmi")
    assert [finding.code for finding in findings] == ["CNV103"]
    assert "1 text with characters that XML cannot hold" in findings[0].message
    corpus, _ = read(str(tmp_path / "out"), "cas-xmi")
    assert corpus.documents["text"].to_list() == ["a\ufffdb"]
    assert spans(corpus) == [("X", "b")]


def test_what_is_not_readable_has_no_annotations(taken: Taken) -> None:
    for content, form, code in (
        ('<!DOCTYPE a [<!ENTITY b "c">]><a/>', "cas-xmi", "XML102"),
        ("<xmi:XMI>", "cas-xmi", "XML101"),
        ("<XMI2/>", "cas-xmi", "XML110"),
        ("", "cas-json", "JSN115"),
        ("[]", "cas-json", "UIM206"),
        ("", "webanno-tsv", "UIM101"),
    ):
        corpus, findings = taken(content, form)
        assert [finding.code for finding in findings] == [code]
        assert corpus.documents.height == 1
        assert corpus.mentions.is_empty()


def test_an_empty_cas_has_no_text(taken: Taken) -> None:
    corpus, (only,) = taken(XMI.format(""), "cas-xmi")
    assert only.code == "UIM201"
    assert corpus.documents["text"].to_list() == [None]


def test_the_keys_of_structures_may_be_names(taken: Taken) -> None:
    sofa = '"1": {"%TYPE": "uima.cas.Sofa", "sofaID": "_InitialView", "sofaString": "Ann"}'
    span = '"2": {"%TYPE": "c.A", "begin": 0, "end": 9, "value": "PER"}'
    views = '"%VIEWS": {"_InitialView": {"%SOFA": 1, "%MEMBERS": [2]}}'
    corpus, (only,) = taken(f'{{"%FEATURE_STRUCTURES": {{{sofa}, {span}}}, {views}}}', "cas-json")
    assert only.code == "UIM203"
    assert only.span is not None
    assert corpus.rejected_records["id"].to_list() == ["2"]


@pytest.mark.parametrize(
    ("form", "name", "field", "place"),
    [
        ("cas-json", "market.cas.json", "value", "PER"),
        ("cas-xmi", "market.xmi", "value", "PER"),
        ("webanno-tsv", "market.webanno.tsv", "text", "Ann"),
    ],
)
def test_records_are_located(form: str, name: str, field: str, place: str) -> None:
    path = FIXTURES / form / "valid" / name
    data = path.read_bytes()
    corpus, _ = read(str(path), form)
    (record,) = corpus.mentions.filter(label="PER")["record"]
    member = Member(name, name, len(data), lambda: data)
    where, nowhere = load(form).locate(member, [FieldRef(record, field), FieldRef(9999, "")])
    assert nowhere is None
    assert where is not None
    line = data.decode().split("\n")[where.span.line - 1]
    assert line[where.span.column - 1 : where.span.end_column - 1].strip('"') == place


def test_sentences_that_are_written_cover_the_text() -> None:
    found = Segmentation("\n A b.\n\nC \n", [(2, 6), (8, 9)], [(2, 3), (2, 4)])
    assert found.sentences == [(0, 8), (8, 11)]
    assert [span for *_, span in found.tokens] == [(2, 3), (4, 5), (5, 6), (8, 9)]
    assert (found.changed, found.left_out) == (2, 1)
    assert [found.fits(*span) for span in ((2, 5), (1, 5), (5, 5), (7, 7))] == [
        True,
        False,
        True,
        False,
    ]


@pytest.mark.parametrize("form", FORMATS)
def test_what_brat_has_is_converted_and_back(form: str, tmp_path: Path) -> None:
    source = tmp_path / "in"
    source.mkdir()
    (source / "d.txt").write_text("\U0001f600 Ann saw (Ben).\n\nIt rained in X-Town\n", "utf-8")
    (source / "d.ann").write_text(
        "T1\tPER 2 5\tAnn\nT2\tPER 11 14\tBen\nT3\tLOC 31 37\tX-Town\nT4\tPart 33 35\tTo\n"
        "T5\tSee 6 9\tsaw\nR1\tNear Arg1:T1 Arg2:T2\nE1\tSee:T5 Who:T1 Whom:T2\n",
        "utf-8",
    )
    findings = convert(str(source), str(tmp_path / "mid"), from_format="brat", to_format=form)
    assert [finding.code for finding in findings if finding.code != "CNV107"] == []
    convert(str(tmp_path / "mid"), str(tmp_path / "out"), from_format=form, to_format="brat")
    for name in ("d.txt", "d.ann"):
        kept = sorted((tmp_path / "out" / name).read_text("utf-8").splitlines())
        assert kept == sorted((source / name).read_text("utf-8").splitlines()), name


def test_a_setting_has_choices() -> None:
    with pytest.raises(WrongSetting, match="utf-16 or characters or bytes"):
        load("cas-xmi").with_settings({"offsets": "words"})


def test_parts_of_speech_of_tokens_that_are_left_out_are_too(tmp_path: Path) -> None:
    """The second token is empty and in a gap: there is no unit that its class would be of."""
    place = {"document": 0, "origin": 0, "pos": "X"}
    tokens = [
        {"row": 0, "record": 1, **place, "start": 0, "end": 3, "text": "Ann"},
        {"row": 1, "record": 2, **place, "start": 4, "end": 4, "text": ""},
    ]
    corpus = Corpus(documents=[{"row": 0, "name": "d", "text": "Ann  x"}], tokens=tokens)
    form = load("webanno-tsv")
    assert form.write is not None
    form.write([corpus], tmp_path / "out")
    (result,) = form.read(open_source(str(tmp_path / "out")))
    assert result.corpus.tokens.select("text", "pos").rows() == [("Ann", "X"), ("x", None)]


def test_a_role_without_a_column_of_targets_is_a_feature(taken: Taken) -> None:
    """Its values were lost without a finding."""
    head = "#FORMAT=WebAnno TSV 3.3\n#T_SP=c.Span|value|ROLE_a|ROLE_b\n\n\n#Text=Ann\n"
    corpus, findings = taken(f"{head}1-1\t0-3\tAnn\tPER\tx\ty\t\n")
    assert findings == []
    assert corpus.modifiers.select("label", "value").rows() == [("ROLE_a", "x"), ("ROLE_b", "y")]
