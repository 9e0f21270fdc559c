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

Codes raised: UIM1xx, UIM204, UIM301.
"""  # noqa: E501

import re
from collections.abc import Iterator, Mapping
from functools import partial

from hlteval.converters.declarations import declaration
from hlteval.converters.format import ReadResult
from hlteval.converters.toolkit import source_files
from hlteval.converters.toolkit.rows import DocumentRows
from hlteval.converters.uima import layers
from hlteval.converters.uima.layers import Choice, annotator_of, take
from hlteval.converters.uima.tsv_reading import Annotations, Text, read_layers, read_sentences
from hlteval.converters.uima.tsv_writing import Files
from hlteval.findings import Problem
from hlteval.representation import Corpus
from hlteval.sources import Source

SUFFIX = ".webanno.tsv"
_FORMAT = re.compile(r"\ufeff?#FORMAT=WebAnno TSV ")
_VERSION = re.compile(r"\ufeff?#FORMAT=WebAnno TSV 3\.[0-3][ \t]*")
_CELLS = {"id": 0, "offsets": 1, "start": 1, "end": 1, "text": 2}


def sniff(source: Source) -> bool:
    """Whether the first file that ends in .tsv begins with the name of this format."""
    files = source_files.with_suffix(source, ".tsv")
    return bool(_FORMAT.match(source_files.head_of_first(files, 100)))


documents = partial(layers.documents, suffix=SUFFIX)


def read(source: Source, **settings: str) -> Iterator[ReadResult]:
    """The documents of a source in batches, in the order of their names."""
    return layers.read_files(source, FORMAT.name, SUFFIX, documents, add_file, settings)


def add_file(rows: DocumentRows, origin: int, name: str, written: str, choice: Choice) -> None:
    """Add the document of a file, and what is wrong in it."""
    member, problems = rows.files.members[origin], list[Problem]()
    lines = [line.removesuffix("\r") for line in written.split("\n")]
    if _VERSION.fullmatch(lines[0]):
        columns = read_layers(lines)
        for layer in columns:
            choice.see(layer.name, filter(None, layer.features.values()))
        sentences = read_sentences(lines, columns, problems)
        rejected = [*problems]
        text = Text(sentences, choice.unit)
        problems += text.problems()
        found = Annotations(columns, sum(map(len, lines)), problems).read(text)
        if not take(rows, origin, name, text.whole, found, choice, annotator_of(member)):
            record = sentences[0].record if sentences else 1
            problems.append(Problem("UIM204", record, 0, 0, {"name": name[:40]}, "line"))
        for each in rejected:
            rows.add("rejected_records", each.rejection("token", lines[each.record - 1]))
    else:
        rows.begin(origin, name)
        problems.append(Problem("UIM101", 1, 0, 0, {"given": lines[0][:40] or "empty"}, "line"))
    problems.sort(key=lambda problem: problem.record)
    rows.findings += source_files.findings_in_lines(problems, lines, member, stretch)


def stretch(line: str, field: str) -> tuple[int, int]:
    """The place of a cell, by its number or name, or of the whole line."""
    at = int(field) if field.isdigit() else _CELLS.get(field)
    return source_files.cell_stretch(line.rstrip("\t") if at is None else line, at)


def as_files(corpus: Corpus) -> Iterator[tuple[str, Iterator[str]]]:
    """The name of the file of each document, and its content in pieces."""
    files = corpus.cached(Files)
    for row, name in source_files.output_paths(corpus, FORMAT.name, SUFFIX).items():
        yield name, files.content(row)


def count_losses(corpus: Corpus) -> Mapping[str, int]:
    """The counts of what the files cannot represent."""
    files = corpus.cached(Files)
    nameless = source_files.count_without_file(corpus, FORMAT.name, SUFFIX)
    return {**nameless, **files.losses, "texts with null characters": files.count_texts("\0")}


FORMAT = declaration(__name__)
