"""A world as a picture: pods, Services, volumes and the rendezvous. One file a format."""

from __future__ import annotations

from collections.abc import Callable

from ptcompile.graph.mermaid import mermaid
from ptcompile.graph.svg import svg
from ptcompile.simulator.world import World

GRAPHS: dict[str, Callable[[World], str]] = {"mermaid": mermaid, "svg": svg}
"""From a world to the text of its picture."""
