"""Mermaid flowcharts for README files and merge requests. Every name is escaped, so none is read
as syntax.
"""

from __future__ import annotations

from collections.abc import Iterator

from ptcompile.graph.picture import Picture, RoleGroup, make_picture
from ptcompile.report.layout import safe_text
from ptcompile.simulator.world import World

_SAFE = frozenset(" .,_-/+*()")


def render_mermaid(world: World) -> str:
    """Return all jobs of a world as one flowchart."""
    lines = ["flowchart LR"]
    for number, job in enumerate(world.jobs):
        lines += _job_lines(make_picture(job), f"j{number}")
    lines += [
        "  classDef lead stroke:#4f46e5,stroke-width:3px",
        "  classDef more stroke-dasharray:4 4",
    ]
    return "\n".join(lines) + "\n"


def escape(text: str) -> str:
    """Return text for a quoted label, with everything that could be syntax as Mermaid entities."""
    return "".join(c if c.isalnum() or c in _SAFE else f"#{ord(c)};" for c in safe_text(text))


def _job_lines(picture: Picture, key: str) -> Iterator[str]:
    yield f'  subgraph {key}["{escape(picture.title)}"]'
    for i, group in enumerate(picture.groups):
        yield from _group_lines(group, f"{key}r{i}")
    yield "  end"
    services = {name: f"{key}s{i}" for i, name in enumerate(picture.services)}
    for name, node in services.items():
        yield f'  {node}(["Service {escape(name)}"])'
    volumes = {name: f"{key}v{i}" for i, (name, _, _) in enumerate(picture.volumes)}
    for name, sort, label in picture.volumes:
        yield f'  {volumes[name]}[("{escape(f"{sort} {label}")}")]'
    for i, group in enumerate(picture.groups):
        yield from (f"  {services[name]} -.-> {key}r{i}" for name in group.services)
        yield from (f"  {key}r{i} --- {volumes[name]}" for name in group.volumes)
    yield from _rendezvous_arrows(picture, key)


def _group_lines(group: RoleGroup, key: str) -> Iterator[str]:
    yield f'    subgraph {key}["{escape(group.name)} x{group.count}"]'
    for i, card in enumerate(group.cards):
        if group.hidden and i == len(group.cards) - 1:
            yield f'      {key}more["{group.hidden} more"]:::more'
        devices = f"{card.devices} devices" if card.devices else ""
        label = "<br/>".join(map(escape, filter(None, (card.name, card.rank, devices))))
        yield f'      {key}p{i}["{label}"]' + (":::lead" if card.leads else "")
    yield "    end"


def _rendezvous_arrows(picture: Picture, key: str) -> Iterator[str]:
    """Yield an arrow from every pod in the rendezvous to the pod of the endpoint."""
    cards = [
        (f"{key}r{i}p{n}", card)
        for i, group in enumerate(picture.groups)
        for n, card in enumerate(group.cards)
    ]
    lead = next((node for node, card in cards if card.leads), None)
    if lead is None or not picture.meeting:
        return

    label = escape(picture.meeting)
    yield from (
        f'  {node} -->|"{label}"| {lead}' for node, card in cards if card.meets and node != lead
    )
