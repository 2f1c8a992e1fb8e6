"""A manifest as an explicit spec: what the job, its roles and its patch get."""

from __future__ import annotations

from typing import Any

import pytest

from ptcompile.importer.draft import (
    blocks,
    draft,
    may_be_compiled,
    name_containers,
    placeholder_images,
    placeholder_warning,
    replace_images,
    substitute_images,
    without_compiled_env,
)
from ptcompile.kinds.reading import Read, ReadRole
from ptcompile.kubernetes.pod_spec import SHM_PATH

Json = dict[str, Any]

GPU = "nvidia.com/gpu"


def role(
    name: str = "node",
    replicas: int = 1,
    *,
    trains: bool = True,
    pod: Json | None = None,
    **main: Any,
) -> ReadRole:
    """Return a role whose main container has these fields."""
    metadata = {"labels": pod.pop("labels")} if pod and "labels" in pod else {}
    template = {
        "metadata": metadata,
        "spec": {**(pod or {}), "containers": [{"name": "main", **main}]},
    }
    return ReadRole(name, replicas, template, ("spec", "template"), "main", None, trains=trains)


def auxiliary(replicas: int = 1, **fields: Any) -> ReadRole:
    return role("loader", replicas, trains=False, **fields)


MOUNT = {"name": "shm", "mountPath": SHM_PATH}


def shared_memory(size: str | None) -> Json:
    """Return the fields of a role with shared memory, of unlimited size if `size` is None."""
    volume = {
        "name": "shm",
        "emptyDir": {"medium": "Memory", **({"sizeLimit": size} if size else {})},
    }
    return {"volumeMounts": [MOUNT], "pod": {"volumes": [volume]}}


IN_MEMORY = shared_memory(None)["pod"]
OF_1GI, OF_2GI = shared_memory("1Gi")["pod"], shared_memory("2Gi")["pod"]
NONE = {"sharedMemory": False}


def spec_of(*roles: ReadRole, **fields: Any) -> Json:
    """Return the spec of these roles without `target`."""
    spec: Json = draft({"metadata": {"name": "j"}}, Read("jobset", roles, fields), GPU)["spec"]
    assert spec.pop("target") == "jobset"
    return spec


@pytest.mark.parametrize(
    ("metadata", "expected"),
    [
        pytest.param({"name": "a"}, {"name": "a"}, id="name"),
        pytest.param(
            {"generateName": "a-"}, {"name": "a"}, id="a generated name loses its separator"
        ),
        pytest.param(
            {"name": "a", "generateName": "b-"}, {"name": "a"}, id="a name precedes a generated one"
        ),
        pytest.param({}, {"name": ""}, id="no name"),
        pytest.param(
            {
                "name": "a",
                "namespace": "n",
                "labels": {"x": "y"},
                "annotations": {"p": "q"},
                "uid": "u",
            },
            {"name": "a", "namespace": "n", "labels": {"x": "y"}, "annotations": {"p": "q"}},
            id="what a spec has of the metadata",
        ),
        pytest.param(
            {"name": "a", "labels": {}, "namespace": None}, {"name": "a"}, id="nothing empty"
        ),
        pytest.param(
            {
                "name": "a",
                "annotations": {"kubectl.kubernetes.io/last-applied-configuration": "{}"},
            },
            {"name": "a"},
            id="without the annotation of kubectl apply",
        ),
    ],
)
def test_the_draft_keeps_the_metadata(metadata: Json, expected: Json) -> None:
    assert draft({"metadata": metadata}, Read("pod", (role(),)), GPU) == {
        "apiVersion": "ptcompile/v1",
        "kind": "TrainingJob",
        "metadata": expected,
        "spec": {"target": "pod", **NONE},
    }


def test_fields_of_the_object_are_merged_with_those_of_the_pods() -> None:
    two = (role("master", image="i"), role("worker", 2, image="i"))
    fields = {
        "runPolicy": {"backoffLimit": 1},
        "names": {},
        "master": {},
        "worker": {"replicas": 3},
        "image": "k",
    }
    assert spec_of(*two, **fields) == {
        "image": "k",
        "runPolicy": {"backoffLimit": 1},
        "master": {},
        "worker": {"replicas": 3},
        **NONE,
    }


