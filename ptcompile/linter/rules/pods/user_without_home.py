"""A training runs as a user whom the image may not have, without HOME.

PTC862 user-without-home: warning at run (fails), by ptcompile.
Needs: runAsUser {TRAINING_LAUNCHERS}

What: runAsUser is a user ID of 10000 or more, the container starts a training, and no variable sets
HOME. Smaller IDs are not reported: images that run as such a user usually have it.

Why: a user ID that is not in the image's /etc/passwd has the home folder / and no name. Caches of
Hugging Face, Triton and torch.compile fail with "Permission denied: '/.cache'" or "getpwuid(): uid
not found".

Example: pod.yaml with

      spec:
        securityContext:
          runAsUser: 20001  # <--
        containers:
          - name: pytorch
            command: [torchrun, --standalone, --nproc-per-node=1, train.py]
    +       env:
    +         - {name: HOME, value: /tmp}
    +         - {name: USER, value: train}

Fix: set HOME to a folder that the user may write, and USER to any name; or add the user to the
image.

Source: Kubernetes 1.36, security contexts; Python 3.11, os.path.expanduser and getpass.getuser.
"""

from __future__ import annotations

from ptcompile.kubernetes.unstructured import as_int
from ptcompile.linter.containers import security_setting, starts_training
from ptcompile.linter.rule import Findings, Subject, found_at

_MADE_UP_USERS = 10_000
"""The first user ID that images rarely have: those of OpenShift, or chosen not to collide with a
node's users.
"""
_HOME_MAKERS = ("useradd", "adduser", "/etc/passwd", "HOME=", "nss_wrapper")


def check(subject: Subject) -> Findings:
    for template in subject.templates:
        for container in template.main_containers:
            path, user = security_setting(template, container, "runAsUser")
            if (
                as_int(user) < _MADE_UP_USERS
                or container.has_unknown_variables
                or not starts_training(container)
            ):
                continue
            if container.launch.launcher == "mpirun":
                continue  # images for MPI have the user, since sshd needs it

            is_set = any(entry.name == "HOME" for entry in container.variables)
            if not is_set and not any(
                part in token for token in container.tokens for part in _HOME_MAKERS
            ):
                yield found_at(
                    path,
                    f"if the image has no user {user}, its home folder is /, where no cache can "
                    "be written",
                    "set HOME to a writable folder, and USER",
                )
