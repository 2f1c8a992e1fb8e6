"""Flyte's classes, ptcompile's or the plugin's own, and short ways from a task to its manifests."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import ptcompile
from ptcompile import flyte

NO_GPU_TAINTS = {
    "apiVersion": "ptcompile/v1",
    "kind": "ClusterProfile",
    "spec": {"gpu": {"tolerations": []}},
}
IMAGE = "acme/llama:2"

OURS = SimpleNamespace(
    **{name: getattr(flyte, name) for name in flyte.__all__}, pod_spec=lambda data: data
)


def flytekit_words() -> Any:
    """Return the same names from flytekit 1.16 and flytekitplugins-kfpytorch 1.16."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        flytekit = import_module("flytekit")
        plugin = import_module("flytekitplugins.kfpytorch")
        client = import_module("kubernetes.client")

    def pod_spec(data: dict[str, Any]) -> Any:
        """Return the V1PodSpec for its JSON form."""
        # the client changed the arguments of the public `deserialize`, but not of this method
        return client.ApiClient()._ApiClient__deserialize(data, "V1PodSpec")

    return SimpleNamespace(
        **{name: getattr(plugin, name) for name in plugin.__dict__ if name[:1].isupper()},
        Resources=flytekit.Resources,
        PodTemplate=flytekit.PodTemplate,
        Secret=flytekit.Secret,
        pod_spec=pod_spec,
    )


@contextmanager
def forgetting(folder: Path) -> Iterator[None]:
    """Restore sys.path and drop the folder's modules from sys.modules afterwards."""
    path = [*sys.path]
    yield
    sys.path[:] = path
    for name, module in [*sys.modules.items()]:
        if (getattr(module, "__file__", None) or "").startswith(str(folder)):
            del sys.modules[name]


def convert(config: Any, **knobs: Any) -> flyte.Converted:
    """Convert a task to a document, with all problems."""
    knobs = {"container_image": IMAGE, "script": "train.py", **knobs}
    return flyte.task(_function, task_config=config, **knobs).convert("job")


def document(config: Any, **knobs: Any) -> dict[str, Any]:
    """Return the `spec` of a task that converts without errors."""
    converted = convert(config, **knobs)
    assert converted.ok, converted.problems
    spec: dict[str, Any] = converted.document["spec"]
    return spec


def messages(config: Any, **knobs: Any) -> list[str]:
    """Return the messages of a task's errors and warnings."""
    return [
        problem.message
        for problem in convert(config, **knobs).problems
        if problem.severity != "note"
    ]


def manifest(config: Any, *, cluster: Any = NO_GPU_TAINTS, **knobs: Any) -> dict[str, Any]:
    """Return the first object that a task compiles to."""
    platform = knobs.get("platform")
    converted = convert(config, **knobs)
    assert converted.ok, converted.problems
    result = ptcompile.compile(
        converted.document, cluster=platform.profile if platform else cluster, lint=False
    )
    return dict(result.unwrap()[0])


def roles(made: dict[str, Any]) -> dict[str, Any]:
    """Return the replica specs of a PyTorchJob."""
    replica_specs: dict[str, Any] = made["spec"]["pytorchReplicaSpecs"]
    return replica_specs


def pod(made: dict[str, Any], role: str = "Worker") -> dict[str, Any]:
    """Return a role's pod spec. The kinds Pod and Job have only one pod template, so `role` is ignored."""
    if made["kind"] == "Pod":
        return dict(made["spec"])
    holder = made["spec"] if made["kind"] == "Job" else roles(made)[role]
    return dict(holder["template"]["spec"])


def main(made: dict[str, Any], role: str = "Worker") -> dict[str, Any]:
    """Return the training container."""
    pod_spec: dict[str, Any] = pod(made, role)["containers"][0]
    return pod_spec


def resources(
    made: dict[str, Any], role: str = "Worker"
) -> dict[str, tuple[str | None, str | None]]:
    """Return the request and limit of each resource."""
    found = main(made, role).get("resources", {})
    requests, limits = found.get("requests", {}), found.get("limits", {})
    return {name: (requests.get(name), limits.get(name)) for name in {**requests, **limits}}


def env(made: dict[str, Any], role: str = "Worker") -> dict[str, Any]:
    """Return the training container's variables."""
    return {
        variable["name"]: variable.get("value", variable.get("valueFrom"))
        for variable in main(made, role).get("env", [])
    }


def expressions(made: dict[str, Any], role: str = "Worker") -> list[list[dict[str, Any]]]:
    """Return the match expressions of each term of the required node affinity."""
    node = pod(made, role).get("affinity", {}).get("nodeAffinity", {})
    terms = node.get("requiredDuringSchedulingIgnoredDuringExecution", {}).get(
        "nodeSelectorTerms", []
    )
    return [term["matchExpressions"] for term in terms]


def _function() -> None:
    """Stand in for a task's function."""
