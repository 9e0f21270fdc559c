"""Public tools of Python alone, on data of benchmarks: `python -m benchmarks.tools NAME R S`.

Files are read by plain Python, as a user of the tool does it. The packages are the extra `peers`.
"""

from __future__ import annotations

import csv
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any


def seqeval(reference: str, system: str) -> None:
    """Precision, recall and F1 of two files of CoNLL columns."""
    from seqeval.metrics import classification_report

    print(classification_report(*map(_sentences, (reference, system))))


def _sentences(path: str) -> list[list[str]]:
    blocks = Path(path).read_text("utf-8").split("\n\n")
    sentences = ([line.rsplit(" ", 1)[1] for line in block.split("\n") if line] for block in blocks)
    return [sentence for sentence in sentences if sentence]


def nervaluate(reference: str, system: str) -> None:
    """The measures of SemEval of two folders of brat."""
    from nervaluate import Evaluator

    names = sorted(path.name for path in Path(reference).glob("*.ann"))
    sides = [[_spans(Path(side) / name) for name in names] for side in (reference, system)]
    labels = sorted({span["label"] for document in sides[0] for span in document})
    print(Evaluator(*sides, tags=labels, loader="dict").evaluate()["overall"])


def _spans(path: Path) -> list[dict[str, Any]]:
    spans = (line.split("\t")[1].split(" ") for line in path.read_text("utf-8").splitlines())
    return [{"label": a, "start": int(b), "end": int(c) - 1} for a, b, c in spans]


def scikit_learn(reference: str, system: str) -> None:
    """Precision, recall and F1 of two tables of labels."""
    from sklearn.metrics import classification_report, cohen_kappa_score, matthews_corrcoef

    sides = [_labels(path) for path in (reference, system)]
    gold, found = ([side[name] for name in sides[0]] for side in sides)
    print(classification_report(gold, found))
    print(cohen_kappa_score(gold, found), matthews_corrcoef(gold, found))


def _labels(path: str) -> dict[str, str]:
    with Path(path).open(encoding="utf-8") as stream:
        return {row[0]: row[1] for row in list(csv.reader(stream, delimiter="\t"))[1:]}


def pyannote(reference: str, system: str) -> None:
    """The diarization error rate of two files of RTTM."""
    from pyannote.metrics.diarization import DiarizationErrorRate

    metric, sides = DiarizationErrorRate(), [_turns(path) for path in (reference, system)]
    for name, gold in sides[0].items():
        metric(gold, sides[1][name])
    print(abs(metric))


def _turns(path: str) -> dict[str, Any]:
    from pyannote.core import Annotation, Segment

    found: dict[str, Any] = {}
    for number, line in enumerate(Path(path).read_text("utf-8").splitlines()):
        _, name, _, start, length, _, _, speaker, *_ = line.split()
        turn = Segment(float(start), float(start) + float(length))
        found.setdefault(name, Annotation(uri=name))[turn, number] = speaker
    return found


def jiwer(reference: str, system: str) -> None:
    """The error rates of words and characters of two files of utterances."""
    from jiwer import process_characters, process_words

    sides = [
        [line.partition("\t")[2] for line in Path(path).read_text("utf-8").splitlines()]
        for path in (reference, system)
    ]
    print(process_words(*sides).wer, process_characters(*sides).cer)


TOOLS: Mapping[str, Callable[[str, str], None]] = MappingProxyType(
    {
        "jiwer": jiwer,
        "nervaluate": nervaluate,
        "pyannote": pyannote,
        "scikit-learn": scikit_learn,
        "seqeval": seqeval,
    }
)

if __name__ == "__main__":
    TOOLS[sys.argv[1]](*sys.argv[2:])
