"""A container reads a file of hosts that no plugin creates.

PTC461 missing-hosts-file: error at run (fails), by volcano.
Needs: etc

What: a command names a file below /etc/volcano, but the job does not have the plugin svc, or no
task has the name of the file: svc writes TASK.host, VC_TASK_HOSTS and VC_TASK_NUM, with _ in place
of -. Containers that mount their own volume there are not checked.

Why: the file does not exist, so the list of hosts is empty and the launcher fails or starts on one
pod alone.

Example:

      apiVersion: batch.volcano.sh/v1alpha1
      kind: Job
      metadata: {name: train}
      spec:
        minAvailable: 3
    +   plugins: {ssh: [], svc: []}
    -   plugins: {ssh: []}
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

Fix: add the plugin svc, or name the file of an existing task.

Source: Volcano 1.16, pkg/controllers/job/plugins/distributed-framework and svc: generateHosts.
"""

from __future__ import annotations

from ptcompile._internal.lazy import Pattern
from ptcompile._internal.spelling import closest_match
from ptcompile.linter.rule import Findings, Subject, fix_setting, found_at
from ptcompile.linter.volumes import mount_for
from ptcompile.operators.volcano.rules.reading import volcano_job

_FILE = Pattern(r"/etc/volcano/(?P<file>[\w.-]{1,128})")


def check(subject: Subject) -> Findings:
    job = volcano_job(subject)
    has_plugin = "svc" in job.plugins
    files: set[str] = set()
    for task in job.tasks:
        name = task.name.replace("-", "_")
        files |= {f"{name}.host", f"VC_{name.upper()}_HOSTS", f"VC_{name.upper()}_NUM"}

    for container in subject.containers:
        for token in container.argv:
            match = _FILE.search(token.text)
            if match is None:
                continue

            path = match.group()
            file = match["file"]
            is_of_plugin = has_plugin and file in files
            if is_of_plugin or mount_for(container, path) is not None:
                continue

            if not has_plugin:
                fix = fix_setting("add the plugin svc", ("spec", "plugins", "svc"), [])
                yield found_at(
                    token.path,
                    f"{path} does not exist: the job does not have the plugin svc",
                    "add svc: []",
                    fix,
                )
            elif file.endswith(".host"):
                suggestion = closest_match(file, sorted(files)) or "TASK.host"
                yield found_at(
                    token.path,
                    f"{path} does not exist: no task has this name",
                    f"did you mean /etc/volcano/{suggestion}?",
                )
