"""Which fields import lifts from a draft: pod security, torchrun's options, the run policy, the queue."""

from __future__ import annotations

from typing import Any

import pytest
import yaml

import ptcompile
from ptcompile.importer.candidate import Candidate, compile_candidate
from ptcompile.importer.lifting import (
    _candidate_limits,
    _queue_fields,
    _run_policies,
    _unrestricted_block,
    _without_pods,
    lift_launch,
    lift_pod_security,
    lift_queue,
    lift_run_policy,
)
from ptcompile.kinds.reading import Read, ReadRole
from ptcompile.kubernetes.index import Objects
from ptcompile.kubernetes.unstructured import kind_of
from ptcompile.operators.table import kind_named
from ptcompile.operators.targets import TARGETS
from ptcompile.simulator.world import simulate
from ptcompile.spec.cluster_profile import ClusterProfile
from tests.making import smallest

HARDENED = smallest(
    "podSecurity: restricted\nresources: {cpu: 1, memory: 1Gi}\n"
    "securityContext: {capabilities: {add: [NET_BIND_SERVICE]}, readOnlyRootFilesystem: true}\n"
    "podSecurityContext: {fsGroup: 2000}\n"
    "podTemplate: {spec: {initContainers: [{name: i, image: i}], containers: [{name: side, image: s}]}}"
)
FIELDS = (
    "allowPrivilegeEscalation",
    "runAsNonRoot",
    "seccompProfile",
    "automountServiceAccountToken",
    "drop",
)


def imported(manifests: list[dict[str, Any]]) -> dict[str, Any]:
    done = ptcompile.import_manifests(manifests)
    assert done.ok, done.diagnostics
    (spec,) = done.specs
    read: dict[str, Any] = yaml.safe_load(yaml.safe_dump(spec))["spec"]
    assert list(ptcompile.compile({**spec}).unwrap()) == manifests
    return read


@pytest.mark.parametrize("target", TARGETS)
def test_pod_security_replaces_its_fields(target: str) -> None:
    spec = imported(list(ptcompile.compile(HARDENED, target=target).unwrap()))
    assert spec["podSecurity"] == "restricted"
    assert not [field for field in FIELDS if field in str(spec)]
    assert spec["securityContext"] == {
        "capabilities": {"add": ["NET_BIND_SERVICE"]},
        "readOnlyRootFilesystem": True,
    }
    assert spec["podSecurityContext"] == {"fsGroup": 2000}


def test_pod_security_replaces_fields_of_roles() -> None:
    roles = HARDENED + "  nodes: 2\n  roles: {loader: {command: [x], image: l}}\n"
    spec = imported(list(ptcompile.compile(roles, target="jobset").unwrap()))
    assert spec["podSecurity"] == "restricted"
    assert not [field for field in FIELDS if field in str(spec)]


@pytest.mark.parametrize("missing", FIELDS)
def test_fields_stay_if_one_is_missing(missing: str) -> None:
    (manifest,) = ptcompile.compile(HARDENED, target="pod").unwrap()

    def without(value: Any) -> Any:
        if isinstance(value, list):
            return [without(one) for one in value]
        if not isinstance(value, dict):
            return value
        return {key: without(inner) for key, inner in value.items() if key != missing}

    spec = imported([without(manifest)])
    assert "podSecurity" not in spec
    assert all((field in str(spec)) == (field != missing) for field in FIELDS)


POD: Any = {"runAsNonRoot": True, "seccompProfile": {"type": "RuntimeDefault"}}
CONTAINER: Any = {"allowPrivilegeEscalation": False, "capabilities": {"drop": ["ALL"]}}
RESTRICTED: Any = {"podSecurityContext": POD, "securityContext": CONTAINER}


