"""Random annotations and submissions of LoReHLT situation frames, as files and for the oracle."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any

from tests.properties.situations.lorehlt_oracle import ISSUES, Frame, Sentiment

NEEDS = [
    "user_id",
    "doc_id",
    "frame_id",
    "frame_type",
    "need_type",
    "place_id",
    "proxy_status",
    "need_status",
    "scope",
    "severity",
    "resolution_status",
    "reported_by",
    "resolved_by",
    "description",
    "kb_id",
]
NOT_OF_ISSUES = {"resolution_status", "reported_by", "resolved_by"}
SENTIMENTS = [
    "user_id",
    "doc_id",
    "sentiment_value",
    "polarity",
    "emotion_value",
    "source",
    "target",
    "kb_id",
]
SPEECH = [
    "file_id",
    "situation_id",
    "situation_type",
    "situation_status",
    "scope",
    "severity",
    "resolution_status",
    "place_id",
]
TEXTS, AUDIO, UNKNOWN = ("D1", "D2", "D3", "D4"), ("S1", "S2"), "U1"
TYPES = ("food", "water", "terrorism")
PLACES = ("1", "2", "1|2", "NIL1", "NIL2", "")
OWN_PLACES = ("1", "2", "3", "NIL1", "NIL2", "", " 1", "1|2")
SOURCES = ("author", "other", "9", "8", "NIL1", "NIL2")
SCOPES = ("1_smallgroup", "2_largegroup", "4_region", "none", "0", "3")
SEVERITIES = ("1_discomfort", "2_injury", "4_certaindeath", "none", "1")


@dataclass
class Drawn:
    """What is drawn: frames of both sides, documents, options, and files."""

    reference: list[Frame] = field(default_factory=list)
    annotated: set[str] = field(default_factory=set)
    system: list[Frame] = field(default_factory=list)
    options: dict[str, Any] = field(default_factory=dict)
    mentions: list[list[tuple[Any, ...]] | None] = field(default_factory=lambda: [None, None])
    settings: dict[str, Any] = field(default_factory=dict)
    given: dict[tuple[str, bool], str] = field(default_factory=dict)


def draw(random: Random, folder: Path) -> Drawn:
    """Draw a case, and write its files: `gold`, `system.json` and those of options."""
    case = Drawn()
    texts = random.sample(TEXTS, random.randint(1, len(TEXTS)))
    audio = random.sample(AUDIO, random.choice([0, 0, 1, 2]))
    for doc in texts:
        _annotate(case, random, folder, doc)
    for doc in audio:
        _annotate_speech(case, random, folder, doc)
    number = random.choice([0, 1, 5, 20, 40])
    documents = [*TEXTS, *TEXTS, *AUDIO, *texts, *texts, UNKNOWN]
    chosen = [random.choice(documents) for _ in range(number)]
    if chosen and case.annotated.isdisjoint(chosen):
        chosen.append(texts[0])  # sides without a common document are refused
    frames = [_predict(case, random, doc) for doc in chosen]
    (folder / "system.json").write_text(json.dumps(frames))
    _choose(case, random, folder)
    return case


def _table(path: Path, head: list[str], rows: list[dict[str, str]]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    lines = [head, *([row[name] for name in head] for row in rows)]
    path.write_text("".join("\t".join(line) + "\n" for line in lines))


def _annotate(case: Drawn, random: Random, folder: Path, doc: str) -> None:
    """Annotate a text by one or two annotators; some texts have tables without rows."""
    case.annotated.add(doc)
    tables: dict[str, list[dict[str, str]]] = {"needs": [], "issues": [], "sentiments": []}
    users = random.sample(["300", "301"], random.choice([1, 2]))
    found: list[Frame] = []
    for at in range(random.choice([0, 2, 6, 10])):
        row = {"user_id": random.choice(users), "doc_id": doc, "frame_id": f"F{at}-{doc}"}
        kind = random.choice(TYPES)
        row |= {"frame_type": "issue" if kind in ISSUES else "need", "need_type": kind}
        row |= dict.fromkeys(("reported_by", "resolved_by", "description"), "none")
        row |= {"kb_id": random.choice(PLACES), "proxy_status": "False"}
        row |= {"place_id": f"Ent-{row['kb_id']}" if row["kb_id"] else "none"}
        row |= {"need_status": random.choice(["current", "current", "past"])}
        row |= {"scope": random.choice(SCOPES), "severity": random.choice(SEVERITIES)}
        row |= {"resolution_status": random.choice(["insufficient", "sufficient", "none"])}
        if kind in ISSUES and row["need_status"] == "past":
            row["need_status"] = "not_current"
        times = random.choice([1, 1, 1, 2])
        own = [_annotated(row), *(_annotated(row) for _ in range(times - 1))]
        tables["issues" if kind in ISSUES else "needs"] += [row] * times
        found += own
        _feel(case, random, row, own[0], tables["sentiments"])
    for name, rows in tables.items():
        head = SENTIMENTS if name == "sentiments" else NEEDS
        suffix = "sentiment" if name == "sentiments" else name
        if name == "issues":
            head = [column for column in NEEDS if column not in NOT_OF_ISSUES]
        path = folder / "gold" / name / f"{doc}.{suffix}.tab"
        titled = [
            column.replace("need_", "issue_") if name == "issues" else column for column in head
        ]
        _table(
            path, titled, [dict(zip(titled, (row[c] for c in head), strict=True)) for row in rows]
        )
    # needs are read before issues, and both in the order of their files
    case.reference += sorted(found, key=lambda frame: frame.type in ISSUES)


def _annotated(row: dict[str, str]) -> Frame:
    levels = [row[name].partition("_")[0] for name in ("scope", "severity")]
    numbers = [int(level) if level.isdigit() else 0 for level in levels]
    return Frame(
        doc=row["doc_id"],
        type=row["need_type"],
        place=row["kb_id"] or None,
        status=row["need_status"],
        urgent=numbers[0] >= 2 or numbers[1] >= 2,
        unresolved=row["need_type"] not in ISSUES and row["resolution_status"] != "sufficient",
        annotator=row["user_id"],
    )


def _feel(
    case: Drawn, random: Random, row: dict[str, str], frame: Frame, table: list[dict[str, str]]
) -> None:
    for _ in range(random.choice([0, 0, 1, 2])):
        value = random.choice([-2.0, -0.5, 1.0])
        felt = [name for name in ("fear", "anger", "joy") if random.random() < 0.4]
        source = random.choice([*SOURCES, "8|9"])
        written = ",".join("joyhappiness" if name == "joy" else name for name in felt) or "none"
        named = source if source in {"author", "other"} else f"Ent-{source}"
        table.append(
            {"user_id": row["user_id"], "doc_id": row["doc_id"], "sentiment_value": str(value),
             "polarity": "positive" if value > 0 else "negative", "emotion_value": written,
             "source": named, "target": row["frame_id"], "kb_id": source}
        )  # fmt: skip
        emotions = {name: name in felt for name in ("fear", "anger", "joy")}
        frame.sentiments.append(Sentiment(source, value > 0, **emotions))


def _annotate_speech(case: Drawn, random: Random, folder: Path, doc: str) -> None:
    case.annotated.add(doc)
    rows = []
    for at in range(random.choice([0, 1, 4])):
        status = random.choice(["Current", "Past Only", "Future"])
        resolution = random.choice(["Insufficient/Unknown", "Insufficent", "Sufficient"])
        row = {"file_id": f"F{at}", "situation_id": doc, "situation_type": random.choice(TYPES)}
        row |= {"situation_status": status, "resolution_status": resolution}
        row |= {"scope": random.choice(["Scope_Not_Required", "3_municipality", "1_smallgroup"])}
        row |= {"severity": random.choice(["Severity_Not_Required", "2_injury"])}
        row |= {"place_id": random.choice(["1", "2", "NIL"])}
        rows.append(row)
        kind = row["situation_type"]
        urgent = row["scope"].startswith("3") or row["severity"].startswith("2")
        unresolved = kind not in ISSUES and resolution != "Sufficient"
        plain = {"Current": "current", "Past Only": "past", "Future": "future"}[status]
        case.reference.append(
            Frame(doc, kind, row["place_id"], plain, urgent, unresolved, speech=True)
        )
    _table(folder / "gold" / "speech" / f"{doc}.tab", SPEECH, rows)


def _predict(case: Drawn, random: Random, doc: str) -> dict[str, Any]:
    kind, place = random.choice(TYPES), random.choice(OWN_PLACES)
    issue = kind in ISSUES
    status = random.choice(["current", "current", "not_current" if issue else "past"])
    row: dict[str, Any] = {"DocumentID": doc, "Type": kind, "Place_KB_ID": place, "Status": status}
    row |= {"Confidence": random.choice([0, 0.25, 0.5, 0.5, 0.75, 1, 1.0])}
    row |= {"Justification_ID": "segment-0", "Urgent": random.random() < 0.7, "SEC": []}
    if not issue:
        row["Resolution"] = random.choice(["insufficient", "insufficient", "sufficient"])
    speech = doc in AUDIO and doc in case.annotated
    frame = Frame(
        doc, kind, "|".join(sorted(place.strip().split("|"))) or None, status, row["Urgent"],
        row.get("Resolution") == "insufficient", speech, confidence=row["Confidence"],
    )  # fmt: skip
    for _ in range(random.choice([0, 0, 1, 2, 3])):
        value, source = random.choice([-3, -0.5, 1.5]), random.choice(SOURCES)
        felt = {name: random.random() < 0.4 for name in ("fear", "anger", "joy")}
        row["SEC"].append(
            {"Sentiment": value, "Source": source}
            | {f"Emotion_{name.title()}": own for name, own in felt.items()}
        )
        if not speech:  # sentiments are annotated of text only
            frame.sentiments.append(Sentiment(source, value > 0, **felt))
    case.system.append(frame)
    return row


def _choose(case: Drawn, random: Random, folder: Path) -> None:
    """Choose options, and write the files that they name."""
    settings, options = case.settings, case.options
    if random.random() < 0.5:
        settings["documents"] = [*TEXTS, *AUDIO]
    if random.random() < 0.4:
        annotated = random.sample(sorted(case.annotated), random.randint(1, len(case.annotated)))
        settings["scored"] = sorted({*annotated, *random.sample(TEXTS, 1)})
    for name in ("documents", "scored"):
        if name in settings:
            options[name] = folder / f"{name}.list"
            options[name].write_text("".join(f"{doc}\n" for doc in settings[name]))
    if random.random() < 0.5:
        settings["cutoff"] = options["cutoff"] = random.choice([0.0, 0.25, 0.6])
    if random.random() < 0.2:
        settings["max_frames"] = options["max_frames"] = random.choice([1, 4, 30])
    if random.random() < 0.2:
        settings["no_nil"] = options["no_nil"] = True
    if random.random() < 0.7:
        settings["thresholds"] = random.choice([(2, 1), (3, 2), (1.4, 1.2)])
        options["gravity_thresholds"] = ",".join(map(str, settings["thresholds"]))
    if random.random() < 0.3:
        settings["gains"], options["gains"] = (7, 2.5, 1), "7,2.5,1"
    if random.random() < 0.5:
        _annotators(case, random, folder)
    for at, name in enumerate(("system_edl", "reference_edl")):
        if random.random() < 0.6:
            rows = [_mention(random) for _ in range(random.randint(1, 8))]
            case.mentions[at] = rows = list(dict.fromkeys(rows))
            options[name] = folder / f"{name}.tab"
            options[name].write_text(
                "".join(
                    f"R\tm{n}\tx\t{doc}:{first}-{last}\t{entity}\tPER\tNAM\t1.0\n"
                    for n, (doc, first, last, entity) in enumerate(rows)
                )
            )


def _mention(random: Random) -> tuple[Any, ...]:
    first = random.choice([0, 4, 8])
    entity = random.choice(["NIL1", "NIL2", "NIL3", "1", "9"])
    return random.choice(TEXTS), first, first + random.choice([1, 3, 5]), entity


def _annotators(case: Drawn, random: Random, folder: Path) -> None:
    kinds = sorted({(f.doc, f.type in ISSUES) for f in case.reference if f.annotator})
    for doc, issue in random.sample(kinds, min(2, len(kinds))):
        names = {f.annotator for f in case.reference if (f.doc, f.type in ISSUES) == (doc, issue)}
        case.given[doc, issue] = random.choice(sorted(names))
    if case.given:
        case.options["annotators"] = folder / "annotators.tsv"
        case.options["annotators"].write_text(
            "".join(
                f"{doc}\t{'issue' if issue else 'need'}\t{name}\n"
                for (doc, issue), name in case.given.items()
            )
        )
