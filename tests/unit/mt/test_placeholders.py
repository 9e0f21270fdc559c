"""URLs and their like as words that no tokenizer splits."""

from __future__ import annotations

import re

import pytest
from sacrebleu.tokenizers.tokenizer_13a import Tokenizer13a
from sacrebleu.tokenizers.tokenizer_intl import TokenizerV14International

from hlteval.scoring.mt.segments import with_placeholders

WORD = re.compile(r"x[bcdfghjklmnpqrst]{16}x")


@pytest.mark.parametrize(
    ("text", "shape"),
    [
        ("see https://example.org/a?b=c#d now", "see W now"),
        ("(https://example.org/a).", "(W)."),
        ("https://en.wikipedia.org/wiki/A_(b), too", "W, too"),
        ("www.example.org: news", "W: news"),
        ("HTTP://EXAMPLE.ORG/", "W"),
        ("ftp://example.org/a,b", "W"),
        ("mail x.y+z@example.org.", "mail W."),
        ("@user and #tag!", "W and W!"),
        ("#قازاق and #मदद", "W and W"),
        ("a@b c#d 5 @ 3 # 1", "a@b c#d 5 @ 3 # 1"),
        ("and/or 3.5 U.S. e.g. this", "and/or 3.5 U.S. e.g. this"),
        ("", ""),
    ],
)  # fmt: skip
def test_what_is_protected(text, shape):
    assert WORD.sub("W", with_placeholders(text)) == shape


def test_equal_strings_have_equal_words_and_others_do_not():
    words = [with_placeholders(f"https://example.org/{path}") for path in ("a", "b", "A", "a")]
    assert len(set(words)) == 3
    assert words[0] == words[3]
    assert with_placeholders("#tag") != with_placeholders("@tag")


def test_tokenizers_keep_the_words():
    text = with_placeholders("Ask @user, see https://example.org/a-b. Or x@y.com!")
    for tokenizer in (Tokenizer13a(), TokenizerV14International()):
        tokens = tokenizer(text).split()
        assert sum(bool(WORD.fullmatch(token)) for token in tokens) == 3
