"""Rules of CCU about a submission as a package (CCU201 to CCU211)."""

from __future__ import annotations

from collections.abc import Iterator

from hlteval.findings import Finding
from hlteval.validators.packages import Package


def findings(package: Package, *, task: str) -> Iterator[Finding]:
    """The findings about a submission as a package: its archive, folder and files.

    Args:
        package: the submission.
        task: the task without its prefix, such as `nd`.
    """
    del package, task
    yield from ()
