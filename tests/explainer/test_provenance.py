"""The two laws of explanations, over goldens and generated specs: each value has a cause, each line has an effect."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import assume, given, settings, strategies as st

import ptcompile
from ptcompile.compiler.passes import PASSES
from ptcompile.compiler.pipeline import compile_document
from ptcompile.explainer.explanation import Explanation
from ptcompile.explainer.model import Cause
from ptcompile.operators.targets import TARGETS
from ptcompile.spec.cluster_profile import ClusterProfile
from tests.conftest import PROFILE, Case, pair_name
from tests.explainer.cases import SOME, by_record, causes_of, explained
from tests.explainer.reference import Json, count_values, emitted, every_leaf, place, without
from tests.making import DEFAULT_CLUSTER, profile, smallest
from tests.recordings import AGAIN, RECORDINGS, recorded
from tests.strategies import profiles, specs

WRITERS = {"spec", "target", *(one.__name__ for one in PASSES)}


@pytest.mark.parametrize(("case", "target"), SOME, ids=pair_name)
def test_every_value_of_every_golden_is_explained(case: Case, target: str) -> None:
    explanation = explained(case, target).explanation
    assert explanation.manifests == case.compile(target).manifests
    _law_1(explanation.causes, explanation.manifests)
    writers = {
        (cause.manifest, *cause.path): (cause.by, cause.rule) for cause in explanation.causes
    }
    for path, by, rule in by_record(case, target):
        assert writers[path] == (by, rule)


@pytest.mark.parametrize(("case", "target"), SOME, ids=pair_name)
def test_removing_a_line_changes_its_values(case: Case, target: str) -> None:
    data, cluster, explanation = explained(case, target)
    _law_2(explanation.causes, list(explanation.manifests), data, cluster, target)


@settings(
    max_examples=settings().max_examples // (4 if PROFILE == "long" else 7)
)  # 300 compilations per example
@given(specs(catalogue=True), profiles(), st.sampled_from(list(TARGETS)))
def test_both_laws_hold_for_generated_specs(spec: Json, given_profile: Json, target: str) -> None:
    cluster = ClusterProfile.model_validate(given_profile)
    compiled = compile_document(spec, cluster, target)
    assume(compiled.manifests)
    causes = causes_of(spec, cluster, target)
    assert causes == causes_of(spec, cluster, target)
    _law_1(causes, compiled.manifests)
    _law_2(causes, list(compiled.manifests), spec, cluster, target)


def _law_1(causes: tuple[Cause, ...], manifests: tuple[Json, ...]) -> None:
    """Assert one cause per value, in order: each has a writer and a rule, and the user's values have a line."""
    values = every_leaf(list(manifests))
    assert [(one.manifest, *one.path) for one in causes] == [path for path, _ in values]
    for cause, (_, value) in zip(causes, values, strict=True):
        assert cause.value in (value, "***")
        assert cause.by in WRITERS
        assert cause.rule.endswith(".")
        assert cause.by != "spec" or any(
            line.file == "spec" and line.given for line in cause.inputs
        ), cause


def _law_2(
    causes: tuple[Cause, ...],
    manifests: list[Json],
    data: Json,
    cluster: ClusterProfile,
    target: str | None,
) -> None:
    """Assert that removing a line removes the values it caused.

    A variable with a default keeps its name; only the rest of the variable changes.
    """
    given_profile = cluster.document()
    whole = count_values(manifests)
    lines: dict[tuple[Any, ...], list[Cause]] = {}
    for cause in causes:
        for line in cause.inputs:
            if line.left_out:
                lines.setdefault((line.file, line.path), []).append(cause)
    for (file, path), affected in lines.items():
        if file == "spec":
            now = emitted(
                without(data, path), cluster, None if path == ("spec", "target") else target
            )
        else:
            now = emitted(data, without(given_profile, path), target)
        left = count_values(now)
        gone = {where for where, _ in whole - left}
        for cause in affected:
            entry = (
                place((cause.manifest, *cause.path), manifests),
                repr(_value(cause, manifests)),
            )
            item = place((cause.manifest, *cause.path[:-1]), manifests) + "/"
            assert left[entry] < whole[entry] or (
                cause.path[-1] == "name" and any(where.startswith(item) for where in gone)
            ), (
                path,
                cause,
            )


def _value(cause: Cause, manifests: Any) -> Any:
    value = manifests[cause.manifest]
    for part in cause.path:
        value = value[part]
    return value


# ---- individual cases


