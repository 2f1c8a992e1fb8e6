"""The cache on disk: broken and foreign entries are ignored, and losing them only costs time."""

from __future__ import annotations

import io
import json
import os
import stat
import sys
import time
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, strategies as st

from ptcompile.cli import cache
from ptcompile.cli.cache import ResultCache, decode, encode
from ptcompile.cli.files import InputFile
from ptcompile.cli.reporter import LintedFile
from ptcompile.diagnostics import Diagnostic, Edit, Fix, Span
from tests.cli.lints import COUNT, Counted, folder_of
from tests.cli.running import here, process

Capture = pytest.CaptureFixture[str]
CLEAN = LintedFile((), 1, (), 0, {})


def entry_of(many: Path) -> Path:
    (path,) = (many / "cache" / "ptcompile").iterdir()
    return path


def signed(body: bytes) -> bytes:
    return sha256(body).hexdigest().encode() + b"\n" + body


def lists_for(name: str, key: str) -> list[bytes]:
    """Return well-formed entries with parts of the wrong type."""
    fine = [
        "PTC302",
        "missing-shm",
        "error",
        "m",
        None,
        ["spec"],
        None,
        "run",
        "kubelet",
        None,
        0,
        None,
        None,
        None,
        False,
    ]
    found = [
        [fine[:5]],
        [[*fine, None, 1]],
        [[*fine, 7]],
        [["a"] * 16],
        "x",
        None,
        3,
        [[{}] * 16],
        [[*fine[:3], 1, *fine[4:], None]],
    ]
    wrong = [[one, 1, [], 0, []] for one in found]
    wrong += [
        [],
        [[], "1", [], 0, []],
        [[], 1, [3], 0, []],
        [[], 1, [], None, []],
        [[], 1, [], 0, [["a", "b"]]],
        [[], 1, [], 0, [[1, 2]]],
    ]
    return [json.dumps({name: [key, one]}).encode() for one in wrong]


def test_a_broken_entry_is_ignored(many: Path, asked: Counted, capsys: Capture) -> None:
    first = here(capsys, "lint", ".")
    entry = entry_of(many)
    whole = entry.read_bytes()
    known = json.loads(whole.partition(b"\n")[2])
    name, (key, _) = next(iter(known.items()))
    broken = [
        b"",
        b"{}",
        whole[:-1],
        whole[:100],
        whole.replace(b"spec", b"Spec"),
        os.urandom(64),
        whole + b" ",
    ]
    broken += [
        signed(one) for one in (b"", b"[]", b"null", b"{", b"[" * 100_000, b'{"a": 1}', b"\xff")
    ]
    shapes: list[Any] = [[], {}, None, key, [key], [key, None], [1, 2]]
    broken += [signed(json.dumps({name: shape}).encode()) for shape in shapes]
    broken += map(signed, lists_for(name, key))
    for number, content in enumerate(broken):
        asked.clear()
        entry.write_bytes(content)
        assert here(capsys, "lint", ".") == first, (number, content[:200])
        assert f"./{name}" in asked, (number, content[:200])
        assert entry.read_bytes() == whole


@pytest.mark.skipif(sys.platform == "win32", reason="permissions")
def test_other_users_cannot_read_the_cache(many: Path, capsys: Capture) -> None:
    here(capsys, "lint", ".")
    assert stat.S_IMODE(entry_of(many).stat().st_mode) == 0o600
    assert stat.S_IMODE(entry_of(many).parent.stat().st_mode) == 0o700


def test_the_cache_has_no_secret(many: Path, capsys: Capture) -> None:
    text = (many / "00.yaml").read_text()
    (many / "00.yaml").write_text(
        f"{text}  env: {{API_TOKEN: hunter2hunter2, PASSWORD: 12345678, x: [}}\n"
    )
    (many / "01.yaml").write_text(
        f"{text}  env: {{API_TOKEN: hunter2hunter2, PASSWORD: 12345678}}\n  podTemplat: hunter2hunter2\n"
    )
    assert "***" in here(capsys, "lint", ".").out
    content = entry_of(many).read_text()
    assert "***" in content
    assert "hunter2" not in content
    assert "12345678" not in content


@pytest.mark.parametrize("mode", [0o777, 0o770])
@pytest.mark.skipif(sys.platform == "win32", reason="permissions")
def test_a_folder_that_others_can_write_is_not_used(
    many: Path, asked: Counted, capsys: Capture, mode: int
) -> None:
    (many / "cache" / "ptcompile").mkdir(parents=True)
    (many / "cache" / "ptcompile").chmod(mode)
    for words in ((), (), ("--cache-dir", "cache/ptcompile")):
        ran = here(capsys, "lint", *words, ".")
        warning = "--cache-dir cache/ptcompile is not used: belongs to another user, or others can write to it"
        assert (warning in ran.err) == bool(words)
    assert len(asked) == 3 * COUNT
    assert not list((many / "cache" / "ptcompile").iterdir())


