"""What compile leaves different: which gaps there are, which spec field closes each, and which fields then go."""

from __future__ import annotations

from typing import Any

import pytest
import yaml

from ptcompile.differ.normal import Keyed
from ptcompile.importer.candidate import compile_candidate
from ptcompile.importer.residue import (
    MISSING,
    ImportGap,
    _with_main_named,
    all_gaps,
    close_gaps,
    gaps,
    shrink_spec,
    sort_fields,
)
from ptcompile.ir.job import JOIN_TIMEOUT_SECONDS
from ptcompile.kinds.reading import Read, ReadRole
from ptcompile.spec.cluster_profile import ClusterProfile
from tests.making import smallest

Json = dict[str, Any]

A = {"name": "A", "value": "1"}
FIELD = {"fieldRef": {"fieldPath": "metadata.name"}}


def template(*containers: Json, **pod: Any) -> Json:
    return {"spec": {**pod, "containers": [*containers]}}


def main(**fields: Any) -> Json:
    return {"name": "main", **fields}


def job(pod_template: Json, **spec: Any) -> Json:
    return {"apiVersion": "batch/v1", "kind": "Job", "spec": {"template": pod_template, **spec}}


def role(name: str, pod_template: Json, *path: str | int, **fields: Any) -> ReadRole:
    return ReadRole(name, 1, pod_template, path, "main", None)._replace(**fields)


def closed(ours: Json, theirs: Json, *roles: ReadRole, spec: Json | None = None) -> Any:
    """Return the `spec` of a spec after closing all gaps between two objects."""
    read = Read("job", roles)
    return close_gaps({"spec": spec or {}}, list(gaps(ours, theirs)), theirs, read)["spec"]


@pytest.mark.parametrize(
    ("ours", "theirs", "expected"),
    [
        pytest.param({"a": 1}, {"a": 1}, [], id="equal"),
        pytest.param({"a": 1}, {"a": 2}, [(("a",), 1, 2)], id="changed"),
        pytest.param({"a": {"b": 1}}, {"a": {}}, [(("a", "b"), 1, MISSING)], id="ours alone"),
        pytest.param({}, {"a": {"b": 1}}, [(("a",), MISSING, {"b": 1})], id="theirs alone, whole"),
        pytest.param(
            {"a": 1, "b": 1},
            {"b": 2, "c": 1},
            [(("b",), 1, 2), (("c",), MISSING, 1), (("a",), 1, MISSING)],
            id="in their order",
        ),
        pytest.param(
            {"a": [1]}, {"a": [2]}, [(("a",), [1], [2])], id="a list without names, whole"
        ),
        pytest.param({"a": {"b": 1}}, {"a": 1}, [(("a",), {"b": 1}, 1)], id="another type"),
        pytest.param(
            job(template(main())),
            job(template(main(), dnsPolicy="ClusterFirst")),
            [],
            id="a default of theirs",
        ),
        pytest.param(
            job(template(main(), dnsPolicy="ClusterFirst")),
            job(template(main())),
            [],
            id="a default of ours",
        ),
        pytest.param(
            job(template(main(image="i"))),
            job(template(main(image="j"), {"name": "side"})),
            [
                (("spec", "template", "spec", "containers", "[main]", "image"), "i", "j"),
                (("spec", "template", "spec", "containers", "[side]"), MISSING, {"name": "side"}),
            ],
            id="items by name",
        ),
        pytest.param(
            {"env": [A]},
            {"env": {"A": 1}},
            [(("env", "[A]"), A, 1)],
            id="a list of items and a mapping",
        ),
        pytest.param(
            {"env": [A]},
            {},
            [(("env", "[A]"), A, MISSING)],
            id="each item of a list that is only ours",
        ),
        pytest.param(
            {},
            {"env": [A]},
            [(("env", "[A]"), MISSING, A)],
            id="each item of a list that is only theirs",
        ),
    ],
)
def test_gaps_are_what_differs(ours: Json, theirs: Json, expected: list[tuple[Any, ...]]) -> None:
    assert list(gaps(ours, theirs)) == [ImportGap(*gap) for gap in expected]