@pytest.mark.parametrize(
    ("block", "expected"),
    [
        pytest.param({"image": "i", **RESTRICTED}, {"image": "i"}, id="exactly the fields"),
        pytest.param(
            {
                "podSecurityContext": {**POD, "fsGroup": 1},
                "securityContext": {**CONTAINER, "runAsUser": 1},
            },
            {"podSecurityContext": {"fsGroup": 1}, "securityContext": {"runAsUser": 1}},
            id="other fields stay",
        ),
        pytest.param(
            {
                "podSecurityContext": {"runAsNonRoot": False},
                "securityContext": {"allowPrivilegeEscalation": True},
            },
            {
                "podSecurityContext": {"runAsNonRoot": False},
                "securityContext": {"allowPrivilegeEscalation": True},
            },
            id="other values stay",
        ),
        pytest.param(
            {"securityContext": {"capabilities": {"drop": ["ALL"], "add": ["A"]}}},
            {"securityContext": {"capabilities": {"add": ["A"]}}},
            id="added capabilities stay",
        ),
        pytest.param(
            {"securityContext": {"capabilities": {"drop": ["A"]}}},
            {"securityContext": {"capabilities": {"drop": ["A"]}}},
            id="other dropped capabilities stay",
        ),
        pytest.param(
            {
                "master": RESTRICTED,
                "worker": {"image": "i", **RESTRICTED},
                "roles": {"a": RESTRICTED, "b": {"x": 1}},
            },
            {"master": {}, "worker": {"image": "i"}, "roles": {"a": {}, "b": {"x": 1}}},
            id="of each role",
        ),
        pytest.param(
            {
                "podTemplate": {
                    "spec": {"securityContext": POD, "automountServiceAccountToken": False}
                }
            },
            {},
            id="nothing of the template is left",
        ),
        pytest.param(
            {"podTemplate": {"spec": {"securityContext": POD}, "metadata": {"labels": {"a": "b"}}}},
            {"podTemplate": {"metadata": {"labels": {"a": "b"}}}},
            id="metadata of the template",
        ),
        pytest.param(
            {"podTemplate": {"spec": {"automountServiceAccountToken": True}}},
            {"podTemplate": {"spec": {"automountServiceAccountToken": True}}},
            id="a token that is mounted",
        ),
        pytest.param(
            {
                "podTemplate": {
                    "spec": {
                        "containers": [{"name": "a", "securityContext": CONTAINER}],
                        "initContainers": [{"name": "b", "securityContext": CONTAINER}],
                    }
                }
            },
            {
                "podTemplate": {
                    "spec": {"containers": [{"name": "a"}], "initContainers": [{"name": "b"}]}
                }
            },
            id="of each container of the template",
        ),
    ],
)
def test_fields_that_restricted_pod_security_fills_in_are_removed(
    block: dict[str, Any], expected: dict[str, Any]
) -> None:
    assert _unrestricted_block(block) == expected


def test_pod_security_stays_if_it_is_set() -> None:
    spec: dict[str, Any] = yaml.safe_load(smallest("podSecurity: restricted"))
    spec["spec"] |= RESTRICTED
    assert (
        lift_pod_security(compile_candidate(spec, ClusterProfile()), ClusterProfile()).spec is spec
    )


def test_a_spec_that_does_not_compile_keeps_its_fields() -> None:
    spec = {"kind": "TrainingJob", "spec": {"nodes": "x", **RESTRICTED}}
    assert (
        lift_pod_security(compile_candidate(spec, ClusterProfile()), ClusterProfile()).spec is spec
    )


def launched(
    command: list[str],
    args: list[str] | None = None,
    env: dict[str, str] | None = None,
    nodes: int = 1,
    **fields: Any,
) -> dict[str, Any] | None:
    """Return the fields that are lifted from the launch of a Job's pods, or None."""
    entries = [{"name": name, "value": value} for name, value in (env or {}).items()]
    container = {"name": "c", "image": "i:1", "command": command, "args": args, "env": entries}
    pod = {"subdomain": "j", "restartPolicy": "Never", "containers": [container]}
    pods = {
        "completionMode": "Indexed",
        "completions": nodes,
        "parallelism": nodes,
        "template": {"spec": pod},
    }
    job = {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "j"}, "spec": pods}
    draft = {
        "target": "job",
        "command": command,
        **({"args": args} if args else {}),
        "env": env,
        **fields,
    }
    lifted = lift_launch({"kind": "TrainingJob", "spec": draft}, simulate([job]).jobs[0])
    if lifted is None:
        return None
    assert lifted["kind"] == "TrainingJob"
    spec = lifted["spec"]
    assert (spec.pop("target"), spec.pop("env")) == ("job", env)
    return {**spec}


