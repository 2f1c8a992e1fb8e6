"""The first process of a rehearsed pod: sets up the pod's environment, then becomes the pod's
program.

A standalone program, which `stage` runs in new network, mount, UTS, IPC and PID namespaces.
Everything is read-only except the pod's folder, /dev/shm and /run; the process drops all
capabilities, so no child can undo that.
"""

import ctypes
import json
import os
import re
import socket
import subprocess
import sys
import time
from typing import Any

_KERNEL_MOUNTS = ("/proc", "/sys", "/dev")
"""Mounts of the kernel, which are left unchanged."""
_KEPT_FLAGS = frozenset({"nosuid", "nodev", "noexec", "noatime", "nodiratime", "relatime"})
"""Flags that a remount in a user namespace must repeat."""
_PR_CAPBSET_DROP = 24
_PR_SET_NO_NEW_PRIVS = 38
_CAPABILITIES = 64
_SETUP_FAILED = 97
"""Exit status if the setup fails."""


def main(config: dict[str, Any], ready: int, go: int) -> None:
    """Set up a pod's environment and become its program. `ready` and `go` are pipes to and from
    the stage.
    """
    if config["cgroup"]:
        with open(os.path.join(config["cgroup"], "cgroup.procs"), "w", encoding="ascii") as file:
            file.write("0")
    _mount("--make-rprivate", "/")
    os.write(ready, b"x")
    # the read returns when eth0 exists
    os.read(go, 1)
    _configure_network(config["address"], config["service_address"])
    socket.sethostname(config["hostname"])
    _mount("-t", "proc", "proc", "/proc")
    for path_in_pod, source in config["files"].items():
        target = os.path.realpath(path_in_pod)
        if os.path.exists(target):
            _mount("--bind", source, target)

    writable = _mount_volumes(config["root"], config["mounts"]) if config["mounts"] else []
    _make_read_only(config["folder"], config["shm"], writable)
    _drop_capabilities()
    time.sleep(config["hold"])
    os.chdir(
        config["directory"]
        if _is_below(config["directory"], config["folder"])
        else config["folder"]
    )
    os.execvpe(config["argv"][0], config["argv"], config["env"])  # noqa: S606 - that is the point


def _is_below(path: "str | None", folder: str) -> bool:
    """Return whether a working directory is in the pod's folder; others exist only in an image."""
    return path is not None and os.path.join(path, "").startswith(os.path.join(folder, ""))


def _mount(*arguments: str, pass_fds: "tuple[int, ...]" = ()) -> None:
    _run("mount", "--no-mtab", *arguments, pass_fds=pass_fds)


def _run(*command: str, pass_fds: "tuple[int, ...]" = ()) -> None:
    subprocess.run(command, check=True, capture_output=True, text=True, pass_fds=pass_fds)  # noqa: S603


def _configure_network(address: str, service_address: "str | None") -> None:
    for family in ("all", "default"):
        try:
            with open(f"/proc/sys/net/ipv6/conf/{family}/disable_ipv6", "w") as file:
                file.write("1")
        except OSError:
            # the kernel has no IPv6
            pass

    _run("ip", "link", "set", "lo", "up")
    _run("ip", "address", "add", address, "dev", "eth0")
    if service_address:
        _run("ip", "address", "add", service_address, "dev", "eth0")
    _run("ip", "link", "set", "eth0", "up")


def _open_beneath(top: str, below: str) -> int:
    """Open a folder beneath another. No part of the path may be a link: a pod could have put one
    there meanwhile.
    """
    flags = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW
    folder = os.open(top, flags)
    for part in below.split("/"):
        inner = os.open(part, flags, dir_fd=folder)
        os.close(folder)
        folder = inner
    return folder


def _mount_volumes(root: str, mounts: "list[dict[str, Any]]") -> "list[str]":
    """Make a root in which every volume has its mount point, and change to it. Return the writable
    mount points.

    The root is a tmpfs whose folders are those of this machine, where nothing is created.
    """
    _mount("-t", "tmpfs", "-o", "mode=755", "tmpfs", root)
    # the folder with the new root comes first: its copy must not contain copies of the others
    names = sorted(os.listdir("/"), key=lambda name: not root.startswith(f"/{name}/"))
    _bind_entries("/", root, names)
    writable = []
    for mount in sorted(mounts, key=lambda mount: os.path.realpath(mount["path"])):
        path = os.path.realpath(mount["path"])
        _make_folder(root, path)
        # the folder is mounted as it was opened: its name is not looked up again
        folder = _open_beneath(mount["top"], mount["below"])
        source = f"/proc/self/fd/{folder}"
        _mount("--no-canonicalize", "--bind", source, root + path, pass_fds=(folder,))
        os.close(folder)
        if mount["is_read_only"]:
            _mount("-o", "remount,bind,ro", root + path)
        else:
            writable.append(path)

    os.chroot(root)
    os.chdir("/")

    return writable