def test_a_folder_that_cannot_be_created_is_not_used(
    many: Path, asked: Counted, capsys: Capture
) -> None:
    (many / "cache").write_text("a file")
    first = here(capsys, "lint", ".")
    ran = here(capsys, "lint", "--cache-dir", "cache/here", ".")
    assert ran == first._replace(
        err=f"ptcompile: --cache-dir cache/here is not used: not a directory\n{first.err}"
    )
    assert len(asked) == 2 * COUNT


def test_a_folder_that_is_named_is_used(many: Path, asked: Counted, capsys: Capture) -> None:
    for _ in range(2):
        here(capsys, "lint", "--cache-dir", ".kept", ".")
    assert len(asked) == COUNT
    assert not (many / "cache").exists()
    assert [path.suffix for path in (many / ".kept").iterdir()] == [".entry"]


@pytest.mark.skipif(sys.platform == "win32", reason="permissions")
def test_a_read_only_folder_changes_nothing(many: Path, capsys: Capture) -> None:
    """Nothing is read-only for root; then this only shows that the run is not disturbed."""
    (many / "cache" / "ptcompile").mkdir(parents=True, mode=0o700)
    (many / "cache" / "ptcompile").chmod(0o500)
    assert here(capsys, "lint", ".") == here(capsys, "lint", "--no-cache", ".")


def test_writing_that_fails_changes_nothing(
    many: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "no space left on device")

    first = here(capsys, "lint", "--no-cache", ".")
    monkeypatch.setattr(os, "replace", full)
    assert here(capsys, "lint", ".") == first
    assert not list((many / "cache" / "ptcompile").iterdir())


