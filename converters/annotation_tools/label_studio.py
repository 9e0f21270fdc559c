r"""Label Studio JSON: tasks with the annotations of several annotators, as exported or as JSON_MIN.

Format:
    An array of tasks (grammars/label-studio.schema.json). A task has `data`, `annotations` and
    `predictions`; each of these has a `result`: regions with `from_name`, `type` and `value`, and
    relations between regions. JSON_MIN has an object per annotation, with the data and the regions
    of each control as members.

Conventions:
    A region with labels is a mention for each label; choices of a whole text are its labels, and
    choices, texts and numbers about a region are attributes of its mention. Who completed an
    annotation is the annotator. Cancelled annotations are left out, and with the setting `results`
    all but ground truth, with the tasks that have none. The identifier of a region that another
    annotator has too begins with the number of the annotation (`2:a`). What the tables cannot
    represent is kept, and written again. An attribute of a mention is written as a choice.

Example lines:
    [{"id": 1, "data": {"text": "Ann at Acme"}, "annotations": [{"completed_by": 7, "result": [
      {"id": "a", "from_name": "label", "to_name": "text", "type": "labels",
       "value": {"start": 0, "end": 3, "text": "Ann", "labels": ["PER"]}}]}]}]

Codes raised: JSNxxx, for invalid JSON; JANxxx.
"""

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from itertools import count
from typing import Any

from hlteval.converters.declarations import declaration
from hlteval.converters.toolkit import json_writing
from hlteval.converters.toolkit.json_annotations import Dialect, Draft
from hlteval.converters.toolkit.json_documents import Item, compact
from hlteval.converters.toolkit.json_writing import Document, as_number, present
from hlteval.representation import Corpus
from hlteval.syntax.places import Path

_MEMBERS = re.compile(r'"(?:from_name|annotation_id|total_annotations|completed_by)"[ \t\r\n]*:')
#: Types of results whose labels are those of a span.
_SPANS = ("labels", "hypertextlabels")
#: Types of results about a region, with the member of their value.
_ABOUT = {"choices": "choices", "textarea": "text", "rating": "rating", "number": "number"}
_RESULT, _ENDS = "$.result", ("from_id", "to_id")
#: The elements of attributes that are written.
_OWN = ("$", "$.data", "$.member", _RESULT, "$.annotations", "$.annotations.result")
#: The members of a result, and of its value, that have a place.
_PLACED = ("id", "type", "value", "score", "from_id", "to_id", "labels")
_VALUE = ("start", "end", "text", *_SPANS)
#: The members that are not kept if they have these values.
_USUAL = {"to_name": "text", "direction": "right"}
_LARGEST = 10**15
#: The members of an object of JSON_MIN that are those of the annotation, with their names there.
_MIN = {
    **{name: name for name in ("created_at", "updated_at", "lead_time")},
    "annotator": "completed_by",
    "annotation_id": "id",
}


def _take(draft: Draft, task: Item) -> None:
    """Add a task, or an annotation of one as JSON_MIN has it."""
    marked = (item.get("ground_truth") for _, item in draft.each("annotations.*"))
    if not isinstance(task.get("data"), dict):
        _take_minimal(draft, task)
    elif draft.settings["results"] == "ground-truth" and not any(marked):
        draft.leave_out("task without ground truth", ())  # nobody says what is right in it
    else:
        _take_task(draft, task, task["data"])


def _take_task(draft: Draft, task: Item, data: Item) -> None:
    """Add a task with its annotations or predictions."""
    wanted = draft.settings["results"]
    which = "predictions" if wanted == "predictions" else "annotations"
    member = _text_member(data, draft.settings["text"])
    draft.document(task.get("id"), data[member] if member else None)
    others = {"annotations": [], **task} if which == "predictions" else task
    draft.keep("$", others, ("id", "data", which))
    _keep_data(draft, data, member)
    if which == "annotations" and not task.get(which) and task.get("predictions"):
        draft.leave_out("task with predictions alone (results=predictions reads these)", ())
    first, size = draft.entries[draft.row], len(task.get(which, ()))
    draft.entries[draft.row] += max(size - 1, 0)
    annotators, taken = dict[int, str | None](), set[str | None]()
    for path, item in draft.each(f"{which}.*"):
        unmarked = wanted == "ground-truth" and not item.get("ground_truth")
        if item.get("was_cancelled") or unmarked:
            kind = "annotation without ground truth" if unmarked else "cancelled annotation"
            draft.leave_out(kind, path)
            continue
        number = first + int(path[1])
        annotator = _annotator(item, number, several=first + size > 2)
        repeated = annotator is not None and annotator in taken
        annotators[number] = f"{annotator} ({number})" if repeated else annotator
        taken.add(annotators[number])
        draft.keep(f"$.annotations[{number}]", item, ("result",))
    regions: dict[tuple[int, object], str] = {}
    results = list[tuple[Path, int, int, Item]]()
    for path, item in draft.each(f"{which}.*.result.*"):
        number = first + int(path[1])
        if number not in annotators:
            continue
        if _is_span(item):
            name = _add_region(draft, path, item, annotators[number], f"{number}:")
            regions.setdefault((number, item.get("id")), name)
        else:
            results.append((path, number, draft.record, item))
    for path, number, draft.record, item in results:
        annotator = annotators[number]
        if item["type"] == "relation":
            members = ("to_id", "from_id") if item.get("direction") == "left" else _ENDS
            ends = {member: regions.get((number, item.get(member))) for member in members}
            for label in item.get("labels") or [""]:
                draft.relation(path, label, item, ends, annotator)
            _keep_result(draft, item, "relation")
        elif not _add_other(draft, item, annotator, regions.get((number, item.get("id")))):
            draft.leave_out(f"type {item['type']}", path, "JAN106")
            draft.keep(f"$.annotations[{number}].result", {str(draft.record): item})