def _bind_entries(source: str, target: str, names: "list[str]") -> None:
    """Give an empty folder the entries of another: links as copies, files and folders as mounts."""
    for name in names:
        path = os.path.join(source, name)
        copy = os.path.join(target, name)
        if os.path.islink(path):
            os.symlink(os.readlink(path), copy)
            continue

        if os.path.isdir(path):
            os.mkdir(copy)
        else:
            os.close(os.open(copy, os.O_CREAT | os.O_WRONLY, 0o644))

        _mount("--rbind", path, copy)


def _make_folder(root: str, path: str) -> None:
    """Create a folder in the new root. If its parent is a folder of this machine, where nothing
    may be created, a tmpfs with the same entries takes the parent's place.
    """
    folder = root
    for number, part in enumerate(path.strip("/").split("/")):
        parent, folder = folder, os.path.join(folder, part)
        if os.path.isdir(folder):
            continue

        if os.stat(parent).st_dev != os.stat(root).st_dev:
            original = os.path.join(root, f".{number}{path.replace('/', '-')}")
            os.mkdir(original)
            _mount("--rbind", parent, original)
            mode = f"{os.stat(parent).st_mode & 0o7777:o}"
            _mount("-t", "tmpfs", "-o", f"mode={mode}", "tmpfs", parent)
            _bind_entries(original, parent, sorted(os.listdir(original)))
            _run("umount", "--lazy", "--no-mtab", original)
            os.rmdir(original)
            root = parent

        os.mkdir(folder)


def _make_read_only(folder: str, shm: "int | None", writable: "list[str]") -> None:
    """Make every mount read-only, except the pod's folder and writable volumes. `shm` is the
    size of /dev/shm.
    """
    _mount("--bind", folder, folder)
    sizes = {"/dev/shm": shm, "/run": None}  # noqa: S108 - mounts; in /run are the sockets of the machine's services
    for path, size in sizes.items():
        if os.path.isdir(path):
            _mount(
                "-t", "tmpfs", "-o", "mode=1777" + (f",size={size}" if size else ""), "tmpfs", path
            )

    with open("/proc/self/mountinfo", "rb") as file:
        mounts = [read_mount(line) for line in file]
    for path, options in mounts:
        if path in (folder, "/run", *writable) or is_of_kernel(path) or not os.path.exists(path):
            continue
        flags = [flag for flag in options.split(",") if flag in _KEPT_FLAGS]
        _mount("-o", ",".join(["remount", "bind", "ro", *flags]), path)


def read_mount(line: bytes) -> "tuple[str, str]":
    """Return the mount point and the options of a line of mountinfo, where white space and
    backslashes are octal.
    """
    _id, _parent, _device, _root, point, options, *_ = line.split(b" ")
    path = re.sub(rb"\\(?P<octal>[0-7]{3})", lambda sign: bytes([int(sign["octal"], 8)]), point)
    return os.fsdecode(path), os.fsdecode(options)


def is_of_kernel(path: str) -> bool:
    """Return whether a mount is one of the kernel's, or below one."""
    return any(_is_below(path, mount) for mount in _KERNEL_MOUNTS)


def _drop_capabilities() -> None:
    prctl = ctypes.CDLL(None, use_errno=True).prctl
    for number in range(_CAPABILITIES):
        # fails for numbers above the kernel's last capability
        prctl(_PR_CAPBSET_DROP, number, 0, 0, 0)
    if prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0):
        raise OSError(ctypes.get_errno(), "prctl")


if __name__ == "__main__":
    try:
        with open(sys.argv[1], encoding="utf-8") as file:
            main(json.load(file), int(sys.argv[2]), int(sys.argv[3]))
    except (OSError, subprocess.CalledProcessError) as error:
        sys.stderr.write(f"{error} {getattr(error, 'stderr', '')}\n")
        os._exit(_SETUP_FAILED)
