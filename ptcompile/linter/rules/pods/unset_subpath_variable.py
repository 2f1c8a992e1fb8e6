"""A mount's subPathExpr uses a variable that the container does not have.

PTC381 unset-subpath-variable: error at pod, by kubelet.
Needs: subPath/subPathExpr

What: subPathExpr has $(X), and no entry of env, envFrom or the operator sets X in that container;
or subPath has $(X), which is not replaced there (a warning).

Why: the kubelet does not start the container: "missing value for X", CreateContainerConfigError.
With subPath all pods share a folder that is literally called $(X).

Example: gpu_pod.yaml with

      volumes: [{name: logs, persistentVolumeClaim: {claimName: logs}}]
      containers:
        - name: pytorch
    +     env: [{name: POD_NAME, valueFrom: {fieldRef: {fieldPath: metadata.name}}}]
          resources: {limits: {cpu: 8, memory: 64Gi}}
          volumeMounts:
            - name: logs
              mountPath: /logs
    -         subPathExpr: $(POD_NAME)  # <--
    +         subPathExpr: $(POD_NAME)

Fix: set the variable in env of the same container.

Source: kubelet 1.36, pkg/kubelet/container/helpers.go: ExpandContainerVolumeMounts.
"""

from __future__ import annotations

from ptcompile._internal.lazy import Pattern
from ptcompile._internal.spelling import closest_match
from ptcompile.kinds.templates import indexed_mappings
from ptcompile.kubernetes.unstructured import as_string, nested_string
from ptcompile.linter.rule import Findings, Subject, found_at
from ptcompile.simulator.kubelet import imported_names

_REFERENCE = Pattern(r"\$\$|\$\(([A-Za-z_.-][\w.-]{0,253})\)")
_is_service_variable = Pattern(
    r"\w{1,253}_(?:SERVICE_HOST|SERVICE_PORT(?:_\w+)?|PORT(?:_\w+)?)"
).fullmatch


def check(subject: Subject) -> Findings:
    for path, container, view, pod in subject.views():
        for i, mount in indexed_mappings(container.get("volumeMounts")):
            mount_path = (*path, "volumeMounts", i)
            for name in _references(mount.get("subPath"))[:1]:
                yield found_at(
                    (*mount_path, "subPath"),
                    f"$({name}) is not replaced here, so all pods share a folder of that name",
                    "write subPathExpr instead of subPath",
                    severity="warning",
                )

            names = _references(mount.get("subPathExpr"))
            imported = imported_names(view.spec, pod.job.find) if names else None
            if imported is None:
                continue

            defined = {nested_string(entry, "name") for entry in view.env} | imported
            missing = [
                name for name in names if name not in defined and not _is_service_variable(name)
            ]
            for name in missing[:1]:
                suggestion = closest_match(name, sorted(defined))
                if suggestion:
                    help = f"did you mean $({suggestion})?"
                else:
                    help = f"set {name} in env of the container"

                yield found_at(
                    (*mount_path, "subPathExpr"),
                    f"the container has no variable {name}, so it never starts",
                    help,
                )


def _references(path: object) -> list[str]:
    """Return the names of the variables that a path refers to; `$$` escapes a dollar sign."""
    return [name for name in _REFERENCE.findall(as_string(path)) if name]
