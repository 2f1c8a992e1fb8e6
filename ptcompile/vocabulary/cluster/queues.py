"""What a profile says of queues, gang schedulers and the network's levels."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from ptcompile.vocabulary.model import Model

QueueSystem = Literal["kueue", "volcano", "kai"]
GangScheduler = Literal["none", "volcano", "scheduler-plugins", "kai"]


class TopologyLevel(Model):
    """One level of the network, such as a rack: what its domains are to each scheduler."""

    node_label: str | None = Field(default=None, description="Label whose value names a node's domain (Kueue, KAI).")
    tier: int | None = Field(default=None, ge=0, description="Tier of the HyperNodes that are its domains (Volcano).")


class ClusterTopology(Model):
    """The network's levels, by the names that jobs use."""

    name: str | None = Field(default=None, description="The Topology object that has these levels (KAI).")
    levels: dict[str, TopologyLevel] = Field(default={}, description="By name, such as rack.")