def test_each_object_has_its_gaps() -> None:
    """The job's object is the last; the others are compared with the compiled object of their kind."""
    job, service, runtime = {"kind": "Job"}, {"kind": "Service"}, {"kind": "Runtime"}
    read = Read("job", objects=({**service, "a": 1}, {**runtime, "b": 1}, {"kind": "Other"}))
    assert list(
        all_gaps([{**runtime, "b": 2}, service, {**job, "c": 1}], {**job, "c": 2}, read)
    ) == [
        ImportGap(("c",), 1, 2),
        ImportGap(("a",), MISSING, 1, holder=1),
        ImportGap(("b",), 2, 1, holder=2),
        ImportGap(("kind",), MISSING, "Other", holder=3),
    ]


def patched(**fields: Any) -> Json:
    """Return the patch of the main container."""
    return {"podTemplate": {"spec": {"containers": [{"name": "pytorch", **fields}]}}}


SIDE = {"name": "side", "image": "s"}
VOLUME = {"name": "v", "emptyDir": {}}


@pytest.mark.parametrize(
    ("ours", "theirs", "expected"),
    [
        pytest.param(template(main()), template(main()), {}, id="no gap"),
        pytest.param(
            template(main(env=[A])),
            template(main()),
            {"env": {"A": None}},
            id="a variable is unset",
        ),
        pytest.param(
            template(main()), template(main(env=[A])), {"env": {"A": "1"}}, id="a variable"
        ),
        pytest.param(
            template(main()),
            template(main(env=[{"name": "A"}])),
            {"env": {"A": ""}},
            id="an empty variable",
        ),
        pytest.param(
            template(main()),
            template(main(env=[{"name": "A", "valueFrom": FIELD}])),
            {"env": {"A": FIELD}},
            id="a variable that is a reference",
        ),
        pytest.param(
            template(main()),
            template(main(env=[{**A, "odd": 1}])),
            patched(env=[{**A, "odd": 1}]),
            id="a variable that a spec cannot express",
        ),
        pytest.param(
            template(main(env=[A])),
            template(main(env=[{**A, "value": "2"}])),
            patched(env=[{**A, "value": "2"}]),
            id="another value",
        ),
        pytest.param(
            template(main()),
            template(main(lifecycle={"a": 1})),
            patched(lifecycle={"a": 1}),
            id="a field",
        ),
        pytest.param(
            template(main(lifecycle={"a": 1})),
            template(main()),
            patched(lifecycle=None),
            id="a field less",
        ),
        pytest.param(
            template(main(lifecycle={"a": 1})),
            template(main(lifecycle={"a": 2})),
            patched(lifecycle={"a": 2}),
            id="an inner field",
        ),
        pytest.param(
            template(main()),
            template(main(), dnsPolicy="Default"),
            {"podTemplate": {"spec": {"dnsPolicy": "Default"}}},
            id="a field of the pod",
        ),
        pytest.param(
            template(main()),
            template(main(), SIDE),
            {"podTemplate": {"spec": {"containers": [SIDE]}}},
            id="a sidecar",
        ),
        pytest.param(
            template(main(), SIDE),
            template(main(), {**SIDE, "image": "t"}),
            {"podTemplate": {"spec": {"containers": [{"name": "side", "image": "t"}]}}},
            id="a field of a sidecar",
        ),
        pytest.param(
            template(main(), SIDE),
            template(main(), {"name": "side", "image": "t", "workingDir": "/"}),
            {
                "podTemplate": {
                    "spec": {"containers": [{"name": "side", "image": "t", "workingDir": "/"}]}
                }
            },
            id="two fields of a sidecar",
        ),
        pytest.param(
            template(main()),
            template(main(), volumes=[VOLUME]),
            {"podTemplate": {"spec": {"volumes": [VOLUME]}}},
            id="a volume",
        ),
        pytest.param(
            template(main(), tolerations=[{"key": "a"}]),
            template(main(), tolerations=[{"key": "b"}, {"key": "c"}]),
            {"podTemplate": {"spec": {"tolerations": [{"key": "b"}, {"key": "c"}]}}},
            id="a list without a merge key, whole",
        ),
        pytest.param(
            template(main(), tolerations=[{"key": "a"}]),
            template(main()),
            {"podTemplate": {"spec": {"tolerations": None}}},
            id="a list without a merge key that they lack",
        ),
        pytest.param(
            template(
                main(
                    volumeMounts=[
                        {"name": "a", "mountPath": "/a"},
                        {"name": "b", "mountPath": "/b"},
                    ]
                )
            ),
            template(
                main(
                    volumeMounts=[
                        {"name": "c", "mountPath": "/a"},
                        {"name": "b", "mountPath": "/b"},
                    ]
                )
            ),
            patched(volumeMounts=[{"mountPath": "/a", "name": "c"}]),
            id="an item by its merge key",
        ),
        pytest.param(
            template(main(ports=[{"name": "http", "containerPort": 1}])),
            template(main(ports=[{"name": "http", "containerPort": 1, "protocol": "UDP"}])),
            patched(ports=[{"containerPort": 1, "protocol": "UDP"}]),
            id="an item whose name is not its merge key",
        ),
        pytest.param(
            {**template(main())},
            {**template(main()), "metadata": {"labels": {"a": "b"}}},
            {"podTemplate": {"metadata": {"labels": {"a": "b"}}}},
            id="metadata of the pod",
        ),
        pytest.param(
            template(main()),
            template(main(), hostname="h", nodeName="n"),
            {
                "manifest": {"job": {"spec": {"template": {"spec": {"hostname": "h"}}}}},
                "podTemplate": {"spec": {"nodeName": "n"}},
            },
            id="a field that a podTemplate may not set",
        ),
    ],
)
def test_gaps_of_a_pod_template_are_closed_there(ours: Json, theirs: Json, expected: Json) -> None:
    nodes = role("node", theirs, "spec", "template")
    assert closed(job(ours), job(theirs), nodes) == expected


