"""Pictures of a world: pods, Services, volumes and the rendezvous, with one module per format."""

from __future__ import annotations

from collections.abc import Callable

from ptcompile.graph.mermaid import render_mermaid
from ptcompile.graph.svg import render_svg
from ptcompile.simulator.world import World

GRAPHS: dict[str, Callable[[World], str]] = {"mermaid": render_mermaid, "svg": render_svg}
"""Renderers from a world to text, keyed by format."""
