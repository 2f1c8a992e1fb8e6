"""All verbs on one input, with what each promises; the command line with its files; and secrets
planted anywhere.
"""

from __future__ import annotations

import contextlib
import errno
import io
import json
import random
import sys
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from unittest import mock
from zlib import crc32

import ptcompile
from fuzz.harness import NAME, findings, harmless, legible
from ptcompile import cli
from ptcompile._internal import limits
from ptcompile.api import fix as fixing, requirements
from ptcompile.api.explain import explain_page
from ptcompile.api.inputs import File, Inputs
from ptcompile.cli import files as trust
from ptcompile.diagnostics import Diagnostic
from ptcompile.explainer.page import html
from ptcompile.report import FORMATS, renderer
from ptcompile.simulator.as_text import overview
from ptcompile.source import documents as source, fast_reader, streams
from ptcompile.source.emitter import emit_all

MARK = "zQ7xK2mV9w"
"""A secret that no input holds by chance."""
OTHER_MARK = "rK3wP8nT5q"
"""What stands in its place in the new file of a diff."""


def verbs(data: bytes) -> None:
    """Explain with its forms, diff, fix, import, convert, requires and platform, admit, krm: one
    of them an input.
    """
    (_explain, _diff, _fix, _import, _convert, _needs, _admit, _krm)[crc32(data) % 8](data)


def _explain(data: bytes) -> None:
    why = ptcompile.explain(data, filename=NAME)
    findings(why.diagnostics, data)
    harmless(why.text())
    if len(why.causes) < 500:
        json.dumps(why.to_dict(), allow_nan=False)
        harmless(why.text("env"))
    if crc32(data) % 11 == 0:
        with contextlib.suppress(UnicodeDecodeError):
            html(explain_page(Inputs.read(data, only_specs=True)))


def logs(data: bytes) -> None:
    """Diagnose logs, with themselves as the manifest too: one input, whole or in two halves."""
    half = len(data) // 2
    given = {"a.log": data} if crc32(data) % 2 else {"a.log": data[:half], "b.txt": data[half:]}
    for manifest in (None, data):
        told = ptcompile.diagnose(given, manifest)
        harmless(told.text())
        harmless(json.dumps(told.to_dict(), allow_nan=False))
        assert told.first is not None or told.causes == ()