def test_the_size_of_the_folder_is_limited(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The least recently used entries go first; files of others stay."""
    now = time.time()
    for number in range(6):
        path = tmp_path / f"{number}.entry"
        path.write_bytes(b"x" * 100)
        os.utime(path, (now - 10_000 * number,) * 2)
    for name, age in (("a.entry.1.tmp", 10), ("b.entry.2.tmp", 10_000), ("other.txt", 10**6)):
        (tmp_path / name).write_bytes(b"")
        os.utime(tmp_path / name, (now - age,) * 2)
    monkeypatch.setattr(cache, "MAX_BYTES", 350)
    cache._limit_size(str(tmp_path))
    assert {path.name for path in tmp_path.iterdir()} == {
        "0.entry",
        "1.entry",
        "2.entry",
        "a.entry.1.tmp",
        "other.txt",
    }


def test_the_last_use_is_recorded(many: Path, capsys: Capture) -> None:
    here(capsys, "lint", ".")
    entry = entry_of(many)
    os.utime(entry, (1_000_000_000,) * 2)
    here(capsys, "lint", ".")
    assert entry.stat().st_mtime > time.time() - 100


def test_entries_of_deleted_files_are_dropped(many: Path, capsys: Capture) -> None:
    (many / "more.yaml").write_text("")
    here(capsys, "lint", ".")
    assert "more.yaml" in entry_of(many).read_text()
    (many / "more.yaml").unlink()
    (many / "01.yaml").write_text("")
    here(capsys, "lint", ".")
    assert "more.yaml" not in entry_of(many).read_text()


def test_an_entry_that_would_be_too_large_is_not_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cache, "_MAX_ENTRY_BYTES", 400)
    for unchecked, count in (((), 1), (("x" * 400,), 0)):
        folder = tmp_path / str(count)
        folder.mkdir()
        (tmp_path / "a.yaml").touch()
        one = ResultCache(str(folder), "settings", lambda _: "key")
        file = InputFile(str(tmp_path / "a.yaml"), b"", named=False)
        assert one.get(file) is None
        one.put(file, CLEAN._replace(unchecked=unchecked))
        one.save()
        assert len(list(folder.iterdir())) == count


@pytest.mark.parametrize(
    ("platform", "variables", "expected"),
    [
        ("linux", {"XDG_CACHE_HOME": "/x"}, "/x/ptcompile"),
        ("linux", {"XDG_CACHE_HOME": "x"}, "/home/me/.cache/ptcompile"),
        ("linux", {}, "/home/me/.cache/ptcompile"),
        ("darwin", {"XDG_CACHE_HOME": "/x"}, "/home/me/Library/Caches/ptcompile"),
        ("win32", {"LOCALAPPDATA": "/local"}, "/local/ptcompile"),
        ("win32", {}, None),
    ],
)
@pytest.mark.skipif(sys.platform == "win32", reason="paths")
def test_the_folder_is_the_system_s_cache_folder(
    platform: str, variables: dict[str, str], expected: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "platform", platform)
    monkeypatch.setenv("HOME", "/home/me")
    for name in ("XDG_CACHE_HOME", "LOCALAPPDATA"):
        monkeypatch.delenv(name, raising=False)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    assert cache.default_folder() == expected


def test_the_second_run_imports_neither_reader_nor_rules(whole: Path, capsys: Capture) -> None:
    code = "import os, sys\nos._exit = lambda status: print(*sys.modules)\nfrom ptcompile.cli import run\nrun()"
    (whole / "pod.yaml").unlink()
    (whole / "15.yaml").write_text("")
    process("lint", ".", cwd=whole)
    loaded = _loaded(code, whole)
    assert "ptcompile.cli.cache" in loaded
    heavy = (
        "ptcompile.linter",
        "ptcompile.api",
        "ptcompile.apiserver",
        "ptcompile.source.documents",
        "multiprocessing",
    )
    assert not {
        name
        for name in loaded
        if name.startswith((*heavy, "yaml", "ryaml", "subprocess", "tempfile"))
    }


def _loaded(code: str, many: Path) -> set[str]:
    import subprocess

    words = [sys.executable, "-c", code, "lint", "."]
    done = subprocess.run(words, cwd=many, capture_output=True, text=True, check=True)
    return set(done.stdout.split("\n")[-2].split())


text = st.text(max_size=8)
diagnostics = st.builds(
    Diagnostic,
    code=text,
    name=text,
    severity=st.sampled_from(["error", "warning", "note"]),
    message=text,
    help=st.none() | text,
    path=st.lists(text | st.integers(0, 9), max_size=3).map(tuple),
    span=st.none() | st.builds(Span, *[st.integers(1, 9)] * 4),
    stage=st.sampled_from(["apply", "pod", "run", "style"]),
    authority=st.sampled_from(["kubelet", "torchrun"]),
    filename=st.just("a.yaml"),
    document=st.integers(0, 3),
    resource=st.none() | text,
    fix=st.none() | st.builds(Fix, text, st.just(()), st.booleans()),
    template=st.none() | text,
    masked=st.booleans(),
)
judgements = st.builds(
    LintedFile,
    st.lists(diagnostics, max_size=3).map(tuple),
    st.integers(0, 9),
    st.lists(text, max_size=3).map(tuple),
    st.integers(0, 9),
    st.dictionaries(st.integers(1, 99), text, max_size=3),
)


@given(judgements)
def test_stored_results_are_restored_exactly(one: LintedFile) -> None:
    assert decode(json.loads(json.dumps(encode(one, "a.yaml"))), "a.yaml") == one
    there = one._replace(
        diagnostics=tuple(each._replace(filename="b.yaml") for each in one.diagnostics)
    )
    assert decode(json.loads(json.dumps(encode(there, "b.yaml"))), "b.yaml") == there
    assert not one.diagnostics or encode(one, "b.yaml") is None


def test_edits_are_not_kept() -> None:
    """Edits contain values of the file, which may be secret."""
    fix = Fix("t", (Edit("set", ("spec",), "hunter2"),), safe=True)
    diagnostic = Diagnostic(
        "c", "n", "error", "m", None, (), None, "run", "kubelet", "a.yaml", fix=fix
    )
    assert "hunter2" not in json.dumps(encode(CLEAN._replace(diagnostics=(diagnostic,)), "a.yaml"))


def test_the_name_of_a_file_may_be_any_bytes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    many = folder_of(tmp_path, monkeypatch)
    (many / os.fsdecode(b"\xff\xfe.yaml")).write_text("kind: Pod\n")
    (many / '"\\ \U0001f600.yaml').write_text("kind: Pod\n")
    first = here(capsys, "lint", "--no-cache", ".")
    asked = Counted(monkeypatch)
    assert here(capsys, "lint", ".") == first
    assert here(capsys, "lint", ".") == first
    assert len(asked) == COUNT + 2


def test_standard_input_is_not_kept(
    many: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    for text in (b"kind: Pod\n", b"kind: Job\n"):
        for words in ((), ("--no-cache",)):
            monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(text)))
            ran = here(capsys, "lint", *words, ".", "-")
            assert f"{text.decode()}  | ^" in ran.out.replace("1 | ", "")
    assert "stdin" not in entry_of(many).read_text()


def test_the_stamps_of_a_folder_have_no_compiled_files(tmp_path: Path) -> None:
    for name in ("b/c.py", "b/__pycache__/c.pyc", "a.py"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("x")
    stamps = [
        (os.path.relpath(path, tmp_path), size)
        for path, _, size in cache._file_stamps(str(tmp_path))
    ]
    assert stamps == [("a.py", 1), ("b/c.py", 1)]
