"""Documents of language packs and their standoff annotation: the tasks ltf and laf (no scores)."""

from __future__ import annotations

from functools import partial

from hlteval.extensions import lazy
from hlteval.tasks.task import Task

#: The formats that hold the texts of such documents.
TEXTS = ("rsd", "ltf", "corpus", "jsonl")

_DOCUMENTS = lazy("hlteval.validators.packages:documents")

LTF = Task(
    name="ltf",
    title="LTF: segmented and tokenized documents of language packs (validation only)",
    specification="LDC Logical Text Format v1.5; LoReHLT 2019, section 8.2.1",
    format="ltf",
    submission_suffixes=(".ltf.xml",),
    references=TEXTS,
    reference_optional=True,
    codes=("LTF106", "LTF107"),
    document_codes=frozenset({"LTF201", "LTF208"}),
    rules=lazy("hlteval.validators.ltf.rules:RULES"),
    package=partial(_DOCUMENTS, code="LTF106", unread="LTF107", suffix=".ltf.xml"),
)


LAF = Task(
    name="laf",
    title="LAF: standoff annotation of LTF documents, such as names (validation only)",
    specification="LDC annotation format LAF v1.2",
    format="laf",
    submission_suffixes=(".laf.xml",),
    references=TEXTS,
    codes=("LAF103", "LAF104"),
    document_codes=frozenset({"LAF201"}),
    agreement=lazy("hlteval.tasks.agreement:NAMES"),
    rules=lazy("hlteval.validators.ltf.rules:LAF_RULES"),
    package=partial(_DOCUMENTS, code="LAF103", unread="LAF104", suffix=".laf.xml"),
)
