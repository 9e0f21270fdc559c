"""METEOR: its formula on counts of the jar, and every way in which the process can fail."""

from __future__ import annotations

import os
import signal
import stat
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from hlteval.scoring.metric import CannotCount
from hlteval.scoring.mt import measures
from hlteval.scoring.mt.measures import MeteorMeasure, addable, field_text, meteor
from hlteval.scoring.mt.strings import Segments

# Answers of meteor-1.5.jar: -l en -norm, with paraphrases and without.
PARAPHRASED = "8 7 4 3 3 3 2 2 0 0 0 0 0 0 0 0 1 1 1 0 3 7 6"
SYNONYMS = "8 7 4 3 3 3 2 2 0 0 0 0 1 1 0 0 0 0 0 0 4 6 6"
EQUAL = "2 2 1 1 1 1 1 1 0 0 0 0 0 0 0 0 0 0 0 0 1 2 2"
NOTHING = " ".join(["0"] * 23)
ONLY_A_REFERENCE = "0 1 0 1" + " 0" * 19


def counts(*lines: str) -> np.ndarray:
    return np.array([[float(word) for word in line.split()] for line in lines])


@pytest.mark.parametrize(
    ("line", "score"),
    [
        (PARAPHRASED, 0.4135173314189882),
        (SYNONYMS, 0.39513217106844284),
        (EQUAL, 1.0),
        (NOTHING, 0.0),
        (ONLY_A_REFERENCE, 0.0),
    ],
    ids=["paraphrases", "synonyms", "equal", "nothing", "only a reference"],
)
def test_the_score_of_a_segment_is_that_of_the_jar(line, score):
    assert meteor(addable(counts(line)))[""][0] == pytest.approx(score, abs=1e-15)


def test_the_score_of_several_segments_is_that_of_their_sum():
    lines = [SYNONYMS, NOTHING, ONLY_A_REFERENCE, "1 0 1" + " 0" * 20, EQUAL]
    lines += ["6 6 2 1 2 2 0 0 0 0 0 0 1 1 0 0 0 0 0 0 3 3 3", "3 3 0 0 3 3" + " 0" * 14 + " 1 3 3"]
    lines += ["5 5 2 2 3 3 2 2" + " 0" * 12 + " 1 5 5"]
    total = addable(counts(*lines)).sum(axis=0, keepdims=True)
    assert meteor(total)[""][0] == pytest.approx(0.4170932505500629, abs=1e-15)


def test_equal_segments_stay_perfect_together():
    assert meteor(addable(counts(EQUAL, EQUAL)).sum(axis=0, keepdims=True))[""][0] == 1.0


@pytest.mark.parametrize(
    ("text", "sent"),
    [
        ("a ||| b", "a | | | b"),
        ("a||||b", "a| | | |b"),
        ("a || b", "a || b"),
        ("a\r\nb\rc", "a b c"),
        ("a\u2028b\u2029c\u0085d\u00a0e\tf\x0bg\x0ch\x1ci", "a b c d e f g h i"),
        ("  ", ""),
    ],
    ids=["separator", "four bars", "two bars", "line breaks", "other spaces", "nothing"],
)
def test_no_text_can_shift_the_answers(text, sent):
    assert field_text(text) == sent


FAKE = f"""#!{sys.executable}
import os, sys, time
COUNTS = "{SYNONYMS}"
for line in sys.stdin:
    {{body}}
    sys.stdout.flush()
"""
ANSWERS = 'print(COUNTS if line.startswith("SCORE") else "0.39513217106844284\\n0.5")'


@pytest.fixture
def java(tmp_path, monkeypatch):
    """Installs a Java that does what is written in Python, and gives METEOR."""

    def install(body: str = ANSWERS, **settings: object) -> MeteorMeasure:
        home = tmp_path / "java"
        (home / "bin").mkdir(parents=True)
        program = home / "bin" / "java"
        program.write_text(FAKE.format(body=body))
        program.chmod(program.stat().st_mode | stat.S_IXUSR)
        monkeypatch.setenv("JAVA_HOME", str(home))
        return MeteorMeasure(**{"jar": str(jar(tmp_path)), "paraphrases": False} | settings)

    return install


