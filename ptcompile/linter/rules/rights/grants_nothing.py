"""A Role or a RoleBinding does not grant what it is for.

PTC520 grants-nothing: warning at run (fails), by kube-apiserver.
Needs: resources/subjects

What: a Role, or a RoleBinding with a ClusterRole of the stream, is to grant a cluster-scoped
resource, such as nodes or clusterqueues; or a RoleBinding names a service account in another
namespace, while the stream has that account in the binding's own.

Why: a Role, and a RoleBinding with any role, grants only what is in its namespace: a request for a
resource without a namespace is still forbidden. An account of the same name in another namespace is
another account.

Example:

      apiVersion: rbac.authorization.k8s.io/v1
    - kind: Role
    - metadata: {name: reader, namespace: research}
    + kind: ClusterRole
    + metadata: {name: reader}
      rules:
        - apiGroups: [kueue.x-k8s.io]
          resources:
            - clusterqueues  # <--
          verbs: [get, list]

Fix: use a ClusterRole and a ClusterRoleBinding; name the namespace in which the pods run.

Source: Kubernetes 1.36, RBAC, Role and RoleBinding; kubeflow/trainer issues 2588 and 2747.
"""

from __future__ import annotations

from collections.abc import Iterator

from ptcompile._internal.schema_files import load_table
from ptcompile.diagnostics import Path
from ptcompile.kubernetes.unstructured import (
    Json,
    namespace_of,
    nested_map,
    nested_maps,
    nested_string,
    nested_strings,
)
from ptcompile.linter.rule import Findings, Subject, found_at

_API = "rbac.authorization.k8s.io/v1"
_HELP = "use a ClusterRole and a ClusterRoleBinding"


def check(subject: Subject) -> Findings:
    if subject.kind.name == "Role":
        for path, resource in _cluster_scoped(subject.manifest):
            yield found_at(
                path,
                f"{resource} are cluster-scoped: a Role of a namespace never grants them",
                _HELP,
            )
        return

    reference = nested_map(subject.manifest, "roleRef")
    if reference.get("kind") == "ClusterRole":
        roles = subject.objects.by_name((_API, "ClusterRole"), nested_string(reference, "name"))
        if roles:
            for _, resource in _cluster_scoped(roles[-1]):
                text = f"{resource} are cluster-scoped: a RoleBinding never grants them"
                yield found_at(("roleRef", "name"), text, "use a ClusterRoleBinding")
                break

    yield from _strange_subjects(subject)


def _cluster_scoped(role: Json) -> Iterator[tuple[Path, str]]:
    """Yield the resources of a role that have no namespace."""
    groups = load_table("linter/cluster_scoped.json")["groups"]
    for i, rule in enumerate(nested_maps(role, "rules")):
        scoped = {
            resource
            for group in nested_strings(rule, "apiGroups")
            for resource in groups.get(group, ())
        }
        for j, resource in enumerate(nested_strings(rule, "resources")):
            if resource.partition("/")[0] in scoped:
                yield ("rules", i, "resources", j), resource


def _strange_subjects(subject: Subject) -> Findings:
    for i, entry in enumerate(nested_maps(subject.manifest, "subjects")):
        name = nested_string(entry, "name")
        space = nested_string(entry, "namespace")
        accounts = subject.objects.by_name(("v1", "ServiceAccount"), name)
        spaces = {namespace_of(account) for account in accounts}
        is_other = entry.get("kind") == "ServiceAccount" and space not in ("", subject.namespace)
        if is_other and subject.namespace in spaces and space not in spaces:
            yield found_at(
                ("subjects", i, "namespace"),
                f"the stream has ServiceAccount {name} in namespace {subject.namespace}, not in "
                f"{space}: its pods get nothing",
                f"write {subject.namespace}, if that account is meant",
            )