PLAIN = {"nprocPerNode": 1, "maxRestarts": 0, "startMethod": "spawn", "monitorInterval": None}
ALONE = {**PLAIN, "rdzvBackend": "static"}
"""Of a single node without --standalone."""
WAITS = {"timeout": None, "join_timeout": None}
JOINED = {**PLAIN, "rdzvBackend": "c10d", "rdzvId": None, "rdzvConfigs": WAITS}
ENDPOINT = "--rdzv-endpoint=j-0.j:29400"
C10D = ["--rdzv-backend=c10d", ENDPOINT, "t.py"]


@pytest.mark.parametrize(
    ("options", "elastic"),
    [
        ((), {}),
        (("--nproc-per-node=4",), {"nprocPerNode": 4}),
        (("--nproc-per-node=auto",), {"nprocPerNode": "auto"}),
        (("--nproc-per-node=gpu",), {"nprocPerNode": "gpu"}),
        (("--nproc-per-node=cpu",), {"nprocPerNode": "cpu"}),
        (("--nproc-per-node=3", "--max-restarts=2"), {"nprocPerNode": 3, "maxRestarts": 2}),
        (("--monitor-interval=7",), {"monitorInterval": 7}),
        (("--monitor-interval=0.1",), {}),
        (("--start-method=fork",), {"startMethod": "fork"}),
        (("--rdzv-conf=timeout=5",), {"rdzvConfigs": {"timeout": "5"}}),
    ],
)
def test_options_of_torchrun_become_fields(
    options: tuple[str, ...], elastic: dict[str, Any]
) -> None:
    expected = {"script": "t.py", "elastic": {**ALONE, **elastic}, "masterPort": 29500}
    assert launched(["torchrun", *options, "t.py"]) == expected
    expected = {"script": "t.py", "elastic": {**PLAIN, **elastic}}
    assert launched(["torchrun", "--standalone", *options, "t.py"]) == expected


@pytest.mark.parametrize(
    ("options", "nodes", "elastic", "port"),
    [
        pytest.param(["--nnodes=2", *C10D], 2, JOINED, 29400, id="nodes"),
        pytest.param(
            ["--nnodes=2", "--rdzv-id=x", *C10D],
            2,
            {**JOINED, "rdzvId": "x"},
            29400,
            id="an identifier",
        ),
        pytest.param(
            ["--nnodes=2", "--rdzv-conf=timeout=5,a=b", *C10D],
            2,
            {**JOINED, "rdzvConfigs": {**WAITS, "timeout": "5", "a": "b"}},
            29400,
            id="a wait",
        ),
        pytest.param(
            ["--nnodes=1:2", *C10D], 2, {**JOINED, "nnodes": "1:2"}, 29400, id="elastic nodes"
        ),
        pytest.param(
            ["--nnodes=1:2", *C10D],
            1,
            {**JOINED, "nnodes": "1:2"},
            29400,
            id="one node that may become two",
        ),
        pytest.param(
            ["--nnodes=2", "--rdzv-backend=c10d", "--rdzv-endpoint=j-0.j", "t.py"],
            2,
            JOINED,
            None,
            id="no port",
        ),
        pytest.param(
            ["--nnodes=2", "--rdzv-backend=etcd-v2", "--rdzv-endpoint=e:2379", "t.py"],
            2,
            {**JOINED, "rdzvBackend": "etcd-v2", "rdzvEndpoint": "e:2379"},
            None,
            id="etcd",
        ),
        pytest.param(
            ["--nnodes=2", "--master-addr=j-0.j", "--master-port=1234", "t.py"],
            2,
            {**JOINED, "rdzvBackend": "static"},
            1234,
            id="a static rendezvous",
        ),
    ],
)
def test_the_rendezvous_becomes_fields(
    options: list[str], nodes: int, elastic: dict[str, Any], port: int | None
) -> None:
    expected = {"script": "t.py", "elastic": elastic, **({"masterPort": port} if port else {})}
    assert launched(["torchrun", *options], nodes=nodes) == expected


