"""The harness of files that are found rather than named: ignore files, configurations,
kustomizations, schemas, links.

An input is a text that holds several files, each below its name: `-- m/a.yaml --`, or `-- a -> b
--` for a link.
"""

from __future__ import annotations

import contextlib
import os
import random
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from zlib import crc32

from fuzz import schemas
from fuzz.mutate import MAX_SIZE, mutate
from fuzz.verbs import MARK, ran, trusted
from ptcompile.cli import files

POD = "apiVersion: v1\nkind: Pod\nmetadata: {name: p}\nspec: {containers: [{name: c, image: i}]}\n"
_NAME = re.compile(r"^-- (\S+)(?: -> (\S+))? --$", re.MULTILINE)
_COMMANDS = (
    ["lint", "."], ["lint", "."], ["lint", "--untrusted", "."], ["lint", "--isolated", "."], ["lint", "m", "a.yaml"],
    ["lint", "--untrusted", "--isolated", "m"], ["lint", "--schemas", "crds", "m"], ["compile", "a.yaml"],
    ["lint", "--diff", "."], ["simulate", "m/a.yaml"], ["rules"], ["explain", "PTC301"], ["requires", "."],
    ["lint", ".", "--baseline", "known.toml"], ["lint", "m", "--write-baseline", "written.toml"],
    ["lint", ".", "--format", "gitlab", "--format", "markdown=../m.md"],
    ["lint", ".", "--statistics", "--by", "folder"],
)  # fmt: skip


def tree(data: bytes) -> None:
    """Run a command in a repository with these files: it ends, says what is wrong, and reads
    nothing outside.
    """
    dice = random.Random(crc32(data))
    with TemporaryDirectory() as folder, contextlib.chdir(folder), trusted():
        Path("outside.yaml").write_text(f"apiVersion: v1\nkind: {MARK}\n", encoding="ascii")
        Path("in/.git").mkdir(parents=True)
        os.chdir("in")
        written = {
            name: path.read_bytes() for name, path in _written(data).items() if path.is_file()
        }
        words = [
            *dice.choice(_COMMANDS),
            *(["--no-cache"] if dice.random() < 0.5 else ["--cache-dir", "../cache"]),
        ]
        words = [
            word
            for word in words
            if words[0] == "lint" or word not in ("--no-cache", "--cache-dir", "../cache")
        ]
        status, out, err = ran(words)
        assert status in (0, 1, 2), (words, status)
        for text in (out, err):
            assert "Traceback" not in text, (words, text)
            assert files.BUG not in text, (words, text)
            assert MARK not in text, (words, "a file outside is read", text[:2000])

        for name, content in written.items():
            assert Path(name).read_bytes() == content, (words, name)


def _written(data: bytes) -> Mapping[str, Path]:
    """Write the files of an input that can be written, none outside of the current folder."""
    text = data.decode("utf-8", "replace")
    found = list(_NAME.finditer(text))
    out: dict[str, Path] = {}
    ends = [*(match.start() for match in found[1:]), len(text)]
    for match, end in zip(found, ends[: len(found)], strict=True):
        name, target = match[1], match[2]
        path = Path(name)
        if path.is_absolute() or ".." in path.parts or "\x00" in name or len(name) > 500:
            continue

        with contextlib.suppress(OSError, ValueError):
            path.parent.mkdir(parents=True, exist_ok=True)
            if target is not None:
                path.symlink_to(target)
            elif name.endswith(".pipe"):
                os.mkfifo(path)
            elif not path.is_symlink():
                content = text[match.end() + 1 : end]
                path.write_text(content, "utf-8")
                out[name] = path

    return out


def make(dice: random.Random) -> bytes:
    """A repository with some of the files that ptcompile finds by itself."""
    parts = {"m/a.yaml": POD, "a.yaml": POD}
    found: tuple[tuple[str, float, Callable[[random.Random], str]], ...] = (
        (".gitignore", 0.6, _ignores), ("m/.gitignore", 0.3, _ignores), ("ptcompile.toml", 0.7, _settings),
        ("pyproject.toml", 0.2, _settings), ("m/ptcompile.toml", 0.1, _settings), ("known.toml", 0.5, _baseline),
        ("m/kustomization.yaml", 0.4, _kustomization), ("kustomization.yaml", 0.2, _kustomization),
        ("crds/a.yaml", 0.4, lambda dice: schemas.stream(dice).decode("utf-8", "replace")[:6000]),
        ("crds/foo-x-v1.json", 0.2, lambda dice: dice.choice(("{}", "[]", "", "{", '{"type": []}', "[" * 2000, "1"))),
        ("m/n/b.yaml", 0.3, lambda _: POD), ("m/" + "a/" * 40 + "b.yaml", 0.1, lambda _: POD),
        (f"{'a' * 120}.yaml", 0.1, lambda _: POD),
    )  # fmt: skip
    parts |= {
        name: content(dice) for name, probability, content in found if dice.random() < probability
    }
    text = "".join(f"-- {name} --\n{content.rstrip(chr(10))}\n" for name, content in parts.items())
    for _ in range(dice.choice((0, 0, 1, 2))):
        text = f"-- {dice.choice(_LINKS)} -> {dice.choice(_TARGETS)} --\n{text}"
    if dice.random() < 0.05:
        text += (
            "-- m/x.pipe --\n-- m/p.yaml -> x.pipe --\n-- n/.gitignore -> ../m/x.pipe --\n-- "
            "n/a.yaml --\n" + POD
        )

    data = text.encode("utf-8", "replace")[:MAX_SIZE]
    return mutate(data, dice, ()) if dice.random() < 0.3 else data


