"""Offsets in bytes or UTF-16 code units become offsets in characters by a setting."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from hlteval import convert
from hlteval.converters import load
from hlteval.converters.toolkit.offsets import UnitText, in_characters, word_places
from hlteval.converters.toolkit.span_texts import Mismatch, Mismatches, TextWindow
from hlteval.findings import Finding
from hlteval.representation import Corpus
from hlteval.sources import open_source

TEXTS = ("\u03b1 \u03b2 \U0001d49f Osh and Kara", "Özgön \U0001d49f IRF-4 ends")
WORDS = (("Osh", "Kara"), ("IRF-4", "ends"))


ENCODINGS = {"bytes": ("utf-8", 1), "utf-16": ("utf-16-le", 2)}


def units(text: str, unit: str) -> int:
    encoding, width = ENCODINGS[unit]
    return len(text.encode(encoding)) // width


def placed(unit: str) -> list[tuple[int, int, str, int]]:
    """Each word: its offset and length in a unit, and its passage; passages have a gap of one."""
    found, base = [], 0
    for passage, (text, words) in enumerate(zip(TEXTS, WORDS, strict=True)):
        for word in words:
            start = base + units(text[: text.index(word)], unit)
            found.append((start, units(word, unit), word, passage))
        base += units(text, unit) + 1
    return found


def bioc(path: Path, unit: str) -> Path:
    passages, base = [], 0
    for passage, text in enumerate(TEXTS):
        inside = "".join(
            f'<annotation id="T{start}"><infon key="type">X</infon><location offset="{start}" '
            f'length="{length}"/><text>{word}</text></annotation>'
            for start, length, word, at in placed(unit)
            if at == passage
        )
        offset = f"<offset>{base}</offset><text>{text}</text>"
        passages.append(f"<passage>{offset}{inside}</passage>")
        base += units(text, unit) + 1
    head = "<source>s</source><date>d</date><key>k</key>"
    document = f"<document><id>d1</id>{''.join(passages)}</document>"
    path.write_text(f"<?xml version='1.0'?><collection>{head}{document}</collection>", "utf-8")
    return path


def standoff(folder: Path, unit: str, suffix: str) -> Path:
    folder.mkdir()
    lines = [f"T{n}\tX {a} {a + b}\t{word}\n" for n, (a, b, word, _) in enumerate(placed(unit), 1)]
    (folder / "d1.txt").write_text("\n".join(TEXTS), "utf-8")
    (folder / f"d1{suffix}").write_text("".join(lines), "utf-8")
    return folder


def spans(form: str, path: Path, unit: str) -> tuple[list[tuple[str, str | None]], list[Finding]]:
    """What the text has at the offsets of mentions, beside the text of the mention."""
    results = list(load(form).with_settings({"offsets": unit}).read(open_source(str(path))))
    corpus = Corpus.concat(result.corpus for result in results)
    (text,) = corpus.documents["text"]
    found = corpus.mentions.select("start", "end", "text").iter_rows()
    findings = [finding for result in results for finding in result.findings]
    return [(text[start:end], own) for start, end, own in found], findings


@pytest.mark.parametrize("unit", ENCODINGS)
@pytest.mark.parametrize("form", ["bioc-xml", "brat", "standoff"])
def test_offsets_of_another_unit_are_converted(form: str, unit: str, tmp_path: Path) -> None:
    if form == "bioc-xml":
        path = bioc(tmp_path / "d1.bioc.xml", unit)
    else:
        path = standoff(tmp_path / "in", unit, ".ann" if form == "brat" else ".a1")
    wrong, _ = spans(form, path, "characters")
    assert any(there != own for there, own in wrong)
    right, findings = spans(form, path, unit)
    assert [there for there, _ in right] == [word for words in WORDS for word in words]
    assert all(there == own for there, own in right)
    assert findings == []


def test_the_finding_names_the_setting_that_converts(tmp_path: Path) -> None:
    path, out = bioc(tmp_path / "d1.bioc.xml", "bytes"), tmp_path / "out"
    helps = [f.help or "" for f in convert(str(path), str(out), to_format="brat")]
    assert any("--set offsets=bytes" in text for text in helps)
    settings = {"offsets": "bytes"}
    findings = convert(str(path), str(out), to_format="brat", settings=settings, force=True)
    assert not [finding for finding in findings if finding.severity == "error"]


def test_grapheme_clusters_are_a_unit_of_bioc_too(tmp_path: Path) -> None:
    """Three annotations after a letter of two code points: offsets of clusters are 1 less."""
    text = "e\u0301 Osh and Naryn, Kara"
    held = "".join(
        f'<annotation id="T{start}"><location offset="{start}" length="{len(word)}"/>'
        f"<text>{word}</text></annotation>"
        for start, word in ((2, "Osh"), (10, "Naryn"), (17, "Kara"))
    )
    path = tmp_path / "d1.bioc.xml"
    body = f"<passage><offset>0</offset><text>{text}</text>{held}</passage>"
    head = "<source/><date/><key/>"
    path.write_text(
        f"<collection>{head}<document><id>d1</id>{body}</document></collection>", "utf-8"
    )
    _, findings = spans("bioc-xml", path, "characters")
    assert [(found.code, "grapheme clusters" in found.message) for found in findings] == [
        ("BIO204", True)
    ]
    assert spans("bioc-xml", path, "graphemes") == (
        [(word, word) for word in ("Osh", "Naryn", "Kara")],
        [],
    )


@pytest.mark.parametrize(
    ("units", "reported"),
    [
        (["b", "b", ""], [(0, ""), (1, ""), (2, "")]),  # of three, two are no share of 0.9
        (["b", "b"], [(0, ""), (1, "")]),  # fewer than three
        (["b"] * 9 + [""], [(0, "bytes"), (9, "")]),
        (["bu"] * 9 + ["u"], [(0, "utf-16")]),  # which explains more than bytes
        (["bu"] * 3, [(0, "bytes")]),  # the likeliest first
    ],
)
def test_a_unit_that_explains_nearly_all_mismatches_is_one_problem(
    units: list[str], reported: list[tuple[int, str]]
) -> None:
    found = list[tuple[int, str]]()
    mismatches = Mismatches(lambda each, unit: found.append((each.place, unit)), least=3)
    names = {"b": "bytes", "u": "utf-16"}
    for place, letters in enumerate(units):
        own = frozenset(names[letter] for letter in letters)
        mismatches.add(Mismatch(place, TextWindow("x", 0), [(0, 1)], "y", own))
    assert found == []
    mismatches.decide()
    assert found == reported


def test_every_offset_is_that_of_the_last_whole_character():
    """Also inside of a character, and beyond the text."""
    text = "a\u00f6\u20ac\U0001f600\n"
    for unit, (encoding, width) in ENCODINGS.items():
        data = text.encode(encoding)
        read = UnitText(text, unit)
        expected = [
            len(data[: at * width].decode(encoding, "ignore")) for at in range(read.length + 1)
        ]
        assert [read.character(at) for at in range(read.length + 1)] == expected
        assert (read.character(-1), read.character(read.length + 2)) == (-1, len(text) + 2)
        assert UnitText("", unit).character(1) == 1


@pytest.mark.parametrize(
    ("offsets", "spans"),
    [
        ("utf-16", [(3, 6), (10, 13)]),
        ("bytes", [(5, 8), (13, 16)]),
        ("graphemes", [(2, 5), (8, 11)]),
        ("from-1", [(3, 6), (10, 13)]),
        ("inclusive", [(2, 4), (9, 11)]),
        ("from-1-inclusive", [(3, 5), (10, 12)]),
        ("from-minus-1", [(1, 4), (8, 11)]),
        ("crlf", [(2, 5), (10, 13)]),
        ("tokens", [(1, 2), (3, 4)]),
        ("tokens-inclusive", [(1, 1), (3, 3)]),
    ],
)
def test_each_way_to_count_is_corrected(offsets: str, spans: list[tuple[int, int]]) -> None:
    """The text has a letter of two UTF-16 units, a line end, and an e with an accent behind it."""
    text = {"row": 0, "name": "d", "text": "\U0001d49f Ann\ne\u0301 Bob"}
    place = {"document": 0, "origin": 0, "record": 1, "mention": "T", "label": "X"}
    rows = [{"row": row, **place, "start": a, "end": b} for row, (a, b) in enumerate(spans)]
    (part,) = [{"start": a, "end": b} for a, b in spans[:1]]
    rows[0]["fragments"] = [part]
    corpus = in_characters(Corpus(documents=[text], mentions=rows), offsets)
    whole = str(text["text"])
    own = corpus.mentions.select("start", "end").rows()
    assert [whole[start:end] for start, end in own] == ["Ann", "Bob"]
    (moved,) = corpus.mentions["fragments"][0]
    assert (moved["start"], moved["end"]) == own[0]


@pytest.mark.parametrize(
    ("span", "exclusive", "inclusive"),
    [
        ((0, 1), (1, 4), (1, 8)),
        ((1, 3), (6, 12), (14, 16)),
        ((1, 1), (6, 6), (6, 8)),
        ((2, 1), (10, 10), (10, 10)),  # reversed
        ((2, 3), (10, 12), (15, 16)),  # there are three words, in 13 characters
        ((9, 12), (22, 25), (22, 25)),
        ((-1, 2), (-1, 2), (-1, 2)),
    ],
)
def test_words_are_separated_by_white_space(
    span: tuple[int, int], exclusive: tuple[int, int], inclusive: tuple[int, int]
) -> None:
    text = "\nAnn\u00a0\tis \u3000O.\n"
    assert text.split() == ["Ann", "is", "O."]
    assert word_places(text, inclusive=False)(*span) == exclusive
    assert word_places(text, inclusive=True)(*span) == inclusive


@pytest.mark.parametrize("form", ["brat", "bioc-json", "label-studio", "pubtator"])
@pytest.mark.parametrize(("way", "less"), [("tokens", 0), ("tokens-inclusive", 1)])
def test_offsets_that_count_words_are_proposed_and_corrected(
    form: str, way: str, less: int, tmp_path: Path
) -> None:
    text = "Ann Lee \U0001f600 met Bob and Kara in Osh ."
    names = {"Ann Lee": (0, 2), "Bob": (4, 5), "Kara": (6, 7), "Osh": (8, 9)}
    spans = [(name, start, end - less) for name, (start, end) in names.items()]
    path = tmp_path / "in"
    path.mkdir()
    if form == "brat":
        (path / "d.txt").write_text(text)
        rows = (f"T{n}\tX {a} {b}\t{name}\n" for n, (name, a, b) in enumerate(spans, 1))
        (path / "d.ann").write_text("".join(rows))
    elif form == "pubtator":
        rows = (f"1\t{a}\t{b}\t{name}\tX\n" for name, a, b in spans)
        (path / "d.pubtator").write_text(f"1|t|{text}\n1|a|\n{''.join(rows)}\n")
    elif form == "bioc-json":
        annotations = [
            {"text": name, "locations": [{"offset": a, "length": b - a}]} for name, a, b in spans
        ]
        half = text.index("Bob")
        passages = [
            {"offset": 0, "text": text[: half - 1], "annotations": annotations},
            {"offset": half, "text": text[half:]},
        ]
        documents = [{"id": "1", "passages": passages}]
        (path / "d.bioc.json").write_text(json.dumps({"documents": documents}))
    else:
        values = ({"start": a, "end": b, "text": name, "labels": ["X"]} for name, a, b in spans)
        regions = [
            {"id": str(n), "from_name": "l", "to_name": "t", "type": "labels", "value": value}
            for n, value in enumerate(values)
        ]
        task = {"id": 1, "data": {"text": text}, "annotations": [{"id": 1, "result": regions}]}
        (path / "d.label-studio.json").write_text(json.dumps([task]))
    out = tmp_path / "out.jsonl"
    found = convert(str(path), str(out), from_format=form)
    (finding,) = [item for item in found if "offsets" in (item.help or "")]
    assert (finding.code, f"--set offsets={way}" in str(finding.help)) == ("CNV208", True)
    fixed = convert(str(path), str(out), from_format=form, settings={"offsets": way}, force=True)
    assert [item for item in fixed if item.severity == "error"] == []
    corpus = next(iter(load("jsonl").read(open_source(str(out))))).corpus
    places = corpus.mentions.select("start", "end").rows()
    assert [corpus.documents["text"][0][start:end] for start, end in places] == [*names]


def test_spans_of_pubannotation_are_inside_the_text_in_their_unit(tmp_path: Path) -> None:
    path = tmp_path / "d.json"
    span = '{"id": "T1", "span": {"begin": 3, "end": 6}, "obj": "City"}'
    path.write_text(f'{{"text": "\U0001d49f Osh", "denotations": [{span}]}}', "utf-8")
    form = load("pubannotation")
    results = {
        unit: next(form.with_settings({"offsets": unit}).read(open_source(str(path))))
        for unit in ("characters", "utf-16")
    }
    assert [item.code for item in results["characters"].findings] == ["PUB201"]
    assert results["utf-16"].findings == ()
    assert results["utf-16"].corpus.mentions.select("start", "end", "text").rows() == [
        (2, 5, "Osh")
    ]


@pytest.mark.parametrize(
    ("way", "start", "length"), [("from-1", 9, 4), ("inclusive", 8, 3), ("from-minus-1", 7, 4)]
)
def test_locations_of_bioc_count_in_all_ways(
    way: str, start: int, length: int, tmp_path: Path
) -> None:
    location = f'<location offset="{start}" length="{length}"/>'
    annotation = f'<annotation id="T1">{location}<text>Kara</text></annotation>'
    second = f"<passage><offset>8</offset><text>Kara.</text>{annotation}</passage>"
    passages = f"<passage><offset>0</offset><text>Ann in</text></passage>{second}"
    head = "<source/><date/><key/>"
    path = tmp_path / "d1.bioc.xml"
    path.write_text(f"<collection>{head}<document><id>d</id>{passages}</document></collection>")
    form = load("bioc-xml").with_settings({"offsets": way})
    (result,) = form.read(open_source(str(path)))
    assert result.findings == ()
    assert result.corpus.mentions.select("start", "end", "text").rows() == [(8, 12, "Kara")]
