"""Hypothesis strategies for YAML as people write it: styles, comments, indentation, line endings, anchors."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

KEYS = ("a", "b", "name", "image", "cpu", "x-y", "nvidia.com/gpu", "on it")
SCALARS = (
    "1", "-7", "0777", "1.5", "true", "on", "~", "null", "plain", "two words", "img:1.0", "a#b", "$(X)", "/dev/x",
    "'single'", "'it''s'", '"double"', '"\\n"', "'8'", '"a: b"', "!!str 5", "2026-01-01", "é", '"#"', "what?",
)  # fmt: skip
COMMENTS = ("", "", "", " # note", "   # a: b, [c]", "\t# tab")
PLAIN_KEYS = st.sampled_from(("{}", "{}", "{}", '"{}"', "'{}'"))


@st.composite
def flow(draw: st.DrawFn, depth: int = 0) -> str:
    """Draw a flow-style collection or a scalar."""
    kind = draw(st.sampled_from(("scalar", "map", "list") if depth < 2 else ("scalar",)))
    if kind == "scalar":
        return draw(st.sampled_from([scalar for scalar in SCALARS if "?" not in scalar]))
    pad = draw(st.sampled_from(("", "", " ")))
    comma = draw(st.sampled_from((", ", ", ", ",  ", " , ")))
    end = draw(st.sampled_from(("", "", ",")))
    if kind == "list":
        items = draw(st.lists(flow(depth=depth + 1), max_size=3))
        return f"[{pad}{comma.join(items)}{end if items else ''}{pad}]"
    keys = draw(st.lists(st.sampled_from(KEYS), max_size=3, unique=True))
    form = draw(PLAIN_KEYS)
    parts = [
        f"{form.format(key)}:{draw(st.sampled_from((' ', ' ', '  ')))}{draw(flow(depth=depth + 1))}"
        for key in keys
    ]
    return f"{{{pad}{comma.join(parts)}{end if parts else ''}{pad}}}"


@st.composite
def pretty(draw: st.DrawFn, indent: int) -> list[str]:
    """Draw a flow mapping with one entry per line."""
    keys = draw(st.lists(st.sampled_from(KEYS), min_size=1, max_size=3, unique=True))
    last = len(keys) - 1
    end = draw(st.sampled_from(("", ",")))
    commas = [","] * last + [end]
    body = [
        f'{" " * (indent + 2)}"{key}": {draw(flow(depth=1))}{comma}{draw(st.sampled_from(COMMENTS))}'
        for key, comma in zip(keys, commas, strict=True)
    ]
    return ["{", *body, " " * indent + "}"]


@st.composite
def value(draw: st.DrawFn, indent: int, depth: int, anchors: list[str]) -> list[str]:
    """Draw the rest of the line after a colon or dash, and the lines below it."""
    comment = draw(st.sampled_from(COMMENTS))
    kinds = ["scalar"] * 3 + ["flow", "pretty", "empty", "text", "long", "anchor", "alias"]
    kind = draw(st.sampled_from([*kinds, "map", "map", "list", "list"] if depth < 3 else kinds))
    step = draw(st.sampled_from((2, 2, 2, 4)))
    deeper = " " * (indent + step)
    if kind == "alias" and anchors:
        return [f" *{draw(st.sampled_from(anchors))}{comment}"]
    if kind == "anchor":
        anchors.append(f"x{len(anchors)}")
        return [
            f" &{anchors[-1]} {draw(st.sampled_from([s for s in SCALARS if s[0] != '!']))}{comment}"
        ]
    if kind == "flow":
        return [f" {draw(flow())}{comment}"]
    if kind == "pretty":
        first, *rest = draw(pretty(indent=indent))
        return [f" {first}", *rest[:-1], rest[-1] + comment]
    if kind == "empty":
        return [comment]
    if kind == "text":
        head = draw(st.sampled_from(("|", "|-", ">", ">-", "|+")))
        return [
            f" {head}{comment}",
            f"{deeper}one  ",
            "",
            f"{deeper}  two # no comment",
            *[""] * draw(st.integers(0, 2)),
        ]
    if kind == "long":
        return [" plain text", f"{deeper}that goes on{comment}"]
    if kind == "map":
        return [comment, *draw(mapping(indent=indent + step, depth=depth + 1, anchors=anchors))]
    if kind == "list":
        return [
            comment,
            *draw(
                sequence(
                    indent=indent + draw(st.sampled_from((0, 2, 4))),
                    depth=depth + 1,
                    anchors=anchors,
                )
            ),
        ]
    return [f"{draw(st.sampled_from((' ', ' ', '   ')))}{draw(st.sampled_from(SCALARS))}{comment}"]


@st.composite
def between(draw: st.DrawFn, indent: int) -> list[str]:
    """Draw lines without content: comments at any column and empty lines."""
    lines = st.sampled_from(
        ("", " " * indent + "# own line", "# at the margin", " " * (indent + 6) + "#- far: right")
    )
    return draw(st.lists(lines, max_size=1))


@st.composite
def mapping(draw: st.DrawFn, indent: int, depth: int, anchors: list[str]) -> list[str]:
    """Draw a block mapping."""
    out: list[str] = []
    for key in draw(st.lists(st.sampled_from(KEYS), min_size=1, max_size=4, unique=True)):
        # a list may start in its key's column: in an outer list, keys are to the right of the dash
        first, *rest = draw(value(indent=indent, depth=depth, anchors=anchors))
        written = draw(PLAIN_KEYS).format(key)
        out += [*draw(between(indent=indent)), f"{' ' * indent}{written}:{first}", *rest]
    return out


@st.composite
def sequence(draw: st.DrawFn, indent: int, depth: int, anchors: list[str]) -> list[str]:
    """Draw a block list; nested mappings and lists start after the dash."""
    out: list[str] = []
    for _ in range(draw(st.integers(1, 3))):
        kind = draw(st.sampled_from(("value", "compact", "compact", "nested")))
        out += draw(between(indent=indent))
        gap = draw(st.sampled_from((1, 1, 3)))
        if kind == "value" or depth > 3:
            first, *rest = draw(value(indent=indent, depth=4, anchors=anchors))
            out += [f"{' ' * indent}-{first}", *rest]
            continue
        inner = indent + 1 + gap
        lines = draw(
            (mapping if kind == "compact" else sequence)(
                indent=inner, depth=depth + 1, anchors=anchors
            )
        )
        while not lines[0].strip() or lines[0].strip()[0] == "#":
            lines.pop(0)
        out += [f"{' ' * indent}-{' ' * gap}{lines[0][inner:]}", *lines[1:]]
    return out


@st.composite
def document(draw: st.DrawFn) -> str:
    """Draw one document."""
    lines = draw(mapping(indent=0, depth=0, anchors=[]))
    return "\n".join([*draw(between(indent=0)), *lines, *draw(between(indent=0))])


@st.composite
def stream(draw: st.DrawFn) -> bytes:
    """Draw a file of one or two documents, with any line endings, final line break and byte order mark optional."""
    text = "\n---\n".join(draw(st.lists(document(), min_size=1, max_size=2)))
    text += draw(st.sampled_from(("\n", "\n", "")))
    text = text.replace("\n", draw(st.sampled_from(("\n", "\n", "\r\n"))))
    return draw(st.sampled_from((b"", b"", b"\xef\xbb\xbf"))) + text.encode()


NEW: st.SearchStrategy[Any] = st.sampled_from(
    [1, True, None, "x", "1", "on", "a, b", "what?", "two\nlines\n", "\n", "", "#", {}, [], ["a", {"b": 1}], [[1], []],
     {"k": "v"}, {"k": {"l": ["m", {"n": None}]}, "o": "p\nq\n"}, {"name": "dshm", "emptyDir": {"medium": "Memory"}}]
)  # fmt: skip
