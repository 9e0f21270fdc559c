"""hlteval: validate, convert and score submissions to shared tasks of human language technology.

The commands of the command line, from Python:

- `read` gives a source as a `Corpus`;
- `validate` gives a `Verdict` with every `Finding`;
- `convert` writes a source in another format;
- `score` gives `Scores`, or raises `Refused`;
- `compare` gives a `Comparison` of several systems;
- `verify` gives a `Verification`: which part of a signature differs.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from hlteval.findings import Finding
    from hlteval.representation import Corpus
    from hlteval.results.comparison import Comparison
    from hlteval.results.scores import Scores
    from hlteval.results.verdict import Verdict
    from hlteval.results.verification import Verification
    from hlteval.workflows.comparison import compare
    from hlteval.workflows.conversion import convert, read
    from hlteval.workflows.refusals import Refused
    from hlteval.workflows.scoring import score
    from hlteval.workflows.validation import validate
    from hlteval.workflows.verification import verify

__version__ = "0.1.0"

__all__ = [
    "Comparison",
    "Corpus",
    "Finding",
    "Refused",
    "Scores",
    "Verdict",
    "Verification",
    "compare",
    "convert",
    "read",
    "score",
    "validate",
    "verify",
]

# Imported where they are used: a program that asks for the version needs no data frames.
_PUBLIC = {
    "Comparison": "hlteval.results.comparison",
    "Corpus": "hlteval.representation",
    "Finding": "hlteval.findings",
    "Refused": "hlteval.workflows.refusals",
    "Scores": "hlteval.results.scores",
    "Verdict": "hlteval.results.verdict",
    "Verification": "hlteval.results.verification",
    "compare": "hlteval.workflows.comparison",
    "convert": "hlteval.workflows.conversion",
    "read": "hlteval.workflows.conversion",
    "score": "hlteval.workflows.scoring",
    "validate": "hlteval.workflows.validation",
    "verify": "hlteval.workflows.verification",
}


def __getattr__(name: str) -> Any:
    if name not in _PUBLIC:
        raise AttributeError(f"module 'hlteval' has no attribute {name!r}")
    return getattr(import_module(_PUBLIC[name]), name)
