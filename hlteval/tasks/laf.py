"""LAF, names and other spans beside LTF: the task laf, which checks them and scores nothing."""

from __future__ import annotations

from functools import partial

from hlteval.extensions import lazy
from hlteval.tasks.ltf import TEXTS
from hlteval.tasks.task import Task

LAF = Task(
    name="laf",
    title="LAF: standoff annotation of LTF documents, such as names (validation only)",
    specification="LDC annotation format LAF v1.2",
    format="laf",
    submission_suffixes=(".laf.xml",),
    provided_suffixes=(),
    references=TEXTS,
    codes=("LAF103", "LAF104"),
    document_codes=frozenset({"LAF201"}),
    agreement=lazy("hlteval.tasks.agreement:NAMES"),
    rules=lazy("hlteval.validators.ltf.rules:LAF_RULES"),
    package=partial(
        lazy("hlteval.validators.packages:documents"),
        code="LAF103",
        unread="LAF104",
        suffix=".laf.xml",
    ),
)