@pytest.mark.parametrize(
    ("command", "args", "expected"),
    [
        pytest.param(
            ["torchrun", "t.py", "--lr", "1"],
            None,
            {"script": "t.py", "args": ["--lr", "1"]},
            id="arguments",
        ),
        pytest.param(["torchrun"], ["t.py", "a"], {"script": "t.py", "args": ["a"]}, id="in args"),
        pytest.param(["torchrun", "-m", "pkg.t"], None, {"module": "pkg.t"}, id="a module"),
        pytest.param(
            ["python", "-m", "torch.distributed.run", "t.py"],
            None,
            {"script": "t.py"},
            id="python -m",
        ),
        pytest.param(
            ["sh", "-c", "exec torchrun t.py $N --x=${N}/a"],
            None,
            {"script": "t.py", "args": ["$(N)", "--x=$(N)/a"]},
            id="a shell with variables",
        ),
        pytest.param(
            ["sh", "-c", "torchrun t.py $M"],
            None,
            None,
            id="a variable that is not the container's",
        ),
        pytest.param(
            ["bash", "-c", "# train\nset -euo pipefail\nexec torchrun \\\n  t.py $N\n"],
            None,
            {"script": "t.py", "args": ["$(N)"]},
            id="options of the shell first",
        ),
        pytest.param(
            ["bash", "-c", "set -- a b\ntorchrun t.py"], None, None, id="other words after set"
        ),
        pytest.param(
            ["sh", "-c", "torchrun --node-rank=$JOB_COMPLETION_INDEX t.py $JOB_COMPLETION_INDEX"],
            None,
            {"script": "t.py", "args": ["$(JOB_COMPLETION_INDEX)"]},
            id="the operator's variables",
        ),
        pytest.param(
            ["sh", "-c", 'torchrun --node-rank="${HOSTNAME##*-}" --nproc-per-node=$((N / 2)) t.py'],
            None,
            {"script": "t.py"},
            id="options that the shell computes",
        ),
        pytest.param(
            ["sh", "-c", "torchrun t.py $((N * 2))"],
            None,
            None,
            id="an argument that the shell computes",
        ),
        pytest.param(
            ["torchrun", "--max-restarts=x", "t.py"], None, None, id="an odd number of restarts"
        ),
        pytest.param(["sh", "-c", "torchrun t.py && torchrun u.py"], None, None, id="two commands"),
        pytest.param(["python", "t.py"], None, None, id="no torchrun"),
        pytest.param(
            ["python", "-m", "torch.distributed.launch", "t.py"],
            None,
            None,
            id="the former torchrun",
        ),
        pytest.param(["torchrun", "--nproc-per-node=2"], None, None, id="no script"),
        pytest.param(
            ["torchrun", "--log-dir=x", "t.py"], None, None, id="an option that no field has"
        ),
        pytest.param(["torchrun", "a b.py"], None, None, id="a space in the script's name"),
        pytest.param(
            ["torchrun", "--nproc-per-node=x", "t.py"], None, None, id="an odd number of processes"
        ),
        pytest.param(
            ["torchrun", "--monitor-interval=0.5", "t.py"], None, None, id="a fraction of a second"
        ),
        pytest.param(["torchrun", "--nnodes=2", "t.py"], None, None, id="more nodes than pods"),
        pytest.param(["torchrun", "--nnodes=x", "t.py"], None, None, id="an odd number of nodes"),
    ],
)
def test_a_command_line_becomes_launch_fields(
    command: list[str], args: list[str] | None, expected: dict[str, Any] | None
) -> None:
    elastic = {"elastic": ALONE, "masterPort": 29500}
    assert launched(command, args, {"N": "2"}) == (expected and {**expected, **elastic})


