r"""RTTM: instances as turns of a rich transcription, one per line.

Format:
    Ten fields between spaces or tabs: type, file, channel, start, duration, orthography, subtype,
    name, confidence, signal look-ahead; the last one may be absent. `<NA>` means no value.

Conventions:
    Times are seconds. The type is the kind, `NORM` or `EMOTION`; lines of other types, such as
    `SPEAKER`, have the kind of the setting `kind`. Of other types than these three, such as
    `LEXEME` of NIST, each is a warning: md-eval has no turns there, dscore and pyannote do. The
    name is the label, the subtype the status, the confidence the llr.
    Comments (`;;`), `SPKR-INFO` lines and empty lines are skipped.

Example lines:
    NORM M01 1 45.2 15.1 <NA> adhere 101 1.5 <NA>
    SPEAKER M02 1 0.5 2.1 <NA> <NA> Ann <NA> <NA>

Codes raised: TLN101, TLN2xx.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

import polars as pl

from hlteval.converters.declarations import declaration
from hlteval.converters.timelines import notation
from hlteval.converters.toolkit import source_files
from hlteval.converters.toolkit.rows import with_documents
from hlteval.converters.toolkit.source_files import File, with_suffix
from hlteval.findings import FieldRef, Finding, Location, Problem
from hlteval.representation import Corpus
from hlteval.sources import Member, Source
from hlteval.syntax.sections import TableSections, field_sections
from hlteval.syntax.tsv import Column, Explanation, Lines, Table, shorten
from hlteval.syntax.tsv_mistakes import SPACES

SUFFIX = ".rttm"
#: The types that are kinds.
_TYPES = ("norm", "emotion")
_NONE = "<NA>"
_FIELD = re.compile("[^ \t]+")
_ANY = "[^ \t]+"
#: Any field but `<NA>`; the engine of bulk reading has no lookahead.
_LABEL = "[^ \t]{1,3}|[^ \t]{5,}|" + "|".join(
    f"[^ \t]{{{at}}}[^ \t{character}][^ \t]{{{3 - at}}}" for at, character in enumerate(_NONE)
)


def explain(record: int, line: str) -> Explanation:
    """A line that is not valid with single spaces: its fields, or what is wrong.

    Examples:
        >>> explain(1, "NORM  M01 1 4.5 1 <NA> <NA> 101 <NA>")[0][0][1]
        'M01'
        >>> explain(1, "NORM M01 1 4,5 1 <NA> <NA> 101 <NA>")[1][0][:4]
        ('TLN202', 1, 11, 14)
    """
    found = [*_FIELD.finditer(line)]
    if line.lstrip(" \t").startswith(";;") or (found and found[0][0] == "SPKR-INFO"):
        return (), ()
    if len(COLUMNS) - len(found) not in {0, 1}:
        values = {"given": len(found), "wanted": f"{len(COLUMNS) - 1} or {len(COLUMNS)}"}
        return (), [Problem("TLN201", record, 0, len(line), values)]
    problems = []
    for column, field in zip(COLUMNS, found, strict=False):
        if not column.accepts(field[0]):
            values = {"given": shorten(field[0], 40), "column": column.title}
            problems.append(Problem(column.code, record, *field.span(), values))
    cells = [field[0] for field in found] + [_NONE] * (len(COLUMNS) - len(found))
    return ([] if problems else [cells]), problems


COLUMNS = (
    Column("type", pattern="[A-Za-z][A-Za-z0-9_-]*", code="TLN203"),
    Column("name", heading="file", pattern=_ANY),
    Column("channel", pattern=_ANY),
    Column("start", pattern=notation.SECONDS, code="TLN202"),
    Column("duration", pattern=notation.SECONDS, code="TLN202"),
    Column("orthography", pattern=_ANY),
    Column("status", heading="subtype", pattern=_ANY),
    Column("label", heading="name", pattern=_LABEL, code="TLN101"),
    Column("llr", heading="confidence", pattern=f"{_NONE}|{notation.NUMBER}", code="TLN202"),
    Column("look-ahead", pattern=_ANY, optional=True),
)
TABLE = Table(COLUMNS, code="TLN201", explain=explain, separator=SPACES, ignored=";;|SPKR-INFO$")


def sniff(source: Source) -> bool:
    """Whether one of the first lines is a turn, as far as its type, file and start show it."""
    first = source_files.head_of_first(with_suffix(source, SUFFIX))
    return any(map(_TURN.match, first.split("\n")[:20]))


_TURN = re.compile(r"[A-Z][A-Z-]+(?:[ \t]+[^ \t]+){2}(?:[ \t]+[0-9.]+){2}[ \t]+<NA>[ \t]")


def read_file(file: File, kind: str = "speaker") -> tuple[Corpus, Iterable[Finding]]:
    """The turns of a file as instances, and what is wrong with others."""
    text = file.text or ""
    # Single spaces and tabs are the same; places stay what they are.
    table = replace(TABLE.read(text.replace(" ", "\t")), lines=Lines(text))
    rows, own = table.rows, pl.col("type").str.to_lowercase()
    documents, instances = with_documents(
        rows.select(
            *("record", "name", "label"),
            kind=pl.when(own.is_in(_TYPES)).then(own).otherwise(pl.lit(kind)),
            status=pl.col("status").replace(_NONE, None),
            start=notation.numbers(rows["start"]),
            end=notation.ends(rows["start"], rows["duration"]),
            llr=notation.numbers(rows["llr"].replace(_NONE, None)),
        )
    )
    rejected = table.rejected_records("instance")
    corpus = Corpus(
        sources=[file.origin], documents=documents, instances=instances, rejected_records=rejected
    )
    others = rows.filter(~own.is_in(("speaker", *_TYPES))).group_by("type", maintain_order=True)
    firsts = others.agg(pl.col("record").first(), count=pl.len())
    return corpus, table.findings(file.member, *table.problems_at("TLN204", firsts))


def sections(member: Member, **_: str) -> TableSections:
    """The documents of a file."""
    return field_sections(member, 1, b";;")


def locate(member: Member, places: Sequence[FieldRef]) -> list[Location | None]:
    """The fields of a file; a record is a line, and the end of an instance is its duration."""

    def stretch(line: str, field: str) -> tuple[int, int]:
        wanted = {"kind": "type", "document": "name", "end": "duration"}.get(field, field)
        fields = zip(COLUMNS, _FIELD.finditer(line), strict=False)
        spans = {column.name: match.span() for column, match in fields}
        return spans.get(wanted, (0, len(line)))

    return source_files.locate_lines(member, places, stretch)


def as_text(corpus: Corpus) -> pl.Series:
    """The instances that turns can represent, as turns."""
    rows = notation.rows_in_seconds(corpus, "instances").filter(_fits())
    line = pl.format(
        f"{{}} {{}} 1 {{}} {{}} {_NONE} {{}} {{}} {{}} {_NONE}\n",
        pl.col("kind").str.to_uppercase(),
        pl.col("name"),
        notation.plain_text(rows["start"]),
        notation.durations(rows["start"], rows["end"]),
        pl.col("status").fill_null(_NONE),
        pl.col("label"),
        pl.col("llr").cast(pl.String).fill_null(_NONE),
    )
    return rows.select(line=line)["line"]


def _fits() -> pl.Expr:
    """Whether fields without spaces can represent an instance."""
    conditions = [pl.col("kind").is_in(notation.INSTANCES), notation.is_number("llr")]
    for name in ("name", "label", "status"):
        is_field = pl.col(name).str.contains(r"^[^\s\x00-\x1f\x{FEFF}]+$")
        conditions.append(is_field.fill_null(value=True))
    conditions += [pl.col(name).ne_missing(_NONE) for name in ("label", "status")]
    return pl.all_horizontal(conditions)


def count_losses(corpus: Corpus) -> Mapping[str, int]:
    """The counts of what turns cannot represent."""
    others = notation.rows_in_seconds(corpus, "instances").filter(~_fits())
    return {
        **notation.count_untimed(corpus, "instances"),
        "instances whose names have spaces": others.height,
    }


FORMAT = declaration(__name__)
