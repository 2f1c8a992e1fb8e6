"""Pods without the secrets that stand in their variables: what people and reports are shown."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ptcompile.kubernetes.untyped import text
from ptcompile.operators.common.expansion import env_entry
from ptcompile.secrets.masking import Hide, hiding
from ptcompile.secrets.names import is_searched, is_secret, masked
from ptcompile.simulation.job import Job
from ptcompile.simulation.pod import Pod


def shown_env(pod: Pod) -> dict[str, str]:
    """The main container's variables; a secret that stands in the manifest is hidden, a reference to one is shown."""
    literal = {name for name, _ in _literals(pod.main.env if pod.main else ())}
    return {name: masked(name, value) if name in literal else value for name, value in pod.env.items()}


def shown_entry(entry: dict[str, Any]) -> dict[str, Any]:
    """An env entry in the JSON form, its value hidden where it is a secret."""
    return {**entry, "value": masked(entry["name"], entry["value"])} if "value" in entry else entry


def hiding_of(pods: Iterable[Pod]) -> Hide | None:
    """What hides these pods' secrets in a text, such as a command line that they are put into."""
    secrets: dict[str, None] = {}
    for pod in pods:
        for container in pod.containers:
            literals = _literals(container.env)
            secrets.update({value: None for name, value in literals if is_secret(name) and is_searched(name, value)})
    return hiding(secrets) if secrets else None


def firsts(jobs: Iterable[Job]) -> list[Pod]:
    """The first pod of each role: the others hold the same secrets."""
    return [pod for job in jobs for _, pod in job.firsts()]


def without(value: Any, hide: Hide | None) -> Any:
    """Plain data with the secrets in its texts hidden."""
    if hide is None:
        return value
    if isinstance(value, str):
        return hide(value)
    if isinstance(value, dict):
        return {key: without(inner, hide) for key, inner in value.items()}
    return [without(inner, hide) for inner in value] if isinstance(value, list) else value


def _literals(env: Iterable[Any]) -> list[tuple[str, str]]:
    entries = (env_entry(entry) for entry in env)
    return [(text(entry["name"]), text(entry["value"])) for entry in entries if "value" in entry]
