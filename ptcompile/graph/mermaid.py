"""Mermaid flowcharts, for README files and merge requests. Every name is escaped: nothing in it is syntax."""

from __future__ import annotations

from collections.abc import Iterator

from ptcompile.graph.picture import Card, Picture, RoleGroup, picture
from ptcompile.report.layout import printable
from ptcompile.simulator.world import World

_SAFE = frozenset(" .,_-/+*()")


def mermaid(world: World) -> str:
    """All jobs of a world as one flowchart."""
    lines = ["flowchart LR"]
    for number, job in enumerate(world.jobs):
        lines += _job(picture(job), f"j{number}")
    lines += [
        "  classDef lead stroke:#4f46e5,stroke-width:3px",
        "  classDef more stroke-dasharray:4 4",
    ]
    return "\n".join(lines) + "\n"


def escape(text: str) -> str:
    """Text for a quoted label: all that could be syntax as Mermaid's own entities."""
    return "".join(c if c.isalnum() or c in _SAFE else f"#{ord(c)};" for c in printable(text))


def _job(shown: Picture, key: str) -> Iterator[str]:
    yield f'  subgraph {key}["{escape(shown.title)}"]'
    for i, group in enumerate(shown.groups):
        yield from _group(group, f"{key}r{i}")
    yield "  end"
    services = {name: f"{key}s{i}" for i, name in enumerate(shown.services)}
    for name, node in services.items():
        yield f'  {node}(["Service {escape(name)}"])'
    volumes = {one[0]: f"{key}v{i}" for i, one in enumerate(shown.volumes)}
    for name, sort, called in shown.volumes:
        yield f'  {volumes[name]}[("{escape(f"{sort} {called}")}")]'
    for i, group in enumerate(shown.groups):
        yield from (f"  {services[name]} -.-> {key}r{i}" for name in group.services)
        yield from (f"  {key}r{i} --- {volumes[name]}" for name in group.volumes)
    yield from _meeting(shown, key)


def _group(group: RoleGroup, key: str) -> Iterator[str]:
    yield f'    subgraph {key}["{escape(group.name)} x{group.count}"]'
    for i, card in enumerate(group.cards):
        if group.hidden and i == len(group.cards) - 1:
            yield f'      {key}more["{group.hidden} more"]:::more'
        yield f'      {key}p{i}["{_card(card)}"]' + (":::lead" if card.leads else "")
    yield "    end"


def _card(card: Card) -> str:
    devices = f"{card.devices} devices" if card.devices else ""
    return "<br/>".join(escape(line) for line in (card.name, card.rank, devices) if line)


def _meeting(shown: Picture, key: str) -> Iterator[str]:
    """An arrow from every pod that meets to the one where they do."""
    cards = [(f"{key}r{i}p{n}", card) for i, group in enumerate(shown.groups) for n, card in enumerate(group.cards)]
    lead = next((node for node, card in cards if card.leads), None)
    if lead is None or not shown.meeting:
        return
    label = escape(shown.meeting)
    yield from (f'  {node} -->|"{label}"| {lead}' for node, card in cards if card.meets and node != lead)