@pytest.mark.parametrize(
    ("ours", "patch"),
    [
        pytest.param(template(main(), SIDE), {"containers": []}, id="a sidecar less"),
        pytest.param(template(main(), volumes=[VOLUME]), {"volumes": []}, id="a volume less"),
        pytest.param(
            template(main(ports=[{"containerPort": 1}])),
            {"containers": [{"name": "pytorch", "ports": []}]},
            id="a port less",
        ),
    ],
)
def test_no_patch_removes_an_item(ours: Json, patch: Json) -> None:
    theirs = template(main())
    spec = closed(job(ours), job(theirs), role("node", theirs, "spec", "template"))
    assert spec == {"podTemplate": {"spec": patch}}


def test_an_item_that_the_patch_has_is_kept() -> None:
    """A second round finds the sidecar that the first one did not add, because another patch removes it."""
    theirs = template(main(), SIDE)
    patch = {"podTemplate": {"spec": {"containers": [{"name": "side", "$patch": "delete"}]}}}
    spec = closed(
        job(template(main())), job(theirs), role("node", theirs, "spec", "template"), spec=patch
    )
    assert spec == patch


def test_variables_keep_the_order_of_the_manifest() -> None:
    theirs = template(SIDE, main(env=[{"name": name, "value": "1"} for name in "CAB"]))
    nodes = role("node", theirs, "spec", "template")
    ours = template(SIDE, main(env=[{"name": "A", "value": "1"}, {"name": "Z", "value": "1"}]))
    env = closed(job(ours), job(theirs), nodes, spec={"env": {"A": "1", "Z": "1"}})["env"]
    assert list(env.items()) == [("C", "1"), ("A", "1"), ("B", "1"), ("Z", None)]


def test_the_spec_that_is_patched_stays_as_it_was() -> None:
    spec = {"env": {"B": "1"}, "podTemplate": {"spec": {"containers": [{"name": "x"}]}}}
    theirs = template(main(env=[A]), SIDE)
    closed(job(template(main())), job(theirs), role("node", theirs, "spec", "template"), spec=spec)
    assert spec == {"env": {"B": "1"}, "podTemplate": {"spec": {"containers": [{"name": "x"}]}}}


