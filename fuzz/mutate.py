"""Mutations: of bytes, of lines and words of YAML, of trees; each makes another hostile text of
a seed.
"""

from __future__ import annotations

import json
import random
import re
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any

from ptcompile.source.documents import read
from ptcompile.source.emitter import emit_all

MAX_SIZE = 16_384
"""Bytes of one input that is not to be large."""
LARGEST = 1 << 20
"""Bytes of a large input."""

WORDS: tuple[str, ...] = (
    "", "~", "null", "true", "no", "on", "0", "-1", "1", "01", "0o17", "1e3", ".5", "1e400", "-0.0", ".inf", ".nan",
    "1_000", "0x1F", "9223372036854775807", "9223372036854775808", "99999999999999999999", "2147483648", "1:2",
    "2:4", "4:2", "2026-01-01", "<<", "1Gi", "1Ei", "99999Ei", "1n", "0.5m", "1e30", "-1Gi", "1 Gi", "auto", "[]",
    "{}", "[[]]", "{a: {}}", "[null]", "[{}]", "- a", "'", '"', "'it''s'", '"\\u0000"', '"\\ud800"', '"\\e[31m"',
    "|", ">-", "&a", "*a", "&a [*a]", "!!int x", "!!binary AA==", "!x y", "a: b: c", "{{ .Values.x }}", "%20",
    "::error::x", "</script>", "\x1b[31m", "\x00", "\t", "\r", "\u2028", "\u202e", "\ufeff", "é" * 8, "a" * 64,
    "a" * 300, "a-" * 40 + "a", "-a", "a/b/c", "a.b/c", "$(A)", "$(hostname)", "127.0.0.1", "::1", "/", "../..",
    "/dev/shm", "torchrun", "--nnodes=2:4", "--rdzv-backend=c10d", "--nproc-per-node=gpu", "python", "-m",
    "nvidia.com/gpu", "rdma/ib", "google.com/tpu", "v1", "batch/v1", "Job", "Pod", "PyTorchJob", "kubeflow.org/v1",
    "JobSet", "jobset.x-k8s.io/v1alpha2", "TrainJob", "List", "trainer.kubeflow.org/v1alpha1",
    "batch.volcano.sh/v1alpha1", "ptcompile/v1", "TrainingJob", "ClusterProfile", "ConfigMap",
    "# ptcompile: ignore[PTC302]", "# ptcompile: ignore-file[all]", "# Source: x\x1b", "PASSWORD", "HF_TOKEN",
    "---", "...", "WORLD_SIZE",
)  # fmt: skip

_LONE = re.compile("[\ud800-\udc7f\udd00-\udfff]")
"""Half a pair that stands for no byte."""
_ODD: tuple[Any, ...] = (
    None, True, False, 0, 1, -1, 2**31, 2**63, -(2**63), 1.5, 1e300, "", " ", "a", [], {}, [None], [[]], [{}],
    {"": None}, {"a": {"b": []}},
)  # fmt: skip


def mutate(data: bytes, dice: random.Random, others: Sequence[bytes]) -> bytes:
    """Another input, made of this one by one to eight changes; never longer than `MAX_SIZE`."""
    if dice.random() < 0.3:
        data = _tree(data, dice)
    else:
        text = data.decode("utf-8", "surrogateescape")
        for _ in range(dice.choice((1, 1, 1, 2, 2, 3, 5, 8))):
            text = dice.choice(_TEXT)(text, dice)
            text = text[:MAX_SIZE]
        data = text.encode("utf-8", "replace" if _LONE.search(text) else "surrogateescape")
    if others and dice.random() < 0.08:
        data = _spliced(data, dice.choice(others), dice)
    if dice.random() < 0.05:
        data = _bytes(data, dice)
    return data[:MAX_SIZE]