def _keep_data(draft: Draft, data: Item, member: str) -> None:
    """Keep the other members of data, and the name of the one that has the text."""
    draft.keep("$.data", data, (member,) if member else ())
    if member not in {"", "text"}:
        draft.keep("$.member", {member: None})


def _text_member(data: Mapping[str, Any], wanted: str) -> str:
    """The member of data that has the text: `text`, or else the first text."""
    texts = (name for name, value in data.items() if isinstance(value, str))
    found = wanted or ("text" if "text" in data else next(texts, "text"))
    return found if isinstance(data.get(found), str) else ""


def _annotator(annotation: Mapping[str, Any], number: int, *, several: bool) -> str | None:
    """The annotator: an address or number, the model, or one of several annotations."""
    by = annotation.get("completed_by", annotation.get("model_version"))
    if isinstance(by, dict):
        by = by.get("email") or by.get("id")
    if not isinstance(by, str | int):
        by = annotation.get("id", number) if several else None
    return None if by is None else str(by)


def _is_span(item: Item) -> bool:
    places = (item.get("value", {}).get(name) for name in ("start", "end"))
    known = all(type(place) is int and 0 <= place < _LARGEST for place in places)
    return item["type"] in _SPANS and known


def _add_region(draft: Draft, path: Path, item: Item, annotator: str | None, prefix: str) -> str:
    """Add a mention for each label of a region, and give the name of the first."""
    value, names = item["value"], list[str]()
    for label in value.get(item["type"]) or [""]:
        own = f"{names[0]}/{label}" if names else item.get("id")
        names.append(draft.identify(own, path, prefix))
        more = (value.get("text"), None, item.get("score"))
        draft.mention(path, names[-1], label, (value["start"], value["end"]), *more, annotator)
    _keep_result(draft, item, "labels", "label")
    return names[0]


def _keep_result(draft: Draft, item: Item, kind: str, control: str = "") -> None:
    """Keep what a result has that is not usual."""
    usual = {**_USUAL, "from_name": control}
    known = [name for name, value in usual.items() if item.get(name) == value]
    draft.keep(_RESULT, item, (*_PLACED, *known))
    if item["type"] != kind:
        draft.keep(_RESULT, {"type": item["type"]})
    others = {name: part for name, part in item.get("value", {}).items() if name not in _VALUE}
    if kind == "labels" and others:
        draft.keep(_RESULT, {"value": others})


def _add_other(draft: Draft, item: Item, annotator: str | None, target: str | None) -> bool:
    """Add attributes of a mention, or labels of a document; whether a result is one of these."""
    kind, value = item["type"], item.get("value", {})
    given = value.get(_ABOUT[kind]) if kind in _ABOUT else None
    control = item.get("from_name", "")
    if target is not None and given is not None:
        place = (draft.row, draft.origin, draft.record, "")
        listed = given if isinstance(given, list) else [given]
        values = [part if isinstance(part, str) else compact(part) for part in listed]
        draft.rows["modifiers"] += [
            (*place, control, target, None if part == control else part, None) for part in values
        ]
    elif kind == "choices" and "start" not in value and isinstance(given, list):
        draft.label(*given, annotator=annotator)
        _keep_result(draft, item, "choices", "choice")
    else:
        return False
    return True


def _take_minimal(draft: Draft, item: Item) -> None:
    """Add an annotation as JSON_MIN has it."""
    member = _text_member(item, draft.settings["text"])
    new = draft.document(item.get("id"), item[member] if member else None)
    if draft.settings["results"] != "annotations":
        draft.leave_out("annotation", ())  # there are no others
        return
    number, wanted = draft.entries[draft.row], draft.settings["label"]
    annotation = {own: item[name] for name, own in _MIN.items() if item.get(name) is not None}
    annotator = _annotator(annotation, number, several=False)
    draft.keep(f"$.annotations[{number}]", annotation)
    known = {"id", *_MIN, *([member] if member else ())}
    for control, value in item.items():
        choices = value.get("choices") if isinstance(value, dict) else None
        if control == wanted and isinstance(value, str):
            choices = [value]
            draft.unmatched.discard("label")
        parts = value if isinstance(value, list) else []
        if isinstance(choices, list) and all(isinstance(each, str) for each in choices):
            draft.label(*choices, annotator=annotator)
        elif control not in known and parts and all(isinstance(each, dict) for each in parts):
            for at, region in enumerate(parts):
                kind = next((name for name in _SPANS if isinstance(region.get(name), list)), "")
                result = {"type": kind, "value": region, "from_name": control}
                if _is_span(result) and all(isinstance(label, str) for label in region[kind]):
                    _add_region(draft, (control, at), result, annotator, f"{number}:")
                else:
                    draft.leave_out("regions without offsets or labels", (control,), "JAN106")
        else:
            continue
        known.add(control)
    if new:
        _keep_data(draft, {name: part for name, part in item.items() if name not in known}, member)


