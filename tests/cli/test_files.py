"""How results are written: to an unpredictable name next to their destination, then renamed.

Untrusted repositories: no file of theirs makes a command read or write outside them.
"""

from __future__ import annotations

import errno
import glob
import os
import signal
import stat
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ptcompile.cli import files
from ptcompile.cli.files import UsageError, report_error, write_files
from tests.cli.running import Ran, here, process
from tests.making import smallest

Capture = pytest.CaptureFixture[str]

posix = pytest.mark.skipif(sys.platform == "win32", reason="links")


@pytest.fixture
def victim(tmp_path: Path) -> Path:
    path = tmp_path / "victim.txt"
    path.write_text("mine")
    return path


def test_a_link_at_a_temporary_name_is_not_followed(
    tmp_path: Path, victim: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "urandom", lambda size: b"\1" * size)
    trap = tmp_path / files.temporary_name()
    trap.symlink_to(victim)
    with pytest.raises(UsageError, match=r"o\.yaml: file exists"):
        write_files({str(tmp_path / "o.yaml"): "a: 1\n"})
    assert victim.read_text() == "mine"
    assert trap.is_symlink(), "what was not made here is not removed"
    assert not (tmp_path / "o.yaml").exists()


def test_two_runs_take_two_names(
    tmp_path: Path, victim: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / f"o.yaml.{os.getpid()}.tmp").symlink_to(victim)
    seen: list[str] = []
    replace = os.replace

    def watched(source: str, place: str) -> None:
        seen.append(source)
        replace(source, place)

    monkeypatch.setattr(os, "replace", watched)
    for text in ("a: 1\n", "a: 2\n"):
        write_files({str(tmp_path / "o.yaml"): text})
    assert len(set(seen)) == 2
    assert (tmp_path / "o.yaml").read_text() == "a: 2\n"
    assert victim.read_text() == "mine"
    assert not list(tmp_path.glob(".ptcompile-*"))


def test_permissions_are_kept_and_setuid_is_not(tmp_path: Path) -> None:
    path = tmp_path / "o.yaml"
    path.write_text("a: 1\n")
    path.chmod(0o4640)
    write_files({str(path): "a: 2\n"})
    assert path.stat().st_mode & 0o7777 == 0o640


@pytest.mark.skipif(
    not hasattr(os, "geteuid") or os.geteuid() != 0, reason="root alone gives files away"
)
def test_the_owner_is_kept(tmp_path: Path) -> None:
    path = tmp_path / "o.yaml"
    path.write_text("a: 1\n")
    os.chown(path, 1234, 1234)
    write_files({str(path): "a: 2\n"})
    assert (path.stat().st_uid, path.stat().st_gid) == (1234, 1234)


def test_nothing_is_left_behind_if_a_file_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    with pytest.raises(UsageError, match="is a directory"):
        write_files({str(tmp_path / "a.yaml"): "a: 1\n", str(tmp_path / "folder"): "b: 1\n"})
    assert [path.name for path in tmp_path.iterdir()] == ["folder"]


WRITER = """
import os, signal, sys
from ptcompile.cli import files
os.replace = lambda *paths: os.kill(os.getpid(), signal.SIGKILL)
files.write_files({sys.argv[1]: "a: 1\\n"})
"""


@pytest.mark.skipif(
    not Path("/proc/sys/kernel/random/boot_id").exists(), reason="tells runs of this machine apart"
)
def test_files_of_a_killed_run_are_removed_by_the_next(tmp_path: Path) -> None:
    path = tmp_path / "o.yaml"
    killed = subprocess.run([sys.executable, "-c", WRITER, path], check=False)
    assert killed.returncode == -signal.SIGKILL
    (left,) = tmp_path.iterdir()
    files.sweep.cache_clear()
    write_files({str(path): "a: 2\n"})
    assert list(tmp_path.iterdir()) == [path], left


