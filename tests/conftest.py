"""Golden cases, hypothesis profiles, and fixtures for all tests, such as the one without a network."""

from __future__ import annotations

import copy
import functools
import gc
import os
import random
import socket
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import pytest
from hypothesis import HealthCheck, settings
from syrupy.assertion import SnapshotAssertion
from syrupy.data import SnapshotCollections
from syrupy.extensions.single_file import SingleFileSnapshotExtension, WriteMode

from ptcompile import Diagnostic, Result, compile
from ptcompile._internal import limits
from ptcompile.cli import files
from ptcompile.compiler.reader import load_profile
from ptcompile.kubernetes.versions import Versions
from ptcompile.operators.targets import TARGETS

T = TypeVar("T")

ROOT = Path(__file__).parent.parent
GOLDEN = ROOT / "golden"

settings.register_profile(
    "local",
    derandomize=True,
    deadline=None,
    max_examples=20,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)
settings.register_profile(
    "ci", parent=settings.get_profile("local"), derandomize=False, database=None, print_blob=True
)
settings.register_profile("long", parent=settings.get_profile("ci"), max_examples=300)
PROFILE = os.environ.get("HYPOTHESIS_PROFILE") or "local"
"""`local` repeats the same examples; `ci`, which the workflow sets, draws new ones from a printed seed."""
settings.load_profile(PROFILE)


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the option of the tests that need a cluster (tests/cluster)."""
    parser.addoption(
        "--cluster", action="store_true", help="run the tests for the cluster that KUBECONFIG names"
    )


@pytest.hookimpl(tryfirst=True)
def pytest_configure(config: pytest.Config) -> None:
    """Choose a seed if examples are new, before hypothesis reads its option; all xdist workers get the same seed.

    .ci/run derives HYPOTHESIS_SEED from the commit, so a failure repeats when the commit is tested again.
    """
    if (
        not settings.get_profile(PROFILE).derandomize
        and config.getoption("hypothesis_seed", None) is None
    ):
        seed = os.environ.get("HYPOTHESIS_SEED") or random.SystemRandom().randrange(2**32)
        config.option.hypothesis_seed = str(seed)


def pytest_terminal_summary(
    terminalreporter: pytest.TerminalReporter, config: pytest.Config
) -> None:
    """Print the command that repeats the examples."""
    if (seed := config.getoption("hypothesis_seed", None)) is not None:
        terminalreporter.write_line(
            f"hypothesis: HYPOTHESIS_PROFILE={PROFILE} python -m pytest --hypothesis-seed={seed}"
        )


def thinned(rows: Iterable[T], step: int, start: int = 0) -> list[T]:
    """Return every `step`-th row to keep the suite fast, or all rows in the profile `long`, which .ci/fuzz runs."""
    every = list(rows)
    return every if PROFILE == "long" else every[start % step :: step]


@dataclass(frozen=True)
class Case:
    """A folder in golden/."""

    name: str

    @property
    def folder(self) -> Path:
        return GOLDEN / self.name

    @property
    def spec(self) -> str:
        return (self.folder / "spec.yaml").read_text(encoding="utf-8")

    @property
    def cluster(self) -> str | None:
        path = self.folder / "cluster.yaml"
        return path.read_text(encoding="utf-8") if path.exists() else None

    def compile(self, target: str | None = None) -> Result:
        """Compile the files of the folder as the command line does; the result is cached, its manifests are copies."""
        made = _compiled(self, target)
        return made._replace(manifests=copy.deepcopy(made.manifests))

    def compile_anew(self, target: str | None = None) -> Result:
        """Compile without the cache."""
        profile, diagnostics = load_profile(self.cluster, filename="cluster.yaml")
        if profile is None:
            return Result((), tuple(diagnostics))
        return compile(self.spec, target=target, cluster=profile, filename="spec.yaml")

    def versions(self) -> Versions:
        """Return the releases of the case's cluster."""
        profile, _ = load_profile(self.cluster, filename="cluster.yaml")
        return profile.versions() if profile is not None else Versions()

    def texts(self) -> dict[str | None, str]:
        """Return the texts that diagnostics refer to, by file name."""
        return {"spec.yaml": self.spec, "cluster.yaml": self.cluster or ""}


