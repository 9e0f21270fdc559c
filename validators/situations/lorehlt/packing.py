"""Packing of LoReHLT situation frames: system_output.json and one table of entity mentions."""

from hlteval.converters.situations.lorehlt import lorehlt_sf_json
from hlteval.sources import Source
from hlteval.validators.packages import Arranged, rename_files


def arrange(stem: str, source: Source) -> Arranged:  # noqa: ARG001 - the name may be any
    """The frames under the name that the plan requires, and the tables beside them.

    Args:
        stem: the name of the archive without its suffix.
        source: the files of the user.
    """
    frames = lorehlt_sf_json.frames_member(source)
    if frames is None:
        return Arranged(())
    names = {member.name: member.basename for member in lorehlt_sf_json.entity_members(source)}
    return rename_files(source, {frames.name: lorehlt_sf_json.NAME, **names})
