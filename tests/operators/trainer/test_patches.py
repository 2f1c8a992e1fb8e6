"""runtimePatches of TrainJobs, which Trainer merges in list order by the keys of strategic merge.

Target trainjob: which runtime a job gets, and which patches it needs in each release.

Source: docs/facts/trainer.md#what-is-built.
"""

from __future__ import annotations

from typing import Any

import pytest

from ptcompile.compiler.location import spec_path_of
from ptcompile.operators.trainer.patches import (
    apply_runtime_patches,
    merge,
    to_current_fields,
    written_path,
)
from tests.making import smallest, traced
from tests.operators.trainer.trainjobs import (
    GPU,
    IN_PLACE,
    RANGE,
    RELEASES,
    both,
    release,
    train_job,
)

MOUNTS = [{"name": "a", "mountPath": "/1"}, {"name": "a", "mountPath": "/2"}]


@pytest.mark.parametrize(
    ("field", "base", "patch", "expected"),
    [
        (
            "env",
            [{"name": "A", "value": "1"}, {"name": "B"}],
            [{"name": "A", "value": "2"}],
            [{"name": "A", "value": "2"}, {"name": "B"}],
        ),
        (
            "containers",
            [{"name": "a", "image": "x"}],
            [{"name": "b"}],
            [{"name": "a", "image": "x"}, {"name": "b"}],
        ),
        (
            "volumeMounts",
            MOUNTS,
            [{"name": "b", "mountPath": "/2"}],
            [MOUNTS[0], {"name": "b", "mountPath": "/2"}],
        ),
        ("tolerations", [{"key": "a"}], [{"key": "b"}], [{"key": "b"}]),
        ("nodeSelector", {"a": "1", "b": "2"}, {"b": "3"}, {"a": "1", "b": "3"}),
        ("nodeSelector", {"a": "1"}, {"a": None}, {"a": "1"}),
        ("x", 1, 2, 2),
    ],
)
def test_a_patch_is_merged_by_keys(field: str, base: Any, patch: Any, expected: Any) -> None:
    assert merge(base, patch, field) == expected


def test_later_patches_win_and_the_input_is_unchanged() -> None:
    runtime = {"spec": {"template": {"metadata": {"labels": {"l": "0"}}}}}
    patches = [
        {"trainingRuntimeSpec": {"template": {"metadata": {"labels": {"l": n}}}}} for n in "12"
    ]
    patched = apply_runtime_patches(runtime, {"spec": {"runtimePatches": patches}}, [], (2, 3))
    assert patched == {"metadata": {"labels": {"l": "2"}}}
    assert runtime["spec"]["template"]["metadata"]["labels"] == {"l": "0"}


@pytest.mark.parametrize(
    ("body", "brings_runtime"),
    [
        ("", True),  # the built-in runtime restarts in place, and the job sets no restart policy
        ("restartPolicy: Never", True),
        (IN_PLACE, False),
        (f"{IN_PLACE}\nrunPolicy: {{backoffLimit: 6}}", True),
        (
            f"{IN_PLACE}\n{GPU}\nnodes: 4\nrunPolicy: {{activeDeadlineSeconds: 60, suspend: true}}",
            False,
        ),
        (f"{IN_PLACE}\n{RANGE}", True),  # the job needs a success policy
        # no patch can set these (docs/facts/pytorchjob-to-trainjob.md#field-by-field)
        (f"{IN_PLACE}\nworkingDir: /app", True),
        (f"{IN_PLACE}\nimagePullPolicy: Always", True),
        (f"{IN_PLACE}\nenvFrom: [{{secretRef: {{name: s}}}}]", True),
        (f"{IN_PLACE}\npriorityClassName: high", True),
        (f"{IN_PLACE}\nschedulerName: other", True),
        (f"{IN_PLACE}\nhostNetwork: true", True),
        (f"{IN_PLACE}\npodTemplate: {{spec: {{containers: [{{name: side, image: s}}]}}}}", True),
        (f"{IN_PLACE}\npodTemplate: {{spec: {{initContainers: [{{name: i, image: s}}]}}}}", True),
        (f"{IN_PLACE}\nnodeSelector: {{a: b}}\nserviceAccountName: s\npodLabels: {{a: b}}", False),
        (
            f"{IN_PLACE}\npodSecurityContext: {{runAsUser: 1}}\nterminationGracePeriodSeconds: 0",
            False,
        ),
        (f"{IN_PLACE}\nsecurityContext: {{runAsUser: 1}}\nimagePullSecrets: [{{name: r}}]", False),
    ],
)
def test_a_job_gets_the_runtime_that_fits(body: str, *, brings_runtime: bool) -> None:
    manifests = both(body)
    assert [manifest["kind"] for manifest in manifests] == [
        *(["TrainingRuntime"] if brings_runtime else []),
        "TrainJob",
    ]
    ref = manifests[-1]["spec"]["runtimeRef"]
    expected = (
        ("TrainingRuntime", "train")
        if brings_runtime
        else ("ClusterTrainingRuntime", "torch-distributed")
    )
    assert (ref["apiGroup"], ref["kind"], ref["name"]) == ("trainer.kubeflow.org", *expected)