_LINKS = (
    ".gitignore", "m/.gitignore", "m/kustomization.yaml", "kustomization.yaml", "crds/b.yaml", "crds/b.json",
    "m/b.yaml", "ptcompile.toml", "pyproject.toml", "m/deep",
)  # fmt: skip
_TARGETS = (
    "/dev/zero", "/etc/passwd", "../outside.yaml", "../../outside.yaml", "a.yaml", "m", ".", "/", "/dev/null", "x",
)  # fmt: skip
_GLOBS = (
    "*", "**", "a", "m", "m/", "/m", "**/a/", "*.yaml", "!*.yaml", "!", "\\", "a\\", "[z-a]", "[a-\\]", "[[:alpha:]]",
    "[", "]", "[]", "[!a]", "[^a]", "\\!a", "\\#a", "# x", "", " ", "a ", "a\\ ", "/", "//", "***", "a**b", "**/",
    "/**", "{a,b}", "(", "(?i)a", "+", "$", "é", "\t", "\x00", "\x1b[31m", "?", "??*", "a/**/b", "../a", "./a",
    "*a" * 30, "**/a/" * 20 + "**/c", "[a" * 30, "?" * 100, "*" * 100, "a" * 4000,
    "x*y*z*", "\\x41", "!!a", "a\r", "\ufeffa",
)  # fmt: skip


def _ignores(dice: random.Random) -> str:
    lines = [dice.choice(_GLOBS) for _ in range(dice.choice((1, 1, 3, 10)))]
    if dice.random() < 0.1:
        lines += [
            "".join(dice.choice("*?[]!\\/a-^{}().:#") for _ in range(dice.randrange(1, 30)))
            for _ in range(20)
        ]
    if dice.random() < 0.05:
        lines += [f"x{i}*y*z" for i in range(1000)]
    return dice.choice(("\n", "\n", "\r\n")).join(lines)


_KEYS: dict[str, tuple[str, ...]] = {
    "select": ('["PTC3"]', '["ALL"]', "[]"),
    "ignore": ('["PTC301"]', '["missing-shm"]', '["X"]'),
    "extend-select": ('["ACME101"]',),
    "per-file-ignores": ('{"m/**" = ["PTC8"]}', '{"[" = ["ALL"]}', "{}"),
    "cluster": ('"a.yaml"', '"../outside.yaml"', '"/dev/zero"', '"m"', '"x"'),
    "kubernetes-version": ('"1.34"', '"1"', '"9.9"'),
    "severity": ('{PTC5 = "note"}', '{ALL = "error", x = "note"}', '{PTC5 = "off"}'),
    "per-file-severity": ('{"m/" = {ALL = "note"}}', '{"[" = {}}'),
    "baseline": ('"known.toml"', '"../outside.yaml"', '"/dev/zero"', '"m"'),
    "fail-on": ('"warning"', '"never"'),
    "schemas": ('["crds"]', '["crds", "m"]', '["../outside.yaml"]', '["/"]', '["x"]', '["a.yaml"]'),
    "exclude": ('["m/"]', '["["]', '["!"]', '["**/a/**/a/**/a/**/a/**/b"]'),
    "extend-exclude": ('["*"]', '["\\\\"]'),
    "plugins": ('["os"]', '["ptcompile"]', '["x"]'),
    "x": ("1",),
}
_VALUES = (
    "1", "-1", "1.5", "true", '""', '"x"', "[]",
    "[1]", "[[]]", "{}", "{a = []}", "2026-01-01", "nan", "inf", '"\\u0000"',
    "1" + "0" * 5000, "[" * 500, "{a = " * 200, "'''x'''", "0x10", "1_0", "", "é", '["a", 1]', '"a" "b"',
)  # fmt: skip