@pytest.mark.parametrize("command", [["torchrun", "t.py"], ["torchrun", "--nnodes=1", "t.py"]])
def test_pods_that_train_alone_are_not_lifted(command: list[str]) -> None:
    assert launched(command, nodes=2) is None


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        pytest.param({"masterPort": 1}, {"masterPort": 1}, id="a port that is set"),
        pytest.param(
            {"elastic": {"maxRestarts": 9}}, {"masterPort": 29500}, id="options precede fields"
        ),
        pytest.param({"workingDir": "/"}, {"workingDir": "/", "masterPort": 29500}, id="others"),
    ],
)
def test_a_lifted_launch_keeps_the_other_fields(
    fields: dict[str, Any], expected: dict[str, Any]
) -> None:
    assert launched(["torchrun", "t.py"], **fields) == {
        "script": "t.py",
        "elastic": ALONE,
        **expected,
    }


def test_launches_of_unusual_types_are_not_lifted() -> None:
    assert launched(["torchrun", "t.py"], args=["a", {"b": 1}]) is None  # type: ignore[list-item]
    assert launched([]) is None


def role(
    replicas: int = 1, path: tuple[str, ...] | None = ("spec", "template"), **fields: Any
) -> ReadRole:
    return ReadRole("node", replicas, {}, path, "main", None)._replace(**fields)


@pytest.mark.parametrize(
    ("objects", "limits"),
    [
        pytest.param([{}], [6, 0, 2], id="the default of a Job"),
        pytest.param(
            [{"spec": {"backoffLimit": 0}}], [0, 6, 2], id="the Job's, before the defaults"
        ),
        pytest.param(
            [{"spec": {"backoffLimit": 4}}, {"spec": {"maxRestarts": 5}}],
            [4, 5, 6, 0, 2],
            id="two objects",
        ),
        pytest.param(
            [{"spec": {"a": [{"b": {"maxRetry": 4}}]}}],
            [3, 6, 0, 2],
            id="tries, of which one is no retry",
        ),
        pytest.param([{"spec": {"maxRetry": 0}}], [0, 6, 2], id="no tries"),
        pytest.param(
            [{"spec": {"backoffLimit": 2**31 - 1}}], ["Unlimited", 6, 0, 2], id="unlimited"
        ),
        pytest.param(
            [{"spec": {"backoffLimit": 2**31 - 2}}], [2**31 - 2, 6, 0, 2], id="almost unlimited"
        ),
        pytest.param(
            [{"spec": {"backoffLimit": "3", "limit": 4}}], [6, 0, 2], id="other fields and types"
        ),
        pytest.param([{"metadata": {"backoffLimit": 3}}], [6, 0, 2], id="outside the spec"),
    ],
)
def test_candidate_limits_come_from_the_objects(objects: list[Any], limits: list[Any]) -> None:
    assert _candidate_limits(tuple(objects)) == limits