_compiled = functools.cache(Case.compile_anew)
ALL = tuple(Case(path.name) for path in sorted(GOLDEN.iterdir()) if path.is_dir())
GOOD = tuple(case for case in ALL if not case.name.startswith("bad-"))
BAD = tuple(case for case in ALL if case.name.startswith("bad-"))
PAIRS = tuple((case, target) for case in GOOD for target in TARGETS)
ABLE = tuple(
    (case, target)
    for case, target in PAIRS
    if (case.folder / f"{target}.yaml").exists() and "\nvariants:" not in case.spec
)
"""Cases and targets that compile; test_golden.py checks that these files exist. A document with variants is as many
calls (tests/spec/test_variants.py), and no case for tests of one job.
"""


def pair_name(value: Case | str) -> str:
    return value if isinstance(value, str) else value.name


def plain(diagnostic: Diagnostic) -> dict[str, Any]:
    return diagnostic.to_dict()


def _extension(folder: Path, ending: str) -> type[SingleFileSnapshotExtension]:
    """Return an extension that writes each snapshot to a separate text file in the case's folder (syrupy 4.8 to 7)."""
    members = {
        "_write_mode": WriteMode.TEXT,
        "_file_extension": ending,
        "file_extension": ending,
        "dirname": classmethod(lambda _cls, *, test_location: str(folder)),
        "get_snapshot_name": classmethod(lambda _cls, *, test_location, index=0: str(index)),
        # syrupy would treat other files as stale; test_no_file_is_without_a_test finds stale ones
        "discover_snapshots": lambda _self, **_: SnapshotCollections(),
    }
    return type("Golden", (SingleFileSnapshotExtension,), members)


GoldenFile = Callable[[Case, str], SnapshotAssertion]


@pytest.fixture
def golden_file(snapshot: SnapshotAssertion) -> GoldenFile:
    """Return a function for the snapshot of a case's file: `golden_file(case, "pod.yaml")`.

    `--snapshot-update` writes the file.
    """

    def file(case: Case, name: str) -> SnapshotAssertion:
        stem, _, ending = name.rpartition(".")
        return snapshot(name=stem, extension_class=_extension(case.folder, ending))

    return file


def pytest_collection() -> None:
    """Disable garbage collection: collecting tests creates no garbage."""
    gc.disable()


def pytest_collection_finish() -> None:
    """Exclude the tests from garbage collection: scanning them repeatedly takes a tenth of the total time."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(20_000, 20, 20)
    gc.enable()


@pytest.fixture(scope="session", autouse=True)
def _own_cache(tmp_path_factory: pytest.TempPathFactory) -> None:
    """Use a lint cache that only this test run has, in all of its processes."""
    os.environ["XDG_CACHE_HOME"] = str(tmp_path_factory.mktemp("cache"))


def pytest_runtest_teardown() -> None:
    """Undo `--untrusted`, which holds for a process: the commands of the guides use it too.

    A hook costs a tenth of a fixture, and there are 40,000 tests.
    """
    limits._in_force[0] = limits.TRUSTED
    files._untrusted[0] = False


_connect = socket.socket.connect


def _refuse_to_connect(*_args: object, **_kwargs: object) -> None:
    raise AssertionError("a test opened a connection: nothing here reads the network")


@pytest.fixture(scope="session", autouse=True)
def _no_network() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(socket.socket, "connect", _refuse_to_connect)
        yield


def allow_loopback(monkeypatch: pytest.MonkeyPatch) -> None:
    """Allow a test's connections to this machine, and no others."""

    def to_loopback(opened: socket.socket, address: tuple[str, int]) -> None:
        assert address[0] == "127.0.0.1"
        _connect(opened, address)

    monkeypatch.setattr(socket.socket, "connect", to_loopback)
