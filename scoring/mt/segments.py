"""Segments of the reference with their translations: what is scored, and what is not."""

import hashlib
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal

import polars as pl

from hlteval.representation import Corpus, first_case
from hlteval.scoring.similarity import resolve_places, with_entries

# Protection of URLs: tokenizers of all metrics split them into many words (section 15.2.2).
#
# Each URL, e-mail address, @name and #tag becomes one word of letters, which no tokenizer splits.
# Equal strings have equal words in all texts, and different ones differ.


_WORD = r"[^\W_]"
_HOST = rf"{_WORD}(?:[\w-]*{_WORD})?"
_DOMAIN = rf"{_HOST}(?:\.{_HOST})*\.[^\W\d_]{{2,}}"
_PROTECTED = re.compile(
    rf"""
    (?P<url>(?:[a-z][a-z0-9+.-]*://|www\.)[^\s<>"]+)
    | (?P<email>(?<![\w.+-])[\w.+-]*{_WORD}@{_DOMAIN})
    | (?P<name>(?<![\w@\#])[@\#]\w+)
    """,
    re.IGNORECASE | re.VERBOSE,
)
#: Characters that end a sentence or a bracket, and no URL.
_AFTER = ".,;:!?'\u2019\u201d\u00bb\u2026)]}"
#: Digests as consonants: no stemmer takes them for endings, no tokenizer splits off digits.
_LETTERS = str.maketrans("0123456789abcdef", "bcdfghjklmnpqrst")


def with_placeholders(text: str) -> str:
    """A text with a word in place of each URL, e-mail address, @name and #tag.

    Examples:
        >>> one, two = map(with_placeholders, ("see https://a.org/b.", "https://a.org/b"))
        >>> one == f"see {two}.", two.isalpha()
        (True, True)
    """

    def placeholder(found: re.Match[str]) -> str:
        string = found[0]
        kept = string.rstrip(_AFTER) if found["url"] else string
        # The bracket of a URL such as .../A_(b) belongs to it.
        if kept.count("(") > kept.count(")") and string[len(kept) :].startswith(")"):
            kept += ")"
        digest = hashlib.sha256(kept.encode()).hexdigest()[:16].translate(_LETTERS)
        return f"x{digest}x{string[len(kept) :]}"

    return _PROTECTED.sub(placeholder, text)


# The options of scoring translations.


#: Segments, each as its document and its identifier.
Pairs = frozenset[tuple[str, str]]

#: What is computed unless metrics are named. METEOR needs Java, and is never left out silently.
DEFAULT_METRICS = ("bleu", "chrf", "chrf_pp", "ter")
METEOR = "meteor"
METRICS = (METEOR, *DEFAULT_METRICS)
Tokenizer = Literal["13a", "intl", "char", "none"]


#: What decides of a situation frame whether it is correct, and the segment that justifies it.
FRAMES = ("document", "type", "place", "segment")


@dataclass(frozen=True)
class Justifications:
    """The segments that justify correct situation frames (section 15.2).

    A frame is correct if the reference has one of its document, type and place, which is any of the
    entries of an ambiguous place (`ambiguous_places`); frames without a place are correct beside
    such a frame of the reference.

    Attributes:
        submitted: the frames of a submission (`FRAMES`).
        reference: those of the reference, of all annotators.
    """

    submitted: pl.DataFrame
    reference: pl.DataFrame

    @cached_property
    def correct(self) -> pl.DataFrame:
        """The frames of the submission that are correct, in its order."""
        key = list(FRAMES[:-1])
        reference = with_entries(self.reference.select(key)).unique(maintain_order=True)
        system = resolve_places(with_entries(self.submitted), reference, key[:-1])
        return system.join(reference, on=key, how="semi", nulls_equal=True, maintain_order="left")

    @property
    def frames(self) -> pl.DataFrame:
        """The correct frames that name a segment."""
        return self.correct.filter(pl.col("segment").fill_null("") != "")

    @cached_property
    def pairs(self) -> Pairs:
        """The segments, each once."""
        return frozenset(self.frames.select("document", "segment").unique().iter_rows())


