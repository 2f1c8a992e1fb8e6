"""Programs that never end by themselves: servers, `sleep infinity`, `tail -f`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ptcompile._internal.lazy import Pattern
from ptcompile.kubernetes.commands import basename

_SERVER_NAMES = """
tensorboard jupyter-lab jupyter nginx redis redis-server memcached fluent-bit fluentd vector promtail
filebeat envoy haproxy istio-proxy proxyv2 linkerd-proxy dcgm-exporter node-exporter node_exporter pushgateway
statsd-exporter prometheus otel-collector opentelemetry-collector opentelemetry-collector-contrib jaeger-agent
cloud-sql-proxy vault-agent datadog-agent telegraf tcpgpudmarxd-dev entrypoint_rxdm_container.sh
neuron-monitor grafana-agent alloy aws-for-fluent-bit cloudwatch-agent amazon-cloudwatch-agent netdata tcpgpudmarxd
"""
SERVERS = frozenset(_SERVER_NAMES.split())
"""Programs, and images with the same names, that run until they are stopped."""

_FOREGROUND: Mapping[str, Sequence[str]] = {
    "nginx": ("daemon off;",),
    "sshd": ("-D", "-De", "-eD", "-d"),
    "ray": ("--block",),
    "uvicorn": (),
    "streamlit": ("run",),
    "mlflow": ("ui", "server"),
    "nvidia-cuda-mps-control": ("-f",),
    "inotifywait": ("-m", "--monitor"),
}
"""Servers that run in the foreground only with one of these arguments, or always if there are
none.
"""
_ENDING = """
--version --help -h -v -V --inspect --validate --test --test-memory --once --dry-run version help validate test check
config convert nbconvert execute trust kernelspec
"""
_ENDING_ARGUMENTS = frozenset(_ENDING.split())
"""Arguments with which a server does something else and ends."""
_follows = Pattern(r"-[a-zA-Z0-9]*[fF]|--follow(?:=\w+)?|--retry").fullmatch
_duration = Pattern(r"(?P<number>\d{1,12})(?:\.\d*)?(?P<unit>[smhd]?)").fullmatch
_SECONDS = {"": 1, "s": 1, "m": 60, "h": 3600, "d": 86400}
_MONTH = 30 * 86400


def endless_program(argv: Sequence[str]) -> str | None:
    """Return the program and its telling argument if it never ends, or None."""
    if not argv:
        return None

    name, *arguments = argv
    program = basename(name)
    if program == "sleep":
        if arguments and _is_endless_sleep(arguments[0]):
            return f"sleep {arguments[0]}"
        return None
    if program == "tail":
        is_following = any(_follows(word) for word in arguments)
        if is_following and not any(word.startswith("--pid") for word in arguments):
            return "tail -f"
        return None
    if not _ENDING_ARGUMENTS.isdisjoint(arguments) or (program == "haproxy" and "-c" in arguments):
        return None
    if program.startswith("python") and arguments[:2] in (
        ["-m", "http.server"],
        ["-m", "tensorboard.main"],
    ):
        return " ".join([program, *arguments[:2]])
    if program in _FOREGROUND:
        needed = _FOREGROUND[program]
        if not needed or any(word in needed for word in arguments):
            return program
        return None

    return program if program in SERVERS else None


def _is_endless_sleep(duration: str) -> bool:
    match = _duration(duration)
    return duration in ("infinity", "inf") or (
        match is not None and int(match["number"]) * _SECONDS[match["unit"]] >= _MONTH
    )
