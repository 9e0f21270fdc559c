"""Decoding: text or one finding, at the right place, with a guess."""

from __future__ import annotations

import codecs
import encodings
import pkgutil
from random import Random

import pytest

from hlteval.findings import Span
from hlteval.sources import decode, open_source, sha256
from hlteval.sources.decoding import check_encoding


@pytest.mark.parametrize(
    "text", ["", "ab\r\ncd\re\n", "東京 𐎀\u2028x", "\x0b\x0c\x85", "\ufffd", "a\ufeffb"]
)
def test_text_is_left_as_it_is(text: str) -> None:
    decoded = decode(text.encode(), display="d1.a2")
    assert (decoded.text, decoded.findings) == (text, ())


def test_one_byte_order_mark_is_taken_away_and_told() -> None:
    decoded = decode(codecs.BOM_UTF8 * 2 + b"ab", display="d1.a2")
    assert decoded.text == "\ufeffab"
    (finding,) = decoded.findings
    assert (finding.code, finding.severity, finding.file) == ("SRC202", "info", "d1.a2")


@pytest.mark.parametrize(
    ("data", "offset", "span"),
    [
        (b"\xe9", 0, Span(1, 1, 2)),
        ("東京\n京".encode() + b"\xff\xfe", 10, Span(2, 2, 3)),
        (b"ab\r\nc\x80\n", 5, Span(2, 2, 3)),
        ("\u2028\x85".encode() + b"\xc0\x80", 5, Span(1, 3, 4)),
        (codecs.BOM_UTF8 + b"a\x80", 4, Span(1, 2, 3)),
        (b"a\xed\xa0\x80", 1, Span(1, 2, 3)),
    ],
)
def test_the_first_wrong_byte_is_told_with_its_place(data: bytes, offset: int, span: Span) -> None:
    decoded = decode(data, display="d1.a2")
    assert decoded.text is None
    (finding,) = decoded.findings
    assert (finding.code, finding.file, finding.span) == ("SRC201", "d1.a2", span)
    assert finding.blocking
    assert finding.message == f"byte 0x{data[offset]:02x} at offset {offset} is not valid UTF-8"


def test_the_line_is_shown_and_a_line_of_megabytes_is_not() -> None:
    (finding,) = decode(b"one\ncr\xe8me\nthree", display="d1.a2").findings
    assert finding.excerpt is not None
    assert finding.excerpt.text == "cr\ufffdme"
    (finding,) = decode(b"x" * 2_000_000 + b"\xe8" + b"y" * 2_000_000, display="d1.a2").findings
    assert finding.span == Span(1, 2_000_001, 2_000_002)
    assert finding.excerpt is not None
    assert len(finding.excerpt.text) < 200
    assert "\ufffd" in finding.excerpt.text


_ASCII = '{"DocumentID": "CHN_EVAL_096_004", "Type": "Medical Assistance", "TypeConfidence": 0.5}'


@pytest.mark.parametrize(
    ("data", "guess"),
    [
        ("crème brûlée".encode("latin-1"), "looks like Latin-1 or windows-1252; 3 invalid places"),
        ("a “crème” of text".encode("cp1252"), "looks like windows-1252"),
        ("the gene 東".encode()[:-1], "ends within a character"),
        ("東京都江戸".encode() + b"\xe8" + "千代田".encode(), "most of the file is UTF-8"),
        ("T1\tGene".encode("utf-16"), "starts with a UTF-16 byte order mark"),
        (codecs.BOM_UTF32_LE + "T1".encode("utf-32-le"), "starts with a UTF-32 byte order mark"),
        ("T1\tGène is a gene".encode("utf-16-be"), "looks like UTF-16-BE"),
        (
            f'[{{"PlaceMention": "江苏"}}, {_ASCII}, {{"PlaceMention": "四川省"}}]'.encode(
                "gb18030"
            ),
            "like GB18030",
        ),
        (
            f'[{{"PlaceMention": "北京市"}}, {_ASCII}, {{"PlaceMention": "上海"}}]'.encode("gbk"),
            "like GB18030",
        ),
        (
            f'[{{"PlaceMention": "São"}}, {_ASCII}, {{"PlaceMention": "Zürich"}}]'.encode(
                "latin-1"
            ),
            "Latin-1",
        ),
    ],
)
def test_the_help_guesses_what_the_file_is(data: bytes, guess: str) -> None:
    (finding,) = decode(data, display="d1.a2").findings
    assert finding.code == "SRC201"
    assert guess in (finding.help or "")


