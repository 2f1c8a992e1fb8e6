"""The oldest sufficient Kubernetes, its match with operator releases, and agreement of `platform` with `requires`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from ptcompile.compiler.frontend.reader import decode_spec
from ptcompile.compiler.reader import load_profile
from ptcompile.kubernetes.versions import Versions
from ptcompile.operators.table import BY_FOLDER, OPERATORS
from ptcompile.requirements import jobs, setup as objects
from ptcompile.source import documents as source
from ptcompile.spec.cluster_profile import ClusterProfile
from ptcompile.spec.training_job import Spec
from tests.cli.running import here, spec as written
from tests.conftest import GOOD, PAIRS, Case, pair_name


def spec(body: dict[str, Any], name: str = "train") -> Spec:
    return Spec.model_validate(
        {"metadata": {"name": name}, "spec": {"image": "a:1", "script": "t.py", **body}}
    )


def profile(**spec: Any) -> ClusterProfile:
    return ClusterProfile.model_validate({"spec": spec})


OLDEST: list[tuple[str, dict[str, Any], str, str]] = [
    ("job", {"nodes": 2}, "train", "1.30"),
    ("pytorchjob", {"nodes": 2}, "train", "1.30"),
    ("trainjob", {"nodes": 2}, "train", "1.31"),  # required by Trainer 2
    (
        "job",
        {"nodes": 2, "runPolicy": {"successPolicy": "Node0"}},
        "train",
        "1.33",
    ),  # stable since 1.33
    ("job", {"nodes": 2}, "1train", "1.36"),  # a Service's name may begin with a digit since 1.36
    (
        "pod",
        {"podTemplate": {"spec": {"hostnameOverride": "a"}}},
        "train",
        "1.34",
    ),  # a field added in 1.34
]


@pytest.mark.parametrize(("target", "body", "name", "version"), OLDEST)
def test_a_job_requires_the_oldest_sufficient_kubernetes(
    target: str, body: dict[str, Any], name: str, version: str
) -> None:
    requirements = jobs.requires_spec(spec(body, name), profile(), target)
    assert str(requirements[0]) == f"kubernetes kubernetes {version}  (or newer)"
    setup = objects.plan_setup(profile(), [spec({**body, "target": target}, name)])
    assert setup.requirements[0] == requirements[0]


@pytest.mark.parametrize("case", GOOD, ids=pair_name)
def test_manifests_only_change_below_the_oldest_kubernetes(case: Case) -> None:
    cluster, _ = load_profile(case.cluster)
    (document,) = source.read(case.spec).documents
    read, _ = decode_spec(document.data)
    assert cluster is not None
    assert read is not None
    target = next(
        (target for one, target in PAIRS if one == case and case.compile(target).ok), None
    )
    if target is None:
        return  # digit-first-old: its Kubernetes is too old for every target that can express it
    version = jobs.oldest_kubernetes(read, cluster, target)
    assert version <= cluster.versions().kubernetes
    made = {}
    for minor in (version[1], version[1] - 1):
        words = case.cluster or "apiVersion: ptcompile/v1\nkind: ClusterProfile\nspec: {}\n"
        data = source.read(words).documents[0].data
        given = dict(data.get("spec") or {})
        given["versions"] = {**(given.get("versions") or {}), "kubernetes": f"1.{minor}"}
        other, _ = load_profile({**data, "spec": given})
        made[minor] = requirements_of(case, target, other)
    assert made[version[1]] == case.compile(target).manifests
    assert version == jobs.first_schema() or made[version[1] - 1] != made[version[1]]


def requirements_of(case: Case, target: str, cluster: ClusterProfile | None) -> Any:
    import ptcompile

    return ptcompile.compile(case.spec, target=target, cluster=cluster, lint=False).manifests


@pytest.mark.parametrize("case", GOOD, ids=pair_name)
def test_platform_covers_the_job_s_requirements(case: Case) -> None:
    cluster, _ = load_profile(case.cluster)
    (document,) = source.read(case.spec).documents
    read, _ = decode_spec(document.data)
    assert cluster is not None
    assert read is not None
    setup = objects.plan_setup(cluster, [read])
    made = {f"{manifest['kind']}/{manifest['metadata']['name']}" for manifest in setup.manifests}
    made |= {f"Namespace/{setup.values['namespace']['name']}"} if setup.values else set()
    for requirement in jobs.requires_spec(read, cluster):
        name = (
            f"Namespace/{requirement.name}" if requirement.kind == "namespace" else requirement.name
        )
        assert requirement in setup.requirements or name in made, requirement


def test_platform_and_requires_list_efa_secrets_and_claims() -> None:
    body = {
        "nodes": 2,
        "resources": {"gpu": 8, "devices": {"vpc.amazonaws.com/efa": 4}},
        "env": {"HF_TOKEN": {"secretKeyRef": {"name": "hf", "key": "token"}}},
        "envFrom": [{"configMapRef": {"name": "train-env"}}],
        "volumes": [{"name": "d", "persistentVolumeClaim": {"claimName": "data"}}],
    }
    wanted = [
        "Secret/hf",
        "ConfigMap/train-env",
        "PersistentVolumeClaim/data",
        "nvidia.com/gpu",
        "vpc.amazonaws.com/efa",
    ]
    for found in (
        jobs.requires_spec(spec(body), profile()),
        objects.plan_setup(profile(), [spec(body)]).requirements,
    ):
        assert [one.name for one in found if one.kind in ("object", "resource")] == wanted


PAIRED: list[tuple[str, dict[str, str], list[str]]] = [
    (
        "trainer",
        {"kubernetes": "1.28"},
        ["trainer 2.3 requires Kubernetes 1.31 or newer, but the profile names 1.28"],
    ),
    ("trainer", {"kubernetes": "1.31"}, []),
    (
        "pytorchjob",
        {"kubernetes": "1.16"},
        ["training-operator 1.9 requires Kubernetes 1.28 or newer"],
    ),
    ("pytorchjob", {"kubernetes": "1.25", "trainingOperator": "1.7"}, []),
    ("kueue", {"kubernetes": "1.28"}, ["kueue 0.19 requires Kubernetes 1.29 or newer"]),
    ("batch", {"kubernetes": "1.16"}, []),
]


@pytest.mark.parametrize(("folder", "versions", "expected"), PAIRED)
def test_an_operator_requires_its_kubernetes(
    folder: str, versions: dict[str, str], expected: list[str]
) -> None:
    problems = list(jobs.kubernetes_too_old([BY_FOLDER[folder]], profile(versions=versions)))
    assert len(problems) == len(expected)
    for problem, words in zip(problems, expected, strict=True):
        assert words in problem.message
        assert (problem.name, problem.severity) == ("kubernetes-too-old", "warning")


def test_the_newest_releases_match() -> None:
    assert not list(jobs.kubernetes_too_old(OPERATORS, profile()))
    for operator in OPERATORS:
        assert list(operator.install.kubernetes) == sorted(operator.install.kubernetes)
        assert all(
            kubernetes <= Versions().kubernetes for _, kubernetes in operator.install.kubernetes
        )


@pytest.mark.parametrize("command", ["platform", "requires"])
def test_both_commands_warn_at_the_line_of_the_profile(
    command: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    cluster = tmp_path / "cluster.yaml"
    cluster.write_text(
        "apiVersion: ptcompile/v1\nkind: ClusterProfile\nspec:\n  versions: {kubernetes: '1.28'}\n"
    )
    job = written(tmp_path, body="nodes: 2\ntarget: trainjob")
    words: list[str | Path] = (
        ["platform", cluster, job]
        if command == "platform"
        else ["requires", job, "--cluster", cluster]
    )
    ran = here(capsys, *words)
    assert ran.status == 0
    assert "warning[PTC065 kubernetes-too-old]" in ran.err
    assert "cluster.yaml:4:" in ran.err
    assert "1.31  (or newer)" in ran.out
