"""Global mapping files as the usual filter reads them, and alternatives that any member matches."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

from hlteval.converters.hub4.global_map import read_map
from hlteval.representation.global_map import GlobalMap
from hlteval.results.scores import Scores
from hlteval.scoring.hub4.normalizer import NOTATION, SpellingFilter, variants
from hlteval.sources import Member, open_source
from tests.runs import score

MAPS = Path(__file__).parents[3] / "fixtures/glm/valid"


def mapped(name: str, side: str, encoding: str = "utf-8") -> GlobalMap:
    found, findings = read_map(open_source(str(MAPS / name), encoding=encoding).members[0], side)
    assert [item.code for item in findings] == []
    return found


def shown(text: str) -> str:
    """A text with its alternatives as a global map writes them."""
    for mark, written in NOTATION:
        text = text.replace(mark, written)
    return text


def rewritten(rules: GlobalMap, text: str) -> str:
    return shown(SpellingFilter(rules).text(text))


def of(*lines: str) -> tuple[GlobalMap, list[str]]:
    data = "\n".join([";; x", *lines]).encode()
    found, findings = read_map(Member("", "x.glm", len(data), lambda: data), "hyp")
    return found, [f"{item.severity[0].upper()}{item.code}" for item in findings]


def test_a_quote_before_a_word_belongs_to_it() -> None:
    rules = mapped("dictation.glm", "hyp")
    assert rewritten(rules, '"OPEN-QUOTE ryebread "CLOSE-QUOTE .FULL-STOP') == (
        "OPEN QUOTE RYE BREAD CLOSE QUOTE FULL STOP"
    )
    assert rewritten(rules, "{LEFT-BRACE !BANG-MARK bake house") == "LEFT BRACE BANG MARK BAKEHOUSE"


def test_rules_for_ctm_are_for_the_system() -> None:
    text = "okay she's a breadmaker who can't bake"
    assert rewritten(mapped("broadcast.glm", "ref"), text) == (
        "O. K. SHE'S A BREAD MAKER WHO CAN'T BAKE"
    )
    assert rewritten(mapped("broadcast.glm", "hyp"), text) == (
        "O. K. {SHE IS / SHE HAS} A BREAD MAKER WHO {CAN NOT / CANNOT} BAKE"
    )


@pytest.mark.parametrize(
    ("kind", "sides"),
    [("ctm", "hyp"), ("hyp", "hyp"), ("stm", "ref"), ("ref", "ref"), ("trn", "ref hyp")],
)
def test_kinds_of_texts_belong_to_sides(kind: str, sides: str) -> None:
    data = f';; x\n;; INPUT_DEPENDENT_APPLICATION = "{kind}"\nA => B\n'.encode()
    member = Member("", "x.glm", len(data), lambda: data)
    assert [side for side in ("ref", "hyp") if read_map(member, side)[0].rules] == sides.split()


def test_a_map_has_an_encoding() -> None:
    rules = mapped("hesitations-gb18030.glm", "ref", "gb18030")
    assert rewritten(rules, "%啊% 面包 而") == "%HESITATION 面包 %HESITATION"


def test_alternatives_are_all_that_a_text_may_be() -> None:
    written = SpellingFilter(mapped("broadcast.glm", "hyp")).text("uh the baker's bread")
    assert shown(written) == "{UH /} THE {BAKER'S / BAKER IS / BAKER HAS} BREAD"
    assert variants(written) == tuple(
        f"{begin}THE {baker} BREAD"
        for begin in ("UH ", "")
        for baker in ("BAKER'S", "BAKER IS", "BAKER HAS")
    )
    assert variants("{A / B}") == ("{A / B}",)


@pytest.mark.parametrize(
    ("line", "codes", "text", "expected"),
    [
        ("nonsense", ["WGLM101"], "nonsense", "NONSENSE"),
        ("[W] => [{X / Y}", ["WGLM101"], "w", "W"),
        ("[] => A", ["WGLM105"], "b", "B"),
        ("/SLASH => SLASH", ["WGLM109"], "a /slash b", "A B"),
        ("* case_sensitive = 'YES'", [], "a", "A"),
        ("* desc : 'what it''s for", [], "a", "A"),
        ("A => {B}", [], "a", "B"),
        ("[C] => [{D / E}]", [], "c", "{D / E}"),
    ],
)
def test_a_line_is_read_as_the_filter_reads_it(
    line: str, codes: list[str], text: str, expected: str
) -> None:
    found, warned = of(line)
    assert warned == codes
    assert rewritten(found, text) == expected


@pytest.mark.parametrize(
    "line", ["C => D / [ ] __A [ ]", "C => D / A [ ] __ [ ]", "C => {D/E {F / G}}"]
)
def test_a_rule_without_a_certain_reading_is_not_applied(line: str) -> None:
    found, warned = of(line, "E => F")
    assert warned == ["WGLM110"]
    assert rewritten(found, "c a e") == "C A F"


def test_case_counts_where_a_header_says_yes() -> None:
    found, _ = of("* case_sensitive = 'yes'", "a => b")
    assert rewritten(found, "A a") == "A B"


def test_what_no_rule_matches_may_be_left_out() -> None:
    found, _ = of("* copy_no_hit = 'F'", "[ A ] => [ B ]", "C => D")
    assert rewritten(found, "x A y C") == "B D"


@pytest.fixture
def scored(tmp_path):
    """Scores of two fills in one document, with a map."""

    def run(reference: str, system: str, rules: str, **options) -> Scores:
        side = '<TEMPLATE-d-1> :=\nEVENT: <B-d-1>\n<B-d-1> :=\nX: "{}" ##0#9#{}\n'
        inner = "0#9#" * reference.count("[")
        (tmp_path / "r").write_text(side.format(reference, inner), "utf-8")
        (tmp_path / "s").write_text(side.format(system, ""), "utf-8")
        (tmp_path / "m").write_text(";; x\n" + rules, "utf-8")
        paths = str(tmp_path / "r"), str(tmp_path / "s")
        return score("hub4", *paths, options={"glm": str(tmp_path / "m"), **options})

    return run


CONTRACTIONS = ';; INPUT_DEPENDENT_APPLICATION = "ctm"\n' + "".join(
    f"[{short}] => [{{{' / '.join(long)}}}] / [ ] __ [ ]\n"
    for short, long in {
        "CAN'T": ["CAN NOT", "CANNOT"],
        "SHE'S": ["SHE IS", "SHE HAS"],
        "ROME'S": ["ROME'S", "ROME IS", "ROME HAS"],
    }.items()
)


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    ("reference", "system", "correct"),
    [
        ("she is gone", "she's gone", True),
        ("she has gone", "she's gone", True),
        ("she was gone", "she's gone", False),
        ("Rome's bread", "Rome's bread", True),
        ("Rome is the [bread]", "Rome's the bread", True),
        ("she cannot bake", "can't", False),
        ("she [can not] bake", "she can't", True),
        ("she [is] she has", "she's", True),
        ("she is [she has]", "she's", True),
    ],
)
@pytest.mark.parametrize("noisy", ["", "yes"])
def test_any_member_of_alternatives_matches(scored, reference, system, correct, noisy) -> None:
    scores = scored(reference, system, CONTRACTIONS, noisy=noisy)
    assert bool(scores.tables["by_slot"].filter(pl.col("slot") == "X")["cor"][0]) is correct
    compared = scores.tables["mapping"].filter(pl.col("slot") == "X")["compared_system"]
    assert not any("\ufdd0" in str(text) for text in compared)


def test_alternatives_of_the_reference_match_too(scored) -> None:
    rules = "[OK] => [{O. K. / OKAY}] / [ ] __ [ ]\n"
    for system in ("all ok", "all okay", "all o. k."):
        scores = scored("all ok", system, rules)
        assert scores.metrics["content.f"] == 1, system


def test_one_member_meets_both_conditions(scored) -> None:
    """The string that is inside of the maximal one is the one that has to hold the minimal one."""
    rules = ';; INPUT_DEPENDENT_APPLICATION = "ctm"\nZ => {A / A B C}\n'
    scores = scored("A B", "Z", rules)
    assert scores.metrics["content.inc"] == 1


def test_a_line_that_is_no_rule_is_reported_and_the_rest_is_applied(scored) -> None:
    scores = scored("bakehouse", "bake house", "nonsense\nBAKE HOUSE => BAKEHOUSE\n")
    assert scores.metrics["content.f"] == 1
    found = [(item.code, item.severity.value, item.side) for item in scores.verdict.findings]
    assert found == [("GLM101", "warning", "--glm")]


def test_aligned_words_are_those_that_the_other_text_has(tmp_path) -> None:
    texts = {
        "corpus": "<DOC><DOCNO>d</DOCNO> she has what she is and bread </DOC>\n",
        "hyp_corpus": "<DOC><DOCNO>d</DOCNO> she's what she's and bread </DOC>\n",
        "glm": ";; x\n" + CONTRACTIONS,
    }
    sides = []
    for name in ("corpus", "hyp_corpus"):
        at = texts[name].index("bread")
        sides.append(
            f'<TEMPLATE-d-1> :=\nEVENT: <B-d-1>\n<B-d-1> :=\nX: "bread" ##{at}#{at + 5}#\n'
        )
    for name, text in {**texts, "r": sides[0], "s": sides[1]}.items():
        (tmp_path / name).write_text(text, "utf-8")
    options = {name: str(tmp_path / name) for name in texts}
    scores = score("hub4", str(tmp_path / "r"), str(tmp_path / "s"), options=options)
    rows = scores.tables["mapping"].filter(pl.col("slot") == "X", pl.col("level") == "fill")
    assert rows["compared"].unique().to_list() == ['"bread" ##6#6#']
    assert rows["compared_system"].unique().to_list() == ['"bread" ##6#6#']
