"""Signatures: their grammar, and digests of files."""

from __future__ import annotations

import hashlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hlteval.results.verdict import Signature, WrongSignature, content, digest

NAMES = st.from_regex("[a-z_]+", fullmatch=True)
VALUES = st.text(st.characters(codec="utf-8"))


@given(st.lists(st.tuples(NAMES, VALUES)), st.text(alphabet=" \n\t"))
def test_every_value_survives_in_one_line(parts, around):
    """Also `|` and `:`, percent signs and line breaks; white space around it is ignored."""
    signature = Signature((("hlteval", "0.1.0"), *parts, ("lenient", "no")))
    assert Signature.parse(f"{around}{signature}{around}") == signature
    assert len(str(signature).splitlines()) == 1


def test_a_separator_in_a_value_is_escaped():
    assert str(Signature((("hlteval", "1"), ("whiteout", "|:%")))) == "hlteval:1|whiteout:%7C:%25"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "a signature begins with hlteval:, not ''"),
        ("task:hub4|profile:plan", "begins with hlteval:, not 'task:hub4"),
        ("hlteval:0.1.0||task:hub4", "NAME:VALUE, not ''"),
        ("hlteval:0.1.0|hub4", "NAME:VALUE, not 'hub4'"),
        ("hlteval:0.1.0|:hub4", "NAME:VALUE, not ':hub4'"),
    ],
)
def test_another_text_is_an_error_of_usage(text, message):
    with pytest.raises(WrongSignature) as error:
        Signature.parse(text)
    assert message in str(error.value)


def test_the_digest_of_one_file_is_that_of_its_content(tmp_path):
    own = hashlib.sha256(b"[]").hexdigest()
    assert digest([("run1.json", own)], name_matters=False) == own[:16]
    assert digest([("d1.a2", own)]) != digest([("d2.a2", own)])
    assert digest([("a/d1.a2", own), ("d2.a2", own)]) == digest([("d2.a2", own), ("b/d1.a2", own)])
    (tmp_path / "table.tsv").write_bytes(b"[]")
    (tmp_path / "renamed").write_bytes(b"[]")
    assert content(str(tmp_path / "table.tsv")) == content(str(tmp_path / "renamed")) == own[:16]
