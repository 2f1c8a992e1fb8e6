"""A pod that asks its node's resolver cannot resolve the names of other pods.

PTC201 host-network-dns: warning at run (fails), by kubelet.
Needs: hostNetwork/dnsPolicy

What: a pod has `dnsPolicy: Default`, or `hostNetwork: true` and the dnsPolicy ClusterFirst, which
is also the default, and looks up a cluster name: its rendezvous, or NAME.svc in its command or
variables.

Why: for such a pod ClusterFirst falls back to the node's own resolver, which does not know the
cluster's names. A rendezvous at `train-0.train` never resolves, and the job waits until it times
out.

Example: pod.yaml with

      spec:
        hostNetwork: true  # <--
    +   dnsPolicy: ClusterFirstWithHostNet
        containers:
          - name: pytorch
            command: [python, train.py, --data=http://data.ml.svc]

Fix: set dnsPolicy to ClusterFirstWithHostNet; names outside the cluster resolve as before.

Source: Kubernetes 1.36, a pod's DNS policy; Volcano 1.10 and later sets it itself.
"""

from __future__ import annotations

from ptcompile._internal.lazy import Pattern
from ptcompile.linter.rule import Findings, Subject, fix_setting, found_at
from ptcompile.world.templates import ManifestTemplate

_CLUSTER_NAME = Pattern(r"[a-z0-9-]\.svc(?:[.:/]|\b)")


def check(subject: Subject) -> Findings:
    if subject.record.additions.dns_policy:
        return
    for template in subject.templates:
        if not _uses_cluster_names(subject, template):
            continue

        is_on_host = template.spec.get("hostNetwork") is True
        written = template.spec.get("dnsPolicy")
        if written != "Default" and not (is_on_host and written in (None, "", "ClusterFirst")):
            continue

        path = (*template.spec_path, "dnsPolicy" if written else "hostNetwork")
        policy = "ClusterFirstWithHostNet" if is_on_host else "ClusterFirst"
        if written == "Default":
            reason = "dnsPolicy Default uses"
        else:
            reason = "on the node's network, dnsPolicy ClusterFirst uses"

        yield found_at(
            path,
            f"{reason} the node's resolver, which cannot resolve the names of pods and Services",
            f"set dnsPolicy to {policy}",
            fix_setting(f"set dnsPolicy to {policy}", (*path[:-1], "dnsPolicy"), policy, safe=True),
        )


def _uses_cluster_names(subject: Subject, template: ManifestTemplate) -> bool:
    """Return whether the containers use a cluster name: the rendezvous, a Service of the stream,
    or `x.svc`.
    """
    from ptcompile.simulator.meeting import address_of

    for role in subject.training_roles:
        needs_host = (
            role.template.path == template.path and role.rendezvous.host and not role.is_local
        )
        if needs_host and not address_of(role.pod, role.rendezvous.host).is_unknown:
            return True

    words = [word.text for container in template.containers for word in container.argv]
    values = [entry.text for container in template.containers for entry in container.variables]

    return any(_CLUSTER_NAME.search(value) for value in (*words, *values))