def jar(folder: Path) -> Path:
    path = folder / "meteor-1.5.jar"
    path.touch()
    return path


def failure(process: MeteorMeasure, texts: int = 1) -> tuple[str, str]:
    with pytest.raises(CannotCount) as caught:
        process.jar_counts(["a"] * texts, [["b"]] * texts)
    assert caught.value.finding.side == "--metric"
    assert caught.value.finding.blocking
    return caught.value.finding.code, caught.value.finding.message


def test_a_process_answers(java):
    process = java()
    found = process.jar_counts(["a", "b"], [["c"], ["d"]])
    assert found.tolist() == counts(SYNONYMS, SYNONYMS).tolist()
    process.finish()


def test_without_java(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    assert failure(MeteorMeasure(str(jar(tmp_path)), paraphrases=False))[0] == "MTS103"


def test_without_a_jar(java, tmp_path, monkeypatch):
    java()
    code, message = failure(MeteorMeasure(str(tmp_path / "none.jar")))
    assert code == "MTS101"
    assert "none.jar is not a file" in message
    monkeypatch.setattr(measures, "find_spec", lambda _: None)
    code, message = failure(MeteorMeasure())
    assert code == "MTS101"
    assert "pycocoevalcap is not installed" in message


def test_without_the_table_of_paraphrases(java):
    assert failure(java(paraphrases=True))[0] == "MTS102"


def test_a_process_that_dies_half_way(java):
    process = java('print(COUNTS) if "x" not in line else os._exit(3)')
    process.jar_counts(["a"], [["b"]])
    with pytest.raises(CannotCount) as caught:
        process.jar_counts(["x"], [["b"]])
    assert caught.value.finding.code == "MTS104"
    assert "exit status 3" in caught.value.finding.message
    assert failure(process)[0] == "MTS104", "it is not started again"


def test_a_process_that_is_killed(java):
    process = java()
    process.jar_counts(["a"], [["b"]])
    os.kill(process._child.pid, signal.SIGKILL)
    assert failure(process, 3)[0] == "MTS104"


def test_a_process_that_says_why_it_ends(java):
    body = 'sys.exit("Exception in thread main java.lang.OutOfMemoryError: Java heap space")'
    assert "OutOfMemoryError" in failure(java(body))[1]


def test_a_java_that_is_too_old(java):
    body = 'sys.exit("Exception java.lang.UnsupportedClassVersionError: Unsupported 52.0")'
    code, message = failure(java(body))
    assert code == "MTS108"
    assert "bin/java is too old" in message


def test_a_file_that_cannot_be_run(java, tmp_path):
    command = java()
    (tmp_path / "java/bin/java").write_bytes(b"\x7fELF no program")
    assert failure(command)[0] == "MTS104"


@pytest.mark.parametrize("answer", ["Error: specify hypothesis", "1 2 3", ""])
def test_a_strange_answer(java, answer):
    assert failure(java(f"print({answer!r})"))[0] == "MTS105"


def test_a_process_that_never_answers(java):
    process = java("time.sleep(60)", start=0.2)
    assert failure(process)[0] == "MTS106"
    assert process._child is None


def test_a_process_that_reads_nothing(java):
    command = java()
    (Path(os.environ["JAVA_HOME"]) / "bin/java").write_text("#!/bin/sh\nexec sleep 60\n")
    process = replace(command, start=0.2)
    with pytest.raises(CannotCount) as caught:
        process.jar_counts(["word " * 100_000], [["b"]])
    assert caught.value.finding.code == "MTS106"


def test_a_process_that_talks_much_to_its_errors(java):
    process = java('sys.stderr.write("x" * 300000); print(COUNTS)')
    assert len(process.jar_counts(["a"] * 3, [["b"]] * 3)) == 3
    process.finish()


def test_a_jar_with_other_parameters(java):
    measure = java('print(COUNTS if "SCORE" in line else "0.5\\n0.5")')
    with pytest.raises(CannotCount) as caught:
        measure.counts(Segments(["a"], [["b"]]))
    assert caught.value.finding.code == "MTS109"


def test_the_process_ends_with_its_object(java):
    process = java()
    process.jar_counts(["a"], [["b"]])
    child = process._child
    del process
    assert child.poll() is not None
