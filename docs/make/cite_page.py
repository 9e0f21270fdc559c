"""The page docs/cite.md: how to cite hlteval, a task, a score and a difference."""

from __future__ import annotations

from docs.make.markdown import table
from hlteval import __version__, tasks

_PAGE = """\
# How to cite

<!-- Made from the declarations in hlteval/tasks/ by docs.make.cite_page; do not edit. -->

## hlteval

`CITATION.cff` in the repository has the data in a form that code hosts and reference managers read.
In BibTeX:

```bibtex
@software{{hlteval,
  author  = {{{{The hlteval authors}}}},
  title   = {{hlteval}},
  version = {{{version}}},
  license = {{MIT}}
}}
```

Name the version: `hlteval -V` prints it.

## A score

Publish the signature under the table, as `hlteval score` prints it. It names the version, the task,
the profile, all options, and digests of the files, so that others can [verify](official.md) your
number with `hlteval verify`. If options come from a [file of defaults](config.md), it names them.

## A task

Cite the specification that the profile `plan` follows, and the paper of the evaluation if there
is one:

{tasks}
Where a score is that of the public software, say so: “profile official”.

## A difference

[Differences](differences.md) lists where the specification and the public software differ. The
name of a row is permanent. Cite it with the version: “hlteval, version {version}, differences,
[seedev-mandatory](differences.md#seedev-mandatory)”.
"""


def cite_page() -> str:
    """The page docs/cite.md, in Markdown.

    Examples:
        >>> cite_page().splitlines()[0]
        '# How to cite'
    """
    loaded = (tasks.load(name) for name in tasks.BUILTIN)
    rows = [(f"[{task.name}](tasks.md#{task.name})", task.specification) for task in loaded]
    return _PAGE.format(version=__version__, tasks=table(("task", "specification"), rows))