def _diff(data: bytes) -> None:
    """Compare an input with itself, or without the line in its middle: the clock is that of one
    diff.
    """
    lines = data.split(b"\n")
    is_same = crc32(data) // 8 % 2 == 0
    other = data if is_same else b"\n".join(lines[: len(lines) // 2] + lines[len(lines) // 2 + 1 :])
    found = ptcompile.diff(data, other, filenames=(NAME, NAME))
    harmless(found.text())
    harmless(found.markdown())
    json.dumps(found.to_dict(), allow_nan=False)
    assert not (is_same and found.differs), "an input differs from itself"


def _fix(data: bytes) -> None:
    """A fix leaves no more findings of its kind than there were, loses no comment, and a second
    run changes nothing.
    """
    unsafe = bool(crc32(data) & 8)
    before = ptcompile.lint(data, filename=NAME)
    done = fixing.fix(data, filename=NAME, unsafe=unsafe)
    findings(done.report.diagnostics, done.content)
    if not done.applied:
        assert done.content == data
        return

    # what is refused hides what is below it, which is looked at for the first time once that is
    # fixed; and so do more findings than are listed
    are_all_listed = len(before.diagnostics) <= limits.limits().findings
    if are_all_listed and not any(one.stage in ("apply", "pod") for one in done.applied):
        assert sum(d.severity == "error" for d in done.report.diagnostics) <= sum(
            d.severity == "error" for d in before.diagnostics
        ), "a fix makes a new error"
    if not any(
        edit.op == "deduplicate" for one in done.applied if one.fix for edit in one.fix.edits
    ):
        # of two equal keys the first goes with all that it holds, as with kubectl: comments too
        assert _comments(data) <= _comments(done.content), "a fix loses a comment"

    again = fixing.fix(done.content, filename=NAME, unsafe=unsafe)
    assert again.content == done.content, (
        f"a second run changes more: {[one.name for one in again.applied]}"
    )


def _comments(data: bytes) -> int:
    return sum(line.lstrip().startswith(b"# ") for line in data.split(b"\n"))


def _import(data: bytes) -> None:
    found = ptcompile.import_manifests(data, filename=NAME, lossy=bool(crc32(data) & 16))
    findings(found.diagnostics, data)
    if found.specs:
        assert not source.read(found.yaml()).problems


def _convert(data: bytes) -> None:
    result = ptcompile.convert(data, target=("job", "jobset", "pytorchjob")[crc32(data) % 3])
    assert result.manifests or not result.ok


def _needs(data: bytes) -> None:
    findings(tuple(ptcompile.requires(data, filename=NAME).diagnostics), data)
    findings(tuple(requirements.platform(data).diagnostics), data)
    draft = requirements.profile_from_dumps([File(streams.read_dump(data, NAME, "dump"), NAME)])
    findings(draft.diagnostics, data)
    legible(draft.text())


def _admit(data: bytes) -> None:
    """The input is the jobs with their queues, then the state of the cluster as well, then so as
    kubectl prints it.
    """
    items = [one.data for one in source.read(data).documents]
    printed = emit_all([{"apiVersion": "v1", "items": items, "kind": "List"}]) if items else data
    with mock.patch.object(fast_reader, "_LARGE", 0):
        streams.read_dump(data, NAME, "state")
        if items and len(printed) <= 1 << 14:  # aliases are written out
            whole = streams.read_dump(printed, NAME, "state")
            assert whole.problems or whole.documents[0].data["items"] == items

    for state in (None, data):
        admission = ptcompile.admit(data, state=state, filename=NAME)
        json.dumps(admission.to_dict(), allow_nan=False)
        harmless(admission.text())
        assert state is not None or all(
            one.filename in (NAME, None) for one in admission.diagnostics
        )


def _krm(data: bytes) -> None:
    """The input is a stream, or the items of a ResourceList: status 0 or 1, and a list again, or
    an unusable input.
    """
    items = [one.data for one in source.read(data).documents]
    is_list = bool(items) and crc32(data) % 16 < 8
    envelope = {"apiVersion": "config.kubernetes.io/v1", "kind": "ResourceList", "items": items}
    given = emit_all([envelope]).encode() if is_list else data
    with mock.patch.object(sys, "stdin", io.TextIOWrapper(io.BytesIO(given))), trusted():
        status, out, err = ran(["krm"])
    assert status in (0, 1, 2), status
    assert cli.files.BUG not in err, err
    if is_list and status < 2 and out:
        (written,) = source.read(out).documents
        assert written.data["kind"] == "ResourceList"


_COMMANDS = (
    ["lint"], ["lint", "--fix"], ["lint", "--diff", "--unsafe-fixes"], ["lint", "--add-ignore"], ["compile"],
    ["compile", "-o", "out"], ["simulate"], ["simulate", "--format", "json"], ["explain"], ["import"], ["requires"],
    ["lint", "--untrusted"], ["platform"], ["platform", "--from-dump"], ["admit"],
    ["lint", "--output-format", "sarif", "--output-file", "out.sarif"],
)  # fmt: skip


def files(data: bytes) -> None:
    """The command line: a file and a configuration, exit status 0, 1 or 2, no traceback; at
    times a full disk.
    """
    dice = random.Random(crc32(data))
    with TemporaryDirectory() as folder, contextlib.chdir(folder), trusted():
        Path("f.yaml").write_bytes(data)
        if dice.random() < 0.5:
            Path("ptcompile.toml").write_bytes(_settings(data, dice))
        words = [*dice.choice(_COMMANDS), "f.yaml"]
        status, _, err = ran(
            words, _full_disk(dice) if dice.random() < 0.3 else contextlib.nullcontext()
        )
        assert status in (0, 1, 2), status
        assert "Traceback" not in err
        assert cli.files.BUG not in err, err
        assert not list(Path().glob("*.tmp")), "a temporary file is left"
        if Path("f.yaml").read_bytes() != data:
            assert words[1] in ("--fix", "--add-ignore"), words


_KNOWN = b"apiVersion: v1\nkind: Pod\nmetadata: {name: a}\nspec: {containers: [{name: c, image: a:1, comand: [a]}]}\n"


def baseline(data: bytes) -> None:
    """The input is a baseline: lint reads it or says what is wrong with it, and reads what it
    writes in its place.
    """
    with TemporaryDirectory() as folder, contextlib.chdir(folder), trusted():
        Path("f.yaml").write_bytes(_KNOWN)
        Path("known.toml").write_bytes(data)
        status, out, err = ran(["lint", "--isolated", "--baseline", "known.toml", "f.yaml"])
        assert status in (0, 1, 2), status
        assert cli.files.BUG not in err, err
        harmless(out)
        harmless(err)
        status, _, err = ran(["lint", "--isolated", "--write-baseline", "known.toml", "f.yaml"])
        if status == 2:
            assert Path("known.toml").read_bytes() == data, "what is no baseline is written over"
        else:
            assert ran(["lint", "--isolated", "--baseline", "known.toml", "f.yaml"])[0] == 0


def dumps(data: bytes) -> None:
    """The input is what kubectl prints of a cluster: a state for admit, and what a profile is
    drafted of.
    """
    dump = streams.read_dump(data, NAME, "state")
    findings(tuple(streams.to_diagnostic(one, None, NAME) for one in dump.problems), data)
    draft = requirements.profile_from_dumps([File(streams.read_dump(data, NAME, "dump"), NAME)])
    legible(draft.text())
    admission = ptcompile.admit(_KNOWN, state=data, filename=NAME)
    json.dumps(admission.to_dict(), allow_nan=False)
    harmless(admission.text())


@contextlib.contextmanager
def trusted() -> Iterator[None]:
    """`--untrusted` holds for a process; here for one command."""
    with (
        mock.patch.object(trust, "_untrusted", [False]),
        mock.patch.object(limits, "_in_force", [limits.TRUSTED]),
    ):
        yield


def _settings(data: bytes, dice: random.Random) -> bytes:
    """A configuration, of an input's own words half of the time."""
    keys = (
        "select",
        "ignore",
        "extend-select",
        "exclude",
        "schemas",
        "cluster",
        "fail-on",
        "kubernetes-version",
        "x",
    )
    values = (
        '["PTC3"]',
        '["ALL"]',
        "[]",
        '"error"',
        "1",
        '"f.yaml"',
        '["f.yaml"]',
        '"1.34"',
        "{a = []}",
        '"../x"',
    )
    lines = [
        f"{dice.choice(keys)} = {dice.choice(values)}".encode() for _ in range(dice.randrange(4))
    ]

    return b"\n".join([*lines, *(data.split(b"\n")[:2] if dice.random() < 0.3 else [])])


@contextlib.contextmanager
def _full_disk(dice: random.Random) -> Iterator[None]:
    """Writing fails: at a rename or at a sync."""
    broken = OSError(errno.ENOSPC, "No space left on device")
    with mock.patch(f"os.{dice.choice(('replace', 'fsync'))}", side_effect=broken):
        yield


class _Captured(io.TextIOWrapper):
    def __init__(self) -> None:
        super().__init__(io.BytesIO(), encoding="utf-8", write_through=True)


def ran(words: list[str], around: Any = None) -> tuple[int, str, str]:
    """The status of a command, its output and what it says to people."""
    out, err = _Captured(), _Captured()
    before = sys.stdout, sys.stderr
    sys.stdout, sys.stderr = out, err
    try:
        with around or contextlib.nullcontext():
            status = cli.main(words)
    except SystemExit as stop:
        status = stop.code if isinstance(stop.code, int) else 2
    except cli.files.UsageError:
        status = 2
    finally:
        sys.stdout, sys.stderr = before
        limits._in_force[0] = limits.TRUSTED

    said = (one.buffer.getvalue().decode() for one in (out, err))  # type: ignore[attr-defined]
    return (status, *said)


def secrets(data: bytes) -> None:
    """A secret planted somewhere in the documents, in some shape: no report of lint, simulate or
    diff shows it; one of the three is asked.
    """
    dice = random.Random(crc32(data))
    documents = [json.loads(json.dumps(one.data)) for one in source.read(data).documents]
    if not documents:
        return

    _plant(documents, dice)
    text = (
        emit_all(documents)
        if dice.random() < 0.7
        else "".join(json.dumps(one) + "\n" for one in documents)
    )
    if len(text) > 1 << 14:
        return  # aliases written out: the other harnesses read them as aliases

    reports = dice.choice((_lint_reports, _simulate_reports, _diff_reports))
    for one in reports(text):
        assert MARK[:8] not in one, one[max(0, one.find(MARK[:8]) - 300) :][:400]
        assert OTHER_MARK not in one


def _lint_reports(text: str) -> list[str]:
    found = ptcompile.lint(text, filename=NAME).diagnostics
    name = FORMATS[crc32(text.encode()) % len(FORMATS)]
    return [renderer(name)(found, {NAME: text}), _full(found, text)]


def _simulate_reports(text: str) -> list[str]:
    world = ptcompile.simulate(text, filename=NAME)
    listed = [json.dumps(world.to_dict())] if world.pods.total < 20 else []
    return [overview(world), _full(world.diagnostics, text), *listed]


def _diff_reports(text: str) -> list[str]:
    return [ptcompile.diff(text, text.replace(MARK, OTHER_MARK)).text()]


def _full(found: tuple[Diagnostic, ...], text: str) -> str:
    return renderer("full")(found, {NAME: text})


def _plant(documents: list[Any], dice: random.Random) -> None:
    """A variable with a secret, in some shape, in some mapping or list."""
    places: list[Any] = []
    stack: list[Any] = list(documents)
    while stack:
        box = stack.pop()
        places.append(box)
        stack += [
            one
            for one in (box.values() if isinstance(box, dict) else box)
            if isinstance(one, dict | list)
        ]

    box = dice.choice(places)
    value: Any = dice.choice(
        (MARK, [MARK], {"a": MARK}, {"value": MARK}, [{"a": [MARK]}], f"x {MARK}")
    )
    if isinstance(box, dict):
        if dice.random() < 0.3:
            box[dice.choice(("note", f"hf_{MARK * 3}"))] = dice.choice(
                (f"see hf_{MARK * 3}", f"curl -u me:{MARK} h")
            )
        elif dice.random() < 0.5:
            box[dice.choice(("HF_TOKEN", "acme.io/api-token", "DB_PASSWORD"))] = value
        else:
            box["env"] = [{"name": "HF_TOKEN", dice.choice(("value", "valeu", "Value")): value}]
    else:
        shapes = (
            f"--hf-token={MARK}",
            f"export HF_TOKEN={MARK}",
            f"https://u:{MARK}@h/",
            f"hf_{MARK * 3}",
        )
        box.append(dice.choice(shapes))