@pytest.mark.parametrize(
    ("roles", "expected"),
    [
        pytest.param((role(image="i"),), {"image": "i", **NONE}, id="nodes alone"),
        pytest.param(
            (
                role("master", image="i", workingDir="/a"),
                role("worker", 2, image="i", workingDir="/b"),
            ),
            {
                "image": "i",
                "master": {"workingDir": "/a"},
                "worker": {"replicas": 2, "workingDir": "/b"},
                **NONE,
            },
            id="a role has what is its own",
        ),
        pytest.param(
            (role("master"), role("worker", 2, image="i")),
            {"master": {}, "worker": {"replicas": 2, "image": "i"}, **NONE},
            id="a field of only one role",
        ),
        pytest.param(
            (role("master", **shared_memory("1Gi")), role("worker", 2, **shared_memory("1Gi"))),
            {"master": {}, "worker": {"replicas": 2}, "sharedMemory": "1Gi"},
            id="the same shared memory is the job's",
        ),
        pytest.param(
            (role("master", **shared_memory("1Gi")), role("worker", 2, **shared_memory("2Gi"))),
            {
                "volumeMounts": [MOUNT],
                "master": OF_1GI,
                "worker": {"replicas": 2, **OF_2GI},
                **NONE,
            },
            id="different shared memory stays volumes",
        ),
        pytest.param(
            (role("master"), role("worker", 2, **shared_memory("1Gi"))),
            {"master": {}, "worker": {"replicas": 2, "volumeMounts": [MOUNT], **OF_1GI}, **NONE},
            id="shared memory of one role stays a volume",
        ),
    ],
)
def test_training_roles_become_fields_of_the_job(
    roles: tuple[ReadRole, ...], expected: Json
) -> None:
    assert spec_of(*roles) == expected


@pytest.mark.parametrize(
    ("nodes", "loader", "job", "block"),
    [
        pytest.param(
            role(image="i"),
            auxiliary(3, image="i"),
            {"image": "i"},
            {"replicas": 3},
            id="inherits the image",
        ),
        pytest.param(
            role(image="i"),
            auxiliary(image="j"),
            {"image": "i"},
            {"replicas": 1, "image": "j"},
            id="another image",
        ),
        pytest.param(
            role(command=["c"], args=["a"], resources={"limits": {"cpu": 1}}),
            auxiliary(command=["c"], args=["a"], resources={"limits": {"cpu": 1}}),
            {"command": ["c"], "args": ["a"], "resources": {"cpu": 1}},
            {"replicas": 1, "command": ["c"], "args": ["a"], "resources": {"cpu": 1}},
            id="repeats what it does not inherit",
        ),
        pytest.param(
            role(workingDir="/w", pod={"serviceAccountName": "s", "labels": {"x": "y"}}),
            auxiliary(workingDir="/w", pod={"serviceAccountName": "s", "labels": {"x": "y"}}),
            {"workingDir": "/w", "serviceAccountName": "s", "podLabels": {"x": "y"}},
            {"replicas": 1},
            id="inherits what is equal",
        ),
        pytest.param(
            role(
                workingDir="/w",
                imagePullPolicy="Always",
                pod={"nodeSelector": {"a": "b"}, "labels": {"x": "y"}},
            ),
            auxiliary(),
            {
                "podTemplate": {
                    "metadata": {"labels": {"x": "y"}},
                    "spec": {
                        "nodeSelector": {"a": "b"},
                        "containers": [
                            {"name": "pytorch", "imagePullPolicy": "Always", "workingDir": "/w"}
                        ],
                    },
                }
            },
            {"replicas": 1},
            id="what it lacks is a patch of the nodes",
        ),
        pytest.param(
            role(workingDir="/w"),
            auxiliary(workingDir="/v"),
            {"podTemplate": {"spec": {"containers": [{"name": "pytorch", "workingDir": "/w"}]}}},
            {"replicas": 1, "workingDir": "/v"},
            id="what differs is a patch of the nodes",
        ),
        pytest.param(
            role(pod={"hostNetwork": True, "dnsPolicy": "ClusterFirstWithHostNet"}),
            auxiliary(),
            {
                "podTemplate": {
                    "spec": {"hostNetwork": True, "dnsPolicy": "ClusterFirstWithHostNet"}
                }
            },
            {"replicas": 1},
            id="a host network of the nodes alone keeps its name resolution",
        ),
        pytest.param(
            role(),
            auxiliary(pod={"schedulerName": "s"}),
            {},
            {"replicas": 1, "schedulerName": "s"},
            id="what only the role has",
        ),
        pytest.param(
            role(lifecycle={"a": 1}, workingDir="/w"),
            auxiliary(),
            {
                "podTemplate": {
                    "spec": {
                        "containers": [
                            {"name": "pytorch", "workingDir": "/w", "lifecycle": {"a": 1}}
                        ]
                    }
                }
            },
            {"replicas": 1},
            id="joins the patch that the nodes have",
        ),
    ],
)
def test_auxiliary_roles_become_roles(
    nodes: ReadRole, loader: ReadRole, job: Json, block: Json
) -> None:
    assert spec_of(nodes, loader) == {**job, "roles": {"loader": block}, **NONE}


