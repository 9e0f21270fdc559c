"""Speech Situation Frames as the script of the specification's authors scores them.

Cuts are by rank, no curve has an anchor, only the last of several places of one type counts, places
before an ambiguous block still count, and empty places are taken as places.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import ClassVar

import polars as pl

from hlteval.findings.counts import fill
from hlteval.representation import Corpus
from hlteval.scoring.curves import Curve
from hlteval.scoring.situations import plan

#: A type of the script's first version, which a system may still give.
_ANY = "in-domain"
_CRASHES = (
    "no official score: the official script crashes on a PlaceMention with spaces around it that "
    "--place-dictionary has without them"
)


@dataclass(frozen=True)
class OfficialFrameMatch(plan.FrameMatch):
    """How the script compares frames."""

    by_rank: ClassVar[bool] = True
    one_point: ClassVar[str] = f"{plan.FrameMatch.one_point}; the official script crashes"
    no_point: ClassVar[str] = f"{plan.FrameMatch.no_point}; the official script prints an area of 0"

    def reference_frames(self, corpus: Corpus) -> pl.DataFrame:
        """The annotated frames: the last of a record, with the places before an ambiguous block."""
        frames = super().reference_frames(corpus)
        block = ["document", "origin"]
        several = pl.col("label").n_unique().over(*block, "record") > 1
        last = pl.col("row") == pl.col("row").max().over(*block, "record")
        firsts = plan.candidate_places(corpus).group_by(block).agg(ambiguous=pl.col("record").min())
        frames = frames.filter(several | last)
        frames = frames.join(firsts, on=block, how="left", maintain_order="left")
        dropped = (pl.col("record") >= pl.col("ambiguous")).fill_null(False)
        return frames.with_columns(place=pl.when(~dropped).then("place")).drop("ambiguous")

    def system_frames(self, corpus: Corpus, reference: Corpus) -> pl.DataFrame:
        """The submitted frames, without places in segments with an ambiguous block."""
        unknown = pl.col("document").is_in(plan.candidate_places(reference)["document"].implode())
        frames = super().system_frames(corpus, reference)
        return frames.with_columns(place=pl.when(~unknown).then("place"))

    def with_places(self, frames: pl.DataFrame) -> pl.DataFrame:
        """Frames with the names of their places that are compared; white space is a place."""
        if self.options.normalize:
            place = pl.col("place").str.normalize(self.options.normalize)
            frames = frames.with_columns(place)
        if self.options.place_dictionary:
            names = dictionary_names(frames, self.options.place_dictionary)
            frames = frames.with_columns(pl.col("place").replace(names))
        return frames

    def frames_of_layer(self, submitted: pl.DataFrame, layer: str) -> pl.DataFrame:
        """The frames that are evaluated; only at Relevance if all types are `in-domain`."""
        some = layer == "relevance" or (submitted["label"] != _ANY).any()
        return submitted if some else submitted.clear()

    def ambiguous(self, reference: Corpus) -> pl.DataFrame:
        """No segment: none is left out of Type+Place."""
        return super().ambiguous(reference).clear()

    def crashes_at(self, system: Corpus) -> Iterable[pl.DataFrame]:
        """The frames whose places are in the dictionary but for spaces around them."""
        frames, dictionary = plan.situations(system), self.options.place_dictionary
        names = dictionary_names(frames, dictionary)
        spaced = [place for place in names if place.strip() != place]
        return [frames.filter(pl.col("place").is_in(spaced))] if dictionary else ()

    def curves(self, total: pl.DataFrame) -> dict[str, Curve | None]:
        """The curve of each layer; None where the submission has no frames of it."""
        if crashes(total):
            return dict.fromkeys(plan.LAYERS)
        return super().curves(total)

    def figures(self, points: Curve | None) -> dict[str, float | None]:
        """The metrics of one layer; it prints a zero for no point at all."""
        values = super().figures(points)
        if points and not points.beyond_zero:
            values |= {"auc_unanchored": 0.0, "max_f1": 0.0}
        return values | {"auc": values["auc_unanchored"]}

    def notes(self, total: pl.DataFrame) -> tuple[str, ...]:
        """Sentences about the numbers."""
        if crashes(total):
            return (_CRASHES,)
        split = next((own.split_ties for own in self.curves(total).values() if own), 0)
        if not split:
            return super().notes(total)
        cuts = fill("{count} {count|cut separates|cuts separate}", {"count": split})
        order = (
            f"{cuts} frames of equal confidence by file order; "
            "profile plan does not depend on this order"
        )
        return (*super().notes(total), order)

    def official_files(self, total: pl.DataFrame) -> dict[str, str]:
        """The files that the script writes."""
        files: dict[str, str] = {}
        if crashes(total):
            return files
        summary = "Layer\tAUC\n"
        for layer, points in self.curves(total).items():
            if points is None:
                continue
            area = self.figures(points)["auc"]
            if area is None:  # the script stops at this layer, and writes no summary
                return files
            lines = (f"{recall:.8f}\t{precision:.8f}\n" for recall, precision in points.beyond_zero)
            files[f"log_{plan.LAYERS[layer]}.tsv"] = "".join(["recall\tprecision\n", *lines])
            summary += f"{plan.LAYERS[layer]}\t{area:.8f}\n"
        return {"summary.tsv": summary, **files}


def crashes(total: pl.DataFrame) -> bool:
    """Whether the script crashes before it scores anything."""
    return (total["layer"] == plan.CRASH).any()


def dictionary_names(frames: pl.DataFrame, dictionary: Mapping[str, str]) -> dict[str, str]:
    """The names of places in a dictionary, without regard to capitals and spaces around them.

    Examples:
        >>> dictionary_names(pl.DataFrame({"place": ["OSH", " "]}), {"Osh": "Ош"})
        {'OSH': 'ош'}
    """
    names = {key.strip().lower(): name.strip().lower() for key, name in dictionary.items()}
    places = frames["place"].drop_nulls().unique()
    keys = {place: place.strip().lower() for place in places}
    return {place: names[key] for place, key in keys.items() if key in names}


METRICS = {"plan": plan.FrameMatch, "official": OfficialFrameMatch}


def frame_match(profile: str = "plan", options: plan.Options | None = None) -> plan.FrameMatch:
    """The metric of a profile with some options."""
    return METRICS[profile](profile, options or plan.Options())
