"""What GKE Autopilot and OpenShift refuse of pods, and write into them."""

from __future__ import annotations

from typing import Any

import pytest

import ptcompile
from ptcompile._internal.schema_files import load_table
from ptcompile.requirements.dump import draft_profile
from tests.apiserver.admission.beside import Json, job, pod

TABLE = load_table("apiserver/admission/platforms.json")
MODEL = "cloud.google.com/gke-accelerator"


def profile(platform: str, **spec: Any) -> Json:
    return {
        "apiVersion": "ptcompile/v1",
        "kind": "ClusterProfile",
        "spec": {"platform": platform, **spec},
    }


def refused(platform: str, *manifests: Json) -> list[ptcompile.Diagnostic]:
    findings = ptcompile.lint(list(manifests), cluster=profile(platform)).diagnostics
    return [finding for finding in findings if finding.code == "PTC156"]


def with_spec(manifest: Json, **fields: Any) -> Json:
    template = (
        manifest["spec"] if manifest["kind"] == "Pod" else manifest["spec"]["template"]["spec"]
    )
    template.update(fields)
    return manifest


def privileged(**context: Any) -> dict[str, Any]:
    return {"containers": [{"name": "pytorch", "image": "train:1", "securityContext": context}]}


@pytest.mark.parametrize(
    ("fields", "platforms"),
    [
        ({"hostNetwork": True}, ["gke-autopilot", "openshift"]),
        ({"hostNetwork": False}, []),
        (privileged(privileged=True), ["gke-autopilot", "openshift"]),
        (privileged(allowPrivilegeEscalation=True), ["openshift"]),
        (privileged(capabilities={"add": ["IPC_LOCK"]}), ["gke-autopilot", "openshift"]),
        (privileged(capabilities={"add": ["SYS_PTRACE"]}), ["openshift"]),
        (privileged(capabilities={"add": ["NET_BIND_SERVICE"]}), []),
        (privileged(runAsUser=1000), ["openshift"]),
        (privileged(runAsUser=1000680000), []),
        (
            privileged(seccompProfile={"type": "Localhost", "localhostProfile": "a.json"}),
            ["openshift"],
        ),
        (
            {"volumes": [{"name": "d", "hostPath": {"path": "/data"}}]},
            ["gke-autopilot", "openshift"],
        ),
        ({"volumes": [{"name": "d", "hostPath": {"path": "/var/log/pods"}}]}, ["openshift"]),
        ({"volumes": [{"name": "d", "emptyDir": {}}]}, []),
        ({"nodeSelector": {"cloud.google.com/gke-nodepool": "gpus"}}, ["gke-autopilot"]),
        ({"nodeSelector": {"acme.io/team": "ml"}}, ["gke-autopilot"]),
        ({"nodeSelector": {"topology.kubernetes.io/zone": "us-central1-a"}}, []),
        (
            {
                "nodeSelector": {"acme.io/team": "ml"},
                "tolerations": [{"key": "acme.io/team", "operator": "Exists"}],
            },
            [],
        ),
        ({"tolerations": [{"key": "nvidia.com/gpu", "operator": "Exists"}]}, ["gke-autopilot"]),
    ],
)
def test_each_platform_rejects_certain_fields(fields: dict[str, Any], platforms: list[str]) -> None:
    manifest = with_spec(job({}), **fields)
    assert [
        platform for platform in ("gke-autopilot", "openshift") if refused(platform, manifest)
    ] == platforms


def test_autopilot_needs_the_model_of_a_gpu() -> None:
    limits = {"limits": {"nvidia.com/gpu": 1}}
    (finding,) = refused("gke-autopilot", job(limits))
    assert (finding.severity, finding.stage, finding.authority) == (
        "error",
        "apply",
        "gke-autopilot",
    )
    assert refused("gke-autopilot", with_spec(job(limits), nodeSelector={MODEL: "nvidia-l4"})) == []


