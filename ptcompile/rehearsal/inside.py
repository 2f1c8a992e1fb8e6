"""The first process of a rehearsed pod: sets up the pod's environment, then becomes the pod's program.

A standalone program, which `stage` runs in new network, mount, UTS, IPC and PID namespaces. Everything is read-only
except the pod's folder, /dev/shm and /run; the process drops all capabilities, so no child can undo that.
"""

import ctypes
import json
import os
import socket
import subprocess
import sys
import time
from typing import Any

_KERNEL_MOUNTS = ("/proc", "/sys", "/dev")
"""Mounts of the kernel, which are left unchanged."""
_KEPT_FLAGS = frozenset({"nosuid", "nodev", "noexec", "noatime", "nodiratime", "relatime"})
"""Flags that a remount in a user namespace must repeat."""
_PR_CAPBSET_DROP, _PR_SET_NO_NEW_PRIVS, _CAPABILITIES = 24, 38, 64
_SETUP_FAILED = 97
"""Exit status if the setup fails."""


def main(config: dict[str, Any], ready: int, go: int) -> None:
    """Set up a pod's environment and become its program. `ready` and `go` are pipes to and from the stage."""
    _mount("--make-rprivate", "/")
    os.write(ready, b"x")
    os.read(go, 1)  # eth0 exists now
    _configure_network(config["address"])
    socket.sethostname(config["hostname"])
    _mount("-t", "proc", "proc", "/proc")
    for path_in_pod, source in config["files"].items():
        target = os.path.realpath(path_in_pod)
        if os.path.exists(target):
            _mount("--bind", source, target)
    _make_read_only(config["folder"])
    _drop_capabilities()
    time.sleep(config["hold"])
    log = os.open(os.path.join(config["folder"], "log"), os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
    os.dup2(log, 1)
    os.dup2(log, 2)
    os.chdir(config["folder"])
    os.execvpe(config["argv"][0], config["argv"], config["env"])  # noqa: S606 - that is the point


def _mount(*arguments: str) -> None:
    _run("mount", "--no-mtab", *arguments)


def _run(*command: str) -> None:
    subprocess.run(command, check=True, capture_output=True, text=True)  # noqa: S603


def _configure_network(address: str) -> None:
    for family in ("all", "default"):
        try:
            with open(f"/proc/sys/net/ipv6/conf/{family}/disable_ipv6", "w") as file:
                file.write("1")
        except OSError:  # a kernel without IPv6
            pass
    _run("ip", "link", "set", "lo", "up")
    _run("ip", "address", "add", address, "dev", "eth0")
    _run("ip", "link", "set", "eth0", "up")


def _make_read_only(folder: str) -> None:
    """Make every mount read-only, except the pod's folder."""
    _mount("--bind", folder, folder)
    for path in ("/dev/shm", "/run"):  # noqa: S108 - mounts; in /run are the sockets of the machine's services
        if os.path.isdir(path):
            _mount("-t", "tmpfs", "-o", "mode=1777", "tmpfs", path)
    with open("/proc/self/mountinfo", encoding="utf-8") as file:
        mounts = [line.split(" ")[4:6] for line in file]
    for mount_point, options in mounts:
        path = mount_point.encode().decode("unicode_escape")
        if path in (folder, "/run") or path.startswith(_KERNEL_MOUNTS) or not os.path.exists(path):
            continue
        flags = [flag for flag in options.split(",") if flag in _KEPT_FLAGS]
        _mount("-o", ",".join(["remount", "bind", "ro", *flags]), path)


def _drop_capabilities() -> None:
    prctl = ctypes.CDLL(None, use_errno=True).prctl
    for number in range(_CAPABILITIES):
        prctl(_PR_CAPBSET_DROP, number, 0, 0, 0)  # fails for numbers above the kernel's last capability
    if prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0):
        raise OSError(ctypes.get_errno(), "prctl")


if __name__ == "__main__":
    try:
        with open(sys.argv[1], encoding="utf-8") as file:
            main(json.load(file), int(sys.argv[2]), int(sys.argv[3]))
    except (OSError, subprocess.CalledProcessError) as error:
        sys.stderr.write(f"{error} {getattr(error, 'stderr', '')}\n")
        os._exit(_SETUP_FAILED)