def _cause(
    body: str, query: str, target: str = "job", cluster: ClusterProfile = DEFAULT_CLUSTER
) -> Cause:
    causes = ptcompile.explain(smallest(body), target=target, cluster=cluster).at(query)
    assert len(causes) == 1, [one.shown for one in causes]
    return causes[0]


def _lines(cause: Cause, *, other_value: bool) -> list[str]:
    return [str(line.path[-1]) for line in cause.inputs if line.other_value is other_value]


ROWS: list[tuple[str, str, str, str, list[str], list[str]]] = [
    # body, target, path, by, lines that give the value, lines that cause it to exist
    ("", "pod", "image", "spec", ["image"], []),
    ("nodes: 2", "job", "completions", "target", ["nodes"], []),
    ("nodes: 2", "job", "command[--nnodes]", "rendezvous", ["nodes"], ["script"]),
    ("nodes: 2", "job", "command[--monitor-interval]", "rendezvous", [], ["script"]),
    # equals the default, but is still the user's
    ("nodes: 2\nelastic: {monitorInterval: 5}", "job", "command[--monitor-interval]", "rendezvous",
     ["monitorInterval"], ["script"]),
    ("nodes: 2\nelastic: {nprocPerNode: 2}", "job", "env.OMP_NUM_THREADS.value", "env", [], ["nprocPerNode"]),
    ("nodes: 2", "job", "publishNotReadyAddresses", "target", [], ["nodes"]),
    ("sharedMemory: 8Gi", "pod", "sizeLimit", "shm", ["sharedMemory"], []),
    ("", "pod", "medium", "shm", [], []),
    ("hostNetwork: true", "pod", "dnsPolicy", "spec", ["hostNetwork"], []),
    ("nodes: 2\nqueue: q", "job", "labels[kueue.x-k8s.io/queue-name]", "target", ["queue", "queueSystem"],
     []),
    ("env: {OMP_NUM_THREADS: '4'}\nelastic: {nprocPerNode: 2}", "pod", "env.OMP_NUM_THREADS.name", "spec",
     ["OMP_NUM_THREADS"], []),
    ("volumes: [{name: s, emptyDir: {}}]\nvolumeMounts: [{name: s, mountPath: /dev/shm}]", "pod", "mountPath", "spec",
     [], ["mountPath"]),
    ("env: {X: a}", "pod", "env.X.value", "spec", ["X"], []),
    ("master: {}\nworker: {replicas: 1}", "pytorchjob", "Worker.replicas", "spec", ["replicas"], []),
    # the block itself, if none of its lines matters
    ("master: {env: {A: a}}\nworker: {env: {B: b}}", "pytorchjob", "Worker.replicas", "target", [], ["worker"]),
    # equal arguments, each with its own line
    ('args: ["3", "3"]', "pod", "args[0]", "spec", ["0"], []),
    ('args: ["3", "3"]', "pod", "args[1]", "spec", ["1"], ["0"]),
]  # fmt: skip


@pytest.mark.parametrize(("body", "target", "query", "by", "reaching", "there"), ROWS)
def test_a_cause_names_the_writer_and_the_input_lines(
    body: str, target: str, query: str, by: str, reaching: list[str], there: list[str]
) -> None:
    cause = _cause(body, query, target)
    assert (cause.by, _lines(cause, other_value=True), _lines(cause, other_value=False)) == (
        by,
        reaching,
        there,
    )


def test_a_value_that_two_lines_give_has_the_line_that_wrote_it() -> None:
    """A role repeats a volume of its job: either line is enough, and the role's wins."""
    volume = "volumes: [{name: data, emptyDir: {}}]"
    explanation = ptcompile.explain(
        smallest(f"{volume}\nmaster: {{{volume}}}\nworker: {{replicas: 0}}"), target="pod"
    )
    (cause,) = explanation.at("volumes[data].name")
    assert [(line.path, line.left_out, line.other_value) for line in cause.inputs] == [
        (("spec", "master", "volumes", 0, "name"), False, False),
    ]
    assert "  spec.master.volumes[0].name\n" in explanation.text("volumes[data].name")


def test_values_point_at_lines_of_the_profile() -> None:
    cluster = profile(
        {"defaults": {"env": {"REGION": "eu"}}, "gpu": {"resourceName": "amd.com/gpu"}}
    )
    cause = _cause("", "env.REGION.value", "pod", cluster)
    assert [(line.file, line.path, line.given) for line in cause.inputs] == [
        ("cluster", ("spec", "defaults", "env", "REGION"), True)
    ]
    toleration = _cause("resources: {gpu: 1}", "tolerations[0].key", "pod", cluster)
    assert [(line.file, line.path, line.given) for line in toleration.inputs] == [
        ("cluster", ("spec", "gpu", "resourceName"), True),
        ("spec", ("spec", "resources", "gpu"), True),
    ]
    assert _lines(toleration, other_value=False) == ["gpu"]


