"""Bodies of requests: read within bounds of size and time."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

from starlette.requests import ClientDisconnect, Request

from hlteval.serve.timing import Pace
from hlteval.serve.uploads import Rejected

SMALL = 65_536
"""Bytes of a body that is not an upload at most."""


async def chunks(request: Request, most: int, pace: Pace) -> AsyncIterator[bytes]:
    """The bytes of a body as they come.

    Args:
        request: the request.
        most: its bytes at most.
        pace: how slow it may be.

    Raises:
        Rejected: if it is too large or too slow.
        ClientDisconnect: if the client has gone.
    """
    declared = request.headers.get("content-length", "0")
    if declared.isdecimal() and int(declared[:20]) > most:
        raise Rejected(413, f"More than {most >> 20:,} MiB cannot be uploaded.")
    loop = asyncio.get_running_loop()
    begun, total = loop.time(), 0
    stream = request.stream()
    while True:
        left = begun + pace.grace + total / pace.rate - loop.time()
        try:
            chunk = await asyncio.wait_for(anext(stream), max(0.0, min(pace.pause, left)))
        except StopAsyncIteration:
            return
        except TimeoutError as error:
            raise Rejected(408, "The upload is too slow.") from error
        total += len(chunk)
        if total > most:
            raise Rejected(413, f"More than {most >> 20:,} MiB cannot be uploaded.")
        yield chunk


async def small(request: Request, pace: Pace) -> bytes:
    """A whole body, which is small.

    Raises:
        Rejected: if it is too large or too slow, or the client has gone.
    """
    try:
        return b"".join([chunk async for chunk in chunks(request, SMALL, pace)])
    except ClientDisconnect as error:
        raise Rejected(400, "The request ended before it was complete.") from error
