"""The pass `placement`: catalog labels become node affinity next to the user's; the profile supplies the defaults."""

from __future__ import annotations

from typing import Any

import pytest

from ptcompile.compiler.passes.placement import placement
from ptcompile.ir.job import Job
from tests import making

GPU = {"nvidia.com/gpu": "1"}
REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
PREFERRED = {"preferredDuringSchedulingIgnoredDuringExecution": [{"weight": 1, "preference": {}}]}
DEFAULTS = {
    "queue": "batch", "schedulerName": "binpack", "serviceAccountName": "trainer",
    "imagePullSecrets": [{"name": "registry"}], "nodeSelector": {"zone": "a", "pool": "ml"},
}  # fmt: skip
CLUSTER = making.profile(
    {
        "accelerators": {"a100": {"nodeLabels": {"gpu": "a100", "nvlink": "yes"}}},
        "spot": {"nodeLabels": {"spot": "true"}},
    }
)


def expression(key: str, value: str) -> dict[str, Any]:
    return {"key": key, "operator": "In", "values": [value]}


def run(job: Job, spec: dict[str, Any] | None = None) -> Job:
    where = making.context(making.profile(spec) if spec is not None else CLUSTER)
    after = placement(job, where)
    assert placement(after, where) == after
    return after


def terms(job: Job, role: int = 0) -> Any:
    return job.roles[role].template.affinity["nodeAffinity"][REQUIRED]["nodeSelectorTerms"]


def test_without_accelerator_or_spot_nothing_is_added() -> None:
    job = making.job(making.template(limits=GPU))
    assert run(job) == job


def test_a_named_accelerator_is_required() -> None:
    """Source: docs/facts/flyte.md#cases 8."""
    after = run(making.job(making.template(limits=GPU), accelerator="a100"))
    assert terms(after) == [
        {"matchExpressions": [expression("gpu", "a100"), expression("nvlink", "yes")]}
    ]


def test_spot_is_required_with_and_without_a_gpu() -> None:
    after = run(making.job(making.template(), making.template(limits=GPU), spot=True))
    assert (
        terms(after, 0) == terms(after, 1) == [{"matchExpressions": [expression("spot", "true")]}]
    )


def test_accelerator_and_spot_share_one_term() -> None:
    after = run(making.job(making.template(limits=GPU), accelerator="a100", spot=True))
    assert [one["key"] for one in terms(after)[0]["matchExpressions"]] == ["gpu", "nvlink", "spot"]


@pytest.mark.parametrize("limits", [{}, {"cpu": "1"}, {"nvidia.com/gpu": "0"}])
def test_a_role_without_a_gpu_is_not_sent_to_gpu_nodes(limits: dict[str, str]) -> None:
    """The taints of GPU nodes would keep it pending forever. Source: docs/facts/flyte.md#cases 25."""
    after = run(
        making.job(making.template(limits=limits), making.template(limits=GPU), accelerator="a100")
    )
    assert after.roles[0].template.affinity == {}
    assert terms(after, 1)


def test_every_term_of_the_user_gets_the_requirements() -> None:
    """Source: docs/facts/flyte.md#interruptible-tasks, #cases 24."""
    zone, field = (
        {"matchExpressions": [expression("zone", "a")]},
        {"matchFields": [expression("metadata.name", "n")]},
    )
    affinity = {
        "nodeAffinity": {REQUIRED: {"nodeSelectorTerms": [zone, field]}, **PREFERRED},
        "podAffinity": {},
    }
    after = run(making.job(making.template(affinity=affinity), spot=True))
    spot = expression("spot", "true")
    assert terms(after) == [
        {"matchExpressions": [expression("zone", "a"), spot]},
        {**field, "matchExpressions": [spot]},
    ]
    assert after.roles[0].template.affinity["podAffinity"] == {}
    assert PREFERRED.items() <= after.roles[0].template.affinity["nodeAffinity"].items()
    assert zone == {"matchExpressions": [expression("zone", "a")]}, (
        "the user's own data is not changed"
    )


def test_an_existing_expression_is_not_repeated() -> None:
    there = {
        "nodeAffinity": {
            REQUIRED: {"nodeSelectorTerms": [{"matchExpressions": [expression("spot", "true")]}]}
        }
    }
    after = run(making.job(making.template(affinity=there), spot=True))
    assert after.roles[0].template.affinity == there


