"""Reports as HTML files: `report`."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from hlteval.sources.inputs import WrongArgument
from hlteval.sources.writing import resolved

if TYPE_CHECKING:
    from hlteval.results.agreement import Agreement
    from hlteval.results.comparison import Comparison
    from hlteval.results.leaderboard import Leaderboard
    from hlteval.results.scores import Scores
    from hlteval.results.verdict import Verdict
    from hlteval.workflows.refusals import Refused


def report(
    result: Scores | Verdict | Comparison | Leaderboard | Agreement | Refused,
    path: str | os.PathLike[str],
) -> None:
    r"""Write a result as a report: one HTML file that opens offline.

    Args:
        result: what `score`, `validate`, `compare`, `leaderboard` or `agreement` returned, or the
            `Refused` that it raised.
        path: of the file; an existing one is replaced in one step.

    Raises:
        TypeError: for any other result.
        WrongArgument: if the path is a folder.
        FileNotFoundError: if its folder does not exist.

    Examples:
        >>> import tempfile
        >>> from io import StringIO
        >>> from hlteval import validate
        >>> verdict = validate("lorehlt-edl", StringIO("R\tm1\tOsh\td1:3-5\tNIL1\tGPE\tNAM\t1.0\n"))
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     report(verdict, f"{folder}/report.html")
        ...     Path(folder, "report.html").read_text("utf-8")[:15]
        '<!doctype html>'
    """
    from hlteval.reports.html import write
    from hlteval.reports.refusal import Refusal
    from hlteval.results.agreement import Agreement
    from hlteval.results.comparison import Comparison
    from hlteval.results.leaderboard import Leaderboard
    from hlteval.results.scores import Scores
    from hlteval.results.verdict import Verdict
    from hlteval.workflows.refusals import Refused

    given: object = result
    if isinstance(given, Refused):
        given = Refusal(given.verdict, str(given), given.fix, given.blocking)
    known = Scores | Verdict | Comparison | Leaderboard | Agreement | Refusal
    if not isinstance(given, known):
        kind = type(given).__name__
        expected = "scores, a verdict, a comparison, a leaderboard or an agreement"
        raise TypeError(f"result: expected {expected}, got {kind}")
    if resolved(target := Path(path)).is_dir():
        raise WrongArgument(f"path: {target} is a folder")
    write(given, target)
