"""Objects, variables and folders to which pods refer."""

from __future__ import annotations

from typing import Any

import pytest

from tests.linter.asking import Json, fires, pod, problems_of


def _in(namespace: str | None, **spec: Any) -> Json:
    manifest = pod(containers=[{"name": "a", "image": "a:1"}], **spec)
    space = {} if namespace is None else {"namespace": namespace}
    return {**manifest, "metadata": {"name": "train", **space}}


def _object(kind: str, namespace: str | None, name: str = "x") -> Json:
    space = {} if namespace is None else {"namespace": namespace}
    return {"apiVersion": "v1", "kind": kind, "metadata": {"name": name, **space}}


CLAIM = {"volumes": [{"name": "v", "persistentVolumeClaim": {"claimName": "x"}}]}


@pytest.mark.parametrize(
    ("spec", "kind"),
    [
        (CLAIM, "PersistentVolumeClaim"),
        ({"volumes": [{"name": "v", "configMap": {"name": "x"}}]}, "ConfigMap"),
        (
            {"volumes": [{"name": "v", "projected": {"sources": [{"secret": {"name": "x"}}]}}]},
            "Secret",
        ),
        ({"serviceAccountName": "x"}, "ServiceAccount"),
        ({"imagePullSecrets": [{"name": "x"}]}, "Secret"),
    ],
)
def test_objects_of_another_namespace_are_reported(spec: Json, kind: str) -> None:
    rule = "object-in-other-namespace"
    assert fires(rule, _in("ml", **spec), _object(kind, "storage"))
    assert not fires(rule, _in("ml", **spec), _object(kind, "ml"))
    assert not fires(rule, _in("ml", **spec), _object(kind, "storage"), _object(kind, "ml"))
    assert not fires(rule, _in("ml", **spec), _object(kind, "storage", "y"))
    assert not fires(rule, _in("ml", **spec), _object(kind, None))  # `kubectl apply -n ml`
    assert not fires(rule, _in(None, **spec), _object(kind, "storage"))


def test_optional_objects_may_be_elsewhere() -> None:
    volumes = [{"name": "v", "configMap": {"name": "x", "optional": True}}]
    assert not fires(
        "object-in-other-namespace", _in("ml", volumes=volumes), _object("ConfigMap", "web")
    )


def test_keys_of_projected_volumes_must_exist() -> None:
    source = {"configMap": {"name": "x", "items": [{"key": "b", "path": "b"}]}}
    manifest = _in("ml", volumes=[{"name": "v", "projected": {"sources": [source]}}])
    (problem,) = problems_of(
        "missing-config-key", manifest, {**_object("ConfigMap", "ml"), "data": {"a": "1"}}
    )
    assert problem.path[-5:] == (0, "configMap", "items", 0, "key")


def _mounting(mount: Json, **container: Any) -> Json:
    fields = {
        "name": "a",
        "image": "a:1",
        "volumeMounts": [{"name": "v", "mountPath": "/v", **mount}],
        **container,
    }
    return pod(containers=[fields], volumes=[{"name": "v", "emptyDir": {}}])


POD_NAME = {"name": "POD_NAME", "valueFrom": {"fieldRef": {"fieldPath": "metadata.name"}}}


@pytest.mark.parametrize(
    ("mount", "container", "expected"),
    [
        ({"subPathExpr": "$(POD_NAME)"}, {}, ["error"]),
        ({"subPathExpr": "logs/$(POD_NAME)"}, {"env": [{"name": "POD", "value": "x"}]}, ["error"]),
        ({"subPathExpr": "$(POD_NAME)"}, {"env": [POD_NAME]}, []),
        ({"subPathExpr": "$$(POD_NAME)"}, {}, []),
        ({"subPathExpr": "$(KUBERNETES_SERVICE_HOST)"}, {}, []),
        (
            {"subPathExpr": "$(POD_NAME)"},
            {"envFrom": [{"configMapRef": {"name": "elsewhere"}}]},
            [],
        ),
        ({"subPathExpr": "logs"}, {}, []),
        ({"subPath": "$(POD_NAME)"}, {"env": [POD_NAME]}, ["warning"]),
        ({"subPath": "logs"}, {}, []),
    ],
)
def test_unset_variables_of_paths_are_reported(
    mount: Json, container: Json, expected: list[str]
) -> None:
    problems = problems_of("unset-subpath-variable", _mounting(mount, **container))
    assert [problem.severity for problem in problems] == expected


def test_a_variable_that_the_operator_sets_counts_as_set() -> None:
    container = {
        "name": "a",
        "image": "a:1",
        "volumeMounts": [{"name": "v", "mountPath": "/v", "subPathExpr": "$(X)"}],
    }
    container["volumeMounts"] = [
        {"name": "v", "mountPath": "/v", "subPathExpr": "$(JOB_COMPLETION_INDEX)"}
    ]
    spec = {"completionMode": "Indexed", "completions": 2, "parallelism": 2}
    template = {
        "spec": pod(containers=[container], volumes=[{"name": "v", "emptyDir": {}}])["spec"]
    }
    job = {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {"name": "t"},
        "spec": {**spec, "template": template},
    }
    assert not fires("unset-subpath-variable", job)
    spec["completionMode"] = "NonIndexed"
    assert fires("unset-subpath-variable", {**job, "spec": {**spec, "template": template}})


def _with_init(
    command: list[str], *mounts: Json, at: str = "/data", volume: Json | None = None
) -> Json:
    main = {"name": "a", "image": "a:1", "volumeMounts": [{"name": "v", "mountPath": at}]}
    init = {"name": "i", "image": "i:1", "command": command, "volumeMounts": list(mounts)}
    return pod(
        containers=[main],
        initContainers=[init],
        volumes=[{"name": "v", **(volume or {"emptyDir": {}})}],
    )


@pytest.mark.parametrize(
    ("manifest", "expected"),
    [
        (_with_init(["aws", "s3", "sync", "s3://b/data", "/data"]), True),
        (
            _with_init(
                ["sh", "-c", "wget -O /data/x.tar https://h/x.tar && tar xf /data/x.tar -C /data"]
            ),
            True,
        ),
        (_with_init(["hf", "download", "--local-dir=/data/model"]), True),
        (
            _with_init(
                ["sh", "-c", "git clone https://h/r /data"], {"name": "v", "mountPath": "/data"}
            ),
            False,
        ),
        (_with_init(["cp", "-r", "/src", "/out"], {"name": "v", "mountPath": "/out"}), False),
        (_with_init(["aws", "s3", "ls", "s3://b/data/x"]), False),
        (_with_init(["touch", "/etc/x"], at="/etc"), False),
        (
            _with_init(["df", "/cache"], at="/cache", volume={"emptyDir": {"medium": "Memory"}}),
            False,
        ),
        (_with_init(["ls", "/data"], volume={"configMap": {"name": "c"}}), False),
        (_with_init(["ls", "/database"]), False),
    ],
)
def test_folders_of_init_containers_must_be_mounted(manifest: Json, expected: bool) -> None:
    assert fires("unmounted-init-path", manifest) is expected
