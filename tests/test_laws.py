"""The compiler's laws (CONTRIBUTING.md#laws 1 to 4, 8 and 11), for the golden cases and for generated specs.

The fifth is in test_golden.py, the seventh in test_totality.py. HYPOTHESIS_PROFILE=long runs many more examples.
"""

from __future__ import annotations

import copy
import json
import os
import subprocess
import sys
from collections.abc import Iterable, Mapping, Set
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import assume, example, given, strategies as st
from ruamel.yaml import YAML

from ptcompile import Diagnostic, Result, compile, lint
from ptcompile.apiserver import validate
from ptcompile.compiler.frontend.lowering import lower
from ptcompile.compiler.frontend.reader import decode_spec
from ptcompile.compiler.passes import PASSES, pass_runs, run
from ptcompile.ir.job import Context, Job
from ptcompile.operators.targets import TARGETS, target_named
from ptcompile.source import documents as source
from ptcompile.source.emitter import emit_all
from ptcompile.spec.cluster_profile import ClusterProfile
from tests import kubectl
from tests.conftest import GOLDEN, PAIRS, PROFILE, ROOT, Case, pair_name, thinned
from tests.making import DEFAULT_CLUSTER, documents
from tests.strategies import profiles, specs

Json = dict[str, Any]

TARGET = st.sampled_from([None, *TARGETS])


# ---- 1. The offline API server accepts the manifests of every spec that compiles.


@pytest.mark.parametrize(("case", "target"), PAIRS, ids=pair_name)
def test_laws_1_and_11_hold_for_goldens(case: Case, target: str) -> None:
    """Lint accepts the manifests, and reports nothing that compile did not report."""
    result = case.compile(target)
    if not result.manifests:
        return
    for manifest in result.manifests:
        problems = validate(manifest, versions=case.versions())
        assert not [
            problem
            for problem in problems
            if problem.severity == "error" and problem.stage in {"apply", "pod"}
        ]
    report = lint(result.yaml(), cluster=case.cluster)
    assert report.ok
    assert not report.unchecked
    assert report.documents == len(result.manifests)
    assert not _reported_by_lint_alone(result, report.diagnostics)


NO_SUCH_MACHINE = (
    {
        "apiVersion": "ptcompile/v1",
        "kind": "TrainingJob",
        "metadata": {"name": "a"},
        "spec": {
            "image": "i",
            "command": ["x"],
            "resources": {"gpu": 1},
            "accelerator": "nvidia-h100",
        },
    },
    {
        "apiVersion": "ptcompile/v1",
        "kind": "ClusterProfile",
        "metadata": {"name": "generated"},
        "spec": {"defaults": {"limits": {"memory": "4Ti"}}},
    },
)
"""A valid spec and a valid profile that together request more than a machine has."""


@given(specs(catalogue=True), profiles(), TARGET)
@example(*NO_SUCH_MACHINE, None)
def test_law_1_holds_for_generated_specs(spec: Json, profile: Json, target: str | None) -> None:
    """A valid spec gives manifests, or the target says what it cannot express: our own manifests are never rejected.

    Amounts, accelerators, fabrics and clouds are drawn separately, so no machine may have all: that is rejected too.
    """
    result = compile(spec, target=target, cluster=profile)
    errors = [diagnostic for diagnostic in result.diagnostics if diagnostic.severity == "error"]
    assert {error.name for error in errors} <= {
        "unsupported-by-target",
        "name-too-long",
        "fits-no-machine",
        "fabric-of-another-cloud",
    }, errors
    assert bool(result.manifests) is not bool(errors)
    for manifest in result.manifests:
        problems = validate(manifest, versions=ClusterProfile.model_validate(profile).versions())
        assert not [problem for problem in problems if problem.severity == "error"]


# ---- 2. Compiling again elsewhere gives the same bytes.

COMPILE_ALL = """
import hashlib, os, sys
from ptcompile import compile
from ptcompile.operators.targets import TARGETS, target_named
whole = hashlib.sha256()
for name in sorted(os.listdir(sys.argv[1]))[:: int(sys.argv[2])]:
    folder = os.path.join(sys.argv[1], name)
    cluster = os.path.join(folder, "cluster.yaml")
    profile = open(cluster, "rb").read() if os.path.exists(cluster) else None
    for target in (None, *TARGETS):
        text = open(os.path.join(folder, "spec.yaml"), "rb").read()
        result = compile(text, target=target, cluster=profile)
        whole.update(result.yaml().encode())
        whole.update(repr([one.to_dict() for one in result.diagnostics]).encode())
print(whole.hexdigest())
"""