@dataclass(frozen=True)
class TranslationOptions:
    """The options of the metric.

    Attributes:
        metrics: what is computed, in order.
        subset: the only segments that are scored; None for all.
        sf_justifications: situation frames whose justifications are scored; None for all segments.
        sf_reference: the frames by which these are judged.
        neighbours: how many segments before and after each of these assessors see.
        protect_urls: whether URLs, e-mail addresses, @names and #tags are one token each.
        tokenize: the tokenizer of BLEU.
        lowercase: whether BLEU, chrF and chrF++ ignore case; METEOR and TER always do.
        meteor_jar: path of METEOR 1.5; that of the package pycocoevalcap if empty.
        no_paraphrases: METEOR without its table of paraphrases.
        sf_scores: the scores of situation frames by document, and by what they were found in.
    """

    metrics: tuple[str, ...] = DEFAULT_METRICS
    subset: Pairs | None = None
    sf_justifications: pl.DataFrame | None = None
    sf_reference: pl.DataFrame | None = None
    neighbours: int = 1
    protect_urls: bool = False
    tokenize: Tokenizer = "13a"
    lowercase: bool = False
    meteor_jar: str = ""
    no_paraphrases: bool = False
    sf_scores: Mapping[str, Mapping[str, float]] = field(default_factory=dict)

    @cached_property
    def justifications(self) -> Justifications | None:
        """The segments that justify correct situation frames, if only these are scored."""
        if self.sf_justifications is None or self.sf_reference is None:
            return None
        return Justifications(self.sf_justifications, self.sf_reference)

    @property
    def only(self) -> Pairs | None:
        """The only segments that are scored; None for all."""
        if self.justifications is None:
            return self.subset
        own = self.justifications.pairs
        return own if self.subset is None else own & self.subset


_KEY = ("document", "segment")


def segment_pairs(reference: Corpus, system: Corpus, options: TranslationOptions) -> pl.DataFrame:
    """A row per segment of the reference, in the order of the reference.

    White space is normalised: each run of it is a space, with none at the ends.

    Args:
        reference: one or several translations of each segment, by `set`. Those of a form without
            roles are those of a system on both sides.
        system: the translations of a system; of several of a segment the first counts.
        options: the subset that is scored, and whether URLs are protected.

    Returns:
        `document` (its name), `order` (0-based), `segment`, `source` (null where neither side has
        it), `references` (texts that are not empty), `translation`, `present` (whether the system
        has the segment), `more` (its further translations), and `scored`.
    """
    change = with_placeholders if options.protect_urls else str
    gold, own = _texts(reference, "reference", change), _texts(system, "system", change)
    gold = gold if gold.height else _texts(reference, "system", change)
    text, more = pl.col("text"), pl.len().cast(pl.Int64) - 1
    references = gold.group_by(*_KEY, maintain_order=True).agg(references=text.filter(text != ""))
    each = own.group_by(*_KEY, maintain_order=True)
    translations = each.agg(translation=text.first(), more=more)
    sources = pl.concat([_texts(each, "source") for each in (reference, system)])
    sources = sources.unique([*_KEY], keep="first").select(*_KEY, source="text")
    rows = references.join(translations, on=_KEY, how="left", maintain_order="left")
    rows = rows.join(sources, on=_KEY, how="left", maintain_order="left")
    only = options.only
    wanted = [only is None or pair in only for pair in rows.select(_KEY).iter_rows()]
    return rows.select(
        "document",
        pl.int_range(pl.len(), dtype=pl.Int64).over("document").alias("order"),
        "segment",
        "source",
        "references",
        pl.col("translation").fill_null(""),
        pl.col("translation").is_not_null().alias("present"),
        pl.col("more").fill_null(0),
        pl.Series("scored", wanted, dtype=pl.Boolean) & (pl.col("references").list.len() > 0),
    )


def _texts(corpus: Corpus, role: str, change: Callable[[str], str] = str) -> pl.DataFrame:
    """The texts of one role, each changed, with the names of their documents."""
    names = corpus.documents.select("name", document="row")
    rows = corpus.translations.filter(pl.col("role") == role).select("document", "segment", "text")
    named = rows.join(names, on="document", how="left", maintain_order="left")
    changed = [change(" ".join(text.split())) for text in named["text"]]
    texts = pl.Series("text", changed, dtype=pl.String)
    return named.select(document="name", segment="segment").with_columns(texts)


def readable(rows: pl.DataFrame) -> pl.DataFrame:
    """Segments as people read them, with the outcome of each.

    Examples:
        >>> row = {"references": ["Osh."], "translation": "Osh.", "present": True, "scored": True}
        >>> readable(pl.DataFrame([row]))["outcome"].to_list()
        ['identical']
    """
    outcome = first_case(
        (~pl.col("scored"), "not scored"),
        (~pl.col("present"), "missing"),
        (pl.col("references").list.contains(pl.col("translation")), "identical"),
        otherwise="different",
    )
    return rows.with_columns(outcome=outcome)
