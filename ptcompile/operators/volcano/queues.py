"""Volcano's queues, for `platform` and `requires` (Volcano 1.16)."""

from ptcompile.operators.common.queue_system import QueueSystem

QUEUES = QueueSystem(
    lambda _: "scheduling.volcano.sh/v1beta1", "Queue", lambda _: {"weight": 1}, there=frozenset({"default"})
)
