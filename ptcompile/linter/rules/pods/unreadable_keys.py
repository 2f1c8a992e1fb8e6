"""A container's user cannot read the files of a Secret or a ConfigMap.

PTC321 unreadable-keys: warning at run (fails), by kubelet.
Needs: runAsUser

What: a container runs as another user than root, and the mode of a mounted Secret or ConfigMap, as
written or as the operator sets it, lets only root read its files; the pod has no fsGroup.

Why: the kubelet writes the files as root. With mode 0600 or 0400 another user gets "Permission
denied": ssh finds no key, so mpirun reaches no worker. With fsGroup the kubelet lets the group read
them.

Example: pod.yaml with

      spec:
        volumes: [{name: keys, secret: {secretName: keys, defaultMode: 0400}}]
        containers:
          - name: pytorch
    -       securityContext: {runAsUser: 1000}  # <--
            volumeMounts: [{name: keys, mountPath: /keys}]
            resources: {limits: {cpu: 8, memory: 64Gi}}
    +   securityContext: {runAsUser: 1000, fsGroup: 1000}

Fix: set fsGroup, or a mode that all may read; in an MPIJob set sshAuthMountPath to the user's own
.ssh.

Source: Kubernetes 1.36, pkg/volume/secret (defaultMode) and fsGroup; MPI Operator 0.8,
pkg/controller/mpi_job_controller.go (the mode is 0600 only for /root/.ssh); Volcano 1.16, job
controller, plugin ssh.
"""

from __future__ import annotations

from ptcompile.kubernetes.unstructured import (
    as_int,
    nested_map,
    nested_maps,
    nested_string,
    nested_value,
)
from ptcompile.linter.rule import Findings, Subject, found_at

_READABLE_BY_ALL = 0o004
_DEFAULT_MODE = 0o644


def check(subject: Subject) -> Findings:
    for path, written, view, pod in subject.views():
        pod_security = nested_map(pod.view.spec, "securityContext")
        own_user = nested_value(written, "securityContext", "runAsUser")
        user = as_int(pod_security.get("runAsUser") if own_user is None else own_user)
        if user == 0 or pod_security.get("fsGroup") is not None:
            continue

        modes = {
            nested_string(volume, "name"): _mode_of(volume)
            for volume in nested_maps(pod.view.spec, "volumes")
        }
        for mount in nested_maps(view.spec, "volumeMounts"):
            mode = modes.get(nested_string(mount, "name"), _DEFAULT_MODE)
            if not mode & _READABLE_BY_ALL:
                # the template's path ends before `containers`
                owner = path[:-2] if own_user is None else path
                yield found_at(
                    (*owner, "securityContext", "runAsUser"),
                    f"user {user} cannot read the files in {mount.get('mountPath')}: mode "
                    f"{mode:04o}, of root",
                    "set fsGroup, or a defaultMode that lets all read; ssh keys belong in the "
                    "user's home",
                )


def _mode_of(volume: object) -> int:
    sources = [nested_map(volume, kind) for kind in ("secret", "configMap")]
    return next(
        (as_int(source["defaultMode"]) for source in sources if "defaultMode" in source),
        _DEFAULT_MODE,
    )