ODD = {"volumeMounts": [{**MOUNT, "readOnly": True}], "pod": IN_MEMORY}
VOLUME = {"volumeMounts": [MOUNT]}


@pytest.mark.parametrize(
    ("nodes", "loader", "expected", "block"),
    [
        pytest.param({}, {}, NONE, {}, id="neither"),
        pytest.param(
            {}, shared_memory(None), NONE, {**VOLUME, **IN_MEMORY}, id="only the role, unlimited"
        ),
        pytest.param(
            {}, shared_memory("1Gi"), NONE, {**VOLUME, **OF_1GI}, id="only the role, limited"
        ),
        pytest.param(shared_memory("1Gi"), {}, {"sharedMemory": "1Gi"}, {}, id="only the nodes"),
        pytest.param(
            shared_memory("1Gi"),
            shared_memory(None),
            {"sharedMemory": "1Gi"},
            {},
            id="as compile gives it",
        ),
        pytest.param(
            shared_memory(None),
            shared_memory("1Gi"),
            {"sharedMemory": True},
            {**VOLUME, **OF_1GI},
            id="a limited role",
        ),
        pytest.param(
            {},
            ODD,
            NONE,
            {"volumeMounts": ODD["volumeMounts"], **IN_MEMORY},
            id="a mount that compile does not write",
        ),
    ],
)
def test_an_auxiliary_role_keeps_its_shared_memory(
    nodes: Json, loader: Json, expected: Json, block: Json
) -> None:
    read = spec_of(role(**nodes), auxiliary(**loader))
    assert read == {**expected, "roles": {"loader": {"replicas": 1, **block}}}


def test_unshared_fields_do_not_stay_inherited() -> None:
    """Of two auxiliary roles, one has what the nodes have: it must repeat it, as it no longer inherits it."""
    cache = role("cache", trains=False, workingDir="/w")
    assert spec_of(role(workingDir="/w"), auxiliary(), cache) == {
        "podTemplate": {"spec": {"containers": [{"name": "pytorch", "workingDir": "/w"}]}},
        "roles": {"loader": {"replicas": 1}, "cache": {"replicas": 1, "workingDir": "/w"}},
        **NONE,
    }


def named(role_name: str, main: str, **fields: Any) -> ReadRole:
    return ReadRole(
        role_name, 1, {"spec": {"containers": [{"name": main}]}}, ("spec",), main, None
    )._replace(**fields)


@pytest.mark.parametrize(
    ("roles", "names"),
    [
        pytest.param((named("node", "a"),), {"container": "c", "node": "n"}, id="one role"),
        pytest.param(
            (named("master", "a"), named("worker", "a")),
            {"container": "c", "node": "n"},
            id="equal names",
        ),
        pytest.param(
            (named("master", "a"), named("worker", "b")),
            {"node": "n", "masterContainer": "a", "workerContainer": "b"},
            id="a name for each role",
        ),
        pytest.param(
            (named("master", "pytorch"), named("worker", "b")),
            {"node": "n", "workerContainer": "b"},
            id="one with the default",
        ),
        pytest.param(
            (named("node", "a"), named("loader", "b", trains=False)),
            {"container": "c", "node": "n"},
            id="an auxiliary role",
        ),
    ],
)
def test_training_containers_of_roles_keep_their_names(
    roles: tuple[ReadRole, ...], names: Json
) -> None:
    read = Read("jobset", roles, {"names": {"container": "c", "node": "n"}})
    assert name_containers(read).fields == {"names": names}


@pytest.mark.parametrize(
    ("name", "is_compiled"),
    [
        *(
            (name, True)
            for name in ("MASTER_ADDR", "MASTER_PORT", "WORLD_SIZE", "RANK", "OMP_NUM_THREADS")
        ),
        ("DATA_LOADER_HOSTS", True),
        ("LOADER_HOSTS", False),
        ("data-loader_HOSTS", False),
        ("A", False),
    ],
)
def test_only_variables_that_compile_sets_may_be_left_out(name: str, is_compiled: bool) -> None:
    assert may_be_compiled(name, {"roles": {"data-loader": {}}}) is is_compiled


