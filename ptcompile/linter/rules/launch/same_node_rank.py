"""Two pods join the rendezvous with the same rank.

What: with a static rendezvous, pods of a job have equal node ranks, for example because all take the default 0.

Why: a static rendezvous gives no ranks: each node brings its own, from 0 to the number of nodes less one. Two with the
same rank overwrite each other, and the missing one never joins.

Example:

      apiVersion: jobset.x-k8s.io/v1alpha2
      kind: JobSet
      metadata: {name: train}
      spec:
        failurePolicy: {maxRestarts: 3}
        replicatedJobs:
          - name: node
            template:
              spec:
                completions: 2
                parallelism: 2
                backoffLimit: 0
                template:
                  spec:
                    restartPolicy: Never
                    containers:
                      - name: pytorch
                        image: ghcr.io/acme/train:1.0
                        command:
                          - torchrun  # <--
                          - --nnodes=2
    +                     - --node-rank=$(JOB_COMPLETION_INDEX)
                          - --master-addr=train-node-0-0.train
                          - train.py
                        resources: {limits: {cpu: 8, memory: 64Gi, nvidia.com/gpu: 1}}

Fix: add --node-rank with the pod's index, or use c10d, which gives the ranks itself.

Source: PyTorch 2.13, torch/distributed/elastic/rendezvous/static_tcp_rendezvous.py; Kubernetes 1.36, Indexed Jobs.
"""

from __future__ import annotations

from collections.abc import Iterator

from ptcompile.kubernetes.unstructured import as_string
from ptcompile.linter.references import peers_in_other_objects
from ptcompile.linter.rule import Finding, Rule, found_at
from ptcompile.linter.subject import Subject
from ptcompile.linter.trainers import TrainingRole, count_nodes
from ptcompile.simulator.launchers.torchrun import option_name

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ptcompile.kubernetes.unstructured import Json
    from ptcompile.registry.pods import PodView


def _check(subject: Subject) -> Iterator[Finding]:
    for found in (*subject.rendezvous_groups, *subject.env_groups):
        yield from _of(subject, found)


def _of(subject: Subject, found: tuple[TrainingRole, ...]) -> Iterator[Finding]:
    others = (
        peers_in_other_objects(subject, found[0])
        if subject.record.meeting.across_objects and found[0].rendezvous.nodes != (1, 1)
        else ()
    )
    if count_nodes((*found, *others)) < 2 or found[0].is_local:  # local-endpoint
        return
    if any(one.rendezvous.backend not in ("static", "env") or one.rendezvous.nodes in (None, (1, 1)) for one in found):
        return
    seen = {rank: (one, index) for one in others for rank, index in _ranks(one)}
    for one in found:
        for rank, index in _ranks(one):
            if rank in seen:
                path = one.path_of("node-rank") if one.source_of("node-rank") != "default" else one.command_path
                yield found_at(
                    path,
                    f"{_shown(*seen[rank])} and {_shown(one, index)} both have node rank {rank}",
                    _help(one),
                )
                return
            seen[rank] = one, index


def _shown(one: TrainingRole, index: int) -> str:
    """The name of a pod of the role."""
    return one.pod.job.pod(one.expanded, index).display_name


def _help(one: TrainingRole) -> str:
    if one.is_torchrun:
        return "give each pod its own rank, such as --node-rank=$(JOB_COMPLETION_INDEX), or use c10d"
    return (
        f"give each pod its own {'RANK' if one.is_env_script else one.option_name('node-rank')}, such as "
        "$(JOB_COMPLETION_INDEX)"
    )


def _ranks(one: TrainingRole) -> Iterator[tuple[str, int]]:
    """The ranks of a role's first two pods and its last one, as far as they are numbers, with the pods' indexes."""
    from ptcompile.simulator.kubelet import entry_value
    from ptcompile.simulator.launchers.rendezvous import static_node_rank

    name, spec, entry = _variable(one), None, None
    for index in sorted({0, min(1, one.expanded.count - 1), one.expanded.count - 1}):
        view = one.expanded.pod(index)
        if name is not None and view.spec is not spec:  # most operators give all pods of a role one spec
            spec, entry = view.spec, _entry(view, name)
        if entry is not None:
            rank = entry_value(entry, view)
        else:
            pod = one.pod.job.pod(one.expanded, index)
            rank = static_node_rank(pod.launch) if one.is_torchrun else pod.rendezvous.node_rank
        if rank.isdigit():
            yield rank, index


def _entry(view: PodView, name: str) -> Json | None:
    """The main container's entry for a variable; None without one, and where its text refers to others."""
    main = view.main_container
    found = [entry for entry in main.env if entry.get("name") == name] if main is not None else []
    return found[-1] if found and "$" not in as_string(found[-1].get("value")) else None


def _variable(one: TrainingRole) -> str | None:
    """X of `--node-rank=$(X)`, where only that differs from pod to pod: no other pod's command line need be read."""
    from ptcompile.simulator.launchers.rendezvous import static_node_rank

    launch, main = one.launch, one.pod.main
    if not one.is_torchrun or launch.in_shell or main is None:
        return None
    words = [*(main.command or ()), *(main.args or ())]
    differing = [word for word in words if "$" in word]
    if len(differing) != 1 or "rank" not in differing[0]:
        return None
    options = words[len(words) - len(launch.arguments) : len(words) - len(launch.entry)]
    if [word for word in options if "rank" in word] != differing:
        return None
    option, _, value = differing[0].partition("=")
    name = value.removeprefix("$(").removesuffix(")")
    known = option_name(option) == "node-rank" and value == f"$({name})" and name in one.pod.env
    return name if known and one.pod.env[name] == static_node_rank(launch) else None


RULE = Rule("same-node-rank", _check, severity="error", stage="run", authority="torchrun")
