"""The scores of situation frames that an option names."""

from __future__ import annotations

from pathlib import Path

from hlteval.sources import open_source
from hlteval.tasks.mt import sf_scores


def test_a_document_with_two_scores_is_reported(tmp_path: Path) -> None:
    path = tmp_path / "scores.tab"
    path.write_text("d1\tmt\t0.5\nd1\tsource\t0.25\nd1\tmt\t0.5\nd1\tmt\t0.75\n", "utf-8")
    value, findings, _ = sf_scores(open_source(str(path)), {})
    assert value == {"mt": {"d1": 0.75}, "source": {"d1": 0.25}}
    assert [(item.code, item.span.line) for item in findings if item.span] == [("OPT106", 4)]
    assert findings[0].message == "another value for d1 and mt than on line 1"
    assert findings[0].help == "delete one of the lines; the last score counts"
