"""An Indexed Job's pods and the headless Service that selects them do not name each other.

PTC215 subdomain-differs: warning at run (fails), by ptcompile.
Needs: @Service Indexed

What: a headless Service of the same stream selects the pods of an Indexed Job with several, and the
pods' subdomain is absent or is another name, of which the stream has no Service.

Why: the names `<job>-<index>.<service>` are made only for pods whose subdomain is the Service's
name. The ranks cannot reach one another by name.

Example: indexed_job.yaml with

      apiVersion: v1
      kind: Service
      metadata: {name: train-workers}
      spec:
        clusterIP: None
        publishNotReadyAddresses: true
        selector: {batch.kubernetes.io/job-name: train}
      ---
      restartPolicy: Never
    - subdomain: train  # <--
    + subdomain: train-workers

Fix: set the pods' subdomain to the Service's name.

Source: Kubernetes 1.36, DNS for Services and pods; Job controller 1.36, hostnames of Indexed Jobs.
"""

from __future__ import annotations

from ptcompile.kinds.templates import job_labels
from ptcompile.kubernetes.index import SERVICE, is_headless
from ptcompile.kubernetes.unstructured import nested_int, nested_map, nested_string
from ptcompile.linter.references import meets_by_name, template_labels
from ptcompile.linter.rule import Findings, Subject, fix_setting, found_at

_POD = ("spec", "template", "spec")


def check(subject: Subject) -> Findings:
    if (
        subject.spec.get("completionMode") != "Indexed"
        or nested_int(subject.spec, "completions") < 2
    ):
        return

    services = subject.neighbors
    subdomain = nested_string(subject.manifest, *_POD, "subdomain")
    candidates = services.by_name(SERVICE, subdomain)
    if subdomain in [nested_string(candidate, "metadata", "name") for candidate in candidates]:
        return

    labels = {
        **template_labels(nested_map(subject.manifest, "spec", "template")),
        **job_labels(subject.name),
    }
    for service in services.services_selecting(labels):
        name = nested_string(service, "metadata", "name")
        if is_headless(service) and name:
            path = (*_POD, "subdomain") if subdomain else _POD
            if subdomain:
                cause = f"{subdomain} is not a Service in this stream"
            else:
                cause = "there is no subdomain"

            yield found_at(
                path,
                f"{cause}, and the headless Service {name} selects these pods: their names do not "
                "resolve",
                f"set subdomain to {name}",
                fix_setting(f"set subdomain to {name}", (*_POD, "subdomain"), name),
                on_key=True,
                severity="error" if meets_by_name(subject, name) else None,
            )
            return
