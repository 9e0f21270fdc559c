"""The verdict over a manifest, alone or beside the submissions of its evaluation."""

from __future__ import annotations

from pathlib import Path

from hlteval.findings import Findings
from hlteval.results.verdict import Verdict
from hlteval.workflows.manifest_check import check_manifest
from hlteval.workflows.manifest_root import check_root
from hlteval.workflows.manifests import read_manifest


def check(path: str, root: Path | None = None) -> Verdict:
    """Check a manifest, and whether the submissions of a folder agree with it.

    Args:
        path: of the manifest.
        root: the folder of the evaluation; only looked into if the manifest can be read.

    Raises:
        FileNotFoundError: if the manifest does not exist, or the folder has no submissions.
        WrongManifest: if the manifest is not a file.
    """
    manifest = read_manifest(path)
    findings = check_manifest(manifest)
    if root is not None and not any(finding.blocking for finding in findings):
        findings = (*findings, *check_root(manifest, root))
    passed = not any(finding.severity == "error" for finding in findings)
    return Verdict("", "", passed, Findings(findings))