def _settings(dice: random.Random) -> str:
    """A configuration: keys with their values or odd ones, declared rules, and what is no TOML."""
    keys = [dice.choice(list(_KEYS)) for _ in range(dice.choice((0, 1, 2, 4)))]
    odd = (0.0, 0.0, 0.3)[dice.randrange(3)]
    lines = [
        f"{key} = {dice.choice(_VALUES if dice.random() < odd else _KEYS[key])}"
        for key in dict.fromkeys(keys)
    ]
    for _ in range(dice.choice((0, 0, 1, 1, 3))):
        lines += _declared(dice, odd)
    if dice.random() < 0.05:
        lines.append(
            dice.choice(
                (
                    "a" + ".a" * 3000 + " = 1",
                    "[" * 3000,
                    "[" + "a." * 2000 + "a]",
                    "= 1",
                    "a",
                    "\x00",
                )
            )
        )

    return dice.choice(("", "", "[tool.ptcompile]\n")) + "\n".join(lines)


def _baseline(dice: random.Random) -> str:
    """Entries of a baseline: of the findings of `POD`, odd ones, and what is no TOML."""
    lines: list[str] = []
    for _ in range(dice.choice((1, 2, 20))):
        lines.append(
            dice.choice(
                ("[[finding]]",) * 9 + ("[finding]", " [[ finding ]]", "finding = [{}]", "[[x]]")
            )
        )
        entry = {
            "code": dice.choice(('"PTC109"', '"PTC501"', '"PTC000"', "1")),
            "file": dice.choice(
                (
                    '"m/a.yaml"',
                    '"a.yaml"',
                    '"../outside.yaml"',
                    '"<stdin>"',
                    '"/dev/zero"',
                    '"\\u0000"',
                )
            ),
            "kind": '"Pod"',
            "name": '"p"',
            "path": dice.choice(('"spec"', '"spec.containers[0]"', f'"{"[1]" * 300}"')),
            "expires": dice.choice(
                ("2027-01-01", '"2020-01-01"', "1", "2027-01-01T00:00:00Z", "nan")
            ),
        }
        keys = [key for key in entry if dice.random() < 0.8]
        lines += [
            f"{key} = {entry[key] if dice.random() < 0.9 else dice.choice(_VALUES)}" for key in keys
        ]

    return "\n".join(lines)


def _declared(dice: random.Random, odd: float) -> list[str]:
    """A table of `[[rule]]`."""
    expression = schemas.expression(dice, 3) if dice.random() < 0.8 else schemas._hostile(dice)
    table = {
        "code": dice.choice(('"ACME101"', '"ACME102"', '"PTC301"', '"x"')),
        "name": dice.choice(('"cost-center"', '"own-rule"', '"x"', '"missing-shm"')),
        "path": dice.choice(
            ('"metadata.labels"', '"spec.containers[*].image"', '"metadata"', '""', '"["', '"*"')
        ),
        "expression": f"'''{expression}'''" if "'''" not in expression else '"true"',
        "message": dice.choice(('"no"', '"x\\ny"', '"\\u001b[31m"')),
        "each": dice.choice(('"object"', '"pod"', '"container"', '"x"')),
        "kind": dice.choice(('"Pod"', '["Pod"]', "[]", "1")),
        "severity": dice.choice(('"error"', '"warning"', '"x"')),
        "stage": dice.choice(('"apply"', '"style"', '"x"')),
    }
    kept = {
        key: one
        for key, one in table.items()
        if key in ("code", "name", "path") or dice.random() < 0.9
    }
    kept |= {key: dice.choice(_VALUES) for key in kept if dice.random() < odd / 3}

    return ["[[rule]]", *(f"{key} = {one}" for key, one in kept.items())]


def _kustomization(dice: random.Random) -> str:
    paths = (
        "a.yaml",
        "./a.yaml",
        "n/b.yaml",
        "../a.yaml",
        "/etc/passwd",
        "../../outside.yaml",
        "x",
        "",
        "http://x/y",
        ".",
    )
    key = dice.choice(
        ("patches", "patchesStrategicMerge", "patchesJson6902", "components", "resources", "x")
    )
    items = [
        dice.choice(
            (
                f"{{path: {one!r}}}",
                repr(one),
                f"[{one!r}]",
                "{path: {}}",
                "{path: 1}",
                "null",
                '"a: b\\n"',
            )
        )
        for one in (dice.choice(paths) for _ in range(dice.choice((0, 1, 3))))
    ]
    odd = (
        "",
        "[]",
        "x",
        f"{key}: 1",
        f"{key}: {{a: 1}}",
        "a: [",
        "\x00",
        "&a [*a]",
        f"{key}: &a [*a]",
        "- 1",
        "---\n" * 9,
    )

    return (
        dice.choice(odd)
        if dice.random() < 0.2
        else f"kind: Kustomization\n{key}: [{', '.join(items)}]\n"
    )
