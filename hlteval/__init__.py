"""hlteval: validate, convert and score submissions to shared tasks of human language technology.

The commands of the command line, from Python:

- `read` gives a source as a `Corpus`;
- `validate` gives a `Verdict` with every `Finding`;
- `convert` writes a source in another format;
- `score` gives `Scores`, or raises `Refused`;
- `compare` gives a `Comparison` of several systems;
- `agreement` gives the `Agreement` of several annotators;
- `report` writes scores, a verdict or a comparison as an HTML file;
- `log` writes scores to MLflow, Weights & Biases or TensorBoard;
- `leaderboard` gives a `Leaderboard` of several systems by several metrics;
- `verify` gives a `Verification`: which part of a signature differs;
- `pack` writes an archive that validates, and gives a `PackedArchive`;
- `platform` scores a submission in the folders of a competition platform;
- `inspect` gives an `Inspection`: what an archive is;
- `pipeline` gives a `PipelineResult`: the status of each submission of an evaluation;
- `campaign` gives a `CampaignResult`: many submissions to many tasks as one table;
- `task` gives a task that a file or keywords declare, for the place of a name;
- `check_manifest` and `best_submissions` are about the manifest of an evaluation.

A source is whatever is an `Input`: a path, an open file, a `Corpus`, or data frames.
"""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from hlteval.api.evaluations import (
        best_submissions,
        campaign,
        check_manifest,
        inspect,
        pack,
        pipeline,
        platform,
    )
    from hlteval.api.loggers import log
    from hlteval.api.submissions import (
        agreement,
        compare,
        convert,
        leaderboard,
        read,
        report,
        score,
        validate,
    )
    from hlteval.findings import Finding, Findings, Severity
    from hlteval.representation import Corpus
    from hlteval.results.agreement import Agreement
    from hlteval.results.evaluation import CampaignResult, PipelineResult
    from hlteval.results.packages import Inspection, PackedArchive
    from hlteval.results.scores import Scores
    from hlteval.results.systems import Comparison, Leaderboard
    from hlteval.results.verdict import Verdict, Verification
    from hlteval.sources.inputs import Input, WrongArgument
    from hlteval.tasks.generic.declaration import task
    from hlteval.tasks.task import WrongOption
    from hlteval.workflows.convert.conversion import Lossy
    from hlteval.workflows.run.verdicts import Refused
    from hlteval.workflows.verification import verify

__version__ = "0.1.0"

# In a checkout, four rooms lie beside this folder (package-dir in pyproject.toml).
if not Path(__path__[0], "scoring").is_dir():
    __path__.append(str(Path(__path__[0]).parent))

__all__ = [
    "Agreement", "CampaignResult", "Comparison", "Corpus", "Finding", "Findings", "Input",
    "Inspection", "Leaderboard", "Lossy", "PackedArchive", "PipelineResult", "Refused", "Scores",
    "Severity", "Verdict", "Verification", "WrongArgument", "WrongOption", "agreement",
    "best_submissions", "campaign", "check_manifest", "compare", "convert", "inspect",
    "leaderboard", "log", "pack", "pipeline", "platform", "read", "report", "score", "task",
    "validate", "verify",
]  # fmt: skip

# Imported where they are used: a program that asks for the version needs no data frames.
_PUBLIC = {
    name: f"hlteval.{module}"
    for module, names in {
        "api.evaluations": "best_submissions campaign check_manifest inspect pack pipeline "
        "platform",
        "api.loggers": "log",
        "api.submissions": "agreement compare convert leaderboard read report score validate",
        "findings": "Finding Findings Severity",
        "representation": "Corpus",
        "results.agreement": "Agreement",
        "results.evaluation": "CampaignResult PipelineResult",
        "results.packages": "Inspection PackedArchive",
        "results.scores": "Scores",
        "results.systems": "Comparison Leaderboard",
        "results.verdict": "Verdict Verification",
        "sources.inputs": "Input WrongArgument",
        "tasks.generic.declaration": "task",
        "tasks.task": "WrongOption",
        "workflows.convert.conversion": "Lossy",
        "workflows.run.verdicts": "Refused",
        "workflows.verification": "verify",
    }.items()
    for name in names.split()
}


def __getattr__(name: str) -> Any:
    if name not in _PUBLIC:
        raise AttributeError(f"module 'hlteval' has no attribute {name!r}")
    return getattr(import_module(_PUBLIC[name]), name)


def __dir__() -> list[str]:
    return sorted([*__all__, "__version__"])