def test_files_that_another_run_may_be_writing_are_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A live run on this machine, a run of another machine or container, and a file that names no run."""
    mine = files.temporary_name()
    elsewhere = mine.replace(".ptcompile-", ".ptcompile-0")
    here_and_now = mine.removesuffix("-".join(mine.split("-")[2:]))
    pids = (f"{here_and_now}{pid}-x.tmp" for pid in (0, 2**31, 2**32, "", "x", "\u0661"))
    names = {mine, elsewhere, *pids, ".ptcompile-x.tmp", f".ptcompile--{2**31 - 1}-x.tmp"}
    for name in names:
        (tmp_path / name).touch()
    files.sweep.cache_clear()
    write_files({str(tmp_path / "o.yaml"): "a: 1\n"})
    assert {path.name for path in tmp_path.iterdir()} == {*names, "o.yaml"}

    def another_user(number: int, sign: int) -> None:
        raise PermissionError(number, sign)

    monkeypatch.setattr(os, "kill", another_user)
    files.sweep.cache_clear()
    files.sweep(str(tmp_path))
    assert (tmp_path / mine).exists()


@pytest.mark.parametrize("mode", [0o444, 0o555])
def test_a_read_only_file_is_not_replaced(mode: int, tmp_path: Path) -> None:
    """root may write it, and anyone may rename over it, but its owner made it read-only."""
    path = tmp_path / "o.yaml"
    path.write_text("a: 1\n")
    path.chmod(mode)
    with pytest.raises(UsageError, match=r"o\.yaml: is read-only"):
        write_files({str(path): "a: 2\n", str(tmp_path / "p.yaml"): "b: 1\n"})
    assert path.read_text() == "a: 1\n"
    assert [one.name for one in tmp_path.iterdir()] == ["o.yaml"]


def test_a_file_of_another_user_is_not_replaced(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its owner and root may write it; others could only rename over it, and then it would be theirs."""
    path = tmp_path / "o.yaml"
    path.write_text("a: 1\n")
    monkeypatch.setattr(os, "access", lambda name, mode: mode != os.W_OK or name != str(path))
    with pytest.raises(UsageError, match=r"o\.yaml: is read-only"):
        write_files({str(path): "a: 2\n"})
    assert path.read_text() == "a: 1\n"


@posix
def test_a_link_loop_is_not_replaced(tmp_path: Path) -> None:
    (tmp_path / "a").symlink_to("b")
    (tmp_path / "b").symlink_to("a")
    with pytest.raises(UsageError, match="a: a link that leads to itself"):
        write_files({str(tmp_path / "a"): "a: 1\n"})
    assert (tmp_path / "a").is_symlink()
    assert (tmp_path / "b").is_symlink()


def test_a_file_that_was_saved_meanwhile_stays(tmp_path: Path) -> None:
    saved, other = tmp_path / "a.yaml", tmp_path / "b.yaml"
    saved.write_text("a: saved\n")
    other.write_text("b: 1\n")
    texts, previous = (
        {str(saved): "a: 2\n", str(other): "b: 2\n"},
        {str(saved): b"a: 1\n", str(other): b"b: 1\n"},
    )
    assert write_files(texts, previous) == [str(saved)]
    assert (saved.read_text(), other.read_text()) == ("a: saved\n", "b: 2\n")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.yaml", "b.yaml"]


@pytest.mark.parametrize("encoding", ["utf-16", "latin-1"])
def test_a_file_that_is_not_utf_8_gets_no_comment(
    encoding: str, tmp_path: Path, capsys: Capture
) -> None:
    path = tmp_path / "é.yaml"
    content = f"{FIXABLE}# é\n".encode(encoding)
    path.write_bytes(content)
    ran = lint(capsys, "--add-ignore", path)
    assert ran.status == 1
    assert "0 findings ignored in 0 files" in ran.err
    assert path.read_bytes() == content


def test_an_error_has_a_limited_number_of_lines(capsys: Capture) -> None:
    report_error(UsageError("wrong", *(f"  mistake {number}" for number in range(1000))))
    lines = capsys.readouterr().err.splitlines()
    assert (len(lines), lines[-2:]) == (202, ["  mistake 199", "  and 800 more"])