@pytest.mark.parametrize(
    ("ours", "theirs", "patch"),
    [
        pytest.param({}, {"suspend": True}, {"suspend": True}, id="a field"),
        pytest.param({"suspend": True}, {}, {"suspend": None}, id="a field less"),
        pytest.param(
            {"a": {"b": 1, "c": 1}}, {"a": {"b": 2, "c": 1}}, {"a": {"b": 2}}, id="an inner field"
        ),
        pytest.param(
            {"tasks": [{"name": "x", "n": 1}, {"name": "y", "n": 1}]},
            {"tasks": [{"name": "x", "n": 2}, {"name": "y", "n": 1}]},
            {"tasks": [{"name": "x", "n": 2}]},
            id="an item of a list with a merge key",
        ),
        pytest.param(
            {"runtimePatches": [{"manager": "m", "a": 1}]},
            {"runtimePatches": [{"manager": "m", "a": 2}]},
            {"runtimePatches": [{"manager": "m", "a": 2}]},
            id="an item with another merge key",
        ),
    ],
)
def test_gaps_outside_the_pods_patch_the_object(ours: Json, theirs: Json, patch: Json) -> None:
    same = template(main())
    nodes = role("node", same, "spec", "template")
    spec = closed(job(same, **ours), job(same, **theirs), nodes)
    assert spec == {"manifest": {"job": {"spec": patch}}}


def two(first: Json, second: Json, **fields: Any) -> Json:
    """Return an object with two pod templates."""
    return {
        "spec": {
            "tasks": [{"name": "a", "template": first}, {"name": "b", "template": second, **fields}]
        }
    }


PATHS = ("spec", "tasks", 0, "template"), ("spec", "tasks", 1, "template")
BARE, NAMED = template(main()), template(main(), nodeName="n")
PATCH = {"podTemplate": {"spec": {"nodeName": "n"}}}


@pytest.mark.parametrize(
    ("theirs", "fields", "expected"),
    [
        pytest.param((NAMED, NAMED), {}, PATCH, id="a gap of all nodes is the job's"),
        pytest.param((NAMED, BARE), {}, {"master": PATCH}, id="a gap of the master"),
        pytest.param((BARE, NAMED), {}, {"worker": PATCH}, id="a gap of the workers"),
        pytest.param(
            (NAMED, template(main(), nodeName="m")),
            {},
            {"master": PATCH, "worker": {"podTemplate": {"spec": {"nodeName": "m"}}}},
            id="different gaps",
        ),
        pytest.param(
            (BARE, NAMED),
            {"role": "loader", "trains": False},
            {"roles": {"loader": PATCH}},
            id="an auxiliary role",
        ),
        pytest.param(
            (NAMED, BARE),
            {"role": "loader", "trains": False},
            PATCH,
            id="the only role that trains",
        ),
        pytest.param(
            (NAMED, NAMED),
            {"role": "loader", "trains": False},
            {**PATCH, "roles": {"loader": PATCH}},
            id="the nodes and an auxiliary role",
        ),
    ],
)
def test_gaps_of_roles_are_closed_in_roles_or_in_the_job(
    theirs: tuple[Json, Json], fields: Json, expected: Json
) -> None:
    first, second = (
        role("master", theirs[0], *PATHS[0]),
        role("worker", theirs[1], *PATHS[1])._replace(**fields),
    )
    assert closed(two(BARE, BARE), two(*theirs), first, second) == expected


def test_a_container_of_an_auxiliary_role_is_named_like_the_role() -> None:
    theirs = template(main(lifecycle={"a": 1}))
    nodes, loader = role("node", BARE, *PATHS[0]), role("loader", theirs, *PATHS[1], trains=False)
    patch = {"podTemplate": {"spec": {"containers": [{"name": "loader", "lifecycle": {"a": 1}}]}}}
    assert closed(two(BARE, BARE), two(BARE, theirs), nodes, loader) == {"roles": {"loader": patch}}


def test_an_item_that_an_auxiliary_role_lacks_remains() -> None:
    nodes, loader = role("node", BARE, *PATHS[0]), role("loader", BARE, *PATHS[1], trains=False)
    spec = closed(two(BARE, template(main(), SIDE)), two(BARE, BARE), nodes, loader)
    assert spec == {"roles": {"loader": {"podTemplate": {"spec": {"containers": []}}}}}


@pytest.mark.parametrize(
    ("theirs", "expected"),
    [
        pytest.param((NAMED, NAMED), PATCH, id="in both templates"),
        pytest.param(
            (BARE, NAMED),
            {
                "manifest": {
                    "job": {
                        "spec": {"tasks": [{"name": "b", "template": {"spec": {"nodeName": "n"}}}]}
                    }
                }
            },
            id="in one of them",
        ),
    ],
)
def test_gaps_of_equal_roles_that_are_read_as_one(
    theirs: tuple[Json, Json], expected: Json
) -> None:
    nodes = role("node", theirs[0], *PATHS[0], other_paths=(PATHS[1],))
    assert closed(two(BARE, BARE), two(*theirs), nodes) == expected


