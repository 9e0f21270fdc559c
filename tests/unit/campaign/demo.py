"""A campaign over the examples of `hlteval demo`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from hlteval.workflows import config as demo
from hlteval.workflows.evaluation.campaign import campaign
from hlteval.workflows.evaluation.manifests import read_campaign
from hlteval.workflows.processes.graph import Node, call, failure

MANIFEST = """\
name = "Demo"
resamples = 20

[submissions]
system = "system"
flawed = "flawed"
absent = "absent"

[tasks.seedev-full]
reference = "reference"
profiles = ["plan", "official"]
"""
TEMPLETTES = """
[tasks.hub4]
reference = "comparison/reference.tpl"
submissions = ["bold"]
metrics = ["both.f", "both.rec"]

[tasks.hub4.conditions.and]
options = {premodifiers = "and,a,the"}
[tasks.hub4.conditions.none]
options = {premodifiers = "none"}
"""


class InProcess:
    """Computes graphs in this process, one after the other."""

    def results(self, roots: Iterable[Node]) -> Iterator[tuple[int, Any]]:
        """The results, in order."""
        for number, root in enumerate(roots):
            try:
                yield number, computed(root)
            except Exception as error:
                yield number, failure(error)

    def close(self) -> None:
        """Nothing is left to end."""


def computed(node: Node) -> Any:
    """The result of a node."""
    values = (computed(item) if isinstance(item, Node) else item for item in node.arguments)
    return call(node.function, *values)


def unpacked(folder: Path, documents: int = 1) -> Path:
    """The manifest, beside the examples in a folder, whose document may be there several times."""
    demo.unpack(folder)
    for number in range(2, documents + 1):
        for file in [*folder.glob("reference/demo-1.*"), *folder.glob("system/demo-1.*")]:
            (file.parent / file.name.replace("-1", f"-{number:02}")).write_bytes(file.read_bytes())
    path = folder / "demo.toml"
    path.write_text(MANIFEST)
    return path


def run(path: Path, cache: Path, **given):
    """The result of a manifest."""
    manifest = read_campaign(str(path))
    assert manifest.usable, manifest.findings
    return campaign(manifest, cache, **{"workers": InProcess(), **given})
