"""Steps of one visitor of the application, in this process."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any

from fuzz.serving import Visitor, application
from hlteval.serve.settings import ServeSettings

FIXTURES = Path(__file__).parents[3] / "fixtures"
FULL = FIXTURES / "standoff/valid/full"
FLAWED = FIXTURES / "seedev/invalid/SEE205-entity-type"
FRAMES = FIXTURES / "speech-sf/valid/submission.json"

Visit = Callable[[Visitor], Coroutine[Any, Any, None]]


def visit(steps: Visit, settings: ServeSettings | None = None, **more: Any) -> None:
    """What one visitor does who has the token; then nothing is left."""

    async def all_steps() -> None:
        with application(settings, **more) as made:
            visitor = Visitor(made)
            assert (await visitor.enter()).status_code == 200
            await steps(visitor)
            await made.sessions.close()
            assert list(made.sessions.root.iterdir()) == []
            assert made.sessions.used == 0

    asyncio.run(all_steps())