def enlarge(data: bytes, dice: random.Random, most: int = LARGEST) -> bytes:
    """The input many times over: all of it, some lines or a word, with numbered names; of 32 KB, or
    twice that, and so on up to `most`.
    """
    sizes = [MAX_SIZE << doubling for doubling in range(1, 20) if MAX_SIZE << doubling <= most]
    size = dice.choice(sizes)
    text = data.decode("utf-8", "surrogateescape")
    lines = text.split("\n")
    at = dice.randrange(len(lines))
    how = dice.randrange(3)
    if how == 0:
        before, piece, after = "", f"{text}\n---\n", ""
    elif how == 1:
        end = at + dice.choice((1, 2, 4, 9, 30))
        before, after = "\n".join([*lines[:at], ""]), "\n".join(lines[end:])
        piece = "\n".join([*lines[at:end], ""])
    else:
        where = dice.randrange(len(text) + 1)
        before, piece, after = (
            text[:where],
            dice.choice(WORDS) + dice.choice(("", " ", "\n", ", ")),
            text[where:],
        )

    count = max(1, size // max(1, len(piece)))
    is_numbered = dice.random() < 0.7 and _NAMED.search(piece) is not None
    pieces = (
        [_NAMED.sub(rf"\g<0>-{number}", piece) for number in range(count)]
        if is_numbered
        else [piece] * count
    )
    whole = "".join((before, *pieces, after))

    return whole.encode("utf-8", "replace" if _LONE.search(text) else "surrogateescape")[:most]


_NAMED = re.compile(
    r"\b(?:name|queueName|nodeName|queue-name|clusterQueue|key)\b\"?: *\"?[a-z0-9-]+"
)
"""A name, which numbers make another in each copy."""


def _word(text: str, dice: random.Random) -> str:
    """A value is another word."""
    at = text.find(": ", dice.randrange(len(text) + 1))
    end = text.find("\n", at + 2)
    word = dice.choice(WORDS)
    return text + word if at < 0 or end < 0 else f"{text[: at + 2]}{word}{text[end:]}"


def _key(text: str, dice: random.Random) -> str:
    """A key is another word."""
    lines = text.split("\n")
    at = dice.randrange(len(lines))
    _, colon, rest = lines[at].partition(":")
    indent = lines[at][: len(lines[at]) - len(lines[at].lstrip(" -"))]
    lines[at] = f"{indent}{dice.choice(WORDS)}{colon}{rest}"
    return "\n".join(lines)


def _insert(text: str, dice: random.Random) -> str:
    at = dice.randrange(len(text) + 1)
    return text[:at] + dice.choice(WORDS) + text[at:]


def _cut(text: str, dice: random.Random) -> str:
    at = dice.randrange(len(text) + 1)
    return text[:at] + text[at + dice.choice((1, 2, 8, 64)) :]


def _line(text: str, dice: random.Random) -> str:
    """A line is gone, twice there, elsewhere, or indented otherwise."""
    lines = text.split("\n")
    at, to = dice.randrange(len(lines)), dice.randrange(len(lines))
    how = dice.randrange(4)
    if how == 0:
        del lines[at]
    elif how == 1:
        lines.insert(to, lines[at])
    elif how == 2:
        lines.insert(to, lines.pop(at))
    else:
        lines[at] = " " * dice.randrange(12) + lines[at].lstrip()

    return "\n".join(lines)


def _block(text: str, dice: random.Random) -> str:
    """Some lines are elsewhere too, deeper or not."""
    lines = text.split("\n")
    at, to = dice.randrange(len(lines)), dice.randrange(len(lines))
    indent = " " * dice.choice((0, 0, 2, 4))
    lines[to:to] = [indent + line for line in lines[at : at + dice.randrange(1, 12)]]
    return "\n".join(lines)


def _many(text: str, dice: random.Random) -> str:
    """Something stands there many times: what grows faster than its input shows."""
    times = dice.choice((2, 8, 64, 512))
    lines = text.split("\n")
    at = dice.randrange(len(lines))
    if dice.random() < 0.7:
        size = dice.choice((1, 1, 2, 4, 9))
        lines[at:at] = lines[at : at + size] * times
        return "\n".join(lines)

    where = dice.randrange(len(text) + 1)
    return (
        text[:where]
        + dice.choice(
            ("[", "{", "{a: ", "- ", "x", "'", '"', "#", "-", "&a ", "*a ", ",", "\\", "$(")
        )
        * times
        + text[where:]
    )


def _document(text: str, dice: random.Random) -> str:
    """The text is a stream, or begins or ends oddly."""
    return dice.choice(
        (
            text + "\n---\n" + text,
            "---\n" + text,
            "\ufeff" + text,
            "%YAML 1.1\n---\n" + text,
            text.replace("\n", "\r\n"),
            text.rstrip("\n"),
            text + "\n...\nrest",
            "apiVersion: v1\nkind: List\nitems:\n- " + text.replace("\n", "\n  "),
        )
    )


def _chain(text: str, dice: random.Random) -> str:
    """Variables that each name the one before twice: of a pod, or of a script."""
    count, first = dice.choice((3, 12, 40)), "x" * dice.choice((1, 10, 200))
    if dice.random() < 0.5:
        entries = [f"{{name: A0, value: {first}}}"]
        entries += [f"{{name: A{i}, value: $(A{i - 1})$(A{i - 1})}}" for i in range(1, count)]
        value = f"env: [{', '.join(entries)}]"
    else:
        script = [
            f"A0={first}",
            *(f"A{i}=$A{i - 1}$A{i - 1}" for i in range(1, count)),
            f"torchrun --rdzv-id=$A{count - 1}",
        ]
        value = "command: [bash, -c, " + json.dumps("\n".join(script)) + "]"

    lines = text.split("\n")
    at = max(
        (i for i, line in enumerate(lines) if re.search(r"\b(image|script):", line)), default=0
    )
    indent = re.match(r"[ -]*", lines[at])
    lines.insert(at + 1, " " * len(indent[0] if indent else "") + value)

    return "\n".join(lines)


def _stream(text: str, dice: random.Random) -> str:
    """The documents as a stream of JSON, each perhaps many times."""
    data = text.encode("utf-8", "replace")[: MAX_SIZE // 2]
    return (
        "".join(
            (one + dice.choice(("\n", " ", ""))) * dice.choice((1, 1, 3, 100))
            for one in _decoded(data)
        )
        or text
    )


def _anchors(text: str, dice: random.Random) -> str:
    """An alias for a value that is there, twice over, again and again."""
    count = dice.choice((2, 5, 12))
    rows = [
        f"x{i}: &x{i} [" + (f"*x{i - 1}, *x{i - 1}" if i else "lol") + "]" for i in range(count)
    ]
    return "\n".join([*rows, text])


_TEXT: tuple[Callable[[str, random.Random], str], ...] = (
    _word, _word, _word, _key, _insert, _cut, _line, _line, _block, _many, _document, _chain, _stream, _anchors,
)  # fmt: skip


def _bytes(data: bytes, dice: random.Random) -> bytes:
    out = bytearray(data)
    for _ in range(min(len(out), dice.choice((1, 1, 4, 16)))):
        out[dice.randrange(len(out))] = dice.randrange(256)
    return bytes(out)


def _spliced(data: bytes, other: bytes, dice: random.Random) -> bytes:
    """The beginning of one and the end of another, at the ends of lines."""
    at, to = dice.randrange(len(data) + 1), dice.randrange(len(other) + 1)
    return data[: data.rfind(b"\n", 0, at) + 1] + other[other.find(b"\n", to) + 1 :]


@lru_cache(maxsize=256)
def _decoded(data: bytes) -> tuple[str, ...]:
    return tuple(json.dumps(document.data) for document in read(data).documents)


def _tree(data: bytes, dice: random.Random) -> bytes:
    """The decoded documents with some values changed, written as YAML or as JSON: past the
    reader, into the rules.
    """
    documents = [json.loads(one) for one in _decoded(data)]
    if not documents:
        return data
    for _ in range(dice.choice((1, 1, 2, 3))):
        _change(dice.choice(documents), dice)
    if len(documents) == 1 and dice.random() < 0.3:
        return json.dumps(documents[0], indent=dice.choice((None, 2))).encode()
    return emit_all(documents).encode("utf-8", "replace")


def _change(document: Any, dice: random.Random) -> None:
    places = list(_places(document))
    if not places:
        return

    holder, at = dice.choice(places)
    value = holder[at]
    how = dice.randrange(6)
    if how == 0:
        del holder[at]
    elif how == 1:
        holder[at] = json.loads(json.dumps(dice.choice(_ODD)))
    elif how == 2:
        holder[at] = dice.choice(WORDS).encode("utf-8", "replace").decode()
    elif how == 3 and isinstance(value, list) and value:
        value.extend(json.loads(json.dumps(value)) * dice.choice((1, 3, 40)))
    elif how == 4 and isinstance(holder, dict):
        holder[dice.choice(WORDS)] = holder.pop(at)
    else:
        elsewhere, key = dice.choice(places)
        holder[at] = (
            json.loads(json.dumps(elsewhere[key]))
            if key in elsewhere or isinstance(key, int)
            else None
        )


def _places(value: Any) -> list[tuple[Any, Any]]:
    """Every holder with every key or index, below a value."""
    out: list[tuple[Any, Any]] = []
    stack = [value]
    while stack:
        box = stack.pop()
        for at, inner in box.items() if isinstance(box, dict) else enumerate(box):
            out.append((box, at))
            if isinstance(inner, dict | list):
                stack.append(inner)
    return out