def test_no_guess_is_better_than_a_wrong_one() -> None:
    russian = f'[{{"PlaceMention": "Ош"}}, {_ASCII}, {{"PlaceMention": "Москва"}}]'
    for text, encoding in (("江苏", "gb18030"), ("Красная площадь", "cp1251"), (russian, "cp1251")):
        (finding,) = decode(text.encode(encoding), display="d1.a2").findings
        assert "looks like" not in (finding.help or "")


def test_nul_characters_are_told_once_with_their_place() -> None:
    decoded = decode(b"ab\nc\0d\0", display="d1.a2")
    assert decoded.text is None
    (finding,) = decoded.findings
    assert (finding.code, finding.span, finding.blocking) == ("SRC203", Span(2, 2, 3), True)
    assert "2 in total" in finding.message


def test_utf_16_without_a_mark_is_recognised() -> None:
    (finding,) = decode("T1\tGene 0 4\tABI3".encode("utf-16-le"), display="d1.a2").findings
    assert finding.code == "SRC203"
    assert "UTF-16-LE" in (finding.help or "")


def test_another_encoding_is_used_strictly() -> None:
    assert decode("crème".encode("latin-1"), display="d", encoding="latin-1").text == "crème"
    assert decode("crème".encode("utf-16"), display="d", encoding="utf-16").text == "crème"
    (finding,) = decode(b"ab\x81", display="d", encoding="cp1252").findings
    assert finding.code == "SRC204"
    assert finding.message == "byte 0x81 at offset 2 is not valid cp1252"
    assert finding.span == Span(1, 3, 4)
    with pytest.raises(LookupError):
        decode(b"a", display="d", encoding="utf-9")


def test_digest() -> None:
    assert sha256(b"abc") == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"


CODECS = sorted({module.name for module in pkgutil.iter_modules(encodings.__path__)} - {"aliases"})
NOT_OF_FILES = ("idna", "punycode", "undefined", "unicode_escape", "raw-unicode-escape")
NOT_OF_TEXT = ("base64", "bz2", "hex", "quopri", "rot13", "uu", "zlib")
MEANINGFUL = b"\n\x1b$+~\\xuAZ\x00\xff\xfe\x81\x40"


def test_every_encoding_that_is_accepted_gives_text_or_a_finding() -> None:
    """Whatever the bytes, in every codec of Python."""
    draw = Random(13)
    accepted = []
    for name in CODECS:
        try:
            check_encoding(name)
        except LookupError:
            continue
        accepted.append(name)
        for _ in range(40):
            length = draw.randrange(1, 20)
            data = bytes(draw.choice((*MEANINGFUL, draw.randrange(256))) for _ in range(length))
            decoded = decode(data, display="d1.a2", encoding=name)
            assert decoded.text is not None or len(decoded.findings) == 1
    assert {"utf_8", "latin_1", "cp1252", "gb18030", "utf_16", "shift_jis"} <= {*accepted}


@pytest.mark.parametrize("name", [*NOT_OF_FILES, *NOT_OF_TEXT, "no-such", "", "a\0b", "é"])
def test_what_is_no_encoding_of_text_files_is_refused(name: str) -> None:
    reason = "is not an encoding of text files" if name in NOT_OF_FILES else "unknown encoding"
    with pytest.raises(LookupError, match=reason):
        check_encoding(name)
    with pytest.raises(LookupError, match=reason):
        open_source(__file__, encoding=name)