@pytest.mark.parametrize(
    ("target", "manifest", "pods", "limits", "successes"),
    [
        pytest.param("job", {}, (role(2),), [None, 6, 0, 2], True, id="nodes"),
        pytest.param("job", {}, (role(1),), [None, 6, 0, 2], False, id="one node needs no success policy"),
        pytest.param("job", {}, (role(1), role(9, trains=False)), [None, 6, 0, 2], False, id="nor do auxiliary roles"),
        pytest.param("job", {}, (role(1), role(1)), [None, 6, 0, 2], True, id="one node in each of two roles"),
        pytest.param("job", {}, (), [None, 6, 0, 2], False, id="no pods"),
        pytest.param("pod", {}, (role(1),), ["Unlimited", None, 6, 0, 2], False, id="without a limit"),
        pytest.param(
            "pytorchjob", {"spec": {"runPolicy": {"backoffLimit": 1}}}, (role(1),), [None, 1, 6, 0, 2], False,
            id="with a limit",
        ),
    ],
)  # fmt: skip
def test_run_policies_are_tried_from_small_to_large(
    target: str,
    manifest: dict[str, Any],
    pods: tuple[ReadRole, ...],
    limits: list[Any],
    successes: bool,
) -> None:
    policies = list(_run_policies({"spec": {}}, manifest, Read(target, pods)))
    assert list(dict.fromkeys(policy.get("backoffLimit") for policy in policies)) == sorted(
        limits, key=lambda n: n is not None
    )
    expected = {None, "Node0", "AllNodes"} if successes else {None}
    assert {policy.get("successPolicy") for policy in policies} == expected
    assert {policy.get("onPodFailure") for policy in policies} == {None, "RestartPod", "RestartJob"}
    assert {policy.get("onDisruption") for policy in policies} == {
        None,
        "Ignore",
        "Count",
        "FailJob",
    }
    assert len(policies) == len(limits) * 3 * 4 * len(expected)
    sizes = list(map(len, policies))
    assert sizes == sorted(sizes)


@pytest.mark.parametrize(
    ("block", "fails"),
    [
        pytest.param({"restartPolicy": "Never"}, True, id="pods that fail"),
        pytest.param({"restartPolicy": "OnFailure"}, False, id="pods that restart"),
        pytest.param(
            {"master": {}, "worker": {"restartPolicy": "Always"}}, False, id="a role that restarts"
        ),
        pytest.param(
            {"roles": {"loader": {"restartPolicy": "OnFailure"}}},
            True,
            id="an auxiliary role that restarts",
        ),
    ],
)
def test_pods_that_restart_have_no_policy_for_failed_pods(
    block: dict[str, Any], fails: bool
) -> None:
    policies = _run_policies({"spec": block}, {}, Read("job", (role(2),)))
    assert any("onPodFailure" in policy for policy in policies) == fails


TEMPLATED = {
    "kind": "J",
    "spec": {"template": {}, "restartPolicy": "Never", "a": [{"template": {}, "b": 1}]},
}


@pytest.mark.parametrize(
    ("paths", "holders", "holder", "expected"),
    [
        pytest.param(
            [("spec", "template")],
            (0,),
            0,
            {"kind": "J", "spec": {"a": [{"template": {}, "b": 1}]}},
            id="a template",
        ),
        pytest.param(
            [("spec", "a", 0, "template")],
            (0,),
            0,
            {"kind": "J", "spec": {"template": {}, "restartPolicy": "Never", "a": [{"b": 1}]}},
            id="a template in a list",
        ),
        pytest.param([()], (0,), 0, {"kind": "J"}, id="a Pod is its own template"),
        pytest.param(
            [("spec", "template")], (1,), 0, TEMPLATED, id="the template of another object"
        ),
        pytest.param(
            [("spec", "template")],
            (1,),
            1,
            {"kind": "J", "spec": {"a": [{"template": {}, "b": 1}]}},
            id="of a runtime",
        ),
        pytest.param([()], (0,), 1, TEMPLATED, id="another object beside a Pod"),
    ],
)
def test_objects_are_compared_without_their_pods(
    paths: list[Any], holders: tuple[int, ...], holder: int, expected: dict[str, Any]
) -> None:
    pods = tuple(role(path=path, holder=of) for path, of in zip(paths, holders, strict=True))
    assert _without_pods(TEMPLATED, Read("job", pods), holder) == expected


def read(manifests: list[dict[str, Any]]) -> Read:
    return next(iter(kind_named(kind_of(manifests[-1])).read(manifests[-1], Objects(manifests))))