def test_a_pod_is_its_own_template() -> None:
    ours = {"kind": "Pod", "metadata": {"name": "p"}, **template(main())}
    theirs = {
        "kind": "Pod",
        "metadata": {"name": "p", "labels": {"a": "b"}},
        **template(main(), hostname="h"),
    }
    pod = role("node", theirs)
    assert closed(ours, theirs, pod) == {
        "podTemplate": {"spec": {"hostname": "h"}},
        "manifest": {"job": {"metadata": {"labels": {"a": "b"}}}},
    }


def test_gaps_of_another_object_patch_it_by_its_kind() -> None:
    """The template of a runtime is patched like that of the job, and the rest of the runtime by its kind."""
    runtime = {"kind": "Runtime", "spec": {"template": NAMED, "a": 1}}
    nodes = role("node", NAMED, "spec", "template", holder=1)
    read = Read("job", (nodes,), objects=(runtime,))
    ours = {"kind": "Runtime", "spec": {"template": BARE}}
    remaining = list(all_gaps([ours, {"kind": "Job"}], {"kind": "Job"}, read))
    patches = {"manifest": {"job/Runtime": {"spec": {"a": 1}}}}
    assert close_gaps({"spec": {}}, remaining, {"kind": "Job"}, read) == {
        "spec": {**PATCH, **patches}
    }


def test_the_template_of_an_unknown_runtime_has_no_path() -> None:
    nodes = role("node", BARE)._replace(path=None)
    patch = {"manifest": {"job": {"spec": {"template": {"spec": {"nodeName": "n"}}}}}}
    assert closed(job(BARE), job(NAMED), nodes) == patch


@pytest.mark.parametrize(
    ("containers", "expected"),
    [
        (
            [{"name": "a", "image": "i"}, {"name": "s"}],
            {"m": {"name": "m", "image": "i"}, "s": {"name": "s"}},
        ),
        ([{"name": "b"}], {"b": {"name": "b"}}),
        ([{"image": "i"}], [{"image": "i"}]),
    ],
)
def test_the_main_container_is_renamed(containers: list[Json], expected: Any) -> None:
    renamed = _with_main_named({"metadata": {"a": 1}, **template(*containers, x=1)}, "a", "m")
    assert renamed == {"metadata": {"a": 1}, "spec": {"x": 1, "containers": expected}}
    assert isinstance(renamed["spec"]["containers"], Keyed) == isinstance(expected, dict)


def test_templates_without_containers_have_no_name_to_change() -> None:
    assert _with_main_named({"spec": {}}, "a", "b") == {"spec": {}}


def spec_of(body: str) -> Json:
    spec: Json = yaml.safe_load(smallest(body))
    return spec


