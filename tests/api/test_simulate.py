"""`simulate` of the public API, which takes text, mappings and specs and returns a world."""

from __future__ import annotations

import copy
import json

import pytest
import yaml

import ptcompile
from ptcompile.api.simulate import simulate as simulate_text
from ptcompile.kinds.pods import PodView
from ptcompile.operators.targets import TARGETS
from ptcompile.simulator.pod import Pod
from ptcompile.simulator.world import simulate
from tests.simulator.worlds import SPEC, everything, pytorchjob


def test_spec_is_simulated_for_every_target_that_can_express_it() -> None:
    world = simulate_text(SPEC)
    assert world.ok
    # a Pod is a single node
    assert [job.target for job in world.jobs] == [name for name in TARGETS if name != "pod"]
    assert [job.target for job in simulate_text(SPEC, target="volcano").jobs] == ["volcano"]
    assert all(len(list(job.pods())) == 2 for job in world.jobs)


def test_spec_with_mistakes_gives_findings() -> None:
    world = simulate_text(SPEC.replace("script", "scripd"), filename="s.yaml")
    assert not world.ok
    assert not world.jobs
    assert {d.filename for d in world.diagnostics} == {"s.yaml"}


@pytest.mark.parametrize("text", ["", "a: [", b"\xff\xfe\x00", "- 1\n- 2", "kind: Pod\n---\nx: {"])
def test_bad_text_is_a_finding(text: str | bytes) -> None:
    world = simulate_text(text)
    assert not world.ok
    json.dumps(world.to_dict())


def test_profile_sets_the_versions() -> None:
    versions = {"trainingOperator": "1.6"}
    cluster = {
        "apiVersion": "ptcompile/v1",
        "kind": "ClusterProfile",
        "spec": {"versions": versions},
    }
    assert (
        "PET_NNODES" not in simulate_text(yaml.safe_dump(pytorchjob()), cluster=cluster).pods[0].env
    )
    assert not simulate_text(SPEC, cluster="kind: 5").ok


def test_mapping_is_accepted_and_not_changed() -> None:
    manifest = pytorchjob()
    before = copy.deepcopy(manifest)
    everything(simulate_text(manifest))
    assert manifest == before


def test_views_are_reachable() -> None:
    pod = simulate([pytorchjob()]).pods[0]
    assert isinstance(pod, Pod)
    assert isinstance(pod.view, PodView)
    assert [container.name for container in pod.containers] == ["pytorch"]


def test_findings_of_a_spec_have_locations() -> None:
    text = "apiVersion: ptcompile/v1\nkind: TrainingJob\nmetadata: {name: x}\nspec:\n  image: a:1\n  scrpt: t.py\n"
    world = ptcompile.simulate(text, filename="x.yaml")
    assert [(d.name, d.span and d.span.line, d.filename) for d in world.diagnostics] == [
        ("spec-unknown-field", 6, "x.yaml")
    ]


def test_an_object_without_api_version_is_an_error_as_in_lint() -> None:
    """Volcano's own example begins with `yamlapiVersion`."""
    text = "yamlapiVersion: batch.volcano.sh/v1alpha1\nkind: Job\nmetadata: {name: a}\n"
    (problem,) = ptcompile.simulate(text).diagnostics
    assert (problem.name, problem.severity, problem.help) == (
        "required-value",
        "error",
        "did you mean apiVersion?",
    )
    assert problem == next(
        item for item in ptcompile.lint(text).diagnostics if item.name == "required-value"
    )
    assert not ptcompile.simulate("image: a\nreplicas: 2\n").diagnostics, "a Helm values file"


@pytest.mark.parametrize("is_spec", [True, False])
def test_queue_frameworks_of_the_profile_are_managed_by_kueue(is_spec: bool) -> None:
    spec = (
        "apiVersion: ptcompile/v1\nkind: TrainingJob\nmetadata: {name: a}\n"
        "spec: {image: 'i:1', script: t.py, nodes: 2, queue: q, target: pytorchjob}\n"
    )
    source = spec if is_spec else ptcompile.compile(spec).yaml()
    cluster = "apiVersion: ptcompile/v1\nkind: ClusterProfile\nspec: {queueFrameworks: [kubeflow.org/pytorchjob]}\n"
    (job,) = simulate_text(source, cluster=cluster, target="default").jobs
    assert "waits until Kueue admits it from the queue 'q'" in job.notes
    (job,) = simulate_text(source, target="default").jobs
    assert any("by default it starts at once" in note for note in job.notes)


def test_the_warnings_of_compile_are_those_of_one_target() -> None:
    spec = "apiVersion: ptcompile/v1\nkind: TrainingJob\nmetadata: {name: a}\nspec: {image: 'i:1', script: t.py, %s}\n"
    text = spec % "elastic: {nnodes: '1:2'}, target: jobset"
    warned = [d.code for d in ptcompile.stored(text).diagnostics]
    assert "PTC704" in warned
    assert [d.code for d in simulate_text(text, target="default").diagnostics] == warned
    assert [d.code for d in simulate_text(text).diagnostics] == []


def test_a_profile_among_the_files_is_not_read() -> None:
    profile = "apiVersion: ptcompile/v1\nkind: ClusterProfile\nspec: {cloud: gke}\n"
    world = simulate_text(f"{SPEC}---\n{profile}", target="job")
    (warning,) = world.diagnostics
    assert (warning.name, warning.severity, warning.help) == (
        "unknown-kind",
        "warning",
        "pass it with --cluster FILE",
    )
    assert world.ok
    assert not simulate_text(f"{SPEC}---\n{profile}", target="job", cluster=profile).diagnostics
