"""Counts in messages: `1 line`, but `2 lines`.

A template chooses between two words by one of its values: `{count:,} {count|line|lines}`. What is
not a template puts a count before a noun with `counted`, or before a phrase in the plural with
`counted_phrase`.
"""

import re
from collections.abc import Mapping, Sequence

#: What a phrase in the plural begins with, to its first noun, and the verb that belongs to it.
_NOUN = re.compile(
    r"(?P<before>[^,;(]*?)\b(?P<noun>\w+[^\Wsu]s)\b(?: and (?P<other>\w+s)\b)?"
    r"(?:(?P<relative>,? (?:that|which)) (?P<verb>\w+))?"
)
_PREPOSITION = re.compile(r" (?:made of|of|with|without|in|after) ")
_EITHER = re.compile(r"(\w+) or (\w+)")
_VERBS = {
    "are": "is",
    "have": "has",
    "do": "does",
    "were": "was",
    **{verb: f"{verb}s" for verb in ("agree", "become", "consist", "contain", "differ")},
}


def plural(word: str) -> str:
    """The plural of a word or phrase that ends in a noun, or has one before a preposition.

    Examples:
        >>> plural("N line"), plural("entity"), plural("status"), plural("row of links")
        ('N lines', 'entities', 'statuses', 'rows of links')
        >>> plural("further entity after |"), plural("Status with Need")
        ('further entities after |', 'Statuses with Need')
        >>> plural("text made of words"), plural("entity or span")
        ('texts made of words', 'entities or spans')
    """
    if found := _PREPOSITION.search(word):
        return f"{plural(word[: found.start()])}{word[found.start() :]}"
    if either := _EITHER.fullmatch(word):
        return " or ".join(map(plural, either.groups()))
    if word.endswith("y") and word[-2:-1] not in "aeiou":
        return f"{word[:-1]}ies"
    return f"{word}es" if word.endswith(("s", "x", "ch", "sh")) else f"{word}s"


def singular(phrase: str) -> str:
    """The singular of a phrase that begins with a noun in the plural.

    Examples:
        >>> singular("entities that are empty"), singular("identifiers of mentions")
        ('entity that is empty', 'identifier of mentions')
        >>> singular("types and roles of events"), singular("missing statuses")
        ('type or role of events', 'missing status')
    """
    found = _NOUN.match(phrase)
    if not found:
        return phrase
    nouns = " or ".join(_noun(found[part]) for part in ("noun", "other") if found[part])
    verb = found["verb"] or ""
    relative = f"{found['relative']} {_VERBS.get(verb, verb)}" if verb else ""
    return f"{found['before']}{nouns}{relative}{phrase[found.end() :]}"


def enumeration(words: Sequence[str], last: str = "and") -> str:
    """Words as a list in a sentence.

    Examples:
        >>> enumeration(["a"]), enumeration(["a", "b", "c"], "or")
        ('a', 'a, b or c')
    """
    return f" {last} ".join([", ".join(words[:-1]), words[-1]] if len(words) > 1 else words)


def _noun(word: str) -> str:
    """The singular of a noun.

    Examples:
        >>> [_noun(word) for word in ("statuses", "boxes", "responses", "urgencies")]
        ['status', 'box', 'response', 'urgency']
    """
    if word.endswith(("uses", "xes", "ches", "shes")):
        return word[:-2]
    return f"{word[:-3]}y" if word.endswith("ies") else word[:-1]


def count_of(count: int, word: str) -> str:
    """A count with a word, which is in the singular.

    Examples:
        >>> count_of(1, "N line"), count_of(1200, "N line")
        ('1 N line', '1,200 N lines')
    """
    return f"{count:,} {word if count == 1 else plural(word)}"


def counted_phrase(count: int, phrase: str) -> str:
    """A count with a phrase that begins with a noun in the plural.

    Examples:
        >>> counted_phrase(1, "texts with line breaks"), counted_phrase(0, "texts")
        ('1 text with line breaks', '0 texts')
    """
    return f"{count:,} {singular(phrase) if count == 1 else phrase}"


def first_names(names: Sequence[str], most: int, *, others: int = 1) -> str:
    """List the first of some names, and the number of the others, if these are enough to count.

    Examples:
        >>> first_names(["a", "b", "c"], 2), first_names(["a", "b", "c"], 2, others=2)
        ('a, b and 1 more', 'a, b, c')
    """
    if len(names) < most + others:
        return ", ".join(names)
    return f"{', '.join(names[:most])} and {len(names) - most:,} more"


class _Values(dict[str, object]):
    """The values of a template, and the words that it chooses by them."""

    def __missing__(self, field: str) -> object:
        name, choice, words = field.partition("|")
        if not choice:
            raise KeyError(field)
        one, _, many = words.partition("|")
        return one if str(self[name]) == "1" else many


def fill(template: str, values: Mapping[str, object]) -> str:
    """A template with its values.

    Raises:
        KeyError: if a value is missing.

    Examples:
        >>> fill("{count} {count|line|lines}", {"count": 1})
        '1 line'
    """
    return template.format_map(_Values(values) if "|" in template else values)
