"""Volcano's webhook looks at each task's pod template with core validation of its own (Volcano 1.16)."""

from __future__ import annotations

from collections.abc import Iterator

from ptcompile.findings.diagnostics import Path, Problem
from ptcompile.kubernetes import names, quantity
from ptcompile.kubernetes.untyped import at, items, mapping, string_map, text, texts
from ptcompile.kubernetes.versions import Versions
from ptcompile.operators.common.verdict import refusal
from ptcompile.operators.record import ApiServer, Known
from ptcompile.validate.core.pod import pod_spec

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ptcompile.kubernetes.untyped import Json

_say = refusal("volcano")


def template(task: Json, path: Path, versions: Versions, known: Known) -> Iterator[Problem]:
    """What the webhook says to a task's template, at stage "apply" and with Volcano's authority."""
    spec = at(task, "template").get("spec")
    here = (*path, "template", "spec")
    if spec is not None and mapping(spec).get("containers") is not None:
        if not (known.pods and _is_pod_too(task["template"])):
            context = ApiServer(kubernetes=versions.kubernetes)
            for problem in pod_spec(spec, here, context, template=True):
                if problem.severity == "error" and not _looser(problem):
                    yield problem._replace(name="webhook-refusal", stage="apply", authority="volcano")
        yield from _labels(task, (*path, "template", "metadata"))
        yield from _stricter(mapping(spec), here)


def _is_pod_too(pod_template: Json) -> bool:
    """Whether nothing is wrong with a template if nothing is with the Pod made of it.

    Of a Pod more is filled in and more is asked. Resources of the pod as a whole are the one exception: there, what is
    filled in later is not asked for.
    """
    spec = pod_template["spec"]
    return type(pod_template) is dict and type(spec) is dict and spec.get("resources") is None


def _looser(problem: Problem) -> bool:
    """What Volcano's older rules let through: the pod is rejected when it is created."""
    last, before = problem.path[-1:], problem.path[-2:-1]
    if last == ("restartPolicy",) and before and isinstance(before[0], int):
        return "Required" in problem.message
    return False


def _labels(task: Json, path: Path) -> Iterator[Problem]:
    metadata = at(task, "template", "metadata")
    for kind in ("labels", "annotations"):
        for key, value in string_map(metadata.get(kind)).items():
            why = names.why_not_qualified_name(key if kind == "labels" else key.lower())
            why = why or (names.why_not_label_value(value) if kind == "labels" else None)
            if why:
                yield _say((*path, kind, key), f'Invalid value: "{key}": {why}', "correct the key or the value")


def _stricter(spec: Json, path: Path) -> Iterator[Problem]:
    """What Volcano's rules refuse and a 1.36 API server takes."""
    for key, init in (("initContainers", True), ("containers", False)):
        for i, container in enumerate(items(spec.get(key))):
            here = (*path, key, i)
            yield from _env(container, here)
            yield from _restart(container, here, init=init)
            sleep = at(container, "lifecycle", "preStop").get("sleep")
            if mapping(sleep).get("seconds") == 0:
                at_sleep = (*here, "lifecycle", "preStop", "sleep")
                yield _say(at_sleep, "Invalid value: 0: must be greater than 0", "sleep at least 1 second")
            if init and items(container.get("resizePolicy")) and container.get("restartPolicy") != "Always":
                yield _say((*here, "resizePolicy"), "Forbidden: must not be set for init containers", "remove it")
            if at(container, "lifecycle").get("stopSignal") and not text(at(spec, "os").get("name")):
                signal = (*here, "lifecycle", "stopSignal")
                yield _say(signal, "Forbidden: may not be set for containers with an empty os name", "set spec.os.name")
    for i, search in enumerate(texts(at(spec, "dnsConfig").get("searches"))):
        if "_" in search:
            yield _say((*path, "dnsConfig", "searches", i), "Invalid value: must have no underscore", "rename it")


def _env(container: Json, path: Path) -> Iterator[Problem]:
    for j, entry in enumerate(items(container.get("env"))):
        name = text(entry.get("name"))
        if names.is_env_name(name) and (why := names.why_not_classic_env_name(name)):
            help = "rename the variable: Volcano's webhook applies the older rule"
            yield _say((*path, "env", j, "name"), f'Invalid value: "{name}": {why}', help)
    for j, source in enumerate(items(container.get("envFrom"))):
        prefix = text(source.get("prefix"))
        if prefix and names.is_env_name(prefix) and (why := names.why_not_classic_env_name(prefix)):
            yield _say((*path, "envFrom", j, "prefix"), f'Invalid value: "{prefix}": {why}', "rename the prefix")


def _restart(container: Json, path: Path, *, init: bool) -> Iterator[Problem]:
    policy = text(container.get("restartPolicy"))
    here = (*path, "restartPolicy")
    if policy and not init:
        yield _say(here, "Forbidden: may not be set for non-init containers", "remove it")
    elif policy in ("OnFailure", "Never"):
        yield _say(here, f'Unsupported value: "{policy}": supported values: "Always"', "use Always, or remove it")


def whole_cpus(task: Json, path: Path) -> Iterator[Problem]:
    """A topology policy of the task at `path` pins CPUs, so each container needs a whole number of them."""
    if text(task.get("topologyPolicy")) in ("", "none"):
        return
    for j, container in enumerate(items(mapping(at(task, "template").get("spec")).get("containers"))):
        resources = at(container, "resources")
        amounts = mapping(resources.get("requests")) or mapping(resources.get("limits"))
        cpu = quantity.parse(amounts.get("cpu"))
        if cpu is None or not cpu.is_integer or cpu.value < 1:
            text_ = "the cpu request isn't an integer, and topologyPolicy needs one"
            here = (*path, "template", "spec", "containers", j, "resources")
            yield _say(here, text_, "request whole CPUs, or remove topologyPolicy")
            return