def test_the_profile_fills_gaps() -> None:
    after = run(making.job(), {"defaults": DEFAULTS})
    template = after.roles[0].template
    assert (after.queue, template.node_selector) == ("batch", {"zone": "a", "pool": "ml"})
    assert template.extra == {
        "serviceAccountName": "trainer", "schedulerName": "binpack", "imagePullSecrets": [{"name": "registry"}],
    }  # fmt: skip


def test_the_user_overrides_the_profile() -> None:
    own = {
        "serviceAccountName": "me",
        "schedulerName": "default-scheduler",
        "imagePullSecrets": [{"name": "mine"}],
    }
    job = making.job(making.template(node_selector={"zone": "b"}, extra=own), queue="urgent")
    after = run(job, {"defaults": DEFAULTS})
    template = after.roles[0].template
    assert (after.queue, template.node_selector, template.extra) == (
        "urgent",
        {"zone": "b", "pool": "ml"},
        own,
    )


DOES_NOT_EXIST = {"key": "slice", "operator": "DoesNotExist"}
BEYOND = {
    "accelerators": {
        "whole": {"nodeLabels": {"gpu": "a100"}, "matchExpressions": [DOES_NOT_EXIST]}
    },
    "spot": {"matchExpressions": [{"key": "spot", "operator": "Exists"}]},
    "onDemand": [{"key": "spot", "operator": "DoesNotExist"}],
}


@pytest.mark.parametrize(("spot", "operator"), [(True, "Exists"), (False, "DoesNotExist")])
def test_requirements_may_say_more_than_labels(spot: bool, operator: str) -> None:
    """Source: docs/facts/flyte.md#interruptible-tasks, #accelerators, #cases 24, 26."""
    after = run(
        making.job(making.template(), making.template(limits=GPU), accelerator="whole", spot=spot),
        BEYOND,
    )
    assert terms(after, 0) == [{"matchExpressions": [{"key": "spot", "operator": operator}]}]
    wanted = [expression("gpu", "a100"), DOES_NOT_EXIST, {"key": "spot", "operator": operator}]
    assert terms(after, 1) == [{"matchExpressions": wanted}]


BASE = {
    "metadata": {"labels": {"team": "ml", "a": "base"}},
    "spec": {
        "hostNetwork": True,
        "securityContext": {"runAsUser": 1, "fsGroup": 2},
        "affinity": {"podAffinity": {"x": []}},
        "dnsConfig": {"options": [{"name": "ndots"}]},
        "volumes": [
            {"name": "cache", "hostPath": {"path": "/c"}},
            {"name": "data", "nfs": {"path": "/d"}},
        ],
        "containers": [
            {"name": "log", "image": "log:1"},
            {
                "name": "pytorch",
                "imagePullPolicy": "Always",
                "env": [{"name": "A", "value": "base"}, {"name": "B", "value": "base"}],
                "volumeMounts": [{"name": "data", "mountPath": "/data", "subPath": "x"}],
            },
        ],
    },
}


def test_the_profile_s_pod_template_is_the_base() -> None:
    template = run(making.job(), {"defaults": {"podTemplate": BASE}}).roles[0].template
    assert template.labels == {"team": "ml", "a": "base"}
    assert template.affinity == {"podAffinity": {"x": []}}
    assert template.sidecars == ({"name": "log", "image": "log:1"},)
    assert template.extra["hostNetwork"] is True
    assert template.main.extra["imagePullPolicy"] == "Always"
    assert (template.main.name, template.main.image, [e["name"] for e in template.main.env]) == (
        "pytorch",
        "img:1",
        ["A", "B"],
    )
    assert [v["name"] for v in template.volumes] == ["cache", "data"]