PLACES: tuple[dict[str, str], ...] = (
    {"PYTHONHASHSEED": "0", "TZ": "UTC", "LANG": "C.UTF-8"},
    {"PYTHONHASHSEED": "1", "TZ": "Asia/Kathmandu", "LANG": "tr_TR.UTF-8", "LC_ALL": "C"},
    {
        "PYTHONHASHSEED": "4242",
        "TZ": "America/St_Johns",
        "LANG": "C",
        "PYTHONUTF8": "0",
        "COLUMNS": "20",
    },
)


def test_law_2_holds_for_every_golden_in_other_processes(tmp_path: Path) -> None:
    running = []
    for i, place in enumerate(PLACES):
        folder = tmp_path / str(i)
        folder.mkdir()
        env = {**_bare_env(), **place}
        command = [
            sys.executable,
            "-c",
            COMPILE_ALL,
            str(GOLDEN),
            "1" if PROFILE == "long" else "4",
        ]
        running.append(
            subprocess.Popen(command, cwd=folder, env=env, stdout=subprocess.PIPE, text=True)
        )
    digests = {one.communicate(timeout=120)[0] for one in running}
    assert all(one.returncode == 0 for one in running)
    assert len(digests) == 1


def test_law_2_holds_for_the_command_line(tmp_path: Path) -> None:
    """Relative and absolute file paths, in different folders, give the same standard output."""
    spec = ROOT / "examples" / "mnist" / "spec.yaml"
    outputs = set()
    for place, (cwd, path) in zip(
        PLACES,
        ((ROOT, "examples/mnist/spec.yaml"), (tmp_path, str(spec)), (Path("/"), str(spec))),
        strict=True,
    ):
        command = [sys.executable, "-m", "ptcompile", path, "--target", "volcano"]
        done = subprocess.run(
            command,
            cwd=cwd,
            env={**_bare_env(), **place},
            capture_output=True,
            check=True,
            timeout=60,
        )
        outputs.add(done.stdout)
        assert done.stderr == b""
    assert len(outputs) == 1


def _bare_env() -> dict[str, str]:
    kept = {key: os.environ[key] for key in ("PATH", "HOME", "SYSTEMROOT") if key in os.environ}
    return {**kept, "PYTHONPATH": str(ROOT), "PYTHONDONTWRITEBYTECODE": "1"}


@given(specs(catalogue=True), profiles(), TARGET)
def test_law_2_and_the_input_is_unchanged(spec: Json, profile: Json, target: str | None) -> None:
    before = copy.deepcopy((spec, profile))
    first = compile(spec, target=target, cluster=profile)
    text = first.yaml()
    again = compile(spec, target=target, cluster=profile)
    assert again.yaml() == text
    assert again.diagnostics == first.diagnostics
    assert (spec, profile) == before


@given(specs(), TARGET)
def test_text_and_mapping_compile_to_the_same(spec: Json, target: str | None) -> None:
    from_text = compile(emit_all([spec]), target=target)
    from_mapping = compile(spec, target=target)
    assert from_text.manifests == from_mapping.manifests
    assert [diagnostic.message for diagnostic in from_text.diagnostics] == [
        diagnostic.message for diagnostic in from_mapping.diagnostics
    ]


# ---- 3. Passes fill gaps, once.


@given(specs(catalogue=True), profiles(), st.sampled_from(list(TARGETS)))
def test_law_3_passes_are_idempotent_one_by_one_and_together(
    spec: Json, profile: Json, target: str
) -> None:
    job, context = _lowered(spec, profile, target)
    done, walked = run(job, context), pass_runs(job, context)
    assert [step.name for step in walked] == [one.__name__ for one in PASSES]
    for step, compiler_pass in zip(walked, PASSES, strict=True):
        assert compiler_pass(step.after, context) == step.after, step.name
    assert run(done, context) == done


