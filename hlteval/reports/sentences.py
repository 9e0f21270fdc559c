"""Sentences for papers: what a result shows, and what cannot be written because of it.

A sentence is made from a result alone, in Markdown, which is also plain text, or in LaTeX. Numbers
are written as papers write them: three decimals, and no zero before the point where a value cannot
be above 1. The tutorials explain what their tests support.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from statistics import fmean
from types import MappingProxyType
from typing import Literal, NamedTuple

from hlteval.findings import SUBMISSION
from hlteval.findings.counts import count_of, enumeration, first_names
from hlteval.reports.scores import values_of
from hlteval.reports.terminal import in_latex, in_markdown, visible
from hlteval.results.agreement import Agreement
from hlteval.results.scores import Scores
from hlteval.results.systems import Comparison, Difference, Interval, Leaderboard, short_names
from hlteval.results.verdict import FIRST, Citable, Signature, WrongSignature
from hlteval.tasks import load
from hlteval.tasks.task import RATE, Range

Form = Literal["markdown", "latex"]
#: Most names in a list; of more, their number is given.
NAMED = 4
#: The most that a percentage can be.
PERCENT = 100.0
#: The limits of p values that are written as such, from below and above.
LEAST, MOST = 0.001, 0.999


class Style(NamedTuple):
    """How a sentence is written in a format.

    Attributes:
        escape: gives a name as text that is shown as it is.
        dash: between two limits.
        minus: before a negative number.
        percent: after a number.
        chance: with a p value.
    """

    escape: Callable[[str], str]
    dash: str
    minus: str
    percent: str
    chance: str

    def number(self, value: float, values: Range = RATE) -> str:
        """A value; a rate has three decimals, and a value up to 100 one.

        Args:
            value: of a metric, or a difference of two.
            values: what the metric can be.

        Examples:
            >>> MARKDOWN.number(0.8125), LATEX.number(-0.5), MARKDOWN.number(1.0)
            ('.812', '$-$.500', '1.000')
            >>> bleu = Range("0 to 100", "number", 0.0, 100.0)
            >>> MARKDOWN.number(69.84, bleu), MARKDOWN.number(12.0, Range("count", "count", 0.0))
            ('69.8', '12')
        """
        size, most = abs(value), max(abs(values.least), abs(values.most))
        text = f"{size:.1f}" if most == PERCENT else f"{size:.3f}"
        if values.kind != "rate" and size.is_integer() and most > PERCENT:
            text = f"{size:.0f}"
        sign = self.minus if value < 0 else ""
        return sign + (text.removeprefix("0") if most <= 1 else text)

    def limits(self, limits: Interval, values: Range = RATE) -> str:
        """The limits of an interval; a dash does not stand before a minus.

        Examples:
            >>> LATEX.limits((0.5, 0.75)), MARKDOWN.limits((-0.067, 0.628))
            ('.500--.750', '−.067 to .628')
        """
        low, high = (0.0 if limit is None else limit for limit in limits)
        between = " to " if low < 0 else self.dash
        return between.join([self.number(low, values), self.number(high, values)])

    def difference(self, pair: Difference, values: Range) -> list[str]:
        """The size of a difference, and the interval of the better system minus the other one."""
        difference, limits = pair.difference or 0.0, pair.interval
        if difference < 0:  # less is better
            limits = limits and (-limits[1], -limits[0])
        interval = [self.limits(limits, values)] if limits else []
        return [self.number(abs(difference), values), *interval]

    def p(self, value: float, alpha: float) -> str:
        """A p value, with as many decimals as show on which side of the level it is.

        Examples:
            >>> MARKDOWN.p(0.0078, 0.05), MARKDOWN.p(0.00002, 0.05), MARKDOWN.p(0.0499, 0.05)
            ('p = .008', 'p < .001', 'p = .0499')
            >>> LATEX.p(0.9999, 0.05), MARKDOWN.p(1.0, 0.05)
            ('$p > .999$', 'p = 1')
        """
        if value == 1:
            return self.chance.format("= 1")
        if not LEAST <= value <= MOST:
            return self.chance.format("< .001" if value < LEAST else "> .999")
        digits = 3
        while (round(value, digits) < alpha) != (value < alpha):
            digits += 1
        return self.chance.format(f"= {value:.{digits}f}".replace("0.", ".", 1))


MARKDOWN = Style(lambda text: in_markdown(visible(text)), "\N{EN DASH}", "−", " %", "p {}")
LATEX = Style(lambda text: in_latex(visible(text)), "--", "$-$", r"\,\%", "$p {}$")
STYLES: Mapping[Form, Style] = MappingProxyType({"markdown": MARKDOWN, "latex": LATEX})


class Statement(NamedTuple):
    """A sentence about a result.

    Attributes:
        sentence: one or two sentences that the result supports.
        unsupported: what cannot be written, each as a clause that begins with `that`.
    """

    sentence: str
    unsupported: tuple[str, ...]


def statement(result: Citable, style: Style = MARKDOWN) -> Statement:
    """The sentence of a result, and what cannot be written.

    Args:
        result: the result.
        style: the format.
    """
    match result:
        case Scores():
            parts = _of_scores(result, style)
        case Comparison():
            refused = [system.name for system in result.refused]
            parts = _of_comparison(result, style, refused)
        case Leaderboard():
            refused = [system.name for system in result.refused]
            if not result.comparisons:
                return Statement("No submission was scored.", ())
            parts = _of_comparison(result.comparisons[0], style, refused)
        case Agreement():
            parts = _of_agreement(result, style)
        case _:
            raise TypeError(f"there is no sentence about {type(result).__name__}")
    sentence, *unsupported = parts
    return Statement(sentence, tuple(unsupported))


def sentence(result: Citable, form: Form = "markdown") -> str:
    """The sentence of a result in Markdown or LaTeX.

    Raises:
        ValueError: for another format.
    """
    if form not in STYLES:
        raise ValueError(f"form: expected 'markdown' or 'latex', got {form!r}")
    return statement(result, STYLES[form]).sentence


def document(result: Scores | Comparison | Leaderboard | Agreement, *_: object) -> str:
    """The sentence in both formats, what cannot be written, and the signature, in Markdown."""
    supported, unsupported = statement(result)
    latex = sentence(result, "latex")
    blocks = [supported, f"In LaTeX:\n\n```latex\n{latex}\n```"]
    if unsupported:
        blocks.append("You cannot write:\n\n" + "\n".join(f"- {each}" for each in unsupported))
    if result.signature:
        blocks.append(f"Signature for a footnote:\n\n`{visible(result.signature)}`")
    return "\n\n".join(blocks) + "\n"


def parse(signature: str) -> Signature:
    """The parts of a signature; none of a text that is not a signature.

    Examples:
        >>> parse("hlteval:0.1.0|seed:0").values("seed"), parse("none").parts
        (['0'], ())
    """
    try:
        return Signature.parse(signature)
    except WrongSignature:
        return Signature(())


def _interval(signature: str, limits: Interval | None, values: Range, style: Style) -> list[str]:
    """The interval of a value with its level; empty without one.

    Args:
        signature: of the result.
        limits: of the interval.
        values: what the value can be.
        style: the format.
    """
    if not limits:
        return []
    levels = parse(signature).values("confidence")
    level = "".join(f"{100 * float(each):g}{style.percent} " for each in levels[:1])
    return [f"{level}CI {style.limits(limits, values)}"]


#: What can be said of two systems: the better one differs, does not, or there is no test.
Relation = Literal["better", "alike", "untested"]
VERBS: Mapping[Relation, str] = MappingProxyType(
    {
        "better": "is better than",
        "alike": "does not differ significantly from",
        "untested": "has a better value than",
    }
)
#: The same where neither more nor less is better.
NEUTRAL: Mapping[Relation, str] = MappingProxyType(
    {
        **VERBS,
        "better": "has a significantly higher value than",
        "untested": "has a higher value than",
    }
)
#: The words for a test of differences by its name in signatures.
TESTS: Mapping[str, str] = MappingProxyType(
    {
        "exact": "paired permutation test, exact",
        "permutation": "paired permutation test, {} permutations",
        "bootstrap": "paired bootstrap test, {} resamples",
        "jackknife": "paired jackknife test",
    }
)


def _of_comparison(comparison: Comparison, style: Style, refused: Sequence[str]) -> Iterator[str]:
    """The best system against each of the others, then what cannot be written.

    Args:
        comparison: the comparison.
        style: the format.
        refused: the names of the systems that were not scored.
    """
    metric, values = comparison.metric, values_of(load(comparison.task), comparison.metric)
    ranked = [system for system in comparison.systems if system.value is not None]
    if not ranked:
        yield f"No system has a value of {style.escape(metric)}."
        return
    leader, *others = ranked
    pairs = {pair.second: pair for pair in comparison.differences if pair.first == leader.name}
    tested = [pair.corrected for pair in pairs.values() if pair.corrected is not None]
    names: dict[Relation, list[str]] = {relation: [] for relation in VERBS}
    clauses: dict[Relation, list[str]] = {relation: [] for relation in VERBS}
    for system in others:
        pair, name = pairs[system.name], style.escape(system.name)
        value, size = style.number(system.value or 0.0, values), style.difference(pair, values)
        relation: Relation = "untested"
        if (p := pair.corrected) is not None:
            relation = "better" if p < comparison.alpha else "alike"
        clause = f"{name} ({value}; difference {', '.join(size)})"
        if relation != "alike":
            clause = f"{name} ({value}) by {' '.join([size[0], *(f'({end})' for end in size[1:])])}"
        if p is not None and len(others) > 1:
            clause += f", {style.p(p, comparison.alpha)}"
        names[relation].append(name)
        clauses[relation].append(clause)
    conditions = [count_of(comparison.significance.documents, "document")]
    if tested and len(others) > 1:
        conditions.insert(0, f"Holm, {count_of(comparison.significance.pairs, 'pair')}")
    elif tested:
        conditions.insert(0, style.p(tested[0], comparison.alpha))
    if tested:
        signature = parse(comparison.signature)
        drawn = "".join(signature.values("bootstrap")[:1])
        tests = (TESTS[name] for name in signature.values("test")[-1:])
        conditions[:0] = [test.format(f"{int(drawn or 0):,}") for test in tests]
    best, value = style.escape(leader.name), style.number(leader.value or 0.0, values)
    between = _interval(comparison.signature, leader.interval, values, style)
    lead = f"{best} ({', '.join([f'{style.escape(metric)} {value}', *between])})"
    statistic = load(comparison.task).statistic(metric)
    verbs = VERBS if statistic and statistic.better != "neither" else NEUTRAL
    predicates = [f"{verbs[r]} {'; '.join(each)}" for r, each in clauses.items() if each]
    first, *more = predicates or ["was compared with no other system"]
    last = ("; " if len(others) > 1 else ", ") + ", ".join(conditions)
    yield " It ".join([f"{lead} {first}{last}.", *(f"{each}." for each in more)])
    yield from _cautions(comparison, best, names, [*map(style.escape, refused)])


def _cautions(
    comparison: Comparison,
    best: str,
    names: Mapping[Relation, Sequence[str]],
    refused: Sequence[str],
) -> Iterator[str]:
    """Cautions about what a comparison does not show.

    Args:
        comparison: the comparison.
        best: the name of the first system.
        names: those of the other systems, by what can be said of both.
        refused: the names of the systems that were not scored.
    """
    documents = count_of(comparison.significance.documents, "document")
    if comparison.significance.note:
        yield f"that any system is better than another: {comparison.significance.note}"
    elif names["alike"]:
        yield f"that {best} is better than {_either(names['alike'])}"
    if others := [*names["alike"], *names["untested"]]:
        yield (
            f"that {best} is no better than {_either(others)}: {documents} may be too few to show "
            "a difference"
        )
    losses = [pair.losses for pair in comparison.differences]
    if names["better"] and len(losses) == 1 and losses[0]:
        yield f"that {best} is better in each document: it is worse in {losses[0]} of {documents}"
    if names["better"]:
        metric = in_markdown(comparison.metric)
        yield (
            f"that {best} is better by other metrics, for each label or on other texts: the test "
            f"is about {metric} in documents like these"
        )
    if undefined := [item.name for item in comparison.systems if item.value is None]:
        yield f"anything about {_either(undefined)}, whose value is undefined"
    if refused:
        yield f"anything about {_either(refused)}, which could not be scored"


def _either(names: Sequence[str]) -> str:
    """Names as alternatives; of many the first ones.

    Examples:
        >>> _either(["a", "b"]), _either(["a", "b", "c", "d", "e", "f"])
        ('a or b', 'a, b, c, d and 2 more')
    """
    return enumeration(names, "or") if len(names) <= NAMED else first_names(names, NAMED)


def _of_scores(scores: Scores, style: Style) -> Iterator[str]:
    """The metric that ranks with its interval, then what cannot be written."""
    task, value = load(scores.task), scores.metrics.get(scores.primary)
    values, metric = values_of(task, scores.primary), style.escape(scores.primary)
    path = scores.verdict.paths.get(SUBMISSION, "")
    name = style.escape(short_names([path])[path]) if path else "The system"
    number, unit = scores.documents or 0, "document"
    if not number:
        number, unit = scores.records or 0, "record"
    if value is None:
        yield f"The {metric} of {name} is undefined, {count_of(number, unit)}."
        return
    limits = scores.intervals.get(scores.primary)
    between = _interval(scores.signature, limits, values, style)
    shown = " ".join([style.number(float(value), values), *(f"({each})" for each in between)])
    how = f"hlteval {''.join(parse(scores.signature).values(FIRST))}, profile {scores.profile}"
    yield f"{name} reaches {metric} {shown} on {count_of(number, unit)} ({how})."
    yield (
        f"that {name} is better or worse than another system: `hlteval compare` tests that, "
        "whether or not intervals overlap"
    )
    if not limits:
        yield "how far the score depends on the documents: use `--bootstrap 10000` for an interval"
    if scores.profile == "plan":
        more = (
            "use `--profile official`"
            if "official" in task.profiles
            else "the task has no public scorer"
        )
        yield f"that the score is official: {more}"
    if not scores.verdict.passed:
        errors = count_of(scores.verdict.by_severity["error"], "error")
        yield f"that the submission is valid: it has {errors}"


def _of_agreement(agreement: Agreement, style: Style) -> Iterator[str]:
    """Alpha of all annotators and the measure of their pairs, then what cannot be written."""
    names = [style.escape(name) for name in agreement.annotators]
    who = enumeration(names) if len(names) <= NAMED else count_of(len(names), "annotator")
    parts, levels = [], agreement.signature
    for item in agreement.overall[:1]:
        more = [*_interval(levels, item.interval, RATE, style), count_of(item.units, "unit")]
        found = f"{style.number(item.value or 0.0)} ({', '.join(more)})"
        parts.append(f"agree on {style.escape(item.judged)} with Krippendorff's alpha {found}")
    values, first = RATE, [item.measure for item in agreement.measures[:1]]
    pairs = [pair for measure in first for pair in agreement.pairs_of(measure)]
    if pairs:
        values = values_of(load(agreement.task), pairs[0].measure)
        each = [pair.value or 0.0 for pair in pairs]
        found = style.number(fmean(each), values)
        if len(pairs) == 1:
            found += "".join(
                f" ({each})" for each in _interval(levels, pairs[0].interval, values, style)
            )
        else:
            limits = style.limits((min(each), max(each)), values)
            found += f" on average ({limits}, {count_of(len(pairs), 'pair')})"
        measure = style.escape(pairs[0].measure)
        parts.append(f"reach {measure} {found} against each other")
    documents = count_of(agreement.documents, "document")
    if not parts:
        yield f"The agreement of {who} is undefined, {documents}."
    else:
        yield f"{who} {' and '.join(parts)}, {documents}."
    if pairs:
        yield (
            f"that a system above {style.number(fmean(each), values)} is better than the "
            "annotators: such a reference cannot show it"
        )
    if agreement.overall and any(item.coefficient == "unit_f1" for item in agreement.coefficients):
        yield "that alpha covers what only one of them marked: `unit_f1` measures that"
    missing = {item.judged: item.reason for item in agreement.coefficients if item.is_overall}
    for judged in {item.judged for item in agreement.overall}:
        missing.pop(judged, None)
    for judged, reason in missing.items():
        yield f"how far they agree on {style.escape(judged)}: {reason}"
    yield "that others would agree as much, or that they would on other documents"
