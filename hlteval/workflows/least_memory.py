"""The least memory that a process can be limited to that validates and scores."""

from __future__ import annotations

from hlteval.tasks.option import WrongOption

LEAST_MEGABYTES = 1200
"""What the smallest submission needs.

Limits are of addresses, which libraries reserve by far more than they use: the reference and
systems of the demonstration, 20 lines each, take 1,070 MB where they are scored and compared.
"""


def check_memory(megabytes: int, *, unlimited: bool = False) -> None:
    """Refuse a limit with which nothing can be done.

    Args:
        megabytes: the limit.
        unlimited: whether 0 means that there is none.

    Raises:
        WrongOption: for less than what a process needs for the smallest submission.
    """
    if megabytes < LEAST_MEGABYTES and not (unlimited and megabytes == 0):
        all_there_is = ", or 0 for all there is" if unlimited else ""
        raise WrongOption(
            f"--max-memory {megabytes} is less than the smallest submission needs; "
            f"use {LEAST_MEGABYTES} or more{all_there_is}"
        )
