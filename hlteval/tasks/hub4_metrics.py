"""What HUB-4 templettes compare: the metric, with the task's options and the files they name."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import cast

from hlteval.converters import load as load_format
from hlteval.converters.hub4.global_map import read_map
from hlteval.findings import Finding
from hlteval.representation.global_map import GlobalMap, Rule
from hlteval.scoring.hub4.fill_match import FILLERS
from hlteval.scoring.hub4.mapping import Policy, ZeroF
from hlteval.scoring.hub4.metric import TempletteMatch
from hlteval.scoring.hub4.phones import Lexicon
from hlteval.scoring.hub4.points import MODES, Mode
from hlteval.scoring.hub4.templettes import UNSCORED
from hlteval.scoring.hub4.text_columns import Text, TextPair
from hlteval.scoring.hub4.word_alignment import DOCUMENT, SCLITE, Costs
from hlteval.scoring.hub4.wording import TextNormalizer
from hlteval.sources import open_source
from hlteval.tasks.option_tables import texts
from hlteval.tasks.task import WrongOption

_CORPUS = ("document_tag", "id_tag", "line_ends")


def metric(_: str, options: Mapping[str, str]) -> TempletteMatch:
    """The metric with some options.

    Args:
        options: values by the names of the task's options; `encoding` of the files they name.

    Raises:
        WrongOption: if options do not go together, or a file that one names cannot be read.

    Examples:
        >>> metric("plan", {"mode": "extent", "beta": "2"}).modes
        ('extent',)
    """
    given = _Given(options)
    mode = options.get("mode", "all")
    return TempletteMatch(
        modes=MODES if mode == "all" else (cast(Mode, mode),),
        wording=given.wording("ref"),
        system_wording=given.wording("hyp"),
        policy=given.policy,
        unscored=given.listed("unscored", UNSCORED),
        texts=given.texts,
        align=given.align,
        unsegmented=given.on("unsegmented"),
        beta=given.beta,
    )


class _Given:
    """The options that were given, as what they stand for."""

    def __init__(self, options: Mapping[str, str]) -> None:
        self.options = {name: value for name, value in options.items() if value}
        self.align = self.on("align") or "hyp_corpus" in self.options

    def on(self, name: str) -> bool:
        """Whether a switch is given."""
        return self.options.get(name) == "yes"

    def listed(self, name: str, otherwise: tuple[str, ...] = ()) -> tuple[str, ...]:
        """The values of an option that takes several, with commas between."""
        if name not in self.options:
            return otherwise
        return tuple(part for one in self.options[name].split(",") if (part := one.strip()))

    def wording(self, side: str) -> TextNormalizer:
        """How the strings of a side are normalised; case is ignored where texts differ.

        Args:
            side: `ref` or `hyp`.
        """
        return TextNormalizer(
            spellings=self.spellings(side),
            fold=self.align or "glm" in self.options or self.on("ignore_case"),
            whiteout=self.options.get("whiteout", ""),
            nonextractable=self.listed("nonextractable"),
            premodifiers=self.listed("premodifiers"),
            anywhere=self.on("premodifiers_anywhere"),
        )

    @property
    def policy(self) -> Policy:
        """What the specification leaves open."""
        return Policy(
            zero_f=cast(ZeroF, self.options.get("zero_f", "map")),
            type_order=self.listed("type_order"),
            fillers=self.listed("fillers", FILLERS) if self.on("noisy") else None,
        )

    @property
    def beta(self) -> float:
        """The weight of recall.

        Raises:
            WrongOption: if it is no number above 0.
        """
        written = self.options.get("beta", "1")
        try:
            value = float(written)
        except ValueError:
            value = 0.0
        if not 0 < value < 1e6:
            raise WrongOption(f"invalid value {written} of --beta: use a number above 0")
        return value

    @property
    def texts(self) -> TextPair | None:
        """The texts of both sides, where they are needed.

        Raises:
            WrongOption: if one is not given.
        """
        unsegmented = self.on("unsegmented")
        if not self.align and not unsegmented:
            return None
        if "corpus" not in self.options:
            flag = "align" if self.align else "unsegmented"
            raise WrongOption(f"--{flag} needs the reference texts: add --corpus FILE")
        if self.align and "hyp_corpus" not in self.options:
            raise WrongOption("--align needs the system texts: add --hyp-corpus FILE")
        system = self._texts("hyp_corpus", whole=unsegmented) if self.align else {}
        spellings = self.spellings("ref"), self.spellings("hyp")
        return TextPair(self._texts("corpus"), system, spellings, self._costs())

    def _costs(self) -> Costs:
        costs = self.options.get(
            "align_costs", "phones" if "lexicon" in self.options else "document"
        )
        if costs == "phones":
            if "lexicon" not in self.options:
                raise WrongOption("--align-costs phones needs a lexicon: add --lexicon FILE")
            return lexicon(self.options["lexicon"]).costs()
        return SCLITE if costs == "sclite" else DOCUMENT

    def _texts(self, name: str, *, whole: bool = False) -> dict[str, Text]:
        """The documents of a corpus; or all of it as one text, under the empty name."""
        path = self.options[name]
        chosen = {
            key.replace("_", "-"): self.options[key] for key in _CORPUS if key in self.options
        }
        settings = {**chosen, "unsegmented": "yes"} if whole else chosen
        source = open_source(path, encoding=self.options.get("encoding", "utf-8"))
        texts = {}
        for reading in load_format("sgml-corpus").with_settings(settings).read(source):
            for finding in reading.findings:
                _hold(path, finding)
            documents = reading.corpus.documents.select("name", "text", "start")
            for document, text, start in documents.iter_rows():
                texts["" if whole else document] = Text(text or "", start or 0)
        return texts

    def spellings(self, side: str) -> GlobalMap | None:
        """The global map for a side.

        Raises:
            WrongOption: for the first error in its file.
        """
        if "glm" not in self.options:
            return None
        path = self.options["glm"]
        rules: list[Rule] = []
        found = GlobalMap(())
        for member in open_source(path).members:
            found, findings = read_map(member, side)
            for finding in findings:
                _hold(path, finding)
            rules += found.rules
        return GlobalMap(tuple(rules), found.case_sensitive)


def _hold(path: str, finding: Finding) -> None:
    """Refuse a file in which there is an error."""
    if finding.severity == "error":
        where = f":{finding.span.line}" if finding.span else ""
        raise WrongOption(f"{path}{where}: {finding.message} ({finding.code})")


def lexicon(path: str) -> Lexicon:
    """A lexicon of phones: a word a line, then its phones, with blanks between.

    Lines that begin with `;;;` or `#` are remarks; `word(2)` is another pronunciation of `word`.

    Raises:
        WrongOption: for a line without phones, with its number; or for what cannot be read.
    """
    return Lexicon.of(_entries(path))


def _entries(path: str) -> Iterator[tuple[str, list[str]]]:
    for number, line in enumerate("\n".join(texts(path)).split("\n"), start=1):
        if line.startswith((";;;", "#")) or not line.strip():
            continue
        word, *phones = line.split()
        if not phones:
            raise WrongOption(f"{path}:{number}: malformed line, expected a word and its phones")
        name, bracket, rest = word.rpartition("(")
        yield (name if bracket and rest[:-1].isdigit() else word), phones
