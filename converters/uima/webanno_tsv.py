r"""WebAnno TSV: annotations of INCEpTION in columns, one file per document.

Format:
    WebAnno TSV 3.0 to 3.3. The header declares layers with their features: `#T_SP` of spans, `#T_CH`
    of chains, `#T_RL` of relations. A sentence is `#Text=` lines and a line for each token, with its
    number, its offsets, its text and a column for each feature. Parts of tokens (`1-1.1`) and empty
    spans are lines of their own. `[n]` connects the lines of an annotation, `|` separates several,
    `*` has no value, `_` is no annotation.

Conventions:
    Offsets count UTF-16 code units. The text is that of `#Text=`; between sentences is a line feed,
    and spaces up to the next. `layers.py` describes the use of annotations, links and relations, and
    `cas_xmi.py` of the files of several annotators. Links of a chain are mentions of one entity. A
    record is a line. Written are also the tokens that the annotations need; `hlt_name` and similar
    columns have what layers of INCEpTION have not.

Example lines:
    #Text=Ann works at Acme
    1-1	0-3	Ann	PER	_	_
    1-4	13-17	Acme	ORG	works for	1-1

Codes raised: UIM1xx, UIM301.
"""  # noqa: E501

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import partial

from hlteval.converters.declarations import declaration
from hlteval.converters.format import ReadResult
from hlteval.converters.toolkit import source_files
from hlteval.converters.toolkit.rows import DocumentRows
from hlteval.converters.toolkit.source_files import head_of_first, locate_in_text, with_suffix
from hlteval.converters.uima import layers
from hlteval.converters.uima.layers import Choice, annotator_of, take
from hlteval.converters.uima.tsv_columns import Columns, Header
from hlteval.converters.uima.tsv_text import Text
from hlteval.converters.uima.tsv_writing import Files
from hlteval.findings import FieldRef, Location, Problem, line_findings
from hlteval.representation import Corpus
from hlteval.sources import Member, Source, decode

SUFFIX = ".webanno.tsv"
_FORMAT = re.compile(r"\ufeff?#FORMAT=WebAnno TSV ")
_CELLS = ("id", "offsets", "text")


def sniff(source: Source) -> bool:
    """Whether the first file that ends in .tsv begins with the name of this format."""
    return bool(_FORMAT.match(head_of_first(with_suffix(source, ".tsv"), 100)))


documents = partial(layers.documents, suffix=SUFFIX)


def read(
    source: Source, layer: str = "", feature: str = "", offsets: str = "utf-16"
) -> Iterator[ReadResult]:
    """The documents of a source in batches, in the order of their names."""
    settings = layer, feature, offsets
    return layers.read_files(source, FORMAT.name, SUFFIX, documents, add_file, *settings)


def add_file(rows: DocumentRows, origin: int, name: str, written: str, choice: Choice) -> None:
    """Add the document of a file, and what is wrong in it."""
    member, problems = rows.files.members[origin], list[Problem]()
    lines = [line.removesuffix("\r") for line in written.split("\n")]
    header = Header(lines, problems)
    text = Text(lines, header, choice.unit, problems)
    found = Columns(header, text, problems).annotations()
    is_new = rows.begin(origin, name, text=text.whole if header.is_known else None)
    row = rows.tables["documents"][rows.documents[name]]
    if row["text"] is None and header.is_known:
        row["text"] = text.whole
    if header.is_known and row["text"] != text.whole:
        first = text.first_record
        problems.append(Problem("UIM106", first, 0, len(lines[first - 1]), {"name": name[:40]}))
    elif header.is_known:
        for layer, features in header.features.items():
            choice.see(layer, features)
        take(rows, text.whole, found, choice, annotator_of(member), structure=is_new)
    for problem in text.rejected:
        line = lines[problem.record - 1]
        rows.add("rejected_records", problem.rejection("token", line))
    rows.findings += line_findings(
        sorted(problems, key=lambda problem: problem[1:3]),
        lines, member.display, member.max_per_code,
    )  # fmt: skip


def locate(member: Member, places: Sequence[FieldRef]) -> list[Location | None]:
    """The places of lines, and of their first three cells."""
    text = decode(member.fetch(), display=member.display, encoding=member.encoding).text
    return locate_in_text(text or "", places, span_of)


def span_of(line: str, field: str) -> tuple[int, int]:
    """The place of the text of a unit, or of its whole line."""
    cells = line.split("\t", 3)
    field = {"start": "offsets", "end": "offsets"}.get(field, field)
    if field not in _CELLS or len(cells) < len(_CELLS):
        return 0, len(line.rstrip("\t"))
    at = _CELLS.index(field)
    start = sum(len(cell) + 1 for cell in cells[:at])
    return start, start + len(cells[at])


def as_files(corpus: Corpus) -> Iterator[tuple[str, Iterator[str]]]:
    """The name of the file of each document, and its content in pieces."""
    files = corpus.cached(Files)
    for row, name in source_files.output_paths(corpus, FORMAT.name, SUFFIX).items():
        yield name, files.content(row)


def count_losses(corpus: Corpus) -> Mapping[str, int]:
    """The counts of what the files cannot represent."""
    losses = corpus.cached(Files).losses
    return {**source_files.count_without_file(corpus, FORMAT.name, SUFFIX), **losses}


FORMAT = declaration(__name__)