@given(specs(catalogue=True), profiles(), st.sampled_from(list(TARGETS)))
def test_law_3_fields_of_the_user_are_kept(spec: Json, profile: Json, target: str) -> None:
    job, context = _lowered(spec, profile, target)
    done = run(job, context)
    assert (done.name, done.namespace, done.run_policy) == (job.name, job.namespace, job.run_policy)
    if job.launch is None:
        assert done.launch is None
    else:
        assert done.launch is not None
        assert done.launch.rdzv_backend == (job.launch.rdzv_backend or done.launch.rdzv_backend)
        given = {
            name: value for name, value in dict(job.launch.rdzv_conf).items() if value is not None
        }
        assert given.items() <= dict(done.launch.rdzv_conf).items()
        left = {
            "rdzv_backend",
            "rdzv_conf",
            *(["nproc_per_node"] if job.launch.nproc_per_node == "auto" else []),
        }
        assert (
            done.launch._replace(**{name: getattr(job.launch, name) for name in left}) == job.launch
        )
    assert _kept(job.labels, done.labels)
    assert done.queue == (job.queue or done.queue)
    for before, after in zip(job.roles, done.roles, strict=True):
        assert (after.name, after.replicas, after.restart_policy) == (
            before.name,
            before.replicas,
            before.restart_policy,
        )
        _check_template(before.template, after.template)


def _lowered(spec: Json, profile: Json, target: str) -> tuple[Job, Context]:
    cluster = ClusterProfile.model_validate(profile)
    read, problems = decode_spec(spec)
    assert read is not None, problems
    job = lower(read, cluster)
    assume(
        not any(one.severity == "error" for one in target_named(target).unsupported(job, cluster))
    )
    return job, Context(cluster, target_named(target))


def _check_template(before: Any, after: Any) -> None:
    own, now = before.main, after.main
    assert (now.name, now.image, now.args) == (own.name, own.image, own.args)
    secure = "securityContext"
    rules = {"restartPolicy", "restartPolicyRules"}  # runPolicy.restartInPlace
    assert _without(now.extra, rules - own.extra.keys(), secure) == _without(
        own.extra, set(), secure
    )
    assert _kept(
        {k: v for k, v in own.extra.get(secure, {}).items() if k != "capabilities"},
        now.extra.get(secure, {}),
    )
    added = own.extra.get(secure, {}).get("capabilities", {}).get("add", [])
    assert now.extra.get(secure, {}).get("capabilities", {}).get("add", [])[: len(added)] == added
    assert own.command is None or now.command == own.command
    there = [entry for entry in now.env if entry in own.env]
    assert there == list(own.env)  # all of the user's items, in order
    assert [entry["name"] for entry in now.env].count("X_A") <= 1
    assert [mount for mount in now.mounts if mount in own.mounts] == list(own.mounts)
    assert [volume for volume in after.volumes if volume in before.volumes] == list(before.volumes)
    assert list(after.tolerations)[: len(before.tolerations)] == list(before.tolerations)
    assert [sidecar for sidecar in after.sidecars if sidecar in before.sidecars] == list(
        before.sidecars
    )
    assert _kept(before.labels, after.labels)
    assert _kept(before.annotations, after.annotations)
    assert _kept(before.node_selector, after.node_selector)
    init = "initContainers"
    assert _kept({k: v for k, v in before.extra.items() if k != init}, after.extra)
    mine = before.extra.get(init, [])
    assert [one for one in after.extra.get(init, []) if one in mine] == mine
    gpu = {"gpu"}
    assert _kept(
        {k: v for k, v in own.resources.limits.items() if k not in gpu}, now.resources.limits
    )
    assert _kept(
        {k: v for k, v in own.resources.requests.items() if k not in gpu}, now.resources.requests
    )


def _without(extra: Mapping[str, Any], keys: Set[str], more: str) -> dict[str, Any]:
    return {key: value for key, value in extra.items() if key not in keys and key != more}


def _kept(before: Mapping[str, Any], after: Mapping[str, Any]) -> bool:
    return all(after.get(key) == value for key, value in before.items())


# ---- 4. Every reader reads the same data from the output.