def test_blocks_yields_the_job_and_its_roles() -> None:
    job = {"worker": {"a": 1}, "master": {"b": 2}, "roles": {"x": {"c": 3}}}
    assert blocks(job) == [
        (("spec",), job),
        (("spec", "master"), {"b": 2}),
        (("spec", "worker"), {"a": 1}),
        (("spec", "roles", "x"), {"c": 3}),
    ]


@pytest.mark.parametrize(
    ("job", "expected"),
    [
        pytest.param(
            {"env": {"RANK": "0", "A": "1"}, "x": 1}, {"env": {"A": "1"}, "x": 1}, id="one of two"
        ),
        pytest.param({"env": {"RANK": "0"}, "x": 1}, {"x": 1}, id="no empty mapping"),
        pytest.param({"x": 1}, {"x": 1}, id="no variables"),
        pytest.param(
            {"env": {"RANK": "0", "A": "$(RANK)"}},
            {"env": {"RANK": "0", "A": "$(RANK)"}},
            id="one refers to another",
        ),
        pytest.param(
            {"master": {"env": {"RANK": "0"}}, "worker": {"env": {"RANK": "1", "B": "2"}}},
            {"master": {}, "worker": {"env": {"B": "2"}}},
            id="of each node role",
        ),
        pytest.param(
            {"roles": {"x-y": {"env": {"X_Y_HOSTS": "h", "B": "2"}}}},
            {"roles": {"x-y": {"env": {"B": "2"}}}},
            id="of each auxiliary role, with its hosts",
        ),
        pytest.param({"env": {"MASTER_PORT": "1"}}, {"masterPort": 1}, id="the lowest port"),
        pytest.param(
            {"env": {"MASTER_PORT": "65535"}}, {"masterPort": 65535}, id="the highest port"
        ),
        pytest.param({"env": {"MASTER_PORT": "0"}}, {}, id="no port"),
        pytest.param({"env": {"MASTER_PORT": "65536"}}, {}, id="too high for a port"),
        pytest.param({"env": {"MASTER_PORT": "x"}}, {}, id="not a number"),
        pytest.param({"env": {"MASTER_PORT": {"fieldRef": {}}}}, {}, id="a reference"),
        pytest.param(
            {"env": {"MASTER_PORT": "2"}, "masterPort": 3},
            {"masterPort": 3},
            id="a field precedes it",
        ),
    ],
)
def test_variables_of_compile_are_left_out(job: Json, expected: Json) -> None:
    spec = {"kind": "TrainingJob", "spec": job}
    assert without_compiled_env(spec) == {"kind": "TrainingJob", "spec": expected}


def test_placeholder_images_have_the_path_that_uses_them_first() -> None:
    images = [
        {"image": "<a>"},
        {"image": "a:1"},
        {"image": "<b>"},
        {"image": "<a>"},
        {"image": 1},
        {"name": "<c>"},
    ]
    assert placeholder_images({"x": images, "image": {"image": "<d>"}}) == {
        "<a>": ("x", 0, "image"),
        "<b>": ("x", 2, "image"),
        "<d>": ("image", "image"),
    }


@pytest.mark.parametrize(("policy", "tag"), [("Always", ":1"), ("IfNotPresent", ""), (None, "")])
def test_stand_ins_for_placeholders(policy: str | None, tag: str) -> None:
    manifest = {"image": "<a>", "imagePullPolicy": policy}
    images = substitute_images({"<a>": (), "<b>": ()}, manifest)
    assert images == {"<a>": f"stand-in-0{tag}", "<b>": f"stand-in-1{tag}"}
    replaced = replace_images({"x": ["<a>", {"image": "<b>"}, "c", 1, None]}, images)
    assert replaced == {"x": [f"stand-in-0{tag}", {"image": f"stand-in-1{tag}"}, "c", 1, None]}


def test_the_warning_names_the_placeholder_and_its_field() -> None:
    problem = placeholder_warning("<a>", ("spec", "image"))
    assert (
        problem.message
        == "spec.image: '<a>' is a placeholder: the spec compiles once it names an image"
    )
    assert problem.help == "write the image into the spec, or import with --set NAME=VALUE"
    assert (problem.name, problem.path, problem.severity) == (
        "import-differs",
        ("spec", "image"),
        "warning",
    )
    assert (problem.stage, problem.authority) == ("style", "ptcompile")
