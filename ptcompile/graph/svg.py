"""A world as one SVG: Services above, roles with their pods between, volumes below, and arrows to the rendezvous."""

from __future__ import annotations

from collections.abc import Iterator

from ptcompile.graph import svg_elements as draw
from ptcompile.graph.picture import TIMES, Card, Picture, RoleGroup, picture
from ptcompile.simulator.world import World

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final

MARGIN: Final = 32.0
CARD_W, CARD_H = 224.0, 92.0
GAP: Final = 16.0
MORE_W: Final = 64.0
LANE: Final = 54.0
"""Room below the cards for the arrows."""
PILL_H: Final = 30.0
NARROWEST: Final = 760.0
DEVICES: Final = 16
"""Devices that are drawn one by one."""


def svg(world: World) -> str:
    """All jobs of a world, one below the other."""
    pictures = [picture(job) for job in world.jobs]
    width = max([NARROWEST, *(_width(one) for one in pictures)])
    body: list[str] = []
    y = MARGIN
    for one in pictures:
        lines, y = _job(one, width, y)
        body += lines
        y += MARGIN
    if not pictures:
        body.append(draw.words(MARGIN, y + 16, "no object here creates pods", "s soft"))
        y += MARGIN * 2
    title = ", ".join(one.title for one in pictures) or "an empty world"
    size = f'width="{draw.number(width)}" height="{draw.number(y)}" viewBox="0 0 {draw.number(width)} {draw.number(y)}"'
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" role="img" {size}>',
            f"<title>{draw.escape(title)}</title>",
            f"<style>{draw.STYLE}</style>",
            draw.box(0, 0, width, y, "ground", radius=0),
            *body,
            "</svg>",
            "",
        ]
    )


def _group_width(group: RoleGroup) -> float:
    cards = len(group.cards)
    return cards * CARD_W + (cards - 1) * GAP + (MORE_W + GAP if group.hidden else 0) + 2 * GAP


def _width(shown: Picture) -> float:
    row = sum(_group_width(group) for group in shown.groups) + max(0, len(shown.groups) - 1) * GAP * 1.5
    pills = max(
        sum(_pill_width(f"Service {name}") + GAP for name in shown.services),
        sum(_pill_width(_volume_text(sort, called)) + GAP for _, sort, called in shown.volumes),
    )
    return max(row, pills) + 2 * MARGIN


def _pill_width(text: str) -> float:
    return min(len(text), 60) * 12 * draw.MONO + 32


def _volume_text(sort: str, called: str) -> str:
    return f"{ {'memory': 'shared memory', 'scratch': 'scratch'}.get(sort, sort) } {called}"


def _job(shown: Picture, width: float, y: float) -> tuple[list[str], float]:
    """The lines of one job, and where the next one may begin."""
    out = [
        draw.words(MARGIN, y + 20, draw.fitted(shown.title, width - 2 * MARGIN, 20, factor=draw.SANS), "title"),
        draw.words(MARGIN, y + 42, shown.subtitle, "s soft"),
    ]
    out += _facts(shown, y + 56, width)
    y += 108
    groups = _group_places(shown, width)
    wanted = [_wanted(shown, groups, name, services=True) for name in shown.services]
    services = _places([f"Service {name}" for name in shown.services], wanted, width)
    service_y = y
    y += PILL_H + 34 if services else 0
    lane = LANE if shown.meeting else GAP
    bottom = y + 40 + CARD_H + lane
    wanted = [_wanted(shown, groups, key, services=False) for key, _, _ in shown.volumes]
    volumes = _places([_volume_text(sort, called) for _, sort, called in shown.volumes], wanted, width)
    volume_y = bottom + 36
    out += _links(shown, groups, services, volumes, (service_y + PILL_H, y, bottom, volume_y))
    for group, (x, _) in zip(shown.groups, groups, strict=True):
        out += _group(group, x, y, 40 + CARD_H + lane)
    out += _meeting(shown, groups, y + 40 + CARD_H)
    for name, (x, w) in zip(shown.services, services, strict=True):
        out += _pill(f"Service {name}", x, service_y, w, "service")
    for (_, sort, called), (x, w) in zip(shown.volumes, volumes, strict=True):
        out += _cylinder(_volume_text(sort, called), x, volume_y, w)
    y = volume_y + 48 if volumes else bottom
    for note in shown.notes[:6]:
        y += 22
        out += draw.tooltip(
            note, [draw.words(MARGIN, y, draw.fitted(f"! {note}", width - 64, 12, factor=0.55), "s warn")]
        )
    return out, y


def _facts(shown: Picture, y: float, width: float) -> Iterator[str]:
    x = MARGIN
    for fact in shown.facts:
        w = len(fact) * 12 * draw.SANS + 22
        if x + w > width - MARGIN:
            return
        yield draw.box(x, y, w, 26, "fact", radius=13)
        yield draw.words(x + w / 2, y + 17, fact, "s", anchor="middle")
        x += w + 8


def _places(texts: list[str], wanted: list[float], width: float) -> list[tuple[float, float]]:
    """Where pills stand in a row: x and width. Each as near as there is room to where it is wanted, in that order."""
    widths = [_pill_width(text) for text in texts]
    order = sorted(range(len(texts)), key=lambda i: wanted[i])
    xs = [0.0] * len(texts)
    free = MARGIN
    for i in order:
        xs[i] = max(free, wanted[i] - widths[i] / 2)
        free = xs[i] + widths[i] + GAP
    edge = width - MARGIN
    for i in reversed(order):
        xs[i] = min(xs[i], edge - widths[i])
        edge = xs[i] - GAP
    return list(zip(xs, widths, strict=True))