def test_openshift_refuses_pods_and_not_their_jobs() -> None:
    host = {"hostNetwork": True}
    assert [finding.stage for finding in refused("openshift", with_spec(job({}), **host))] == [
        "pod"
    ]
    assert [finding.stage for finding in refused("openshift", with_spec(pod({}), **host))] == [
        "apply"
    ]


@pytest.mark.parametrize(("account", "count"), [("trainer", 0), ("default", 1)])
def test_a_binding_grants_a_service_account_another_constraint(account: str, count: int) -> None:
    binding = {
        "apiVersion": "rbac.authorization.k8s.io/v1",
        "kind": "ClusterRoleBinding",
        "metadata": {"name": "scc"},
        "roleRef": {
            "apiGroup": "rbac.authorization.k8s.io",
            "kind": "ClusterRole",
            "name": "system:openshift:scc:hostnetwork-v2",
        },
        "subjects": [{"kind": "ServiceAccount", "name": "trainer", "namespace": "default"}],
    }
    manifest = with_spec(job({}), hostNetwork=True, serviceAccountName=account)
    assert len(refused("openshift", binding, manifest)) == count


def test_the_platform_s_fields_are_stored() -> None:
    namespace = {
        "apiVersion": "v1",
        "kind": "Namespace",
        "metadata": {
            "name": "ml",
            "annotations": {"openshift.io/sa.scc.uid-range": "1000680000/10000"},
        },
    }
    manifest = pod({})
    manifest["metadata"]["namespace"] = "ml"
    result = ptcompile.stored([namespace, manifest], cluster=profile("openshift"))
    spec = result.objects[1].manifest["spec"]
    assert spec["securityContext"]["fsGroup"] == 1000680000
    assert spec["containers"][0]["securityContext"]["runAsUser"] == 1000680000
    assert spec["containers"][0]["securityContext"]["capabilities"] == {"drop": ["ALL"]}


def test_compile_reports_them_at_the_line_of_the_spec() -> None:
    spec: Json = {
        "apiVersion": "ptcompile/v1",
        "kind": "TrainingJob",
        "metadata": {"name": "t"},
        "spec": {
            "image": "a:1",
            "script": "t.py",
            "resources": {"cpu": 8, "memory": "8Gi", "gpu": 1},
        },
    }
    result = ptcompile.compile(spec, cluster=profile("gke-autopilot", cloud="gke"), target="job")
    assert [(each.code, each.path) for each in result.diagnostics if each.code == "PTC156"] == [
        ("PTC156", ("spec", "resources", "gpu"))
    ]
    spec["spec"]["accelerator"] = "nvidia-l4"
    result = ptcompile.compile(spec, cluster=profile("gke-autopilot", cloud="gke"), target="job")
    assert "PTC156" not in {each.code for each in result.diagnostics}


def node(name: str, **labels: str) -> Json:
    return {"apiVersion": "v1", "kind": "Node", "metadata": {"name": name, "labels": labels}}


@pytest.mark.parametrize(
    ("objects", "platform"),
    [
        ([node("gk3-auto-pool-2-9a-x1"), node("gk3-auto-pool-1-7b-x2")], "gke-autopilot"),
        ([node("gke-std-pool-1-7b-x2")], None),
        ([node("w1", **{"node.openshift.io/os_id": "rhcos"})], "openshift"),
        (
            [
                {
                    "apiVersion": "config.openshift.io/v1",
                    "kind": "ClusterVersion",
                    "metadata": {"name": "v"},
                }
            ],
            "openshift",
        ),
        ([], None),
    ],
)
def test_a_dump_shows_the_platform(objects: list[Json], platform: str | None) -> None:
    assert draft_profile(objects).document["spec"].get("platform") == platform


def test_rows_have_what_decides_and_sources() -> None:
    assert TABLE["sources"].keys() == TABLE.keys() - {"sources"}
    for platform in TABLE["sources"]:
        for row in TABLE[platform]["refusals"]:
            assert len(row.keys() & {"values", "unlike", "prefixes", "below"}) == 1, row
            assert row["severity"] in ("error", "warning"), row
            assert row["help"], row
