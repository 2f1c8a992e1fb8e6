"""A container calls the API server without a token.

PTC521 token-not-mounted: warning at run (fails), by kube-apiserver.
Needs: kubectl automountServiceAccountToken/@ServiceAccount

What: automountServiceAccountToken is false, in the pod or in its service account of the stream, and
a container runs kubectl, without another kubeconfig and without a projected token.

Why: kubectl finds no credentials in the pod. It asks localhost:8080, gets "connection refused", and
an init container that waits with it never ends.

Example: pod.yaml with

      restartPolicy: Never
    - automountServiceAccountToken: false  # <--
    + serviceAccountName: waiter
      initContainers:
        - name: wait
          image: registry.k8s.io/kubectl:v1.36.0
          command: [kubectl, wait, --for=condition=Ready, pod/head]
          resources: {limits: {cpu: 1, memory: 1Gi}}

Fix: mount the token of an account that may do this.

Source: Kubernetes 1.36, configure service accounts for pods: opt out of API credential
automounting.
"""

from __future__ import annotations

from ptcompile.diagnostics import Path
from ptcompile.kubernetes.commands import basename
from ptcompile.kubernetes.unstructured import nested_string
from ptcompile.linter.rule import Findings, Subject, found_at
from ptcompile.world.templates import ManifestContainer, ManifestTemplate

_FIELD = "automountServiceAccountToken"


def check(subject: Subject) -> Findings:
    for template in subject.templates:
        path = _opt_out(subject, template)
        if path is None or any("projected" in volume for _, volume in template.volumes.values()):
            continue
        caller = next(
            (container for container in template.containers if _runs_kubectl(container)), None
        )
        if caller is not None:
            text = (
                f"container {caller.name} runs kubectl, but the pod gets no token: kubectl asks "
                "localhost:8080"
            )
            yield found_at(path, text, "mount the token of an account that may do this")


def _opt_out(subject: Subject, template: ManifestTemplate) -> Path | None:
    """Return the path of what keeps the token from the pods, or None if they get it."""
    spec: Path = template.spec_path
    if template.spec.get(_FIELD) is not None:
        return (*spec, _FIELD) if template.spec[_FIELD] is False else None

    name = nested_string(template.spec, "serviceAccountName") or "default"
    account = subject.objects.find(("v1", "ServiceAccount"), name, subject.namespace)
    is_off = account is not None and account.get(_FIELD) is False
    if not is_off:
        return None
    if "serviceAccountName" in template.spec:
        return (*spec, "serviceAccountName")

    return spec


def _runs_kubectl(container: ManifestContainer) -> bool:
    words = [word for token in container.tokens for word in token.split()]
    has_config = any(
        "kubeconfig" in word.lower() for word in (*words, *(entry.name for entry in container.env))
    )
    return not has_config and any(basename(word.strip("$(`\"'")) == "kubectl" for word in words)
