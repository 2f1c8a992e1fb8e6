"""Flyte's words, ours or the plugin's own, and the shortest way from a task to its manifests."""

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

NO_GPU_TAINTS = {"apiVersion": "ptcompile/v1", "kind": "ClusterProfile", "spec": {"gpu": {"tolerations": []}}}
IMAGE = "acme/llama:2"

OURS = SimpleNamespace(**{name: getattr(flyte, name) for name in flyte.__all__}, pod_spec=lambda data: data)


def flytekit_words() -> Any:
    """The same names from flytekit 1.16 and flytekitplugins-kfpytorch 1.16."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        flytekit = import_module("flytekit")
        plugin = import_module("flytekitplugins.kfpytorch")
        client = import_module("kubernetes.client")

    def pod_spec(data: dict[str, Any]) -> Any:
        """A V1PodSpec, as people build it, from its JSON form."""
        # the public `deserialize` changed its arguments between releases of the client; this one did not
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
    """Leave sys.path as it was, and no module of the folder imported."""
    path = [*sys.path]
    yield
    sys.path[:] = path
    for name, module in [*sys.modules.items()]:
        if (getattr(module, "__file__", None) or "").startswith(str(folder)):
            del sys.modules[name]


def convert(config: Any, **knobs: Any) -> flyte.Converted:
    """A task as a document, with all that there is to say about it."""
    knobs = {"container_image": IMAGE, "script": "train.py", **knobs}
    return flyte.task(_function, task_config=config, **knobs).convert("job")


def document(config: Any, **knobs: Any) -> dict[str, Any]:
    """A task's `spec`, without a mistake."""
    converted = convert(config, **knobs)
    assert converted.ok, converted.problems
    spec: dict[str, Any] = converted.document["spec"]
    return spec


def messages(config: Any, **knobs: Any) -> list[str]:
    """What is wrong with a task, or lost of it, in words."""
    return [problem.message for problem in convert(config, **knobs).problems if problem.severity != "note"]


def manifest(config: Any, *, cluster: Any = NO_GPU_TAINTS, **knobs: Any) -> dict[str, Any]:
    """The object that a task becomes."""
    platform = knobs.get("platform")
    converted = convert(config, **knobs)
    assert converted.ok, converted.problems
    result = ptcompile.compile(converted.document, cluster=platform.profile if platform else cluster, lint=False)
    return dict(result.unwrap()[0])


def roles(made: dict[str, Any]) -> dict[str, Any]:
    """The replica specs of a PyTorchJob."""
    found: dict[str, Any] = made["spec"]["pytorchReplicaSpecs"]
    return found


def pod(made: dict[str, Any], role: str = "Worker") -> dict[str, Any]:
    """The pod of a role; of a Pod itself, and of the Job that makes a Pod again when its node is lost."""
    if made["kind"] == "Pod":
        return dict(made["spec"])
    holder = made["spec"] if made["kind"] == "Job" else roles(made)[role]
    return dict(holder["template"]["spec"])


def main(made: dict[str, Any], role: str = "Worker") -> dict[str, Any]:
    """The container that trains."""
    found: dict[str, Any] = pod(made, role)["containers"][0]
    return found


def resources(made: dict[str, Any], role: str = "Worker") -> dict[str, tuple[str | None, str | None]]:
    """Request and limit by resource."""
    found = main(made, role).get("resources", {})
    requests, limits = found.get("requests", {}), found.get("limits", {})
    return {name: (requests.get(name), limits.get(name)) for name in {**requests, **limits}}


def env(made: dict[str, Any], role: str = "Worker") -> dict[str, Any]:
    """The variables of the container that trains."""
    return {one["name"]: one.get("value", one.get("valueFrom")) for one in main(made, role).get("env", [])}


def expressions(made: dict[str, Any], role: str = "Worker") -> list[list[dict[str, Any]]]:
    """The required node affinity: the expressions of each alternative."""
    node = pod(made, role).get("affinity", {}).get("nodeAffinity", {})
    terms = node.get("requiredDuringSchedulingIgnoredDuringExecution", {}).get("nodeSelectorTerms", [])
    return [term["matchExpressions"] for term in terms]


def _function() -> None:
    """Stand for a task's function."""
