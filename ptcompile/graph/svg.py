"""A world as one SVG: Services at the top, roles with their pods, volumes at the bottom, and arrows
to the rendezvous.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ptcompile._internal.namedtuple import NamedTuple
from ptcompile.graph import svg_elements as draw
from ptcompile.graph.picture import TIMES, Card, Picture, RoleGroup, make_picture
from ptcompile.simulator.world import World

MARGIN = 32.0
CARD_W = 224.0
CARD_H = 92.0
GAP = 16.0
MORE_W = 64.0
LANE_H = 54.0
"""Height of the lane for arrows below the cards."""
PILL_H = 30.0
MIN_WIDTH = 760.0
MAX_DEVICES = 16
"""Number of devices that are drawn one by one."""


def render_svg(world: World) -> str:
    """Return all jobs of a world, one below the other."""
    pictures = [make_picture(job) for job in world.jobs]
    width = max([MIN_WIDTH, *(_picture_width(job_picture) for job_picture in pictures)])
    body: list[str] = []
    y = MARGIN
    for job_picture in pictures:
        lines, y = _job_elements(job_picture, width, y)
        body += lines
        y += MARGIN

    if not pictures:
        body.append(draw.text_line(MARGIN, y + 16, "no object here creates pods", "s soft"))
        y += MARGIN * 2
    title = ", ".join(job_picture.title for job_picture in pictures) or "an empty world"
    w = draw.coord(width)
    h = draw.coord(y)
    size = f'width="{w}" height="{h}" viewBox="0 0 {w} {h}"'

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


def _picture_width(picture: Picture) -> float:
    row = (
        sum(_group_width(group) for group in picture.groups)
        + max(0, len(picture.groups) - 1) * GAP * 1.5
    )
    pills = max(
        sum(_pill_width(f"Service {name}") + GAP for name in picture.services),
        sum(_pill_width(_volume_text(sort, label)) + GAP for _, sort, label in picture.volumes),
    )
    return max(row, pills) + 2 * MARGIN


def _pill_width(text: str) -> float:
    return min(len(text), 60) * 12 * draw.MONO + 32


def _volume_text(sort: str, label: str) -> str:
    title = "shared memory" if sort == "memory" else sort
    return f"{title} {label}"


def _job_elements(picture: Picture, width: float, y: float) -> tuple[list[str], float]:
    """Return the elements of one job, and the y coordinate at which the next one may begin."""
    out = [
        draw.text_line(
            MARGIN,
            y + 20,
            draw.fit_text(picture.title, width - 2 * MARGIN, 20, factor=draw.SANS),
            "title",
        ),
        draw.text_line(MARGIN, y + 42, picture.subtitle, "s soft"),
    ]
    out += _fact_elements(picture, y + 56, width)

    # from top to bottom: Services, roles, volumes, notes
    service_y = y + 108
    top = service_y + PILL_H + 34 if picture.services else service_y
    lane = LANE_H if picture.meeting else GAP
    bottom = top + 40 + CARD_H + lane
    volume_y = bottom + 36

    groups = _place_groups(picture, width)
    middles = [_middle_of_users(groups, name, services=True) for name in picture.services]
    services = _pill_positions([f"Service {name}" for name in picture.services], middles, width)
    middles = [_middle_of_users(groups, key, services=False) for key, _, _ in picture.volumes]
    volumes = _pill_positions(
        [_volume_text(sort, label) for _, sort, label in picture.volumes], middles, width
    )
    out += _link_elements(
        picture, groups, services, volumes, (service_y + PILL_H, top, bottom, volume_y)
    )

    for group, x, _ in groups:
        out += _group_elements(group, x, top, 40 + CARD_H + lane)
    out += _rendezvous_elements(picture, groups, top + 40 + CARD_H)
    for name, (x, w) in zip(picture.services, services, strict=True):
        pill = draw.box(x, service_y, w, PILL_H, "service", radius=15)
        out += _label_shape(pill, f"Service {name}", x + w / 2, service_y + 19.5, w - 24)
    for (_, sort, label), (x, w) in zip(picture.volumes, volumes, strict=True):
        cylinder = draw.cylinder(x, volume_y, w, 46, "volume")
        out += _label_shape(cylinder, _volume_text(sort, label), x + w / 2, volume_y + 31, w - 24)

    y = volume_y + 48 if volumes else bottom
    for note in picture.notes[:6]:
        y += 22
        out += draw.tooltip(
            note,
            [
                draw.text_line(
                    MARGIN, y, draw.fit_text(f"! {note}", width - 64, 12, factor=0.55), "s warn"
                )
            ],
        )

    return out, y


def _fact_elements(picture: Picture, y: float, width: float) -> Iterator[str]:
    x = MARGIN
    for fact in picture.facts:
        w = len(fact) * 12 * draw.SANS + 22
        if x + w > width - MARGIN:
            return
        yield draw.box(x, y, w, 26, "fact", radius=13)
        yield draw.text_line(x + w / 2, y + 17, fact, "s", anchor="middle")
        x += w + 8


def _pill_positions(
    texts: list[str], middles: list[float], width: float
) -> list[tuple[float, float]]:
    """Return x and width of each pill in a row, as close to its preferred middle as there is
    room.
    """
    widths = [_pill_width(text) for text in texts]
    order = sorted(range(len(texts)), key=lambda i: middles[i])
    xs = [0.0] * len(texts)
    free = MARGIN
    for i in order:
        xs[i] = max(free, middles[i] - widths[i] / 2)
        free = xs[i] + widths[i] + GAP
    edge = width - MARGIN
    for i in reversed(order):
        xs[i] = min(xs[i], edge - widths[i])
        edge = xs[i] - GAP

    return list(zip(xs, widths, strict=True))


def _middle_of_users(groups: Sequence[_PlacedGroup], key: str, *, services: bool) -> float:
    """Return the middle of the roles that use a Service or a volume."""
    middles = [
        x + w / 2
        for group, x, w in groups
        if key in (group.services if services else group.volumes)
    ]
    return sum(middles) / max(1, len(middles))


class _PlacedGroup(NamedTuple):
    """A role with its left edge and its width."""

    group: RoleGroup
    x: float
    width: float


def _place_groups(picture: Picture, width: float) -> list[_PlacedGroup]:
    widths = [_group_width(group) for group in picture.groups]
    x = (width - sum(widths) - GAP * 1.5 * (len(widths) - 1)) / 2
    placed = []
    for group, group_width in zip(picture.groups, widths, strict=True):
        placed.append(_PlacedGroup(group, x, group_width))
        x += group_width + GAP * 1.5
    return placed


def _link_elements(
    picture: Picture,
    groups: Sequence[_PlacedGroup],
    services: list[tuple[float, float]],
    volumes: list[tuple[float, float]],
    levels: tuple[float, float, float, float],
) -> Iterator[str]:
    """Yield lines from Services to the roles below them and from roles to their volumes, each
    ending at a separate point.
    """
    service_y, top, bottom, volume_y = levels
    keys = [key for key, _, _ in picture.volumes]
    for group, x, w in groups:
        for n, name in enumerate(group.services, 1):
            sx, sw = services[picture.services.index(name)]
            yield draw.curve(
                sx + sw / 2, service_y, x + w * n / (len(group.services) + 1), top, "link dash"
            )

        for n, key in enumerate(sorted(group.volumes, key=keys.index), 1):
            vx, vw = volumes[keys.index(key)]
            yield draw.curve(
                x + w * n / (len(group.volumes) + 1), bottom, vx + vw / 2, volume_y + 6, "link"
            )


def _label_shape(shape: str, text: str, middle: float, y: float, room: float) -> list[str]:
    """Return a shape with a line of text in its middle."""
    label = draw.text_line(middle, y, draw.fit_text(text, room, 12), "s mono", anchor="middle")
    return draw.tooltip(text, [shape, label])


def _card_lefts(group: RoleGroup, x: float) -> list[float]:
    """Return the left edges of a role's cards; the last card comes after the gap for hidden
    pods.
    """
    out = [x + GAP + i * (CARD_W + GAP) for i in range(len(group.cards))]
    if group.hidden:
        out[-1] += MORE_W + GAP
    return out


def _group_elements(group: RoleGroup, x: float, y: float, height: float) -> Iterator[str]:
    width = _group_width(group)
    yield draw.box(x, y, width, height, "panel", radius=12)
    yield draw.text_line(
        x + GAP, y + 25, draw.fit_text(group.name, width - 90, 13, factor=draw.SANS), "h"
    )
    yield draw.text_line(x + width - GAP, y + 25, f"{TIMES} {group.count}", "h soft", anchor="end")
    lefts = _card_lefts(group, x)
    for card, left in zip(group.cards, lefts, strict=True):
        yield from draw.tooltip(
            f"{card.name}\n{card.address}", list(_card_elements(card, left, y + 40))
        )

    if group.hidden:
        middle = lefts[-1] - GAP - MORE_W / 2
        yield draw.text_line(middle, y + 40 + CARD_H / 2 - 4, "⋯", "title soft", anchor="middle")
        yield draw.text_line(
            middle, y + 40 + CARD_H / 2 + 16, f"{group.hidden} more", "xs soft", anchor="middle"
        )


def _card_elements(card: Card, x: float, y: float) -> Iterator[str]:
    yield draw.box(x, y, CARD_W, CARD_H, "lead" if card.leads else "card")
    yield draw.text_line(x + 12, y + 23, draw.fit_text(card.name, CARD_W - 24, 12.5), "s mono h")
    yield draw.text_line(
        x + 12,
        y + 41,
        draw.fit_text(card.address or "no DNS name", CARD_W - 24, 11),
        "xs mono soft",
    )
    yield draw.text_line(x + 12, y + 59, card.rank, "xs")
    drawn = min(card.devices, MAX_DEVICES)
    for i in range(drawn):
        yield draw.box(x + 12 + i * 11, y + 70, 8, 10, "device", radius=2)
    if card.devices > drawn:
        yield draw.text_line(x + 14 + drawn * 11, y + 79, f"+{card.devices - drawn}", "xs soft")


def _rendezvous_elements(
    picture: Picture, groups: Sequence[_PlacedGroup], y: float
) -> Iterator[str]:
    """Yield arrows from the pods to the rendezvous endpoint below the cards, and the backend's
    label in the lane.
    """
    middles = [
        (card, left + CARD_W / 2)
        for group, x, _ in groups
        for card, left in zip(group.cards, _card_lefts(group, x), strict=True)
    ]
    lead = next((x for card, x in middles if card.leads), None)
    if not picture.meeting or lead is None:
        return

    followers = [x for card, x in middles if card.meets and not card.leads]
    for n, x in enumerate(followers):
        shift = 34 + 13 * (n % 6)
        yield draw.arc(
            x,
            lead + shift if x > lead else lead - shift,
            y,
            min(LANE_H, 30 + abs(x - lead) / 24) * 1.1,
        )

    width = len(picture.meeting) * 11 * draw.SANS + 20
    left = lead - CARD_W / 2
    yield draw.box(left, y + 24, width, 22, "tag", radius=11)
    yield draw.text_line(left + width / 2, y + 39, picture.meeting, "xs tagtext", anchor="middle")