@pytest.mark.parametrize(
    ("target", "policy"),
    [
        ("job", {}),
        ("job", {"backoffLimit": 3}),
        ("job", {"backoffLimit": "Unlimited"}),
        ("job", {"onPodFailure": "FailJob"}),
        ("job", {"onPodFailure": "RestartPod", "onDisruption": "Ignore"}),
        ("job", {"backoffLimit": 4, "successPolicy": "Node0"}),
        ("jobset", {"backoffLimit": 5}),
        ("jobset", {"onDisruption": "FailJob", "successPolicy": "Node0"}),
        ("volcano", {"backoffLimit": 4}),
    ],
)
def test_the_run_policy_is_the_smallest_that_means_the_same(
    target: str, policy: dict[str, Any]
) -> None:
    spec: dict[str, Any] = yaml.safe_load(smallest(f"nodes: 2\ntarget: {target}"))
    original = {**spec, "spec": {**spec["spec"], "runPolicy": policy}}
    manifests = list(ptcompile.compile(original).unwrap())
    candidate = compile_candidate(spec, ClusterProfile())
    lifted = lift_run_policy(
        candidate, manifests[-1], read(manifests), Objects(), ClusterProfile()
    ).spec
    fields = {key: value for key, value in lifted["spec"].items() if key != "runPolicy"}
    assert {**lifted, "spec": fields} == spec
    assert list(ptcompile.compile(lifted).unwrap()) == manifests
    assert len(lifted["spec"].get("runPolicy", {})) <= len(policy)


def test_a_run_policy_is_the_runtimes() -> None:
    candidate = Candidate({"spec": {"runtimeRef": {"name": "r"}}}, ())
    assert (
        lift_run_policy(candidate, {}, Read("trainjob"), Objects(), ClusterProfile()) is candidate
    )


def test_a_spec_that_does_not_compile_gets_no_run_policy() -> None:
    candidate = compile_candidate({"kind": "TrainingJob", "spec": {"nodes": "x"}}, ClusterProfile())
    assert (
        lift_run_policy(candidate, {"kind": "Job"}, Read("job"), Objects(), ClusterProfile())
        is candidate
    )


def profile(system: str) -> ClusterProfile:
    levels = {
        name: {"nodeLabel": f"ex.com/{name}", "tier": tier}
        for tier, name in enumerate(("rack", "zone"), 1)
    }
    fields = {"queueSystem": system, "topology": {"name": "t", "levels": levels}}
    head = {"apiVersion": "ptcompile/v1", "kind": "ClusterProfile", "metadata": {"name": "p"}}
    return ClusterProfile.model_validate({**head, "spec": fields})


GROUP = {"apiVersion": "scheduling.volcano.sh/v1beta1", "kind": "PodGroup"}
ANNOTATED = {"metadata": {"annotations": {"scheduling.volcano.sh/queue-name": "a"}}}
QUEUE, PRIORITY = {"queue": "q"}, {"queue": "q", "priority": "p"}
ZONE, RACK = {"topology": {"preferred": "zone"}}, {"topology": {"required": "rack"}}


@pytest.mark.parametrize(
    ("system", "target", "fields"),
    [
        *(
            (system, target, fields)
            for system in ("kueue", "kai")
            for target in ("job", "jobset", "pytorchjob")
            for fields in ({}, QUEUE, PRIORITY, {**PRIORITY, **ZONE}, {**QUEUE, **RACK})
        ),
        *(
            ("volcano", target, fields)
            for target in ("job", "jobset")
            for fields in (QUEUE, {**PRIORITY, **RACK})
        ),
        ("volcano", "pytorchjob", PRIORITY),
        ("volcano", "volcano", {**QUEUE, **RACK}),
    ],
)
def test_labels_become_queue_and_topology(system: str, target: str, fields: dict[str, Any]) -> None:
    cluster = profile(system)
    spec: dict[str, Any] = yaml.safe_load(smallest(f"nodes: 2\ntarget: {target}"))
    queued = {**spec, "spec": {**spec["spec"], **fields}}
    manifests = ptcompile.compile(queued, cluster=cluster).unwrap()
    assert lift_queue(spec, manifests[-1], Objects(manifests), cluster).spec == queued
    labeled = {**spec, "metadata": manifests[-1]["metadata"]}
    same = ptcompile.compile(labeled, cluster=cluster).manifests == manifests
    assert lift_queue(labeled, manifests[-1], Objects(manifests), cluster).spec == (
        labeled if same or not fields else queued
    )