def test_the_user_overrides_the_profile_s_pod_template() -> None:
    mount = {"name": "mine", "mountPath": "/data"}
    data = {"name": "data", "emptyDir": {}}
    template = making.template(
        main={
            "env": ({"name": "B", "value": "mine"},),
            "mounts": (mount,),
            "extra": {"imagePullPolicy": "Never"},
        },
        labels={"a": "mine"},
        volumes=(data,),
        affinity={"podAntiAffinity": {"y": []}},
        sidecars=({"name": "log", "image": "log:2"},),
        extra={
            "hostNetwork": False,
            "securityContext": {"fsGroup": 3},
            "dnsConfig": {"searches": ["x"]},
        },
    )
    one = (
        run(making.job(template), {"defaults": {"podTemplate": BASE, "schedulerName": "s"}})
        .roles[0]
        .template
    )
    assert one.labels == {"team": "ml", "a": "mine"}
    assert one.affinity == {"podAntiAffinity": {"y": []}}, (
        "an affinity is one thing (docs/facts/flyte.md#other-pod-fields)"
    )
    assert one.extra == {
        "hostNetwork": False, "securityContext": {"runAsUser": 1, "fsGroup": 3}, "dnsConfig": {"searches": ["x"]},
        "schedulerName": "s",
    }  # fmt: skip
    assert one.main.env == ({"name": "A", "value": "base"}, {"name": "B", "value": "mine"})
    assert one.main.mounts == (mount,)
    assert one.main.extra == {"imagePullPolicy": "Never"}
    assert one.volumes == ({"name": "cache", "hostPath": {"path": "/c"}}, data), (
        "half a volume of each is neither's"
    )
    assert one.sidecars == ({"name": "log", "image": "log:2"},)


def test_requirements_join_the_terms_of_the_profile_s_affinity() -> None:
    """The default affinity and the spot requirement share one term: docs/facts/flyte.md#cases 24."""
    zone = {"matchExpressions": [expression("zone", "a")]}
    base = {"spec": {"affinity": {"nodeAffinity": {REQUIRED: {"nodeSelectorTerms": [zone]}}}}}
    after = run(
        making.job(spot=True),
        {"spot": {"nodeLabels": {"s": "y"}}, "defaults": {"podTemplate": base}},
    )
    assert terms(after) == [{"matchExpressions": [expression("zone", "a"), expression("s", "y")]}]


def _terms(body: str, **spec: Any) -> list[list[tuple[str, list[str]]]]:
    made = making.manifest(making.smallest(body), "job", making.profile(spec))
    node = made["spec"]["template"]["spec"]["affinity"]["nodeAffinity"]
    terms = node["requiredDuringSchedulingIgnoredDuringExecution"]["nodeSelectorTerms"]
    return [[(one["key"], one.get("values")) for one in term["matchExpressions"]] for term in terms]


@pytest.mark.parametrize(
    ("cloud", "labels"),
    [
        ("gke", [("cloud.google.com/gke-spot", "true")]),
        (
            "eks",
            [("karpenter.sh/capacity-type", "spot"), ("eks.amazonaws.com/capacityType", "SPOT")],
        ),
        ("aks", [("kubernetes.azure.com/scalesetpriority", "spot")]),
        ("oke", [("oci.oraclecloud.com/oke-is-preemptible", "true")]),
    ],
)
def test_spot_nodes_have_the_labels_of_their_cloud(
    cloud: str, labels: list[tuple[str, str]]
) -> None:
    assert _terms("spot: true", cloud=cloud) == [[(key, [value])] for key, value in labels]


def test_each_term_of_the_user_gets_each_label() -> None:
    zones = [
        {"matchExpressions": [{"key": "zone", "operator": "In", "values": [zone]}]}
        for zone in ("a", "b")
    ]
    body = f"spot: true\naffinity: {{nodeAffinity: {{{REQUIRED}: {{nodeSelectorTerms: {zones}}}}}}}"
    assert [[one[1] for one in term] for term in _terms(body, cloud="eks")] == [
        [["a"], ["spot"]], [["a"], ["SPOT"]], [["b"], ["spot"]], [["b"], ["SPOT"]],
    ]  # fmt: skip


def test_the_profile_s_spot_nodes_override_the_cloud_s() -> None:
    assert _terms("spot: true", cloud="eks", spot={"nodeLabels": {"x": "y"}}) == [[("x", ["y"])]]


@pytest.mark.parametrize(
    ("gpus", "machines"), [(8, ["p5.48xlarge"]), (1, ["p5.48xlarge", "p5.4xlarge"])]
)
def test_a_machine_with_too_few_accelerators_is_excluded(gpus: int, machines: list[str]) -> None:
    body = f"accelerator: nvidia-h100\nresources: {{gpu: {gpus}}}"
    assert _terms(body, cloud="eks")[0][0] == ("node.kubernetes.io/instance-type", machines)
