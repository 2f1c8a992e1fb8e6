"""The pods' names resolve only after the pods are ready, but the pods need them before.

PTC212 hidden-until-ready: warning at run (fails), by ptcompile.
Needs: @Pod/@Job

What: a headless Service that pods of the same stream use as their subdomain does not publish
addresses of pods that are not ready, and a pod has a readiness probe or gate, or an init container
that looks such a name up. A note if the pods only meet by c10d at such a name: the pod that hosts
the store looks up its own name when it starts.

Why: processes look one another up while they start. A pod's record is missing until it is ready:
the first lookups fail, failures are cached, and with a probe that waits for the training the record
never comes. Without a probe a pod is ready as soon as its containers run, and after its init
containers.

Example:

      apiVersion: v1
      kind: Service
      metadata: {name: train}
      spec:  # <--
        clusterIP: None
    +   publishNotReadyAddresses: true
        selector: {app: train}
      ---
      apiVersion: v1
      kind: Pod
      metadata: {name: train-0, labels: {app: train}}
      spec:
        restartPolicy: Never
        subdomain: train
        containers:
          - name: pytorch
            image: ghcr.io/acme/train:1.0
            command: [python, train.py]
            readinessProbe: {exec: {command: [test, -e, /tmp/trains]}}
            resources: {limits: {cpu: 8, memory: 64Gi}}

Fix: set publishNotReadyAddresses to true.

Source: Kubernetes 1.36, Service publishNotReadyAddresses; JobSet 0.12 sets it on the Services that
it makes.
"""

from __future__ import annotations

from ptcompile.kubernetes.index import is_headless
from ptcompile.linter.references import ServiceUser, is_probed, meets_by_name, service_users
from ptcompile.linter.rule import Findings, Subject, fix_setting, found_at, subject_of

_FIELD = ("spec", "publishNotReadyAddresses")


def check(subject: Subject) -> Findings:
    if not is_headless(subject.manifest) or subject.spec.get("publishNotReadyAddresses") is True:
        return

    users = subject.cached(service_users)
    probed = next((user for user in users if is_probed(user, subject.name)), None)
    user = probed or next((user for user in users if _looks_itself_up(user, subject)), None)
    if user is not None:
        yield found_at(
            _FIELD if "publishNotReadyAddresses" in subject.spec else ("spec",),
            f"the names of the pods of {user.title} do not resolve until they are ready, but the "
            "pods look one another up while they start",
            "set publishNotReadyAddresses to true",
            fix_setting("publish addresses of pods that are not ready", _FIELD, True, safe=True),
            on_key=True,
            severity=None if probed else "note",
        )


def _looks_itself_up(user: ServiceUser, subject: Subject) -> bool:
    """Return whether the pods meet by c10d at a name of this Service, which its own pod looks up
    at once.
    """
    job = subject_of(user.manifest, subject.stream)
    backends = {role.rendezvous.backend for group in job.torchrun_groups for role in group}
    return "c10d" in backends and meets_by_name(job, subject.name)