def _wanted(shown: Picture, groups: list[tuple[float, float]], key: str, *, services: bool) -> float:
    """The middle of the roles that have to do with a Service or a volume."""
    middles = [
        x + w / 2
        for group, (x, w) in zip(shown.groups, groups, strict=True)
        if key in (group.services if services else group.volumes)
    ]
    return sum(middles) / max(1, len(middles))


def _group_places(shown: Picture, width: float) -> list[tuple[float, float]]:
    widths = [_group_width(group) for group in shown.groups]
    x = (width - sum(widths) - GAP * 1.5 * (len(widths) - 1)) / 2
    out: list[tuple[float, float]] = []
    for one in widths:
        out.append((x, one))
        x += one + GAP * 1.5
    return out


def _links(
    shown: Picture,
    groups: list[tuple[float, float]],
    services: list[tuple[float, float]],
    volumes: list[tuple[float, float]],
    levels: tuple[float, float, float, float],
) -> Iterator[str]:
    """Services to the roles below them, roles to the volumes below them; each to a place of its own."""
    service_y, top, bottom, volume_y = levels
    keys = [key for key, _, _ in shown.volumes]
    for group, (x, w) in zip(shown.groups, groups, strict=True):
        for n, name in enumerate(group.services, 1):
            sx, sw = services[shown.services.index(name)]
            yield draw.curve(sx + sw / 2, service_y, x + w * n / (len(group.services) + 1), top, "link dash")
        for n, key in enumerate(sorted(group.volumes, key=keys.index), 1):
            vx, vw = volumes[keys.index(key)]
            yield draw.curve(x + w * n / (len(group.volumes) + 1), bottom, vx + vw / 2, volume_y + 6, "link")


def _pill(text: str, x: float, y: float, width: float, kind: str) -> list[str]:
    label = draw.words(x + width / 2, y + 19.5, draw.fitted(text, width - 24, 12), "s mono", anchor="middle")
    return draw.tooltip(text, [draw.box(x, y, width, PILL_H, kind, radius=15), label])


def _cylinder(text: str, x: float, y: float, width: float) -> list[str]:
    label = draw.words(x + width / 2, y + 31, draw.fitted(text, width - 24, 12), "s mono", anchor="middle")
    return draw.tooltip(text, [draw.cylinder(x, y, width, 46, "volume"), label])


def _card_places(group: RoleGroup, x: float) -> list[float]:
    """The left sides of a role's cards; the last one stands behind the pods that are left out."""
    out = [x + GAP + i * (CARD_W + GAP) for i in range(len(group.cards))]
    if group.hidden:
        out[-1] += MORE_W + GAP
    return out


def _group(group: RoleGroup, x: float, y: float, height: float) -> Iterator[str]:
    width = _group_width(group)
    yield draw.box(x, y, width, height, "panel", radius=12)
    yield draw.words(x + GAP, y + 25, draw.fitted(group.name, width - 90, 13, factor=draw.SANS), "h")
    yield draw.words(x + width - GAP, y + 25, f"{TIMES} {group.count}", "h soft", anchor="end")
    places = _card_places(group, x)
    for card, left in zip(group.cards, places, strict=True):
        yield from draw.tooltip(f"{card.name}\n{card.address}", list(_card(card, left, y + 40)))
    if group.hidden:
        middle = places[-1] - GAP - MORE_W / 2
        yield draw.words(middle, y + 40 + CARD_H / 2 - 4, "⋯", "title soft", anchor="middle")
        yield draw.words(middle, y + 40 + CARD_H / 2 + 16, f"{group.hidden} more", "xs soft", anchor="middle")


def _card(card: Card, x: float, y: float) -> Iterator[str]:
    yield draw.box(x, y, CARD_W, CARD_H, "lead" if card.leads else "card")
    yield draw.words(x + 12, y + 23, draw.fitted(card.name, CARD_W - 24, 12.5), "s mono h")
    yield draw.words(x + 12, y + 41, draw.fitted(card.address or "no DNS name", CARD_W - 24, 11), "xs mono soft")
    yield draw.words(x + 12, y + 59, card.rank, "xs")
    drawn = min(card.devices, DEVICES)
    for i in range(drawn):
        yield draw.box(x + 12 + i * 11, y + 70, 8, 10, "device", radius=2)
    if card.devices > drawn:
        yield draw.words(x + 14 + drawn * 11, y + 79, f"+{card.devices - drawn}", "xs soft")


def _meeting(shown: Picture, groups: list[tuple[float, float]], y: float) -> Iterator[str]:
    """Arrows from the pods to the one where they meet, below the cards; what they speak stands in the lane."""
    middles = [
        (card, left + CARD_W / 2)
        for group, (x, _) in zip(shown.groups, groups, strict=True)
        for card, left in zip(group.cards, _card_places(group, x), strict=True)
    ]
    lead = next((x for card, x in middles if card.leads), None)
    if not shown.meeting or lead is None:
        return
    others = [x for card, x in middles if card.meets and not card.leads]
    for n, x in enumerate(others):
        shift = 34 + 13 * (n % 6)
        yield draw.arc(x, lead + shift if x > lead else lead - shift, y, min(LANE, 30 + abs(x - lead) / 24) * 1.1)
    width = len(shown.meeting) * 11 * draw.SANS + 20
    left = lead - CARD_W / 2
    yield draw.box(left, y + 24, width, 22, "tag", radius=11)
    yield draw.words(left + width / 2, y + 39, shown.meeting, "xs tagtext", anchor="middle")
