"""What becomes of the annotations of other formats, in both dialects of standoff."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from hlteval import convert, read
from hlteval.converters import load
from hlteval.representation import Corpus

FIXTURES = Path(__file__).parents[3] / "fixtures"
TEXT = "Osh met Osh\nin Kara"
HERE = {"document": 0, "origin": 0}


def spans(*rows: tuple[str, str, int, int], **more: Any) -> list[dict[str, Any]]:
    return [
        {
            "row": n,
            **HERE,
            "record": n + 1,
            "mention": i,
            "label": label,
            "start": a,
            "end": b,
            **more,
        }
        for n, (i, label, a, b) in enumerate(rows)
    ]


def frames(*rows: tuple[str | None, str, str | None, str]) -> dict[str, list[dict[str, Any]]]:
    """Frames by identifier, type, trigger and arguments; a relation is one whose type is Near."""
    tables: dict[str, list[dict[str, Any]]] = {"frames": [], "arguments": []}
    for n, (name, label, trigger, arguments) in enumerate(rows):
        place = {**HERE, "record": 50 + n}
        kind = "relation" if label == "Near" else "event"
        own = {"frame": name, "kind": kind, "label": label, "trigger": trigger}
        tables["frames"].append({"row": n, **place, **own})
        for position, argument in enumerate(arguments.split(), start=1):
            role, _, target = argument.partition(":")
            filler = {"frame_row": n, "position": position, "role": role, "target": target}
            tables["arguments"].append({"row": len(tables["arguments"]), **place, **filler})
    return tables


def corpus(**tables: Any) -> Corpus:
    source = {"row": 0, "path": "x", "member": "x", "format": "x", "sha256": ""}
    return Corpus(
        sources=[source], **{"documents": [{"row": 0, "name": "d", "text": TEXT}], **tables}
    )


def written(of: Corpus, form: str, folder: Path, name: str) -> list[str]:
    """The lines of a file that a corpus is written to."""
    write = load(form).write
    assert write is not None
    write([of], folder / "out")
    return (folder / "out" / name).read_text("utf-8").splitlines()


def lost(of: Corpus, form: str) -> dict[str, int]:
    return {what: count for what, count in load(form).count_losses(of).items() if count}


def test_events_without_triggers_get_one_where_their_first_argument_is(tmp_path: Path) -> None:
    made = corpus(
        mentions=spans(("T1", "City", 0, 3), ("T2", "Meet", 4, 7)),
        **frames(
            ("E1", "Say", None, "What:E2 Who:T9"),
            ("E2", "Meet", None, "Why:E9 Who:T1"),
            ("E3", "Lead", "T9", "To:E3"),
            ("E4", "Go", "T2", "Who:T1"),
        ),
    )
    assert written(made, "brat", tmp_path, "d.ann") == [
        "T1\tCity 0 3\tOsh",
        "T2\tMeet 4 7\tmet",
        "T3\tSay 0 3\tOsh",
        "E1\tSay:T3 What:E2 Who:T9",
        "#1\tAnnotatorNotes T3\tplaceholder: the event has no trigger",
        "T4\tMeet 0 3\tOsh",
        "E2\tMeet:T4 Why:E9 Who:T1",
        "#2\tAnnotatorNotes T4\tplaceholder: the event has no trigger",
        "T5\tGo 4 7\tmet",
        "E4\tGo:T5 Who:T1",
    ]
    assert lost(made, "brat") == {
        "triggers of another type than the event": 2,
        "events without triggers": 2,
        "arguments that are not annotations of the document": 2,
    }
    assert [f.code for f in read(str(tmp_path / "out"))[1]] == []


def test_placeholders_go_away_on_the_way_back(tmp_path: Path) -> None:
    made = corpus(
        mentions=spans(("T1", "City", 0, 3), ("T2", "Meet", 4, 7)),
        **frames(("E1", "Say", None, "Who:T1"), ("E2", "Meet", "T2", "Who:T1")),
    )
    written(made, "brat", tmp_path, "d.ann")
    again, findings = read(str(tmp_path / "out"))
    assert findings == []
    assert again.mentions["mention"].to_list() == ["T1", "T2"]
    assert again.frames.select("frame", "trigger").rows() == [("E1", None), ("E2", "T2")]
    assert again.modifiers.is_empty()
    # a trigger that an annotator has kept, without the note, is one
    path = tmp_path / "out" / "d.ann"
    lines = path.read_text("utf-8").splitlines(keepends=True)
    path.write_text("".join(line for line in lines if not line.startswith("#")), "utf-8")
    kept, _ = read(str(tmp_path / "out"))
    assert kept.frames["trigger"].to_list() == ["T3", "T2"]


def test_events_that_refer_to_each_other_only_are_left_out(tmp_path: Path) -> None:
    made = corpus(**frames(("E1", "Say", None, "What:E2"), ("E2", "Say", None, "What:E1")))
    assert written(made, "brat", tmp_path, "d.ann") == []


def test_relations_have_two_arguments_in_two_roles(tmp_path: Path) -> None:
    made = corpus(
        mentions=spans(("T1", "City", 0, 3)),
        **frames(
            ("R1", "Near", None, "Arg1:T1 Arg2:T1"),
            ("R2", "Near", None, "Arg1:T1"),
            ("R3", "Near", None, "Arg:T1 Arg:T1"),
            ("R4", "Near", None, "A:T1 B:T1 C:T1"),
        ),
    )
    assert written(made, "brat", tmp_path, "d.ann")[1:] == ["R1\tNear Arg1:T1 Arg2:T1"]
    assert lost(made, "brat") == {"relations without exactly two arguments in two roles": 3}


def test_identifiers_are_given_anew_and_references_follow(tmp_path: Path) -> None:
    made = corpus(
        mentions=spans(("m1", "City", 0, 3), ("T5", "City", 8, 11), ("T5", "Meet", 4, 7)),
        modifiers=[
            {"row": 0, **HERE, "record": 80, "modifier": "x", "label": "Sure", "target": "m1"}
        ],
        groups=[
            {"row": n, **HERE, "record": 90, "group": "1", "kind": "Equiv", "member": member}
            for n, member in enumerate(["m1", "T5"])
        ],
        **frames((None, "Meet", "T5", "Who:m1 Where:nowhere")),
    )
    assert written(made, "brat", tmp_path, "d.ann") == [
        "T6\tCity 0 3\tOsh",
        "T5\tCity 8 11\tOsh",
        "T7\tMeet 4 7\tmet",
        "T8\tMeet 8 11\tOsh",
        "E1\tMeet:T8 Who:T6 Where:nowhere",
        "A1\tSure T6",
        "*\tEquiv T6 T5",
    ]
    assert lost(made, "brat")["identifiers of another form"] == 3


def test_entities_and_candidates_are_normalisations_and_come_back(tmp_path: Path) -> None:
    made = corpus(mentions=spans(("m1", "GPE", 0, 3), entity="1000"))
    lines = written(made, "brat", tmp_path, "d.ann")
    assert lines == ["T1\tGPE 0 3\tOsh", "N1\tReference T1 KB:1000"]
    again, findings = read(str(tmp_path / "out"))
    assert findings == []
    assert again.mentions["entity"].to_list() == ["1000"]


def test_mentions_of_edl_go_to_brat_and_back(tmp_path: Path) -> None:
    table = FIXTURES / "lorehlt-edl/valid/submission.tab"
    before, _ = read(str(table))
    convert(str(table), str(tmp_path / "pages"), to_format="brat")
    convert(str(tmp_path / "pages"), str(tmp_path / "again.tab"), to_format="edl-tab")
    after, findings = read(str(tmp_path / "again.tab"))
    assert findings == []
    kept = ("start", "end", "label", "text", "entity")
    assert after.mentions.select(kept).equals(before.mentions.select(kept))
    assert after.links.select("rank", "entity").equals(before.links.select("rank", "entity"))


def test_what_no_word_can_hold_is_written_otherwise_and_told(tmp_path: Path) -> None:
    made = corpus(
        mentions=spans(("T1", "big city", 0, 3), text="O\ns"),
        **frames(("E1", "Meet:ing", "T1", "Who:is:T1 a b:T1")),
    )
    made = made.replace(
        arguments=made.arguments.with_columns(role=made.arguments["role"].replace({"Who": "W o"}))
    )
    for form, name in (("brat", "d.ann"), ("standoff", "d.a1")):
        assert written(made, form, tmp_path / form, name)[0] == "T1\tbig_city 0 3\tO s"
        told = lost(made, form)
        assert told["types and roles that are not a single word"] >= 3
        assert told["texts of spans with line ends, or with spaces at an end"] == 1


@pytest.mark.parametrize("form", ["brat", "standoff"])
def test_documents_that_no_file_can_be_named_after_are_left_out(form: str, tmp_path: Path) -> None:
    documents = [{"row": 0, "name": "../d", "text": TEXT}, {"row": 1, "name": "e", "text": "e"}]
    made = corpus(documents=documents, mentions=spans(("T1", "City", 0, 3)))
    write = load(form).write
    assert write is not None
    write([made], tmp_path / "out")
    assert {file.name.partition(".")[0] for file in (tmp_path / "out").iterdir()} == {"e"}
    assert [file.name for file in tmp_path.iterdir()] == ["out"]
    assert lost(made, form) == {"documents whose name is not a valid file name": 1}


def test_what_bionlp_has_no_place_for_is_told(tmp_path: Path) -> None:
    findings = convert(str(FIXTURES / "brat/valid"), str(tmp_path / "out"), to_format="standoff")
    told = {f.message.partition(" represent ")[2] for f in findings}
    assert {
        "1 frame without arguments",
        "3 notes and attributes with values",
        "1 identifier of another form",
    } <= told
    again, problems = read(str(tmp_path / "out"))
    assert problems == []
    assert again.modifiers["modifier"].to_list() == ["M4", "M3", "N1", "N2", "N3"]


def test_spans_without_a_text_are_left_out_of_bionlp(tmp_path: Path) -> None:
    made = corpus(documents=[{"row": 0, "name": "d"}], mentions=spans(("T1", "City", 0, 3)))
    assert written(made, "standoff", tmp_path / "a", "d.a1") == []
    assert written(made, "brat", tmp_path / "b", "d.ann") == ["T1\tCity 0 3"]
    assert lost(made, "standoff") == {"spans with unknown text": 1}


@pytest.mark.parametrize(
    ("name", "wanted"),
    [
        ("edl-tab", {"2 texts of an N line or note"}),
        ("lorehlt-sf-reference", {"1 N line", "2 texts of an N line or note"}),
        ("laf", {"3 N lines"}),
        ("standoff", {"3 texts of an N line or note"}),
        ("bioc-xml", set()),
    ],
)
def test_normalizations_are_lost_once_and_only_where_no_entity_is_kept(
    name: str, wanted: set[str], tmp_path: Path
) -> None:
    findings = convert(str(FIXTURES / "brat/valid"), str(tmp_path / "out"), to_format=name)
    told = [finding.message.partition(" represent ")[2] for finding in findings]
    assert {what for what in told if "N line" in what or "reference" in what} == wanted


def test_a_normalization_of_another_label_or_of_an_event_is_lost(tmp_path: Path) -> None:
    folder = tmp_path / "brat"
    folder.mkdir()
    (folder / "d.txt").write_text("Osh fell")
    lines = ["T1\tCity 0 3\tOsh", "T2\tFall 4 8\tfell", "E1\tFall:T2"]
    lines += ["N1\tReference T1 KB:7", "N2\tType T1 KB:8", "N3\tReference E1 KB:9"]
    (folder / "d.ann").write_text("\n".join([*lines, ""]))
    findings = convert(str(folder), str(tmp_path / "out.tab"))
    assert "edl-tab cannot represent 2 N lines" in [finding.message for finding in findings]