def test_labels_stay_if_fields_leave_as_many_differences() -> None:
    """The differences are in a label that no field writes."""
    cluster = profile("kueue")
    spec: dict[str, Any] = yaml.safe_load(smallest("nodes: 2\ntarget: jobset"))
    spec["metadata"]["labels"] = {"kueue.x-k8s.io/queue-name": "q"}
    (manifest,) = ptcompile.compile(spec, cluster=cluster).unwrap()
    labels = {**manifest["metadata"]["labels"], "other": "x"}
    changed = {**manifest, "metadata": {**manifest["metadata"], "labels": labels}}
    assert lift_queue(spec, changed, Objects([changed]), cluster).spec is spec


def test_labels_and_annotations_of_pods_for_another_queue_go() -> None:
    """What compile writes for a queue goes from the metadata of the object and of its pods; the rest stays."""
    cluster = profile("kai")
    spec: dict[str, Any] = yaml.safe_load(smallest("nodes: 2\ntarget: job"))
    queued = {
        **spec,
        "spec": {**spec["spec"], **QUEUE, "podLabels": {"a": "b"}, "podAnnotations": {"c": "d"}},
    }
    queued["metadata"] = {"name": "train", "labels": {"e": "f"}, "annotations": {"g": "h"}}
    manifests = ptcompile.compile(queued, cluster=cluster).unwrap()
    left = {
        **queued,
        "spec": {field: value for field, value in queued["spec"].items() if field != "queue"},
    }
    left["metadata"] = {
        **left["metadata"],
        "annotations": {"g": "h", "kai.scheduler/topology": "other"},
    }
    left["spec"] |= {"podLabels": {"a": "b", "kai.scheduler/queue": "other"}}
    assert lift_queue(left, manifests[-1], Objects(manifests), cluster).spec == queued


@pytest.mark.parametrize(
    ("system", "manifest", "related", "fields"),
    [
        pytest.param(
            "volcano", {"spec": {"queue": "a"}}, [], {"queue": "a"}, id="of a Volcano job"
        ),
        pytest.param(
            "volcano",
            {
                "spec": {
                    "runPolicy": {"schedulingPolicy": {"queue": "a", "priorityClass": "p"}},
                    "queue": "b",
                }
            },
            [],
            {"queue": "a", "priority": "p"},
            id="of a training-operator's job, before others",
        ),
        pytest.param(
            "volcano",
            {"spec": {}},
            [
                {"kind": "Other", "spec": {"queue": "b"}},
                {**GROUP, "spec": {"queue": "a", "priorityClassName": "p"}},
            ],
            {"queue": "a", "priority": "p"},
            id="of a PodGroup",
        ),
        pytest.param("volcano", ANNOTATED, [], {"queue": "a"}, id="of an annotation"),
        pytest.param(
            "volcano",
            {},
            [{"spec": {"x": [ANNOTATED]}}],
            {"queue": "a"},
            id="of an annotation of another",
        ),
        pytest.param("kueue", ANNOTATED, [], {}, id="of an annotation that Kueue does not read"),
        pytest.param(
            "volcano",
            {"metadata": {"labels": {"kai.scheduler/queue": "a"}}},
            [],
            {},
            id="of a label",
        ),
        pytest.param(
            "kai",
            {"metadata": {"labels": {"kai.scheduler/queue": 3}}},
            [],
            {},
            id="of another type",
        ),
    ],
)
def test_the_queue_is_read_from_each_place_that_names_one(
    system: str, manifest: dict[str, Any], related: list[Any], fields: dict[str, Any]
) -> None:
    assert _queue_fields(manifest, Objects(related), profile(system)) == fields
