"""Names of documents: why those of two sides may have nothing in common."""

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from functools import partial
from itertools import product

import numpy as np
import polars as pl

from hlteval.findings import Finding, finding
from hlteval.findings.counts import first_names
from hlteval.findings.finding import INVISIBLE, code_point
from hlteval.findings.suggest import closest_files, did_you_mean
from hlteval.validators.rule import Rule, RuleContext, at

#: Names of each side that are compared.
_SAMPLE = 50


def mismatch(reference: Sequence[str], system: Sequence[str]) -> str:
    """The likely reason why no name is on both sides, as the fix.

    Args:
        reference: the names of one side.
        system: those of the other side, which are to be changed.

    Examples:
        >>> mismatch(["d1", "d2"], ["D1", "D2"])
        'write the names in the case of the reference: d1, not D1'
        >>> mismatch(["d1", "d2"], ["d1.ltf", "d2.ltf"])
        'remove .ltf from the end of the names: d1, not d1.ltf'
        >>> mismatch(["d1", "d2"], ["test/d1", "test/d2"])
        'remove test/ from the beginning of the names: d1, not test/d1'
        >>> mismatch(["utt-1"], ["1", "2"])
        'the names are numbers: write those of the reference, such as utt-1'
        >>> mismatch(["d1"], ["x9"])
        'check that both are of the same data'
    """
    for key, hint in _SPELLINGS:
        keys = {key(name): name for name in reversed(reference)}
        if meant := next((n for n in system if key(n) in keys), None):
            return f"{hint}: {keys[key(meant)]}, not {meant}"
    if all(name.isdecimal() for name in system) and not any(map(str.isdecimal, reference)):
        return f"the names are numbers: write those of the reference, such as {reference[0]}"
    counts = Counter(edit for edit, _, _ in _edits(reference[:_SAMPLE], system[:_SAMPLE]))
    for edit, count in counts.most_common(1):
        if 2 * count >= min(len(reference), len(system), _SAMPLE):
            pairs = (pair for other, *pair in _edits(reference, system) if other == edit)
            return "{}: {}, not {}".format(edit, *next(pairs))
    similar = closest_files(system, reference)
    examples = [f"did you mean {ours}, not {theirs}?" for theirs, ours in similar.items()]
    return examples[0] if examples else "check that both are of the same data"


_SPELLINGS: tuple[tuple[Callable[[str], str], str], ...] = (
    (str.casefold, "write the names in the case of the reference"),
    (
        lambda name: re.sub(r"[\W_]+", "", name.casefold()) or name,
        "write the names with the punctuation of the reference",
    ),
)


def _edits(reference: Sequence[str], system: Sequence[str]) -> Iterator[tuple[str, str, str]]:
    """How a name of the system becomes one of the reference, if it is an end or begin of it.

    Returns:
        The edit, the name in the reference and that in the system.
    """
    for ours, theirs in product(reference, system):
        longer, shorter = (theirs, ours) if len(theirs) > len(ours) else (ours, theirs)
        edit = "remove {} from the {}" if longer == theirs else "add {} to the {}"
        if shorter and longer.startswith(shorter):
            yield f"{edit.format(longer[len(shorter) :], 'end')} of the names", ours, theirs
        if shorter and longer.endswith(shorter):
            yield f"{edit.format(longer[: -len(shorter)], 'beginning')} of the names", ours, theirs


# Names in options that neither the reference nor the submission has (OPT114).


#: Names that a hint lists.
_SHOWN = 8


def unknown_names(
    option: str, what: str, given: Iterable[str], known: Collection[str], file: str | None = None
) -> Iterator[Finding]:
    """The findings about the names that are not known, each once.

    Args:
        option: the option, such as `unscored`.
        what: what the names are of, such as `slot`.
        given: the names.
        known: those that the reference, the submission or the task has.
        file: the file of the option that has them.

    Examples:
        >>> (found,) = unknown_names("unscored", "slot", ["COMENT"], ["COMMENT", "KIND"])
        >>> found.message, found.help, found.side
        ('no slot is called COMENT', 'did you mean COMMENT?', '--unscored')
    """
    names = sorted(known)
    listed = f"use one of {first_names(names, _SHOWN)}" if names else "leave it out"
    for name in dict.fromkeys(given):
        if name not in known:
            hint = did_you_mean(name, names, listed)
            unknown = finding("OPT114", file=file, what=what, given=name[:80], hint=hint)
            yield unknown.of(f"--{option}")


# Invisible characters in names, for the records of all tasks (CHR101).


#: The columns of each table whose values are compared as names.
_NAMES = {
    "mentions": ("mention", "label", "entity"),
    "frames": ("label", "place", "place_kb"),
    "arguments": ("role", "target"),
    "modifiers": ("label", "target"),
    "fills": ("slot", "target"),
    "instances": ("label", "status"),
    "mappings": ("label", "target"),
    "segments": ("name",),
    "translations": ("segment",),
    "responses": ("condition", "speaker", "response"),
}
#: The tables whose records name their documents; other formats have them in the names of files.
_IN_RECORDS = ("mentions", "instances", "translations", "responses")


def _odd_names(context: RuleContext, table: str, columns: Sequence[str]) -> pl.LazyFrame:
    """The records with an invisible character in a name, each at the first of these characters.

    Without columns, it is the name of their document, in the first record of that.
    """
    if columns:
        rows = context.table(table, "origin", "record", *columns)
    else:
        rows = context.table(table, "document", "origin", "record")
        rows = rows.unique("document", keep="first", maintain_order=True)
        rows = rows.join(context.names, on="document", maintain_order="left")
    names = [pl.col(name) for name in columns or ("name",)]
    first = pl.coalesce(name.str.extract(f"({INVISIBLE})", 1) for name in names)
    odd = pl.coalesce(pl.when(name.str.contains(INVISIBLE)).then(name) for name in names)
    rows = rows.with_columns(character=first, given=odd.str.slice(0, 40)).drop_nulls("character")
    point = pl.col("character").map_elements(code_point, return_dtype=pl.String)
    return at(rows, "").with_columns(character=point, id=pl.lit(None, pl.String))


def _are_odd(context: RuleContext, table: str, columns: Sequence[str]) -> bool:
    """Whether any name in some columns has an invisible character."""
    rows: pl.DataFrame = getattr(context.system, table)
    for name in columns:
        # where all are visible characters of ASCII, no name has to be searched
        data: bytes = rows[name].str.join("").cast(pl.Binary).item() or b""
        from_space = np.frombuffer(data, dtype=np.uint8) - np.uint8(ord(" "))
        other = bool((from_space > ord("~") - ord(" ")).any())
        if other and rows[name].str.contains(INVISIBLE).any():
            return True
    return False


#: The rules: of the names in each table, and of the documents that its records name.
RULES = tuple(
    Rule(
        "CHR101",
        table,
        partial(_odd_names, table=table, columns=columns),
        suspects=partial(_are_odd, table=holder, columns=columns or ("name",)),
    )
    for table, columns, holder in (
        *((table, columns, table) for table, columns in _NAMES.items()),
        *((table, (), "documents") for table in _IN_RECORDS),
    )
)