@pytest.mark.parametrize("option", ["--fix", "--add-ignore"])
def test_lint_does_not_overwrite_what_is_saved_meanwhile(
    option: str, repository: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = repository / "d.yaml"
    path.write_text(FIXABLE)
    write = files.write_files

    def save_first(*arguments: object) -> list[str]:
        path.write_text(f"{FIXABLE}# saved\n")
        return write(*arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(files, "write_files", save_first)
    ran = lint(capsys, *((option, "--unsafe-fixes") if option == "--fix" else (option,)), path)
    assert ran.status == 2
    assert "d.yaml: saved by someone since it was read" in ran.err
    assert path.read_text() == f"{FIXABLE}# saved\n"


@posix
@pytest.mark.parametrize(
    "words",
    [
        ("lint", "ok.yaml", "--cluster", "link.yaml"),
        ("lint", "ok.yaml", "--schemas", "link.yaml"),
        ("compile", "ok.yaml", "--cluster", "link.yaml"),
        ("platform", "link.yaml", "ok.yaml"),
        ("diff", "link.yaml", "ok.yaml"),
        ("diff", "ok.yaml", "link.yaml"),
        ("diff", "--live", "link.yaml", "ok.yaml"),
        ("simulate", "ok.yaml", "--with", "link.yaml"),
        ("rehearse", "ok.yaml", "--with", "link.yaml"),
        ("explain", "ok.yaml", "--cluster", "link.yaml"),
        ("requires", "link.yaml"),
        ("watch", "link.yaml"),
        ("import", "link.yaml"),
        ("convert", "link.yaml", "--target", "job"),
    ],
    ids=" ".join,
)
def test_untrusted_runs_read_no_link_out_of_the_repository(
    words: tuple[str, ...], repository: Path, tmp_path: Path, capsys: Capture
) -> None:
    (repository / "ok.yaml").write_text(smallest())
    (tmp_path / "outside.yaml").write_text(
        "apiVersion: v1\nkind: Pod\nmetadata: {name: outside}\nspec: {}\n"
    )
    (repository / "link.yaml").symlink_to(tmp_path / "outside.yaml")
    ran = here(capsys, *words, "--untrusted")
    assert ran.status == 2
    assert "link.yaml: a link that leads out of" in ran.err
    assert "outside" not in ran.out


@pytest.mark.skipif(sys.platform != "linux", reason="/proc")
def test_a_file_longer_than_its_reported_size_is_read_completely() -> None:
    assert Path("/proc/self/status").stat().st_size == 0
    assert b"Threads:" in files.read("/proc/self/status")


def test_ctrl_c_leaves_no_temporary_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(_: int) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "fsync", interrupted)
    with pytest.raises(KeyboardInterrupt):
        files.write_files({str(tmp_path / "a.yaml"): "a", str(tmp_path / "b.yaml"): "b"})
    assert list(tmp_path.iterdir()) == []


def test_a_file_under_two_names_is_read_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "inner").mkdir()
    (tmp_path / "inner" / "a.yaml").touch()
    (tmp_path / "inner" / "b.yaml").symlink_to("a.yaml")
    (tmp_path / "other").symlink_to("inner")
    spellings = [
        ["inner"],
        ["inner/a.yaml", "other/a.yaml"],
        ["inner", "other"],
        ["inner/../inner/a.yaml", "./inner/"],
    ]
    for paths in spellings:
        assert len(files.read_all(paths)[0]) == 1, paths