def _objects(corpus: Corpus) -> Iterator[tuple[int, Item]]:
    """Every document as a task, with its row."""
    elements = dict.fromkeys(("mentions", "frames", "instances"), _RESULT)
    for document in json_writing.documents(corpus, elements, "modifiers", apart=True):
        own = document.members
        which = "predictions" if "annotations" in own["$"] else "annotations"
        text = present(**{next(iter(own["$.member"]), "text"): document.text})
        task = {"id": as_number(document.name), "data": {**text, **own["$.data"]}}
        yield document.row, {**task, which: _annotations(document, which), **own["$"]}


def _annotations(document: Document, which: str) -> list[Item]:
    """The annotations of a document, or the predictions, one for each annotator or model."""
    entries = document.entries("$.annotations")
    annotators: dict[str | None, int] = {}
    for number, members in entries.items():
        annotator = _annotator(members, number, several=len(entries) > 1)
        annotators[f"{annotator} ({number})" if annotator in annotators else annotator] = number
    results: dict[int, list[Item]] = defaultdict(list, {number: [] for number in entries})
    others = count(max([0, *entries]) + 1)
    about: dict[str, list[Item]] = defaultdict(list)
    for row in document.others.get("modifiers", []):
        about[row["target"]].append(row)
    for by, part in document.by_annotator().items():
        if by not in annotators:
            annotators[by] = next(others)
        number = annotators[by]
        results[number] += _results(part, f"{number}:", about)
    completed = {number: annotator for annotator, number in annotators.items()}
    listed = []
    for number, items in sorted(results.items()):
        by = completed.get(number)
        own = {"completed_by": by and as_number(by)} if which == "annotations" else {}
        members = entries.get(number, present(**(own or {"model_version": by})))
        raw = document.members.get(f"$.annotations[{number}].result", {})
        listed.append({**members, "result": [*items, *raw.values()]})
    return listed


def _results(document: Document, prefix: str, about: dict[str, list[Item]]) -> Iterator[Item]:
    """The regions of an annotator, what is about them, relations and choices.

    Args:
        document: what the annotator has of a document.
        prefix: the beginning of identifiers that others have, too.
        about: the attributes of each mention; those that are written are taken out.
    """
    for mention in document.mentions:
        name, members = mention.name.removeprefix(prefix), dict(mention.members)
        kind, score = members.pop("type", "labels"), present(score=mention.confidence)
        value = present(start=mention.start, end=mention.end, text=mention.text)
        base = {"id": name or f"T{mention.number}", "from_name": "label", "to_name": "text"}
        labels = {**value, kind: [mention.label], **members.pop("value", {})}
        yield {**base, "type": kind, "value": labels, **score, **members}
        for row in about.pop(mention.name, ()):
            value["choices"] = [row["label"] if row["value"] is None else row["value"]]
            own = {"from_name": row["label"], "type": "choices", "value": dict(value)}
            yield {**base, **own}
    for relation in document.relations:
        source, target = (end.name.removeprefix(prefix) for end in relation.ends)
        item = present(id=relation.name, type="relation", from_id=source, to_id=target)
        item |= {"direction": "right", "labels": [relation.label], **relation.members}
        item["direction"] = {"left": "right"}.get(item["direction"], item["direction"])
        yield item
    for label in document.labels:
        item = {"from_name": "choice", "to_name": "text", "type": "choices"}
        yield {**item, "value": {"choices": [label.label]}, **label.members}


def count_losses(corpus: Corpus) -> Mapping[str, int]:
    """The counts of what tasks cannot represent."""
    modifiers = corpus.modifiers.join(
        corpus.mentions.select("document", target="mention"), on=["document", "target"], how="anti"
    )
    return {
        **json_writing.count_losses(corpus, _OWN, texts=True, apart=True),
        "attributes of other items than mentions": modifiers.height,
    }


_PARTS = {
    f"{which}.*{part}": definition
    for which in ("annotations", "predictions")
    for part, definition in (("", "annotation"), (".result.*", "result"))
}
_FORM = ("label-studio", ".json", _PARTS, _take, _MEMBERS, _objects, "array")
DIALECT = Dialect(*_FORM, merges=True, naming={"label": ""})
FORMAT = declaration(__name__)