def shrunk_spec(spec: Json) -> Json:
    return shrink_spec(compile_candidate(spec, ClusterProfile()), ClusterProfile()).spec


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        pytest.param("restartPolicy: Never", {}, id="a field at its default"),
        pytest.param(
            "imagePullPolicy: IfNotPresent", {}, id="a field that the API server fills in"
        ),
        pytest.param(
            "imagePullPolicy: Always",
            {"imagePullPolicy": "Always"},
            id="a field with another value",
        ),
        pytest.param("nodes: 1", {}, id="the default number of nodes"),
        pytest.param("nodes: 2", {"nodes": 2}, id="another number of nodes"),
        pytest.param("sharedMemory: true", {}, id="shared memory"),
        pytest.param("sharedMemory: false", {"sharedMemory": False}, id="no shared memory"),
        pytest.param("nodes: 2\nmasterPort: 23456", {"nodes": 2}, id="the default port"),
        pytest.param("names: {container: pytorch, node: node}", {}, id="default names"),
        pytest.param(
            "names: {container: a, node: node}",
            {"names": {"container": "a"}},
            id="one default name",
        ),
        pytest.param("elastic: {maxRestarts: 0}", {}, id="a default of torchrun"),
        pytest.param(
            "elastic: {maxRestarts: 0, nprocPerNode: 2}",
            {"elastic": {"nprocPerNode": 2}},
            id="one default of torchrun",
        ),
        pytest.param(
            "runPolicy: {onPodFailure: null, backoffLimit: 3}",
            {"runPolicy": {"backoffLimit": 3}},
            id="null",
        ),
        pytest.param(
            "env: {OMP_NUM_THREADS: '1', A: x}",
            {"env": {"OMP_NUM_THREADS": "1", "A": "x"}},
            id="variables",
        ),
        pytest.param(
            "nodes: 2\nelastic: {nnodes: '2:4'}",
            {"nodes": 2, "elastic": {"nnodes": "2:4"}},
            id="a part",
        ),
        pytest.param(
            f"nodes: 2\nelastic: {{rdzvConfigs: {{timeout: '{JOIN_TIMEOUT_SECONDS}', join_timeout: '5', a: null}}}}",
            {"nodes": 2, "elastic": {"rdzvConfigs": {"join_timeout": "5", "a": None}}},
            id="waits at their defaults",
        ),
        pytest.param("workingDir: null", {"workingDir": None}, id="a field that is never left out"),
    ],
)
def test_fields_without_an_effect_are_left_out(body: str, expected: Json) -> None:
    shrunk = shrunk_spec(spec_of(f"target: job\n{body}"))
    assert shrunk["spec"] == {"target": "job", "image": "img:1", "script": "train.py", **expected}


@pytest.mark.parametrize(
    ("target", "body", "expected"),
    [
        pytest.param(
            "pytorchjob",
            "nodes: 2\nrestartPolicy: OnFailure",
            {"nodes": 2, "restartPolicy": "OnFailure"},
            id="a restart policy that another target would not have",
        ),
        pytest.param("pytorchjob", "nodes: 2\nmaster: {}", {"master": {}}, id="an empty role"),
        pytest.param(
            "pytorchjob",
            "master: {restartPolicy: Never}\nworker: {replicas: 1}",
            {"master": {}, "worker": {"replicas": 1}},
            id="a restart policy of a role",
        ),
        pytest.param(
            "jobset",
            "nodes: 2\nroles: {loader: {command: [x], replicas: 1, restartPolicy: OnFailure}}",
            {"nodes": 2, "roles": {"loader": {"command": ["x"]}}},
            id="the number of pods of an auxiliary role",
        ),
        pytest.param(
            "jobset",
            "nodes: 2\nroles: {loader: {command: [x], replicas: 2, restartPolicy: Never}}",
            {
                "nodes": 2,
                "roles": {"loader": {"command": ["x"], "replicas": 2, "restartPolicy": "Never"}},
            },
            id="what differs in an auxiliary role",
        ),
        pytest.param(
            "trainjob",
            "runtimeRef: {name: r}",
            {"runtimeRef": {"name": "r"}},
            id="the target of a runtime",
        ),
    ],
)
def test_fields_that_roles_and_targets_imply_are_dropped(
    target: str, body: str, expected: Json
) -> None:
    shrunk = shrunk_spec(spec_of(f"target: {target}\n{body}"))
    named = {} if "runtimeRef" in expected else {"target": target}
    assert shrunk["spec"] == {**named, "image": "img:1", "script": "train.py", **expected}


def test_a_rejected_spec_keeps_its_fields() -> None:
    spec = spec_of("restartPolicy: Never\nnodes: x")
    assert shrunk_spec(spec) == spec


def test_fields_are_in_the_order_of_the_guide() -> None:
    first = [
        "target",
        "image",
        "imagePullPolicy",
        "script",
        "workingDir",
        "nodes",
        "sharedMemory",
        "env",
    ]
    others, last = ["schedulerName", "nodeSelector"], ["restartPolicy", "runPolicy", "podTemplate"]
    body = "restartPolicy: OnFailure\nrunPolicy: {backoffLimit: 1}\nenv: {A: x}\nschedulerName: s\nnodeSelector: {a: b}"
    body += "\nnodes: 2\nworkingDir: /\nsharedMemory: false\nimagePullPolicy: Always\ntarget: job\npodTemplate: {}"
    assert list(sort_fields(shrunk_spec(spec_of(body)))["spec"]) == [*first, *others, *last]