def test_the_target_line_of_the_spec_is_an_input_of_the_target_values() -> None:
    explanation = ptcompile.explain(smallest("nodes: 2\ntarget: volcano"))
    kinds = {cause.shown: [line.path for line in cause.inputs] for cause in explanation.causes}
    assert kinds["kind"] == kinds["apiVersion"] == [("spec", "target")]
    assert ("spec", "target") in kinds["spec.minAvailable"]
    assert ("spec", "target") not in kinds[
        "spec.tasks[master].template.spec.containers[pytorch].image"
    ]
    asked = ptcompile.explain(smallest("nodes: 2\ntarget: volcano"), target="volcano")
    assert not any(
        ("spec", "target") in [line.path for line in cause.inputs] for cause in asked.causes
    )


def test_a_target_is_the_writer_of_what_it_adds_because_of_a_pass() -> None:
    """A TrainJob cannot change the scheduler of the built-in runtime, so the target emits its own runtime."""
    cluster = profile({"defaults": {"schedulerName": "bins"}})
    explanation = ptcompile.explain(
        smallest("nodes: 2\nrestartPolicy: OnFailure"), target="trainjob", cluster=cluster
    )
    assert [manifest["kind"] for manifest in explanation.manifests] == [
        "TrainingRuntime",
        "TrainJob",
    ]
    by = {
        cause.shown.rpartition(".")[2]: cause.by
        for cause in explanation.causes
        if cause.manifest == 0
    }
    assert (by["apiVersion"], by["kind"], by["completionMode"]) == ("target", "target", "target")
    assert (by["image"], by["schedulerName"], by["medium"]) == ("spec", "placement", "shm")


def test_a_process_count_equal_to_the_devices_is_written_by_processes() -> None:
    cluster = profile(
        {"accelerators": {"v5e": {"resourceName": "google.com/tpu", "nodeLabels": {"tpu": "v5e"}}}}
    )
    body = "nodes: 2\naccelerator: v5e\nresources: {gpu: 4}\nelastic: {nprocPerNode: auto}"
    for target, query in (("pytorchjob", "nprocPerNode"), ("trainjob", "numProcPerNode")):
        cause = _cause(body, query, target, cluster)
        assert (str(cause.value), cause.by) == ("4", "processes")


def test_the_sum_of_pod_requests_is_written_by_the_target() -> None:
    """This includes groups that need only one pod, where the sum equals that pod's amount."""
    cluster = profile({"gangScheduler": "volcano"})
    body = 'elastic: {nnodes: "1:2", nprocPerNode: 1}\nresources: {cpu: "8", gpu: 1}'
    for query in ("minResources.cpu", "minResources[nvidia.com/gpu]"):
        assert _cause(body, query, "job", cluster).by == "target"


def test_lines_that_give_the_value_come_first() -> None:
    explanation = ptcompile.explain(smallest("nodes: 2"), target="job")
    cause = explanation.at("command[--master-addr]")[0]
    assert cause.inputs[0].path == ("metadata", "name")
    assert [line.other_value for line in cause.inputs] == sorted(
        (x.other_value for x in cause.inputs), reverse=True
    )


def test_a_spec_that_does_not_compile_is_not_explained() -> None:
    explanation = ptcompile.explain("kind: TrainingJob\nspec: {nods: 1}\n")
    assert explanation.causes == ()
    assert explanation.jobs == ()
    assert not explanation.ok
    assert causes_of({"spec": 1}, DEFAULT_CLUSTER, "pod") == ()


def test_several_documents_are_one_explanation() -> None:
    both = smallest("nodes: 2") + "---\n" + smallest("", "other")
    explanation = ptcompile.explain(both)
    assert [job.manifests for job in explanation.jobs] == [(0, 1), (2,)]
    assert explanation.manifests == ptcompile.compile(both).manifests
    _law_1(explanation.causes, explanation.manifests)
    assert isinstance(explanation, Explanation)


def test_explanations_of_a_trainjob_are_as_recorded() -> None:
    assert RECORDINGS["explainer/trainjob.txt"]() == recorded("explainer/trainjob.txt"), AGAIN
