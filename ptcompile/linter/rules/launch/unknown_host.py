"""A command or variable names a pod that does not exist.

PTC484 unknown-host: error at run (fails), by kubelet.
Needs: {MULTI_POD_KINDS}

What: a word of a command or the value of a variable has POD.SERVICE, the Service is known and
publishes the pods of this job, and no pod has that name.

Why: the name never resolves: a process that waits for it waits forever, and one that connects
fails.

Example: jobset.yaml with

      restartPolicy: Never
      initContainers:
        - name: wait
          image: busybox:1.36
          command:
            - sh
            - -c
    -       - until nslookup train-node-0-9.train; do sleep 2; done  # <--
    +       - until nslookup train-node-0-0.train; do sleep 2; done
          resources: {limits: {cpu: 1, memory: 1Gi}}

Fix: write the name of an existing pod.

Source: Kubernetes 1.36, DNS for Services and pods; JobSet 0.12 and Volcano 1.16, which make the
Service.
"""

from __future__ import annotations

from ptcompile._internal.lazy import Pattern
from ptcompile.diagnostics import Path
from ptcompile.linter.hosts import help_of, sentence_of
from ptcompile.linter.rule import Findings, Subject, found_at
from ptcompile.world.templates import ManifestContainer

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ptcompile.simulator.pod import Pod

_find_pod_hosts = Pattern(
    r"(?<![\w./@$-])[a-z][a-z0-9-]*-[0-9]+\.[a-z][a-z0-9-]*(?:\.[a-z][a-z0-9-]*)*(?![\w/-])"
).findall
"""Finds host names of pods in a text, such as `train-0.train.research.svc`, but not
`/data/a-0.b` or `user@a-0.b`.
"""


def check(subject: Subject) -> Findings:
    written = {container.path: _named_hosts(container) for container in subject.containers}
    if not any(written.values()):
        return

    # reported by unresolvable-endpoint
    endpoints = {role.rendezvous.host for role in subject.training_roles}
    if all(host in endpoints for hosts in written.values() for _, _, host in hosts):
        return

    from ptcompile.simulator.hostnames import host_mistake

    for path, _, _, pod in subject.views():
        for container, index, host in written.get(path, ()):
            if host not in endpoints and _is_cluster_host(subject, pod, host):
                mistake = host_mistake(pod, host, is_complete=False)
                if mistake is not None and mistake.is_certain and not mistake.is_unserved:
                    yield found_at(
                        _text_path(container, index),
                        f"nothing answers to {host}: {sentence_of(mistake, subject)}",
                        help_of(mistake, subject, "write the name of an existing pod"),
                    )


def _named_hosts(container: ManifestContainer) -> list[tuple[ManifestContainer, int, str]]:
    """Return the host names in a container's texts, each with the text's index: first the
    arguments, then the variables.
    """
    texts = [*container.tokens, *[entry.text for entry in container.variables]]
    dotted = [(index, text) for index, text in enumerate(texts) if "." in text]
    return [(container, index, host) for index, text in dotted for host in _find_pod_hosts(text)]


def _text_path(container: ManifestContainer, index: int) -> Path:
    words = len(container.tokens)
    if index < words:
        return container.argv[index].path
    return container.variables[index - words].value_path


def _is_cluster_host(subject: Subject, pod: Pod, host: str) -> bool:
    """Return whether the second label of a host is the subdomain of the job's pods or a Service
    of the namespace.
    """
    service = host.split(".")[1]
    ours = any(first.view.subdomain == service for _, first in pod.job.first_pods)
    return ours or bool(subject.neighbors.by_name(("v1", "Service"), service))
