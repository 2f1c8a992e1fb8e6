"""The subdomain of pods is a Service that is not headless.

PTC210 service-not-headless: warning at run (fails), by ptcompile.
Needs: @Pod/@Job

What: pods of the same stream name a Service as their subdomain, but its clusterIP is not None.

Why: `<hostname>.<subdomain>` resolves only for headless Services, so the ranks never find rank 0.

Example: pod.yaml with

      apiVersion: v1
    - kind: Service  # <--
    + kind: Service
      metadata: {name: train}
      spec:
    +   clusterIP: None
        selector: {app: train}
        publishNotReadyAddresses: true
        ports: [{port: 29500}]
      ---
      metadata: {name: train-0, labels: {app: train}}
      spec:
        restartPolicy: Never
        subdomain: train

Fix: set clusterIP to None.

Source: Kubernetes 1.36, DNS for Services and pods: hostname and subdomain.
"""

from __future__ import annotations

from ptcompile.kubernetes.unstructured import nested_string
from ptcompile.linter.references import meets_by_name, service_users
from ptcompile.linter.rule import Findings, Subject, fix_setting, found_at, subject_of


def check(subject: Subject) -> Findings:
    address = nested_string(subject.spec, "clusterIP")
    if address == "None" or subject.spec.get("type") == "ExternalName":
        return

    user = next(iter(subject.cached(service_users)), None)
    if user is not None:
        yield found_at(
            ("spec", "clusterIP") if address else ("kind",),
            f"{user.title} uses this Service as its subdomain, but only a headless Service gives "
            "pods names",
            "set clusterIP to None",
            fix_setting("make the Service headless", ("spec", "clusterIP"), "None"),
            on_key=bool(address),
            field="spec.clusterIP",
            severity="error"
            if meets_by_name(subject_of(user.manifest, subject.stream), subject.name)
            else None,
        )
