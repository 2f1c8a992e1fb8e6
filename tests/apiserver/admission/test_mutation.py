"""What the admission plugins of the API server write into new objects."""

from __future__ import annotations

from typing import Any

from ptcompile.apiserver.stored import stored_object

Json = dict[str, Any]


def obj(kind: str, version: str, *, annotations: Json | None = None, **body: Any) -> Json:
    metadata: Json = {"name": kind.lower()}
    if annotations:
        metadata["annotations"] = annotations
    return {"apiVersion": version, "kind": kind, "metadata": metadata, **body}


def stored(manifest: Json, *others: Json) -> Json:
    return stored_object(manifest, others=others).manifest


def pod(**spec: Any) -> Json:
    return obj("Pod", "v1", spec={"containers": [{"name": "c", "image": "i"}], **spec})


def test_limit_ranges_annotate_what_they_set() -> None:
    limits: Json = {
        "limits": [{"type": "Container", "default": {"cpu": 1}}, {"type": "Pod", "max": {"cpu": 2}}]
    }
    annotations = stored(pod(), obj("LimitRange", "v1", spec=limits))["metadata"]["annotations"]
    notes = "cpu request for container c; cpu limit for container c"
    assert annotations == {"kubernetes.io/limit-ranger": f"LimitRanger plugin set: {notes}"}


def test_pods_get_the_pull_secrets_of_their_service_account() -> None:
    account = obj("ServiceAccount", "v1", imagePullSecrets=[{"name": "s"}])
    spec = stored(pod(serviceAccountName="serviceaccount"), account)["spec"]
    assert (spec["imagePullSecrets"], spec["serviceAccount"]) == ([{"name": "s"}], "serviceaccount")
    own = stored(
        pod(serviceAccountName="serviceaccount", imagePullSecrets=[{"name": "t"}]), account
    )["spec"]
    assert own["imagePullSecrets"] == [{"name": "t"}]


def test_the_priority_of_an_unknown_class_stays_absent() -> None:
    assert "priority" not in stored(pod(priorityClassName="x"))["spec"]
    assert (
        stored(pod(priorityClassName="system-node-critical"))["spec"]["priority"] == 2_000_001_000
    )


def test_pods_tolerate_failing_nodes_for_a_time() -> None:
    keys = [item["key"] for item in stored(pod())["spec"]["tolerations"]]
    assert keys == ["node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable"]
    for toleration in (
        {"operator": "Exists"},
        {"key": "", "operator": "Exists", "effect": "NoExecute"},
    ):
        assert len(stored(pod(tolerations=[toleration]))["spec"]["tolerations"]) == 1


def test_a_claim_gets_the_default_class_unless_it_sets_one() -> None:
    mark = "storageclass.kubernetes.io/is-default-class"
    fast = obj("StorageClass", "storage.k8s.io/v1", annotations={mark: "true"}, provisioner="p")
    claim = obj("PersistentVolumeClaim", "v1", spec={"accessModes": ["ReadWriteOnce"]})
    assert stored(claim, fast)["spec"]["storageClassName"] == "storageclass"
    assert (
        stored({**claim, "spec": {"storageClassName": ""}}, fast)["spec"]["storageClassName"] == ""
    )
    assert "storageClassName" not in stored(claim)["spec"]
    assert stored(claim)["metadata"]["finalizers"] == ["kubernetes.io/pvc-protection"]


def test_an_ingress_gets_the_default_class() -> None:
    mark = "ingressclass.kubernetes.io/is-default-class"
    nginx = obj(
        "IngressClass",
        "networking.k8s.io/v1",
        annotations={mark: "true"},
        spec={"controller": "c.io/x"},
    )
    ingress = obj("Ingress", "networking.k8s.io/v1", spec={})
    assert stored(ingress, nginx)["spec"]["ingressClassName"] == "ingressclass"