def _read_back(text: str, manifests: tuple[Json, ...]) -> None:
    expected = list(manifests)
    assert list(yaml.safe_load_all(text)) == expected
    assert [
        _plain(document) for document in YAML(typ="safe", pure=True).load_all(StringIO(text))
    ] == expected
    read = source.read(text)
    assert not read.problems
    assert [document.data for document in read.documents] == expected
    assert json.loads(json.dumps(expected)) == expected


def _plain(value: Any) -> Any:
    return json.loads(json.dumps(value))


@pytest.mark.parametrize(("case", "target"), thinned(PAIRS, 5), ids=pair_name)
def test_law_4_holds_for_goldens(case: Case, target: str) -> None:
    result = case.compile(target)
    _read_back(result.yaml(), result.manifests)


@given(specs(catalogue=True), profiles(), TARGET)
def test_law_4_holds_for_generated_specs(spec: Json, profile: Json, target: str | None) -> None:
    result = compile(spec, target=target, cluster=profile)
    _read_back(result.yaml(), result.manifests)


def test_law_4_kubectl_reads_the_goldens() -> None:
    """All goldens form one stream. kubectl returns each object unchanged, except for the label that makes it print
    it.
    """
    manifests = [one for case, target in PAIRS for one in case.compile(target).manifests]
    read = kubectl.objects(emit_all(manifests))
    assert len(read) == len(manifests)
    for there, manifest in zip(read, manifests, strict=True):
        labels = {**manifest["metadata"].get("labels", {}), kubectl.LABEL[0]: kubectl.LABEL[1]}
        assert there == {**manifest, "metadata": {**manifest["metadata"], "labels": labels}}


# ---- 11. Lint never contradicts the output of compile.

STARTS = st.sampled_from(
    [
        None,
        ["torchrun", "train.py"],
        [
            "torchrun",
            "--nnodes=2",
            "--rdzv-backend=c10d",
            "--rdzv-endpoint=$(MASTER_ADDR):29400",
            "train.py",
        ],
        ["python", "train.py"],
        ["accelerate", "launch", "train.py"],
        [
            "bash",
            "-c",
            "torchrun --nnodes=$WORLD_SIZE --node-rank=$RANK --master-addr=$MASTER_ADDR train.py",
        ],
    ]
)


def _reported_by_lint_alone(result: Result, of_lint: Iterable[Diagnostic]) -> set[str]:
    """Return the codes that lint reports of the manifests and compile did not."""
    of_compile = {diagnostic.code for diagnostic in result.diagnostics}
    # PTC065 says of the spec that the release drops what it asks for, as PTC070 does of the manifest
    if "PTC065" in of_compile:
        of_compile.add("PTC070")
    return {diagnostic.code for diagnostic in of_lint} - of_compile


TORCHRUN_ALONE: Json = {
    "apiVersion": "ptcompile/v1",
    "kind": "TrainingJob",
    "metadata": {"name": "a"},
    "spec": {
        "image": "i:1",
        "command": ["torchrun", "train.py"],
        "nodes": 2,
        "resources": {"gpu": 1},
    },
}


@given(specs(catalogue=True), profiles(), TARGET, STARTS)
@example(TORCHRUN_ALONE, {**NO_SUCH_MACHINE[1], "spec": {}}, "job", None)
def test_law_11_holds_for_generated_specs(
    spec: Json, profile: Json, target: str | None, start: list[str] | None
) -> None:
    if start is not None and "command" in spec["spec"]:
        spec = {**spec, "spec": {**spec["spec"], "command": start}}
    result = compile(spec, target=target, cluster=profile)
    if result.manifests:
        report = lint(result.yaml(), cluster=profile)
        assert not _reported_by_lint_alone(result, report.diagnostics)


# ---- 8. Every pass has a golden; test_golden.py checks that every golden has a test.


def test_law_8_every_pass_changes_a_golden() -> None:
    idle = {one.__name__ for one in PASSES}
    for case, target in PAIRS:
        (document,) = documents(case.spec)
        spec, problems = decode_spec(document)
        assert spec is not None, problems
        cluster = (
            ClusterProfile.model_validate(*documents(case.cluster))
            if case.cluster
            else DEFAULT_CLUSTER
        )
        walked = pass_runs(lower(spec, cluster), Context(cluster, target_named(target)))
        idle -= {step.name for step in walked if step.before != step.after}
    assert not idle
