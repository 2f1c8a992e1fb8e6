"""The TorchX scheduler in real TorchX: found by its entry point, run by TorchX's runner."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
import tomllib
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from tests.adapters.fake_api import FakeApi
from tests.conftest import ROOT

pytest.importorskip("torchx")

from torchx.components.dist import ddp
from torchx.runner import get_runner
from torchx.schedulers import get_scheduler_factories
from torchx.schedulers.api import Stream
from torchx.specs import AppState

from ptcompile import CompileError
from ptcompile.adapters.torchx import PtcompileScheduler, create_scheduler

OPERATORS = ["job", "pytorchjob", "volcano", "jobset", "trainjob"]


def app(j: str = "2x1", **given: Any) -> Any:
    return ddp(
        "--epochs",
        "3",
        script="train.py",
        image="registry.example.com/x:1",
        j=j,
        cpu=1,
        memMB=2000,
        **given,
    )


@pytest.fixture
def scheduler(api: Any) -> PtcompileScheduler:
    return create_scheduler("session", client=api)


IS_NEXT = importlib.util.find_spec("torchx.plugins") is not None
"""Whether this is TorchX 0.8 or a build on the way to it."""


def test_torchx_s_own_schedulers_stay() -> None:
    """With any entry point, TorchX 0.7 ignores its default schedulers, so the plugin lists them too."""
    from torchx.schedulers import DEFAULT_SCHEDULER_MODULES

    factories = get_scheduler_factories()
    assert set(factories) == {"ptcompile", *DEFAULT_SCHEDULER_MODULES}
    assert isinstance(factories["ptcompile"]("session"), PtcompileScheduler)
    assert factories["local_cwd"]("session").backend == "local"


def test_ptcompile_alone_does_not_change_torchx_0_7() -> None:
    from importlib.metadata import PackageNotFoundError, distribution

    assert {point.group for point in distribution("ptcompile").entry_points} == {"console_scripts"}
    try:
        assert distribution("ptcompile").version == distribution("ptcompile-torchx").version
    except PackageNotFoundError:
        assert IS_NEXT, "the plugin of TorchX 0.7 is not installed"


def test_torchx_0_8_finds_the_module_of_the_wheel() -> None:
    included = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    folder = "integrations/torchx/torchx_plugins"
    assert (
        included["tool"]["hatch"]["build"]["targets"]["wheel"]["force-include"][folder]
        == "torchx_plugins"
    )
    if IS_NEXT:
        from torchx import plugins

        assert (
            get_scheduler_factories()["ptcompile"].__module__
            == "torchx_plugins.schedulers.ptcompile"
        )
        assert not plugins.registry().errors


def test_the_command_line_compiles_without_a_cluster(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text("print()\n", encoding="utf-8")
    torchx = Path(sys.executable).with_name("torchx")
    words = [
        "run",
        "-s",
        "ptcompile",
        "--dryrun",
        "-cfg",
        "target=volcano,namespace=research",
        "dist.ddp",
        "-j",
        "2x1",
    ]
    done = subprocess.run(
        [torchx, *words, "--script", "train.py", "--image", "registry.example.com/x:1"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "kind: Job" in done.stdout
    assert "batch.volcano.sh/v1alpha1" in done.stdout
    assert "namespace: research" in done.stdout


@pytest.mark.parametrize("target", OPERATORS)
def test_a_job_runs_from_its_start_to_its_end(
    target: str, fake: FakeApi, scheduler: PtcompileScheduler
) -> None:
    with get_runner("session") as runner:
        runner._scheduler_instances["ptcompile"] = scheduler
        handle = runner.run(app(), "ptcompile", {"target": target, "namespace": "research"})
        assert handle.startswith(f"ptcompile://session/research:{target}:train-")
        status = runner.status(handle)
        assert status is not None
        assert status.state in (AppState.PENDING, AppState.RUNNING)
        described = runner.describe(handle)
        assert described is not None
        assert sum(role.num_replicas for role in described.roles) == 2
        lines = list(runner.log_lines(handle, "", k=1))
        assert lines[1].endswith(" épilogue\n")
        fake.ends = True
        done = runner.wait(handle, wait_interval=0.1)
        assert done is not None
        assert done.state == AppState.SUCCEEDED
        assert [response.app_id for response in runner.list("ptcompile")] == [
            handle.rpartition("/")[2]
        ]
        assert all(path[0] in ("POST", "GET", "PATCH") for path in fake.asked)


@pytest.mark.parametrize("target", OPERATORS)
def test_cancel_deletes_the_job_and_its_other_objects(
    target: str, fake: FakeApi, scheduler: PtcompileScheduler
) -> None:
    app_id = scheduler.submit(app(), {"target": target})
    scheduler.cancel(app_id)
    assert fake.objects == {}
    assert scheduler.describe(app_id) is None
    scheduler.cancel(app_id)


def test_a_failure_has_a_reason(fake: FakeApi, scheduler: PtcompileScheduler) -> None:
    app_id = scheduler.submit(app(), {"target": "jobset"})
    fake.ends = False
    scheduler.describe(app_id)
    description = scheduler.describe(app_id)
    assert description is not None
    assert (description.state, description.msg) == (AppState.FAILED, "Broken: it broke")


def test_volcano_s_aborted_is_cancelled(fake: FakeApi, scheduler: PtcompileScheduler) -> None:
    app_id = scheduler.submit(app(), {"target": "volcano"})
    fake.only("jobs")["status"] = {"state": {"phase": "Aborted"}}
    description = scheduler.describe(app_id)
    assert description is not None
    assert description.state == AppState.CANCELLED


def test_logs_are_those_of_the_role_and_rank(scheduler: PtcompileScheduler) -> None:
    app_id = scheduler.submit(app(), {"target": "pytorchjob"})
    name = app_id.rpartition(":")[2]
    first = [
        next(iter(scheduler.log_iter(app_id, role, k)))
        for role, k in (("Master", 0), ("Worker", 0), ("train", 1))
    ]
    assert first == [f"{name}-{pod}-0 pytorch one\n" for pod in ("master", "worker", "worker")]
    assert list(scheduler.log_iter(app_id, "Master", regex="pil", should_tail=True)) == [
        f"{name}-master-0 épilogue\n"
    ]
    since = datetime.now(UTC) - timedelta(seconds=30)
    assert list(scheduler.log_iter(app_id, "Master", since=since))
    with pytest.raises(ValueError, match="no pod 7 of role 'Master'"):
        scheduler.log_iter(app_id, "Master", 7)
    with pytest.raises(ValueError, match="both streams"):
        scheduler.log_iter(app_id, "Master", streams=Stream.STDERR)


def test_the_options_name_a_profile_and_a_queue(
    tmp_path: Path, scheduler: PtcompileScheduler
) -> None:
    profile = tmp_path / "cluster.yaml"
    profile.write_text(
        "apiVersion: ptcompile/v1\nkind: ClusterProfile\nspec: {queueSystem: kueue}\n",
        encoding="utf-8",
    )
    info = scheduler.submit_dryrun(
        app(), {"target": "jobset", "cluster": str(profile), "queue": "gpus"}
    )
    assert "kueue.x-k8s.io/queue-name: gpus" in str(info)


def test_invalid_specs_raise_with_all_findings(
    fake: FakeApi, scheduler: PtcompileScheduler
) -> None:
    with pytest.raises(CompileError, match="PTC"):
        scheduler.submit(app(j="2x1", env={"BAD NAME=": "x"}), {"target": "jobset"})
    assert fake.asked == []


def test_import_has_no_side_effects() -> None:
    """The first request opens files and connections and creates the client."""
    code = (
        "import sys; before = set(sys.modules)\n"
        "import ptcompile.adapters.torchx as module\n"
        "made = module.create_scheduler('s')\n"
        "assert made._client is None and 'kubernetes' not in sys.modules, 'a client'\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
