"""KAI's queues, for `platform` and `requires` (KAI Scheduler 0.15)."""

from __future__ import annotations

from ptcompile.operators.common.queue_system import QueueSystem

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_SHARE = {"quota": 0, "limit": -1, "overQuotaWeight": 1}


def _spec(_name: str) -> dict[str, Any]:
    """No guarantee and no limit, as KAI's own default-queue (KAI Scheduler, docs/quickstart/default-queues.yaml)."""
    return {"resources": {name: dict(_SHARE) for name in ("cpu", "gpu", "memory")}}


QUEUES = QueueSystem(lambda _: "scheduling.run.ai/v2", "Queue", _spec)
