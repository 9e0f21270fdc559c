"""The ontology of referents: one that it does not have is right nowhere."""

from typing import ClassVar

from hlteval.scoring.ontologies import Ontology


class ReferentOntology(Ontology):
    """An ontology of referents, and their similarity."""

    of_unknown: ClassVar[float] = 0.0

    @property
    def notes(self) -> tuple[str, ...]:
        """A note where there is no ontology."""
        if self.parents is not None:
            return ()
        return ("Without --ontology, referents are right only if they are equal.",)
