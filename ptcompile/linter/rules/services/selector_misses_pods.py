"""A headless Service selects none of the pods that use it as their subdomain.

PTC211 selector-misses-pods: warning at run (fails), by ptcompile.
Needs: @Pod/@Job

What: pods of the same stream name the Service as their subdomain, and its selector is missing or
does not match their labels.

Why: a pod's name resolves only if the Service selects the pod. Without DNS records the ranks never
find one another.

Example: pod.yaml with

      apiVersion: v1
      kind: Service
      metadata: {name: train}
      spec:
        clusterIP: None
        publishNotReadyAddresses: true
    -   selector: {app: trian}  # <--
    +   selector: {app: train}
      ---
      metadata: {name: train-0, labels: {app: train}}
      spec:
        restartPolicy: Never
        subdomain: train

Fix: select the pods by labels that they have; pods of a Job always have
batch.kubernetes.io/job-name.

Source: Kubernetes 1.36, DNS for Services and pods; Services without selectors get no endpoints.
"""

from __future__ import annotations

from ptcompile.kubernetes.index import is_headless
from ptcompile.kubernetes.unstructured import nested_string_map
from ptcompile.linter.references import meets_by_name, service_users
from ptcompile.linter.rule import Findings, Subject, found_at, subject_of


def check(subject: Subject) -> Findings:
    if not is_headless(subject.manifest):
        return

    selector = nested_string_map(subject.spec, "selector")
    users = subject.cached(service_users)
    if users and not any(selector and selector.items() <= user.labels.items() for user in users):
        path = ("spec", "selector") if selector else ("spec",)
        user = users[0]
        missing = [
            f"{key}={value}" for key, value in selector.items() if user.labels.get(key) != value
        ]
        if missing:
            reason = f"the pods of {user.title} do not have {', '.join(missing)}"
        else:
            reason = "the Service has no selector"

        yield found_at(
            path,
            f"{reason}, so no pod gets a name in the subdomain {subject.name}",
            "select labels of the pods"
            + (", such as batch.kubernetes.io/job-name" if user.is_job else ""),
            on_key=True,
            severity="error"
            if missing and meets_by_name(subject_of(user.manifest, subject.stream), subject.name)
            else None,
        )