@pytest.mark.skipif(sys.platform == "win32", reason="links")
@pytest.mark.parametrize(
    "pattern",
    ["**/*.yaml", "m/**/*.yaml", "m/**", "**", "*/*.y*", "m/[ab]/?.y*", "*/.h*", "none/*"],
)
def test_a_glob_finds_the_same_files_as_the_standard_library(
    pattern: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in (
        "m/a/x.yaml",
        "m/b/y.yaml",
        "m/.hidden/z.yaml",
        "m/.h.yaml",
        "w.yaml",
        "m/b/c/v.txt",
    ):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
    monkeypatch.chdir(tmp_path)
    for top in ("", f"{tmp_path}/"):
        matches = glob.glob(top + pattern, recursive=True)  # noqa: PTH207
        expected = sorted(match for match in matches if Path(match).is_file())
        assert [path for path, _ in files._expand(top + pattern, lambda _: False, [])] == expected


@pytest.mark.skipif(sys.platform == "win32", reason="links")
def test_a_glob_terminates_despite_link_loops(tmp_path: Path) -> None:
    (tmp_path / "a.yaml").touch()
    for name in ("x", "y", "z"):
        (tmp_path / name).symlink_to(".")
    input_files, unreadable = files.read_all([str(tmp_path / "**" / "*.yaml")])
    assert ([Path(file.name).name for file in input_files], unreadable) == (["a.yaml"], [])


EMPTY = "contains no YAML or JSON file"


@pytest.mark.parametrize(
    "words", [(), ("--fix",), ("--diff",), ("--add-ignore",), ("--output-format", "json")]
)
@pytest.mark.parametrize(
    ("pattern", "reason"),
    [
        ("manifets/*.yaml", "no file matches"),
        ("manifets/**/*.yaml", "no file matches"),
        ("empty/", EMPTY),
        ("text", EMPTY),
        ("left-out/", "all its YAML and JSON files are excluded"),
        ("left-out/*.yaml", "all matching files are excluded"),
    ],
)
def test_linting_nothing_fails(
    pattern: str,
    reason: str,
    words: tuple[str, ...],
    tmp_path: Path,
    capsys: Capture,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("empty", "text", "left-out", "manifests"):
        (tmp_path / name).mkdir()
    (tmp_path / "text" / "a.txt").touch()
    (tmp_path / "ptcompile.toml").write_text('extend-exclude = ["left-out/"]\n')
    for folder in ("left-out", "manifests"):
        (tmp_path / folder / "a.yaml").write_text(
            "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n"
        )
    for paths in ([pattern], ["manifests/", pattern]):
        ran = here(capsys, "lint", *words, *paths)
        assert ran.status == 2
        assert f"ptcompile: {pattern}: {reason}; --allow-empty accepts that\n" in ran.err
        allowed = here(capsys, "lint", "--allow-empty", *words, *paths)
        assert allowed.status == 0
        assert reason not in allowed.err


def test_compiling_nothing_fails(
    tmp_path: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "specs").mkdir()
    (tmp_path / "specs" / "a.yaml").write_text(smallest())
    assert here(capsys, "specs/", "-o", "manifests/").status == 0
    (tmp_path / "specs" / "a.yaml").unlink()
    for words in ((), ("--check", "-o", "manifests/"), ("-o", "manifests/"), ("-o", "all.yaml")):
        for path, reason in (("specs/", EMPTY), ("spec/*.yaml", "no file matches")):
            ran = here(capsys, "compile", path, *words)
            assert ran == Ran(2, "", f"ptcompile: {path}: {reason}; --allow-empty accepts that\n")
    assert here(capsys, "compile", "specs/", "-o", "all.yaml", "--allow-empty") == Ran(0, "", "")
    assert not (tmp_path / "all.yaml").exists()
    orphans = here(capsys, "compile", "specs/", "-o", "manifests/", "--check", "--allow-empty")
    assert (orphans.status, orphans.err.partition("\n")[0]) == (
        1,
        "ptcompile: orphaned: manifests/a.yaml",
    )
    (tmp_path / "manifests" / "a.yaml").unlink()
    assert here(capsys, "compile", "specs/", "-o", "manifests/", "--check", "--allow-empty") == Ran(
        0, "", ""
    )


@pytest.mark.parametrize("path", ["m", "m/*.yaml", "m/**/*.yaml", "m/*/*.yaml", "m/closed"])
def test_an_unreadable_folder_fails_the_run(
    path: str, tmp_path: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Root can read every folder, so the system calls are made to fail."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "m" / "closed").mkdir(parents=True)
    (tmp_path / "m" / "a.yaml").write_text("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n")
    closed = "m/closed" if path in ("m", "m/closed") or path.count("*") > 1 else "m"
    for name in ("scandir", "listdir"):
        monkeypatch.setattr(os, name, _refusing(closed, getattr(os, name)))
    ran = here(capsys, "lint", "--allow-empty", "--no-cache", path)
    assert (ran.status, ran.err.partition("\n")[0]) == (
        2,
        f"ptcompile: {closed}: permission denied",
    )
    (tmp_path / "ptcompile.toml").write_text('extend-exclude = ["closed/"]\n')
    named = path == closed or closed == "m"
    assert here(capsys, "lint", "--allow-empty", "--no-cache", path).status == (2 if named else 0)


def test_a_folder_of_schemas_that_cannot_be_read_is_reported(
    tmp_path: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "crds" / "closed").mkdir(parents=True)
    (tmp_path / "a.yaml").write_text("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n")
    (tmp_path / "crds" / "thing.json").write_text("{}")
    assert here(capsys, "lint", "a.yaml", "--schemas", "crds").status == 0
    monkeypatch.setattr(os, "scandir", _refusing("crds/closed", os.scandir))
    ran = here(capsys, "lint", "a.yaml", "--schemas", "crds")
    assert (ran.status, ran.err) == (2, "ptcompile: --schemas: crds/closed: Permission denied\n")


def _refusing(closed: str, call: Callable[..., Any]) -> Callable[..., Any]:
    def refuse(folder: str = ".") -> Any:
        if os.path.normpath(folder) == closed:
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), folder)
        return call(folder)

    return refuse


@pytest.mark.skipif(sys.platform == "win32", reason="pipes and devices")
@pytest.mark.parametrize("words", [("--schemas",), ("--cluster",), ("--config",), ()])
def test_a_named_pipe_or_device_is_not_read(
    words: tuple[str, ...], tmp_path: Path, capsys: Capture
) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "a.yaml").write_text("apiVersion: v1\nkind: Pod\n")
    for path in (tmp_path / "pipe", "/dev/zero"):
        ran = here(capsys, "lint", tmp_path / "a.yaml", *words, path)
        assert ran.status == 2, ran.err
        assert f"{path}: not a regular file" in ran.err, ran.err


