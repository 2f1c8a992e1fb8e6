"""mpirun starts processes in other pods, but nothing gives the pods ssh keys.

PTC462 mpirun-without-ssh: warning at run (fails), by volcano.
Needs: mpirun/mpiexec/horovodrun

What: a job of several pods runs mpirun or horovodrun with a list of hosts, and has neither the
plugin ssh nor mpi, which implies it. Containers that mount a folder for ssh are not checked.

Why: mpirun logs in to each host over ssh. Without common keys it stops with "Permission denied
(publickey)", unless the image has them.

Example:

      apiVersion: batch.volcano.sh/v1alpha1
      kind: Job
      metadata: {name: train}
      spec:
        minAvailable: 3
    -   plugins: {svc: []}
    +   plugins: {svc: [], ssh: []}
        tasks:
          - name: worker
            replicas: 2
            template:
              spec:
                restartPolicy: OnFailure
                containers:
                  - name: worker
                    image: ghcr.io/acme/train:1.0
                    command: [/usr/sbin/sshd, -D]
                    resources: {requests: {cpu: 4, memory: 16Gi}, limits: {cpu: 4, memory: 16Gi}}
          - name: launcher
            replicas: 1
            policies: [{event: TaskCompleted, action: CompleteJob}]
            template:
              spec:
                restartPolicy: OnFailure
                containers:
                  - name: launcher
                    image: ghcr.io/acme/train:1.0
                    command:
                      - sh
                      - -c
    -                 - mpirun --hostfile /etc/volcano/worker.host python train.py  # <--
    +                 - mpirun --hostfile /etc/volcano/worker.host python train.py
                    resources: {requests: {cpu: 4, memory: 16Gi}, limits: {cpu: 4, memory: 16Gi}}

Fix: add the plugin ssh.

Source: Volcano 1.16, plugins ssh and mpi; Open MPI 5, launching with ssh.
"""

from __future__ import annotations

from ptcompile._internal.lazy import Pattern
from ptcompile.linter.rule import Findings, Subject, fix_setting, found_at
from ptcompile.operators.volcano.rules.reading import volcano_job
from ptcompile.simulator.mounted import mount_path

_LAUNCH = Pattern(r"(?:^|[\s/;&|(])(?P<launcher>mpirun|mpiexec|horovodrun)(?:\s|$)")
_HOSTS = Pattern(
    r"(?:^|\s)(?:--?host(?:s|file)?|-H|--?machinefile|-f)(?:[=\s]|$)|OMPI_MCA_orte_default_hostfile"
)


def check(subject: Subject) -> Findings:
    job = volcano_job(subject)
    if {"ssh", "mpi"} & {*job.plugins} or sum(task.replicas for task in job.tasks) < 2:
        return

    for container in subject.containers:
        text = " ".join(container.tokens)
        match = _LAUNCH.search(text)
        if match is None or not _HOSTS.search(text):
            continue
        # a volume may hold the keys
        if any(
            "ssh" in mount_path(mount) or "ssh" in str(mount.get("name"))
            for _, mount in container.mounts
        ):
            continue

        token = next(token for token in container.argv if match["launcher"] in token.text)
        fix = fix_setting("add the plugin ssh", ("spec", "plugins", "ssh"), [])
        yield found_at(
            token.path,
            f"{match['launcher']} logs in to the other pods over ssh, but without the plugin ssh "
            "they share no keys",
            "add ssh: [] to plugins, unless the image has the keys",
            fix,
        )
