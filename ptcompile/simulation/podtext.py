"""One pod in full, for people; and its variables as a file for `docker run --env-file`."""

from __future__ import annotations

from collections.abc import Iterator

from ptcompile.kubernetes.untyped import at, kind_of, mapping, object_name, string_map, text
from ptcompile.operators.common.expansion import env_entry
from ptcompile.operators.pods import ContainerView
from ptcompile.simulation import kubelet
from ptcompile.simulation.as_json import env_from, node_requirements
from ptcompile.simulation.hidden import shown_pod
from ptcompile.simulation.job import Job
from ptcompile.simulation.layout import finished, labelled, quoted
from ptcompile.simulation.meeting import claims, meeting
from ptcompile.simulation.overview import asked, env_table, volume_text
from ptcompile.simulation.pod import Pod, owner_of
from ptcompile.simulation.rendezvous import AT_RENDEZVOUS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ptcompile.kubernetes.untyped import Json


def in_full(pod: Pod, job: Job | None = None) -> str:
    """Everything about a pod that its processes or its node can see, but for its secrets.

    `job` is its job as `hidden.shown_jobs` gives it, for a caller that shows many of its pods.
    """
    pod = shown_pod(pod, job)
    return finished([*_head(pod), *_rendezvous(pod), *_containers(pod)])


def _head(pod: Pod) -> Iterator[str]:
    view = pod.view
    yield f"Pod/{pod.shown}  ({pod.role} {pod.index} of {pod.job.title}, namespace {view.namespace})"
    yield from labelled("made by", [owner_of(pod)])
    yield from labelled("host name", ["the node's (hostNetwork)" if pod.on_host else pod.hostname or "random"])
    yield from labelled("DNS name", [pod.dns or "none: no Service gives it one"])
    yield from labelled("asks for", [asked(pod.requests) or "nothing"])
    yield from labelled("QoS class", [pod.qos])
    yield from labelled("restarts", [f"restartPolicy {view.restart_policy}"])
    yield from labelled("node", list(node_requirements(view.spec)))
    yield from labelled("volumes", [volume_text(*one) for one in claims(view.spec)])
    yield from labelled("labels", [f"{k}={v}" for k, v in view.labels.items()])
    yield from labelled("annotations", [f"{k}={v}" for k, v in view.annotations.items()])


def _rendezvous(pod: Pod) -> Iterator[str]:
    seen, found = pod.rendezvous, meeting(pod.job)
    yield ""
    yield "  rendezvous, as this pod sees it"
    answer = found.host if found and found.first.endpoint == seen.endpoint else None
    pairs = {
        "launcher": seen.launcher,
        "backend": seen.backend,
        "endpoint": f"{seen.endpoint or 'none'}" + (f" ({answer})" if answer else ""),
        "nodes": seen.nodes_text,
        "node rank": seen.node_rank,
        "processes": seen.processes_text,
        "world size": seen.world_text,
        "restarts": seen.max_restarts,
    }
    if seen.node_rank.isdigit() and seen.processes and seen.backend != AT_RENDEZVOUS:
        first = int(seen.node_rank) * seen.processes
        pairs["ranks"] = str(first) if seen.processes == 1 else f"{first} to {first + seen.processes - 1}"
    for label, value in pairs.items():
        yield from labelled(label, [value], "    ")
    yield from labelled("notes", list(seen.notes), "    ")


def _containers(pod: Pod) -> Iterator[str]:
    main = pod.main
    for container in pod.containers:
        yield ""
        sort = "init container" if container.init else "container"
        yield f"  {sort} {container.name}" + ("  (trains)" if container == main else "")
        yield from labelled("image", [container.image or "none"], "    ")
        yield from _line(pod, container)
        yield from labelled("ports", [_port(port) for port in container.ports], "    ")
        for kind in ("requests", "limits"):
            amounts = [f"{amount} {name}" for name, amount in at(container.resources, kind).items()]
            yield from labelled(kind, [", ".join(amounts)] if amounts else [], "    ")
        mounts = [f"{text(m.get('mountPath'))} from {text(m.get('name'))}" for m in container.mounts]
        yield from labelled("mounts", mounts, "    ")
        if container == main:
            yield from labelled("env from", env_from(pod), "    ")
            yield from env_table(pod, indent="    ")
        else:
            values = kubelet.environment(container, pod.view)
            yield from labelled("env", [f"{name}={value}" for name, value in values.items()], "    ")


def _line(pod: Pod, container: ContainerView) -> Iterator[str]:
    """Command and arguments after expansion, and as they are written where that is something else."""
    expanded = kubelet.command_line(container, kubelet.environment(container, pod.view))
    for label, words, written in zip(("command", "args"), expanded, (container.command, container.args), strict=True):
        if words is None or written is None:
            continue
        yield from labelled(label, [quoted(words)], "    ")
        if tuple(words) != written:
            yield from labelled("  as written", [quoted(written)], "    ")
    if container.command is None:
        yield from labelled("command", ["the image's own"], "    ")


def _port(port: Json) -> str:
    name = text(port.get("name"))
    return f"{port.get('containerPort')}/{text(port.get('protocol')) or 'TCP'}" + (f" ({name})" if name else "")


def env_file(pod: Pod) -> str:
    """The main container's variables for `docker run --env-file`: values as they are, without quotes.

    What no manifest holds (a Secret's value, a pod's IP), and what such a file cannot say (line breaks), is a comment.
    """
    lines = [f"# {pod.shown}: container {pod.main.name if pod.main else '(none)'} of {pod.job.title}"]
    lines += [f"# all of {source}" for source in env_from(pod)]
    lines += _env_lines(pod)
    return finished(lines)


def _env_lines(pod: Pod) -> Iterator[str]:
    values, found, unknown = pod.env, _configmaps(pod), set[str]()
    entries = {text(entry.get("name")): entry for entry in (pod.main.env if pod.main else ())}
    for name, value in values.items():
        shown = env_entry(entries[name])
        source = text(shown.get("from"))
        known = found.get(source)
        if known is not None:
            value = known
        elif "value" not in shown and value.startswith("<"):
            unknown.add(name)
            yield f"# {name}: {value.strip('<>')}"
            continue
        if any(f"$({other})" in text(shown.get("value")) for other in unknown):
            unknown.add(name)
            yield f"# {name}: {value}"
        elif not name or "\n" in value or "\r" in value or any(c.isspace() or c == "=" for c in name):
            yield f"# {name}: {value!r} cannot be written to such a file"
        else:
            yield f"{name}={value}"


def _configmaps(pod: Pod) -> dict[str, str]:
    """The values of ConfigMaps that the stream or the operator holds, as `configmap:NAME/KEY`."""
    maps = [one for one in pod.job.given if kind_of(one) == ("v1", "ConfigMap")]
    made = pod.job.expansion.configmaps
    return {
        f"configmap:{object_name(one)}/{key}": value
        for one in (*made, *maps)
        for key, value in string_map(mapping(one).get("data")).items()
    }