BAD = "apiVersion: v1\nkind: Pod\nmetadata: {name: a}\nspec: {nods: 1, containers: [{name: a, image: a:1}]}\n"
FIXABLE = BAD.replace("nods: 1, ", "").replace("image: a:1", "image: a:1, imagePullPolcy: Always")


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a repository with a folder of manifests, and a private file next to the repository."""
    root = tmp_path / "repo"
    (root / ".git").mkdir(parents=True)
    (root / "m").mkdir()
    (root / "m" / "good.yaml").write_text(BAD)
    (tmp_path / "secret.yaml").write_text("top: [secret-of-the-machine\n")
    monkeypatch.chdir(root)
    return root


def lint(capsys: Capture, *words: str | Path) -> Ran:
    return here(capsys, "lint", *words)


def test_configuration_ends_at_the_root(repository: Path, capsys: Capture) -> None:
    (repository.parent / "ptcompile.toml").write_text('ignore = ["PTC501"]')
    assert lint(capsys, "m").status == 1
    (repository / "ptcompile.toml").write_text('ignore = ["PTC501"]')
    os.chdir(repository / "m")
    assert lint(capsys, ".").status == 0, "the repository's own counts"


def test_outside_of_a_repository_the_current_folder_counts(
    tmp_path: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "deep").mkdir()
    (tmp_path / "deep" / "a.yaml").write_text(BAD)
    (tmp_path / "ptcompile.toml").write_text('ignore = ["PTC501"]')
    monkeypatch.chdir(tmp_path / "deep")
    assert lint(capsys, "a.yaml").status == 1
    monkeypatch.chdir(tmp_path)
    assert lint(capsys, "deep/a.yaml").status == 0


@pytest.mark.parametrize(
    "line",
    ['cluster = "../secret.yaml"', 'cluster = "/proc/self/environ"', 'schemas = ["m", ".."]'],
)
def test_configuration_cannot_name_files_outside(
    repository: Path, capsys: Capture, line: str
) -> None:
    (repository / "ptcompile.toml").write_text(line)
    ran = lint(capsys, "m")
    assert ran.status == 2
    assert "leads out of" in ran.err
    assert "secret-of-the-machine" not in ran.out + ran.err


def test_a_link_out_in_the_configuration_is_not_followed(repository: Path, capsys: Capture) -> None:
    (repository / "cluster.yaml").symlink_to(repository.parent / "secret.yaml")
    (repository / "ptcompile.toml").write_text('cluster = "cluster.yaml"')
    ran = lint(capsys, "m")
    assert ran.status == 2
    assert "secret-of-the-machine" not in ran.out + ran.err


@pytest.mark.parametrize("words", [("m",), ("m/*.yaml",)])
def test_links_out_of_folders_are_not_followed(
    repository: Path, capsys: Capture, words: tuple[str, ...]
) -> None:
    (repository / "m" / "x.yaml").symlink_to(repository.parent / "secret.yaml")
    (repository / "m" / "y.yaml").symlink_to("good.yaml")
    ran = lint(capsys, *words)
    assert ran.status == 2
    assert f"m/x.yaml: a link that leads out of {repository}; name it to read it" in ran.err
    assert "secret-of-the-machine" not in ran.out + ran.err
    assert "1 file" in ran.err, "the other link is the same file in another spelling"


def test_a_named_link_is_read_unless_the_files_are_untrusted(
    repository: Path, capsys: Capture
) -> None:
    (repository / "m" / "x.yaml").symlink_to(repository.parent / "secret.yaml")
    assert "secret-of-the-machine" in lint(capsys, "m/x.yaml").out
    ran = lint(capsys, "--untrusted", "m/x.yaml")
    assert ran.status == 2
    assert "secret-of-the-machine" not in ran.out + ran.err


def test_untrusted_runs_do_not_quote_files_outside(repository: Path, capsys: Capture) -> None:
    outside = repository.parent / "secret.yaml"
    assert "secret-of-the-machine" in lint(capsys, outside).out
    ran = lint(capsys, "--untrusted", outside)
    assert "PTC0" in ran.out
    assert "secret-of-the-machine" not in ran.out + ran.err
    assert "nods" in lint(capsys, "--untrusted", "m").out, "those inside are shown"


def test_untrusted_input_gets_lower_limits(repository: Path, capsys: Capture) -> None:
    many = repository / "many.yaml"
    many.write_text("---\n".join([BAD] * 2100))
    assert "more than 2000" in lint(capsys, "--untrusted", "--output-format", "concise", many).out


def test_nothing_is_written_through_a_link_out(repository: Path, capsys: Capture) -> None:
    outside = repository.parent / "victim.yaml"
    outside.write_text(FIXABLE)
    (repository / "m" / "x.yaml").symlink_to(outside)
    (repository / "out").symlink_to(repository.parent)
    for words in (
        ("lint", "--fix", "--unsafe-fixes", "m/x.yaml"),
        ("compile", "spec.yaml", "-o", "out/victim.yaml"),
    ):
        (repository / "spec.yaml").write_text(
            "apiVersion: ptcompile/v1\nkind: TrainingJob\nmetadata: {name: a}\nspec: {image: 'a:1', script: t.py}\n"
        )
        ran = here(capsys, *words)
        assert ran.status == 2
        assert "where nothing is written" in ran.err
    assert outside.read_text() == FIXABLE


def test_a_file_under_two_names_is_one_file(repository: Path, capsys: Capture) -> None:
    (repository / "d.yaml").write_text(FIXABLE)
    (repository / "e.yaml").symlink_to("d.yaml")
    ran = lint(capsys, "d.yaml", "./d.yaml", "e.yaml", "--fix", "--unsafe-fixes")
    assert "1 file," in ran.err
    assert "imagePullPolicy" in (repository / "d.yaml").read_text()


def test_a_fix_keeps_the_mode_without_setuid(repository: Path, capsys: Capture) -> None:
    path = repository / "d.yaml"
    path.write_text(FIXABLE)
    path.chmod(0o4640)
    lint(capsys, "--fix", "--unsafe-fixes", path)
    assert "imagePullPolicy" in path.read_text()
    assert stat.S_IMODE(path.stat().st_mode) == 0o640


def test_files_of_a_killed_run_are_removed_later(repository: Path) -> None:
    old, young = (repository / f".ptcompile-{name}.tmp" for name in ("old", "young"))
    others = [repository / name for name in ("old.tmp", ".ptcompile-old.yaml", "old.yaml")]
    hour = time.time() - 3600.5
    for cached in (old, young, *others):
        cached.touch()
        if cached != young:
            os.utime(cached, (hour, hour))
    files.sweep.cache_clear()
    files.write_files({str(repository / "a.yaml"): "a: 1\n"})
    assert not old.exists()
    assert young.exists(), "somebody may still be writing it"
    assert all(other.exists() for other in others)


def test_a_deleted_working_directory_causes_no_traceback(tmp_path: Path) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    code = "import os, sys; os.rmdir(os.getcwd()); from ptcompile.cli import main; sys.exit(main(['lint', '-']))"
    import subprocess
    import sys

    done = subprocess.run(
        [sys.executable, "-c", code], input=BAD.encode(), cwd=gone, capture_output=True, timeout=60, check=False,
        env={"PYTHONPATH": str(Path(__file__).parents[2])},
    )  # fmt: skip
    assert done.returncode == 1, done.stderr
    assert files.BUG not in done.stderr.decode(), done.stderr
    gone.mkdir()
    shell = 'rmdir "$PWD"; exec "$0" -m ptcompile lint -'
    done = subprocess.run(
        ["/bin/sh", "-c", shell, sys.executable], input=BAD.encode(), cwd=gone, capture_output=True, timeout=60,
        check=False, env={"PYTHONPATH": str(Path(__file__).parents[2])},
    )  # fmt: skip
    assert done.returncode == 1, done.stderr
    assert b"Traceback" not in done.stderr, done.stderr


def test_pages_are_printed_by_an_interpreter_without_docstrings() -> None:
    ran = process("explain", "PTC302", flags=("-OO",))
    assert ran.status == 0
    assert "shared memory" in ran.out


def test_errors_end_with_status_2(capsys: Capture, monkeypatch: pytest.MonkeyPatch) -> None:
    assert files.report_error(UsageError("a", "b")) == 2
    assert capsys.readouterr().err == "ptcompile: a\nb\n"
    try:
        Path("missing").stat()
    except OSError as error:
        bug = error
    assert files.report_error(bug) == 2
    assert (
        f"ptcompile: {files.BUG}, not in your files: FileNotFoundError" in capsys.readouterr().err
    )
    monkeypatch.setenv("PTCOMPILE_DEBUG", "1")
    with pytest.raises(FileNotFoundError):
        files.report_error(bug)


def test_the_process_ends_with_status_2_if_its_output_is_lost(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def lose() -> None:
        raise OSError

    statuses: list[int] = []
    monkeypatch.setattr(os, "_exit", statuses.append)
    monkeypatch.setattr(files, "_needs_clean_exit", lambda: False)
    monkeypatch.setattr(sys.stdout, "flush", lose)
    files.exit_process(0)
    assert statuses == [2]


def test_closed_streams_are_reported(capsys: Capture, monkeypatch: pytest.MonkeyPatch) -> None:
    assert (files.write_stdout("a\n"), capsys.readouterr().out) == (0, "a\n")
    for name in ("stdin", "stdout"):
        monkeypatch.setattr(sys, name, None)
    assert files.write_stdout("a") == 2
    assert (
        capsys.readouterr().err == "ptcompile: cannot write the result: standard output is closed\n"
    )
    with pytest.raises(UsageError, match="standard input is closed"):
        files.read("-")


@pytest.mark.parametrize(
    ("env", "terminal", "color"),
    [
        ({}, True, True),
        ({}, False, False),
        ({"TERM": "dumb"}, True, False),
        ({"FORCE_COLOR": "1"}, False, True),
        ({"FORCE_COLOR": "1", "NO_COLOR": "1"}, True, False),
        ({"NO_COLOR": ""}, True, True),
    ],
)
def test_variables_and_the_terminal_decide_about_color(
    env: dict[str, str], terminal: bool, color: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("NO_COLOR", "FORCE_COLOR", "TERM"):
        monkeypatch.delenv(name, raising=False)
    for name, value in env.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(sys.stdout, "isatty", lambda: terminal)
    assert files.wants_color(sys.stdout) is color
    assert files.wants_color(None) is ("FORCE_COLOR" in env and "NO_COLOR" not in env)
