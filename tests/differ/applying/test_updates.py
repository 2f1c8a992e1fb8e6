"""Rejections of an apply that changes one field of an existing object."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

import pytest

import ptcompile
from tests.differ.making import job, pod

Json = dict[str, Any]


def changed(manifest: Json, path: str, value: Any) -> Json:
    """Return the manifest with one value set, or without the key if the value is None."""
    out = deepcopy(manifest)
    *steps, last = path.split(".")
    node: Any = out
    for step in steps:
        node = node[int(step)] if step.isdigit() else node.setdefault(step, {})
    if value is None:
        node.pop(last, None)
    else:
        node[int(last) if last.isdigit() else last] = value
    return out


def refused(old: Json, new: Json, *, profile: str | None = None) -> list[str]:
    """Return the error messages of an apply."""
    cluster = f"kind: ClusterProfile\nspec: {profile}\n" if profile else None
    difference = ptcompile.diff(old, new, from_cluster=cluster, to_cluster=cluster)
    assert difference.ok
    return [
        d.message for d in difference.diagnostics if d.stage == "apply" and d.severity == "error"
    ]


GATED = pod(schedulingGates=[{"name": "x/y"}], nodeSelector={"a": "b"})
TOLERANT = pod(
    tolerations=[{"key": "a", "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 5}]
)

POD_MAY = [
    (pod(), "spec.containers.0.image", "i:2"),
    (pod(), "metadata.labels", {"a": "b"}),
    (pod(), "spec.activeDeadlineSeconds", 10),
    (pod(activeDeadlineSeconds=10), "spec.activeDeadlineSeconds", 5),
    (pod(), "spec.restartPolicy", "Always"),
    (pod(), "spec.tolerations", [{"key": "a", "operator": "Exists"}]),
    (TOLERANT, "spec.tolerations.0.tolerationSeconds", 9),
    (GATED, "spec.schedulingGates", []),
    (GATED, "spec.nodeSelector.c", "d"),
]
POD_MAY_NOT = [
    (pod(), "spec.containers.0.command", ["a"]),
    (pod(), "spec.containers.0.name", "d"),
    (pod(), "spec.restartPolicy", "Never"),
    (pod(), "spec.setHostnameAsFQDN", False),
    (pod(activeDeadlineSeconds=5), "spec.activeDeadlineSeconds", 10),
    (pod(activeDeadlineSeconds=5), "spec.activeDeadlineSeconds", None),
    (pod(nodeSelector={"a": "b"}), "spec.nodeSelector.c", "d"),
    (GATED, "spec.nodeSelector.a", "c"),
    (GATED, "spec.schedulingGates", [{"name": "x/y"}, {"name": "x/z"}]),
    (TOLERANT, "spec.tolerations", []),
]


@pytest.mark.parametrize(("manifest", "path", "value"), POD_MAY)
def test_a_pod_may_change(manifest: Json, path: str, value: Any) -> None:
    assert refused(manifest, changed(manifest, path, value)) == []


@pytest.mark.parametrize(("manifest", "path", "value"), POD_MAY_NOT)
def test_a_pod_may_not_change(manifest: Json, path: str, value: Any) -> None:
    assert refused(manifest, changed(manifest, path, value))


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("spec.backoffLimit", 3),
        ("spec.suspend", True),
        ("spec.ttlSecondsAfterFinished", 60),
        ("spec.template.spec.restartPolicy", "Never"),
        ("spec.template.spec.terminationGracePeriodSeconds", 30),
    ],
)
def test_a_job_may_change(path: str, value: Any) -> None:
    assert refused(job(), changed(job(), path, value)) == []


@pytest.mark.parametrize(
    ("path", "value", "expected"),
    [
        (
            "spec.template.spec.containers.0.image",
            "i:2",
            "spec.template: Invalid value: field is immutable",
        ),
        (
            "spec.completions",
            3,
            "spec.completions: Invalid value: 3: can only be modified in tandem",
        ),
        (
            "spec.podFailurePolicy",
            {"rules": []},
            "spec.podFailurePolicy: Invalid value: {...}: field is immutable",
        ),
    ],
)
def test_a_job_may_not_change(path: str, value: Any, expected: str) -> None:
    assert [
        message
        for message in refused(job(), changed(job(), path, value))
        if message.startswith(expected)
    ]


def test_both_counts_of_an_indexed_job_change_together() -> None:
    assert refused(job(pods=2), job(pods=3)) == []


def test_node_selectors_of_a_suspended_job_may_change() -> None:
    waiting = job(suspend=True)
    aimed = changed(waiting, "spec.template.spec.nodeSelector", {"a": "b"})
    assert refused(waiting, aimed) == []
    assert refused(job(), changed(job(), "spec.template.spec.nodeSelector", {"a": "b"}))
    assert refused(waiting, changed(waiting, "spec.template.spec.containers.0.image", "i:2"))


def test_resources_of_a_suspended_job_may_change_since_1_36() -> None:
    waiting = job(suspend=True)
    larger = changed(waiting, "spec.template.spec.containers.0.resources", {"limits": {"cpu": "2"}})
    assert refused(waiting, larger) == []
    assert refused(waiting, larger, profile='{versions: {kubernetes: "1.35"}}')


def test_node_selectors_of_a_job_that_ran_may_not_change_before_1_36() -> None:
    ran = {**job(suspend=True), "status": {"startTime": "2026-01-01T00:00:00Z"}}
    aimed = changed(job(suspend=True), "spec.template.spec.nodeSelector", {"a": "b"})
    assert refused(ran, aimed)
    ran["status"]["conditions"] = [{"type": "Suspended", "status": "True"}]
    assert refused(ran, aimed) == []
    assert refused(ran, aimed, profile='{versions: {kubernetes: "1.35"}}')


def _object(kind: str, version: str, **body: Any) -> Json:
    return {"apiVersion": version, "kind": kind, "metadata": {"name": "a"}, **body}


TEMPLATE = {
    "metadata": {"labels": {"a": "b"}},
    "spec": {"containers": [{"name": "c", "image": "i"}]},
}
SELECTOR = {"matchLabels": {"a": "b"}}
DEPLOYMENT = _object("Deployment", "apps/v1", spec={"selector": SELECTOR, "template": TEMPLATE})
STATEFUL = _object(
    "StatefulSet", "apps/v1", spec={"serviceName": "s", "selector": SELECTOR, "template": TEMPLATE}
)
SERVICE = _object("Service", "v1", spec={"ports": [{"port": 80}]})
HEADLESS = _object("Service", "v1", spec={"clusterIP": "None"})
CLAIM = _object(
    "PersistentVolumeClaim",
    "v1",
    spec={"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}},
)
LIVE_CLAIM = {**CLAIM, "status": {"phase": "Bound"}}
FROZEN = _object("ConfigMap", "v1", data={"a": "b"}, immutable=True)
ROLE = {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": "r"}
BINDING = _object("RoleBinding", "rbac.authorization.k8s.io/v1", roleRef=ROLE)

ZONE = {
    "required": {
        "nodeSelectorTerms": [{"matchExpressions": [{"key": "a/zone", "operator": "Exists"}]}]
    }
}
BETA_ZONE = changed(
    ZONE,
    "required.nodeSelectorTerms.0.matchExpressions.0.key",
    "failure-domain.beta.kubernetes.io/zone",
)
VOLUME = _object(
    "PersistentVolume",
    "v1",
    spec={
        "capacity": {"storage": "1Gi"},
        "accessModes": ["ReadWriteOnce"],
        "nfs": {"server": "s", "path": "/"},
        "nodeAffinity": BETA_ZONE,
    },
)
BALANCER = changed(
    SERVICE,
    "spec",
    {
        "type": "LoadBalancer",
        "externalTrafficPolicy": "Local",
        "ports": [{"port": 80}],
        "loadBalancerClass": "a",
    },
)
STABLE = "topology.kubernetes.io/zone"
KEY = "spec.nodeAffinity.required.nodeSelectorTerms.0.matchExpressions.0.key"
MAY = [
    (VOLUME, KEY, STABLE),
    (VOLUME, "spec.volumeMode", "Filesystem"),
    (changed(VOLUME, "spec.nodeAffinity", None), "spec.nodeAffinity", ZONE),
    (BALANCER, "spec.ports.0.port", 81),
    (DEPLOYMENT, "spec.template.spec.containers.0.image", "j"),
    (DEPLOYMENT, "spec.replicas", 3),
    (STATEFUL, "spec.replicas", 3),
    (SERVICE, "spec.selector", {"a": "b"}),
    (SERVICE, "spec.ports.0.port", 81),
    (LIVE_CLAIM, "spec.resources.requests.storage", "2Gi"),
    (CLAIM, "spec.volumeName", "v"),
    (BINDING, "subjects", [{"kind": "User", "name": "u"}]),
    (_object("Secret", "v1", stringData={"a": "b"}), "stringData.a", "c"),
]
MAY_NOT = [
    (VOLUME, KEY, "a"),
    (VOLUME, "spec.nodeAffinity", None),
    (VOLUME, "spec.volumeMode", "Block"),
    (BALANCER, "spec.loadBalancerClass", "b"),
    (BALANCER, "spec.loadBalancerClass", None),
    (BALANCER, "spec.healthCheckNodePort", 30000),
    (DEPLOYMENT, "spec.selector.matchLabels", {"a": "c"}),
    (STATEFUL, "spec.serviceName", "t"),
    (SERVICE, "spec.clusterIP", "None"),
    (SERVICE, "spec.ports.0.port", 0),
    (CLAIM, "spec.resources.requests.storage", "2Gi"),
    (LIVE_CLAIM, "spec.resources.requests.storage", "1Mi"),
    (LIVE_CLAIM, "spec.accessModes", ["ReadWriteMany"]),
    (FROZEN, "data.a", "c"),
    (FROZEN, "immutable", None),
    (_object("Secret", "v1", type="Opaque"), "type", "example.com/x"),
    (BINDING, "roleRef.name", "s"),
    (_object("PriorityClass", "scheduling.k8s.io/v1", value=1), "value", 2),
    (SERVICE, "metadata.deletionGracePeriodSeconds", 5),
]


@pytest.mark.parametrize(("manifest", "path", "value"), MAY)
def test_other_kinds_may_change(manifest: Json, path: str, value: Any) -> None:
    assert refused(manifest, changed(manifest, path, value)) == []


@pytest.mark.parametrize(("manifest", "path", "value"), MAY_NOT)
def test_other_kinds_may_not_change(manifest: Json, path: str, value: Any) -> None:
    assert refused(manifest, changed(manifest, path, value))


def test_some_kinds_say_why_a_field_stays() -> None:
    (role_message,) = refused(BINDING, changed(BINDING, "roleRef.name", "s"))
    (data_message,) = refused(FROZEN, changed(FROZEN, "immutable", None))
    assert role_message.endswith(": cannot change roleRef")
    assert data_message.endswith(" is immutable when `immutable` is set")


def test_another_name_is_another_object() -> None:
    assert (
        refused(
            job(name="a"), changed(job(name="b"), "spec.template.spec.containers.0.image", "i:2")
        )
        == []
    )
    assert ptcompile.diff(job(name="a"), job(name="b")).objects[0].apply is None


def test_objects_of_a_rejected_apply_are_still_compared() -> None:
    difference = ptcompile.diff(
        job(), changed(job(), "spec.template.spec.containers.0.image", "i:2")
    )
    (change,) = difference.objects
    assert change.changes
    assert change.apply is not None
    assert change.apply.outcome == "refused"
    assert "field is immutable" in str(change.apply.why)


def test_a_live_object_equals_its_manifest() -> None:
    live = deepcopy(pod())
    live["metadata"] |= {
        "uid": "u",
        "resourceVersion": "7",
        "managedFields": [{"manager": "kubectl"}],
    }
    live["status"] = {"phase": "Running"}
    difference = ptcompile.diff(live, pod())
    assert not difference.differs
    assert difference.diagnostics == ()


def test_a_problem_whose_fix_sets_a_list_is_reported_once() -> None:
    """Found by 200,000 fuzzing runs: a fix with a list made the problem unhashable, and diff raised TypeError."""
    new = pod()
    new["spec"]["containers"][0]["command"] = "train"
    difference = ptcompile.diff(pod(), new)
    assert [diagnostic.name for diagnostic in difference.diagnostics] == [
        "wrong-type",
        "forbidden-value",
    ]


BALANCER = _object(
    "Service",
    "v1",
    spec={
        "type": "LoadBalancer",
        "loadBalancerClass": "x.io/y",
        "externalTrafficPolicy": "Local",
        "ports": [{"port": 80}],
        "selector": {"a": "b"},
    },
)
TERM = {
    "matchExpressions": [
        {"key": "failure-domain.beta.kubernetes.io/zone", "operator": "In", "values": ["z"]}
    ]
}
VOLUME = _object(
    "PersistentVolume",
    "v1",
    spec={
        "capacity": {"storage": "1Gi"},
        "accessModes": ["ReadWriteOnce"],
        "csi": {"driver": "d.io", "volumeHandle": "h"},
        "nodeAffinity": {"required": {"nodeSelectorTerms": [TERM]}},
    },
)
KEY = "spec.nodeAffinity.required.nodeSelectorTerms.0.matchExpressions.0.key"


@pytest.mark.parametrize(
    ("manifest", "path", "value", "expected"),
    [
        (BALANCER, "spec.loadBalancerClass", "x.io/z", "spec.loadBalancerClass: Invalid value"),
        (BALANCER, "spec.loadBalancerClass", None, "spec.loadBalancerClass: Invalid value"),
        (
            BALANCER,
            "spec.healthCheckNodePort",
            30000,
            "spec.healthCheckNodePort: Forbidden: field is immutable",
        ),
        (VOLUME, KEY, "a", "spec.nodeAffinity: Invalid value"),
        (VOLUME, KEY, "topology.kubernetes.io/zone", ""),
        (VOLUME, "spec.volumeMode", "Block", "spec.volumeMode: Invalid value"),
        (VOLUME, "spec.volumeMode", "Filesystem", ""),
    ],
)
def test_changes_of_immutable_fields_are_refused(
    manifest: Json, path: str, value: Any, expected: str
) -> None:
    messages = refused(manifest, changed(manifest, path, value))
    assert (
        [message for message in messages if message.startswith(expected)]
        if expected
        else messages == []
    )


STATEFUL_SET = _object(
    "StatefulSet",
    "apps/v1",
    spec={
        "serviceName": "s",
        "selector": {"matchLabels": {"a": "b"}},
        "template": {
            "metadata": {"labels": {"a": "b"}},
            "spec": {"containers": [{"name": "c", "image": "i"}]},
        },
        "volumeClaimTemplates": [
            {
                "metadata": {"name": "v"},
                "spec": {
                    "accessModes": ["ReadWriteOnce"],
                    "resources": {"requests": {"storage": "1Gi"}},
                },
            }
        ],
    },
)


@pytest.mark.parametrize(
    ("manifest", "path", "value"),
    [
        (
            _object("PriorityClass", "scheduling.k8s.io/v1", value=1),
            "preemptionPolicy",
            "PreemptLowerPriority",
        ),
        (
            _object("ResourceQuota", "v1", spec={"hard": {"pods": "1"}}),
            "spec.scopeSelector",
            {"matchExpressions": []},
        ),
        (STATEFUL_SET, "spec.volumeClaimTemplates.0.apiVersion", "x1"),
        (STATEFUL_SET, "spec.volumeClaimTemplates.0.spec.volumeMode", "Filesystem"),
        (pod(), "spec.preemptionPolicy", "PreemptLowerPriority"),
        (pod(), "spec.containers.0.stdin", False),
        (job(), "spec.template.spec.dnsPolicy", "ClusterFirst"),
        (job(suspend=True), "spec.template.metadata", {"generateName": "x"}),
    ],
)
def test_a_value_that_is_stored_already_is_no_change(manifest: Json, path: str, value: Any) -> None:
    assert refused(manifest, changed(manifest, path, value)) == []


@pytest.mark.parametrize(
    "path", ["spec.template.spec.enableServiceLinks", "spec.template.spec.containers.0.tty"]
)
def test_a_template_has_fewer_defaults_than_a_pod(path: str) -> None:
    """The server fills in service links only in the Pod, so a template that spells them out differs."""
    assert refused(job(), changed(job(), path, True))


def test_a_template_that_drops_all_labels_loses_those_of_the_server() -> None:
    labeled = changed(job(), "spec.template.metadata", {"labels": {"x": "y"}})
    (message,) = refused(labeled, changed(labeled, "spec.template.metadata", {}))[:1]
    assert message.startswith(
        "spec.template.metadata.labels[batch.kubernetes.io/job-name]: Required value: must be"
    )


def test_kubectl_removes_nulls_and_keeps_empty_lists() -> None:
    assert refused(pod(), changed(pod(), "metadata.labels", {"a": None})) == []
    assert (
        refused(pod(hostPID=True), changed(pod(hostPID=True), "metadata.labels", {"a": "b"})) == []
    )