@pytest.mark.parametrize(
    ("body", "since"),
    [
        ("serviceAccountName: s\nnodeSelector: {a: b}", "2.0"),
        ("podLabels: {a: b}", "2.1"),
        ("imagePullSecrets: [{name: r}]", "2.1"),
        ("affinity: {nodeAffinity: {}}", "2.1"),
        ("podSecurityContext: {runAsUser: 1}", "2.2"),
        ("securityContext: {runAsUser: 1}", "2.2"),
        ("terminationGracePeriodSeconds: 1", "2.2"),
    ],
)
def test_a_job_includes_its_runtime_if_the_release_s_patches_lack_a_field(
    body: str, since: str
) -> None:
    """The fields come from Trainer's API types of 2.0, 2.1 and 2.2. A job that sets others includes its own runtime."""
    for trainer in RELEASES:
        kinds = [one["kind"] for one in both(f"{IN_PLACE}\n{body}", release(trainer))]
        assert kinds == (["TrainJob"] if trainer >= since else ["TrainingRuntime", "TrainJob"]), (
            trainer
        )


def test_a_patch_has_the_fields_of_each_release() -> None:
    """Source: docs/facts/trainer.md#what-releases-changed."""
    pod = {
        "volumes": [{"name": "shm", "emptyDir": {"medium": "Memory"}}],
        "containers": [
            {"name": "node", "volumeMounts": [{"name": "shm", "mountPath": "/dev/shm"}]}  # noqa: S108
        ],
    }
    targets = [{"name": "node"}]
    spec = {trainer: train_job(IN_PLACE, release(trainer))["spec"] for trainer in RELEASES}
    assert spec["2.0"]["podSpecOverrides"] == [{"targetJobs": targets, **pod}]
    assert spec["2.1"]["podTemplateOverrides"] == [{"targetJobs": targets, "spec": pod}]
    assert spec["2.2"] == spec["2.3"]
    (patch,) = spec["2.3"]["runtimePatches"]
    (job,) = patch["trainingRuntimeSpec"]["template"]["spec"]["replicatedJobs"]
    assert job == {"name": "node", "template": {"spec": {"template": {"spec": pod}}}}
    assert (
        patch["manager"] == "ptcompile/compile"
    )  # docs/facts/trainer.md#fields-of-a-trainjob: a domain-prefixed path
    words = {"podSpecOverrides", "podTemplateOverrides", "runtimePatches"}
    assert [words & value.keys() for value in spec.values()] == [
        {w} for w in (*sorted(words), "runtimePatches")
    ]


def test_a_job_without_changes_has_no_patch() -> None:
    for trainer in RELEASES:
        spec = train_job(f"{IN_PLACE}\nsharedMemory: false", release(trainer))["spec"]
        assert spec.keys() == {"runtimeRef", "trainer"}


def test_trainjob_fields_are_set_directly() -> None:
    trainer = train_job(f"{IN_PLACE}\n{GPU}\nnodes: 2\nargs: [--x]\nenv: {{A: b}}")["spec"][
        "trainer"
    ]
    assert (trainer["image"], trainer["args"], trainer["numNodes"]) == ("img:1", ["--x"], 2)
    assert trainer["command"][0] == "torchrun"
    assert {"name": "A", "value": "b"} in trainer["env"]
    assert trainer["resourcesPerNode"]["limits"] == {
        "cpu": "4",
        "memory": "8Gi",
        "nvidia.com/gpu": "2",
    }


