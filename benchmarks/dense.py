"""Inputs of about 1 MB of formats of annotation tools and corpora, each large in one way.

Fixtures made large (inflated.py) repeat what a fixture has. These are made by hand: spans of the
whole text, nested or of one label each, the smallest records and the smallest wrong ones,
references of many to one, and documents of nothing. Each is read, written in its own format, and
validated.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import NamedTuple

from benchmarks.measuring import Benchmark, Step, hlteval
from hlteval.converters import load

#: The record with a number; the text of a span is `a` repeated.
Record = Callable[[int], str]
TEXT = 20_000
"""Characters of the text of many spans."""


class Shape(NamedTuple):
    """A file around records: what is before, each record, what is between and after them."""

    before: str
    record: Record | str
    after: str = ""
    between: str = ""

    def text(self, size: int) -> str:
        """The file with as many records as have a number of characters."""
        records, length = list[str](), 0
        while length < size:
            own = self.record if isinstance(self.record, str) else self.record(len(records))
            records.append(own)
            length += len(own) + len(self.between)
        return f"{self.before}{self.between.join(records)}{self.after}"


def spans(make: Callable[[int, int, int, str], str]) -> dict[str, Record]:
    """Return records of spans: number, start, end and label of each."""
    return {
        "equal": lambda at: make(at, 0, 5, "X"),
        "labels": lambda at: make(at, 0, 5, f"X{at}"),
        "nested": lambda at: make(at, at % 9_000, TEXT - at % 9_000, "X"),
        "overlapping": lambda at: make(at, at % 9_000, at % 9_000 + 9_000, "X"),
        "touching": lambda at: make(at, at % TEXT, at % TEXT + 1, "X"),
        "whole": lambda at: make(at, 0, TEXT, "X"),
        "one id": lambda at: make(1, at % TEXT, at % TEXT + 1, "X"),
        "outside": lambda at: make(at, 10**6 + at, 10**7 + at, "X"),
    }


def _doccano() -> Iterator[tuple[str, Shape]]:
    begin = f'{{"id": 1, "text": "{"a" * TEXT}", "entities": ['
    pair = '{"id": 1, "label": "x", "start_offset": 0, "end_offset": 1}'

    def entity(at: int, start: int, end: int, label: str) -> str:
        return f'{{"id":{at},"label":"{label}","start_offset":{start},"end_offset":{end}}}'

    for name, record in {**spans(entity), "empty": "{}"}.items():
        yield name, Shape(begin, record, '], "relations": []}\n', ",")
    for name, record in {
        "relations": '{"id":1,"from_id":1,"to_id":1,"type":"x"}',
        "dangling": lambda at: f'{{"id":{at},"from_id":1,"to_id":{at + 2},"type":"x"}}',
    }.items():
        yield name, Shape(f'{begin}{pair}], "relations": [', record, "]}\n", ",")
    yield "documents", Shape("", '{"text":""}\n')
    yield "objects", Shape('{"text":"a","label":[]}\n', "{}\n")
    yield "lists", Shape(f'{{"text": "{"a" * TEXT}", "label": [', '[0,1,"x"]', "]}\n", ",")
    yield "categories", Shape('{"text": "a", "label": [', lambda at: f'"{at}"', "]}\n", ",")
    yield "deep", Shape('{"text": "a", "label": ', "[", "\n")
    yield "braces", Shape('{"text":"a","label":[]}\n', "{\n")
    yield "numbers", Shape('{"text":"a","label":[]}\n', "0\n")


def _label_studio() -> Iterator[tuple[str, Shape]]:
    begin = f'[{{"id": 1, "data": {{"text": "{"a" * TEXT}"}}, "annotations": ['
    results = f'{begin}{{"id": 7, "result": ['

    def region(at: int, start: int, end: int, label: str) -> str:
        value = f'{{"start":{start},"end":{end},"labels":["{label}"]}}'
        return f'{{"id":"s{at}","type":"labels","value":{value}}}'

    for name, record in {**spans(region), "empty": "{}", "numbers": "0"}.items():
        yield name, Shape(results, record, "]}]}]", ",")
    labels = results + region(1, 0, 5, "X").removesuffix("]}}")
    yield "labels of one region", Shape(labels + ",", '"X"', "]}}]}]}]", ",")
    one = region(1, 0, 5, "X")
    relation = '{"type":"relation","from_id":"s1","to_id":"s1","labels":["x"]}'
    yield "relations", Shape(f"{results}{one},", relation, "]}]}]", ",")
    by = '{{"completed_by":{},"result":[{}]}}'
    yield "annotators", Shape(begin, lambda at: by.format(at, region(at, 0, TEXT, "X")), "]}]", ",")
    yield "tasks", Shape("[", '{"data":{"text":""}}', "]", ",")
    yield "objects", Shape('[{"id": 1, "data": {"text": "a"}},', "{}", "]", ",")


def _cas_json() -> Iterator[tuple[str, Shape]]:
    text = f'"sofaString": "{"a" * TEXT}"'
    begin = (
        '"%FEATURE_STRUCTURES": [{"%ID": 1, "%TYPE": "uima.cas.Sofa", "sofaID": "_InitialView", '
    )
    members = ", ".join(map(str, range(2, 9_000)))
    end = f'], "%VIEWS": {{"_InitialView": {{"%SOFA": 1, "%MEMBERS": [{members}]}}}}}}'

    def span(at: int, start: int, end: int, label: str) -> str:
        place = f'"@sofa":1,"begin":{start},"end":{end}'
        return f'{{"%ID":{at + 2},"%TYPE":"T{at % 7_000}",{place},"value":"{label}"}}'

    for name, record in {**spans(span), "empty": "{}"}.items():
        yield name, Shape(f'{{"%TYPES": {{}}, {begin}{text}}}, ', record, end, ",")
    chain = ",".join(
        f'"T{at}":{{"%NAME":"T{at}","%SUPER_TYPE":"T{at + 1}"}}' for at in range(9_000)
    )
    used = partial(span, start=0, end=1, label="X")
    yield "chain of types", Shape(f'{{"%TYPES": {{{chain}}}, {begin}{text}}}, ', used, end, ",")


def _bioc_json() -> Iterator[tuple[str, Shape]]:
    passage = f'[{{"id": "1", "passages": [{{"offset": 0, "text": "{"a" * TEXT}", "annotations": ['

    def span(at: int, start: int, end: int, label: str) -> str:
        infons, place = f'{{"type":"{label}"}}', f'[{{"offset":{start},"length":{end - start}}}]'
        return f'{{"id":"T{at}","infons":{infons},"locations":{place}}}'

    for name, record in {**spans(span), "empty": "{}"}.items():
        yield name, Shape(f'{{"documents": {passage}', record, "]}]}]}", ",")
    yield "no annotations", Shape(f'{{"documents": {passage}', "0", "]}]}]}", ",")
    yield "no passages", Shape('{"documents": [{"id": "1", "passages": [', "0", "]}]}", ",")
    yield "documents", Shape('{"documents": [', "{}", "]}", ",")
    yield "braces", Shape('{"id": "1", "passages": []}\n', "{\n")
    yield "passages", Shape('{"documents": [{"id": "1", "passages": [', "{}", "]}]}", ",")


def _gate_xml() -> Iterator[tuple[str, Shape]]:
    nodes = "".join(f'<Node id="{at}"/>a' for at in range(TEXT))
    begin = f'<GateDocument version="3"><TextWithNodes>{nodes}<Node id="{TEXT}"/></TextWithNodes>'

    def span(at: int, start: int, end: int, label: str) -> str:
        nodes = f'StartNode="{start}" EndNode="{end}"'
        return f'<Annotation Id="{at}" Type="{label}" {nodes}></Annotation>'

    for name, record in {**spans(span), "empty": "<Annotation/>"}.items():
        yield name, Shape(f"{begin}<AnnotationSet>", record, "</AnnotationSet></GateDocument>")


def _webanno_tsv() -> Iterator[tuple[str, Shape]]:
    begin = "#FORMAT=WebAnno TSV 3.3\n#T_SP=custom.Entity|value\n\n\n"
    cell = f"{begin}#Text=a\n1-1\t0-1\ta\t"
    for name, record in {
        "empty": "|",
        "none": "_|",
        "stars": "*|",
        "values": "X|",
        "numbers": lambda at: f"X[{at + 1}]|",
        "one number": "X[1]|",
    }.items():
        yield name, Shape(cell, record, "X\t\n")
    yield "wrong", Shape(begin, "a\n")
    yield "stacked", Shape(f"{begin}#Text=a\n", f"1-1\t0-1\ta\t{'|' * 30}\n")
    first, header = "\n\n\n#Text=a\n1-1\t0-1\ta\t", begin.partition("\n")[0]
    link = "#T_SP=x.E|value|ROLE_x.E:args_x.Link|x.E"
    relation = "#T_SP=x.E|value\n#T_RL=x.R|value|BT_x.E"
    chain = "#T_CH=c|referenceType|referenceRelation"
    for name, layers, cell, record in (
        ("chains", chain, "a\t", "|"),
        ("slots", link, f"v\t{';' * 500_000}\t", ";"),
        ("relations", relation, "v\ta\t", "1-1|"),
        ("wrong relations", relation, "v\t\t", "|"),
        ("wrong cells", f"#T_SP=a{'|a' * 250_000}", "", "[\t"),
    ):
        yield name, Shape(f"{header}\n{layers}{first}{cell}", record, "\n")
    yield "layers", Shape(begin.strip() + "\n", lambda at: f"#T_SP=a{at}|b\n", "\n\n#Text=a\n")
    yield "features", Shape(f"{header}\n#T_SP=a", "|b", "\n\n\n#Text=a\n")


def _lines() -> Iterator[tuple[str, str, Shape]]:
    plus = "# global.columns = ID FORM NER\n"
    for form, begin, records in (
        (
            "conll-columns",
            "-DOCSTART- O\n\n",
            {"tokens": "a B-X\n", "tags": "a Q\n", "wrong": "a\n"},
        ),
        ("conllu-plus", plus, {"tokens": "1\ta\tB-X\n", "wrong": "a\n", "tabs": "\t\n"}),
        ("hipe", "TOKEN\tNE-COARSE-LIT\tNEL-LIT\n", {"tokens": "a\tB-X\tQ1\n", "wrong": "a\n"}),
        (
            "aida",
            "-DOCSTART- (1)\n",
            {"mentions": "a\tB\ta\tE\n", "wrong": "a\tB\n", "documents": "-DOCSTART-\n"},
        ),
        ("label-table", "id\tlabel\n", {"labels": "d\tx\n", "wrong": "a\n"}),
        ("conll-coref", "#begin document (D)\n", {"open": "D 0 0 a (1\n", "wrong": "a\n"}),
        ("pubtator", "1|t|aaaaa\n1|a|b\n", {"spans": "1\t0\t5\taaaaa\tX\n", "wrong": "1\n"}),
    ):
        for name, record in records.items():
            yield form, name, Shape(begin, record)


TOOLS: Mapping[str, tuple[str, Callable[[], Iterator[tuple[str, Shape]]]]] = {
    "doccano": ("mentions", _doccano),
    "label-studio": ("mentions", _label_studio),
    "cas-json": ("mentions", _cas_json),
    "bioc-json": ("mentions", _bioc_json),
    "gate-xml": ("mentions", _gate_xml),
    "webanno-tsv": ("mentions", _webanno_tsv),
}


def shapes() -> Iterator[tuple[str, str, Shape]]:
    """Yield each shape with its format and name."""
    for form, (_, make) in TOOLS.items():
        yield from ((form, name, shape) for name, shape in make())
    yield from _lines()


def steps(form: str, size: int, folder: Path) -> Iterator[Step]:
    """Convert each input of a format to tables, and to the format itself; validate it."""
    unit = {"label-table": "labels", "conll-coref": "clusters", "aida": "links"}.get(
        form, "mentions"
    )
    task = folder / "made.task.toml"
    task.write_text(
        f'[task]\nname = "made"\ntitle = "Made"\nunit = "{unit}"\n[read]\nformat = "{form}"\n'
    )
    path = folder / f"input{load(form).suffixes[0]}"
    for own, name, shape in shapes():
        if own == form:
            path.write_text(shape.text(size * 1000), "utf-8")
            outputs = {"jsonl": folder / "output.jsonl", form: folder / f"output{path.suffix}"}
            for to, output in outputs.items():
                command = hlteval("convert", path, output, "--from", form, "--to", to, "--force")
                yield Step(f"{name}, to {to}", command, [path], code=None)
            yield Step(f"{name}, validated", hlteval("validate", task, path), [path], code=None)


BENCHMARKS = tuple(
    Benchmark(f"dense: {form}", "KB", (1_000,), (), partial(steps, form))
    for form in dict.fromkeys(form for form, _, _ in shapes())
)
