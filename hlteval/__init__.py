"""hlteval: validate, convert and score submissions to shared tasks of human language technology.

The commands of the command line, from Python:

- `read` gives a source as a `Corpus`;
- `validate` gives a `Verdict` with every `Finding`;
- `convert` writes a source in another format;
- `score` gives `Scores`, or raises `Refused`;
- `compare` gives a `Comparison` of several systems;
- `agreement` gives the `Agreement` of several annotators;
- `report` writes scores, a verdict or a comparison as an HTML file;
- `leaderboard` gives a `Leaderboard` of several systems by several metrics;
- `verify` gives a `Verification`: which part of a signature differs;
- `pack` writes an archive that validates, and gives a `PackedArchive`;
- `inspect` gives an `Inspection`: what an archive is;
- `pipeline` gives a `PipelineResult`: the status of each submission of an evaluation;
- `campaign` gives a `CampaignResult`: many submissions to many tasks as one table;
- `check_manifest` and `best_submissions` are about the manifest of an evaluation.

A source is whatever is an `Input`: a path, an open file, a `Corpus`, or data frames.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from hlteval.api.agreement import agreement
    from hlteval.api.campaigns import campaign
    from hlteval.api.comparison import compare
    from hlteval.api.conversion import convert, read
    from hlteval.api.leaderboard import leaderboard
    from hlteval.api.packages import inspect, pack
    from hlteval.api.pipelines import best_submissions, check_manifest, pipeline
    from hlteval.api.reports import report
    from hlteval.api.scoring import score
    from hlteval.api.validation import validate
    from hlteval.findings import Finding, Findings, Severity
    from hlteval.representation import Corpus
    from hlteval.results.agreement import Agreement
    from hlteval.results.campaign import CampaignResult
    from hlteval.results.comparison import Comparison
    from hlteval.results.leaderboard import Leaderboard
    from hlteval.results.packages import Inspection, PackedArchive
    from hlteval.results.pipeline import PipelineResult
    from hlteval.results.scores import Scores
    from hlteval.results.verdict import Verdict
    from hlteval.results.verification import Verification
    from hlteval.sources.inputs import Input, WrongArgument
    from hlteval.tasks.option import WrongOption
    from hlteval.workflows.conversion import Lossy
    from hlteval.workflows.refusals import Refused
    from hlteval.workflows.verification import verify

__version__ = "0.1.0"

__all__ = [
    "Agreement",
    "CampaignResult",
    "Comparison",
    "Corpus",
    "Finding",
    "Findings",
    "Input",
    "Inspection",
    "Leaderboard",
    "Lossy",
    "PackedArchive",
    "PipelineResult",
    "Refused",
    "Scores",
    "Severity",
    "Verdict",
    "Verification",
    "WrongArgument",
    "WrongOption",
    "agreement",
    "best_submissions",
    "campaign",
    "check_manifest",
    "compare",
    "convert",
    "inspect",
    "leaderboard",
    "pack",
    "pipeline",
    "read",
    "report",
    "score",
    "validate",
    "verify",
]

# Imported where they are used: a program that asks for the version needs no data frames.
_PUBLIC = {
    "Agreement": "hlteval.results.agreement",
    "CampaignResult": "hlteval.results.campaign",
    "Comparison": "hlteval.results.comparison",
    "Corpus": "hlteval.representation",
    "Finding": "hlteval.findings",
    "Findings": "hlteval.findings",
    "Input": "hlteval.sources.inputs",
    "Inspection": "hlteval.results.packages",
    "Leaderboard": "hlteval.results.leaderboard",
    "Lossy": "hlteval.workflows.conversion",
    "PackedArchive": "hlteval.results.packages",
    "PipelineResult": "hlteval.results.pipeline",
    "Refused": "hlteval.workflows.refusals",
    "Scores": "hlteval.results.scores",
    "Severity": "hlteval.findings",
    "Verdict": "hlteval.results.verdict",
    "Verification": "hlteval.results.verification",
    "WrongArgument": "hlteval.sources.inputs",
    "WrongOption": "hlteval.tasks.option",
    "agreement": "hlteval.api.agreement",
    "best_submissions": "hlteval.api.pipelines",
    "campaign": "hlteval.api.campaigns",
    "check_manifest": "hlteval.api.pipelines",
    "compare": "hlteval.api.comparison",
    "convert": "hlteval.api.conversion",
    "inspect": "hlteval.api.packages",
    "leaderboard": "hlteval.api.leaderboard",
    "pack": "hlteval.api.packages",
    "pipeline": "hlteval.api.pipelines",
    "read": "hlteval.api.conversion",
    "report": "hlteval.api.reports",
    "score": "hlteval.api.scoring",
    "validate": "hlteval.api.validation",
    "verify": "hlteval.workflows.verification",
}


def __getattr__(name: str) -> Any:
    if name not in _PUBLIC:
        raise AttributeError(f"module 'hlteval' has no attribute {name!r}")
    return getattr(import_module(_PUBLIC[name]), name)


def __dir__() -> list[str]:
    return sorted([*__all__, "__version__"])