def test_claims_do_not_fit_resources_per_node() -> None:
    """Trainer copies only limits and requests; a claim also needs the pod's resourceClaims, which no patch can set.

    Source: docs/facts/trainer.md#what-is-built.
    """
    claims = "podTemplate: {spec: {resourceClaims: [{name: c, resourceClaimName: x}], containers: [{name: pytorch, "
    assert len(both(f"{IN_PLACE}\n{claims}resources: {{claims: [{{name: c}}]}}}}]}}}}")) == 2


@pytest.mark.parametrize(
    ("version", "word", "inside"),
    [
        ("2.0", "podSpecOverrides", ("nodeSelector",)),
        ("2.1", "podTemplateOverrides", ("spec", "nodeSelector")),
        (
            "2.3",
            "runtimePatches",
            ("trainingRuntimeSpec", "template", "spec", "replicatedJobs", 0, "template", "spec", "template", "spec",
             "nodeSelector"),
        ),
    ],
)  # fmt: skip
def test_paths_in_patches_are_mapped_back_to_the_spec(
    version: str, word: str, inside: tuple[Any, ...]
) -> None:
    source = smallest(f"{IN_PLACE}\nnodeSelector: {{zone: x}}")
    trace, data, index = traced(source, "trainjob", release(version))
    assert spec_path_of(trace, index, ("spec", word, 0, *inside, "zone"), data) == (
        "spec",
        "nodeSelector",
        "zone",
    )


@pytest.mark.parametrize(
    ("base", "patch", "expected"),
    [
        ({"a": 1}, "x", "x"),
        ("x", {"a": 1}, {"a": 1}),
        ({"a": 1}, {"a": None}, {"a": 1}),
        ([1], [2], [2]),
    ],
)
def test_values_of_different_kinds_are_replaced(base: Any, patch: Any, expected: Any) -> None:
    assert merge(base, patch) == expected


OVERRIDE = {"targetJobs": [{"name": "node"}], "nodeSelector": {"a": "b"}}


@pytest.mark.parametrize(
    ("version", "field", "expected"),
    [
        ((2, 0), "podSpecOverrides", True),
        ((2, 1), "podTemplateOverrides", True),
        ((2, 2), "podSpecOverrides", False),
    ],
)
def test_overrides_of_older_releases_become_patches(
    version: tuple[int, int], field: str, expected: bool
) -> None:
    manifest = {
        "apiVersion": "trainer.kubeflow.org/v1alpha1",
        "kind": "TrainJob",
        "metadata": {"name": "a"},
        "spec": {field: [OVERRIDE], "trainer": {"numProcPerNode": "auto"}},
    }
    current = to_current_fields(manifest, version)
    assert ("runtimePatches" in current["spec"]) is expected
    assert (field in current["spec"]) is not expected
    assert ("numProcPerNode" in current["spec"]["trainer"]) is not expected
    other = {**manifest, "kind": "Other"}
    assert to_current_fields(other, version) is other
    plain = {**manifest, "spec": {"trainer": {"numProcPerNode": 4}}}
    assert to_current_fields(plain, version) is plain


INSIDE = (
    "trainingRuntimeSpec",
    "template",
    "spec",
    "replicatedJobs",
    0,
    "template",
    "spec",
    "template",
)


@pytest.mark.parametrize(
    ("path", "version", "expected"),
    [
        (("spec", "trainer"), (2, 0), ("spec", "trainer")),
        (
            ("spec", "runtimePatches", 1, *INSIDE, "spec", "x"),
            (2, 2),
            ("spec", "runtimePatches", 1, *INSIDE, "spec", "x"),
        ),
        (
            ("spec", "runtimePatches", 1, *INSIDE, "spec", "x"),
            (2, 0),
            ("spec", "podSpecOverrides", 1, "x"),
        ),
        (
            ("spec", "runtimePatches", 1, *INSIDE, "spec", "x"),
            (2, 1),
            ("spec", "podTemplateOverrides", 1, "spec", "x"),
        ),
        (
            ("spec", "runtimePatches", 1, *INSIDE[:4], 2, "name"),
            (2, 1),
            ("spec", "podTemplateOverrides", 1, "targetJobs", 2, "name"),
        ),
    ],
)
def test_paths_are_those_of_the_file(path: Any, version: tuple[int, int], expected: Any) -> None:
    assert written_path(path, version) == expected
