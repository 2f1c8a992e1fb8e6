"""What the output still says of the first operator: its labels and annotations, the host names of
its pods, and the variables from which commands take a pod's rank, such as JOB_COMPLETION_INDEX.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from ptcompile.converter.selectors import PodPair, Searched, search
from ptcompile.converter.settings import conversion_problem
from ptcompile.diagnostics import Problem
from ptcompile.kubernetes.unstructured import (
    Json,
    JsonDict,
    kind_of,
    nested_map,
    object_name,
    values_in,
    without_keys,
)
from ptcompile.operators.queues.queue_systems import EMITTED_PREFIXES, PARTIAL_ADMISSION
from ptcompile.operators.table import KINDS, operator_of
from ptcompile.simulator.meeting import dns_names

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ptcompile.simulator.job import SimulatedJob
    from ptcompile.simulator.pod import Pod

    Pairs = Sequence[tuple[Pod, Pod]]


_HOST_PATTERN = re.compile(r"[a-z0-9](?:[a-z0-9.-]*[a-z0-9])?")
_METADATA = ("labels", "annotations")
RANK_VARIABLES = ("RANK", "JOB_COMPLETION_INDEX", "PET_NODE_RANK")
_COMMANDS = ("command", "args")


def without_old_metadata(
    objects: Sequence[JsonDict], old_job: SimulatedJob, new_job: SimulatedJob
) -> tuple[list[JsonDict], list[Problem]]:
    """Return the converted objects without labels and annotations of the first operator, and an
    error for each.
    """
    domains = _domains(old_job) - _domains(new_job)
    stale = {
        key
        for key in _metadata_keys(old_job.manifest)
        if key.partition("/")[0] in domains and not key.startswith(EMITTED_PREFIXES)
    }
    operator = operator_of(kind_of(old_job.manifest))
    if operator is not operator_of(kind_of(new_job.manifest)):
        stale |= operator.placing_annotations.keys() & set(_metadata_keys(old_job.manifest))
    present = sorted(stale.intersection(key for data in objects for key in _metadata_keys(data)))
    title = operator.title or kind_of(old_job.manifest).name
    reported = (
        operator.placing_annotations.keys()
        & nested_map(old_job.manifest, "metadata", "annotations").keys()
    )
    # compile has reported the keys of `reported`
    problems = [
        conversion_problem(
            f"{key} means something to {title} alone, so it is left out",
            "remove it from the manifest",
        )
        for key in present
        if key not in reported
    ]

    return [_without_metadata(data, stale) for data in objects] if present else list(
        objects
    ), problems


def _domains(job: SimulatedJob) -> set[str]:
    """Return the domains of an operator's labels, annotations and API."""
    operator, kind = KINDS[kind_of(job.manifest)]
    following = kind.following()
    labels = (
        (following.pods_label, following.role_label, following.index_label)
        if following is not None
        else ()
    )
    # the annotations of PARTIAL_ADMISSION are in Kueue's domain, which is not the operator's
    placing = [key for key in operator.placing_annotations if key not in PARTIAL_ADMISSION]
    keys = {*labels, *placing, kind.additions.job_label}

    return {key.partition("/")[0] for key in keys if "/" in key} | {
        kind.api_version.partition("/")[0]
    }


def _metadata_keys(value: Any) -> Iterator[str]:
    """Yield the keys of all labels and annotations in an object."""
    for inner in values_in(value):
        for field in _METADATA:
            yield from map(str, nested_map(inner, "metadata", field))


def _without_metadata(value: Any, keys: set[str]) -> Any:
    """Return the data without these labels and annotations."""
    if isinstance(value, list):
        return [_without_metadata(inner, keys) for inner in value]
    if not isinstance(value, Mapping):
        return value

    changed = {key: _without_metadata(inner, keys) for key, inner in value.items()}
    metadata = changed.get("metadata")
    if isinstance(metadata, dict):
        for field in _METADATA:
            if isinstance(metadata.get(field), dict):
                metadata[field] = without_keys(metadata[field], *keys)
                if not metadata[field]:
                    del metadata[field]

    return changed


def renamed_hosts(pairs: Sequence[PodPair]) -> dict[str, str]:
    """Return the names under which the old pods find one another and that no new pod has, with
    the new pods' names.
    """
    current = {name for pair in pairs for name in dns_names(pair.new)}
    return {
        name: (dns_names(pair.new) or [""])[-1]
        for pair in pairs
        for name in dns_names(pair.old)
        if name not in current
    }


def names_host(value: Any, host: str) -> bool:
    """Return whether a string in the data names a host."""
    return any(
        match.group() == host
        for text in _texts(value)
        if host in text
        for match in _HOST_PATTERN.finditer(text)
    )


def with_new_hosts(value: Any, renamed: Mapping[str, str]) -> Any:
    """Return the data with the old pods' host names replaced in all strings."""
    if isinstance(value, str):
        return _HOST_PATTERN.sub(lambda match: renamed.get(match.group()) or match.group(), value)
    if isinstance(value, list):
        return [with_new_hosts(inner, renamed) for inner in value]
    if not isinstance(value, Mapping):
        return value
    return {
        key: inner if key == "name" else with_new_hosts(inner, renamed)
        for key, inner in value.items()
    }


def rewrite_host_files(
    objects: Sequence[JsonDict], renamed: Mapping[str, str], searched: Searched
) -> tuple[list[JsonDict], list[Problem]]:
    """Return the objects with the new host names in ConfigMaps, and a finding for each object with
    an old host name.

    A ConfigMap is a file of the job; what other objects do with a host name is unknown.
    """
    changed: list[JsonDict] = []
    problems: list[Problem] = []
    for data in objects:
        words = search(searched, data, _words_of)
        if words.keys().isdisjoint(renamed):
            changed.append(data)
            continue

        is_file = kind_of(data) == ("v1", "ConfigMap")
        where = f"{data.get('kind')}/{object_name(data)}"
        for name in filter(renamed.__contains__, words):
            now = renamed[name] or "a pod without a host name"
            if is_file and renamed[name]:
                text = f"{where}: the host {name} becomes {now}, the pod of the same rank"
                problems.append(conversion_problem(text, None, "note"))
            else:
                problems.append(
                    conversion_problem(
                        f"{where} names the host {name}, which becomes {now}", f"write {now}"
                    )
                )

        changed.append(with_new_hosts(data, renamed) if is_file else data)

    return changed, problems


def _words_of(data: JsonDict) -> dict[str, None]:
    """Return the words of an object that may be names of hosts, in order."""
    return dict.fromkeys(
        match.group() for text in _texts(data) for match in _HOST_PATTERN.finditer(text)
    )


def _texts(value: Any) -> Iterator[str]:
    """Yield all strings in an object except its own name."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for key, inner in value.items():
            if key != "name":
                yield from _texts(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _texts(inner)


def renamed_variables(spec: Json, pairs: Pairs) -> dict[str, str]:
    """Return the rank variables that the commands of a spec name and that only the old pods have,
    each with one that has the same value in every new pod.
    """
    renamed: dict[str, str] = {}
    for name in RANK_VARIABLES:
        ranks = [old.env.get(name) for old, _ in pairs]
        if (
            None in ranks
            or any(name in new.env for _, new in pairs)
            or not names_variable(spec, name)
        ):
            continue

        same = (
            other for other in RANK_VARIABLES if [new.env.get(other) for _, new in pairs] == ranks
        )
        if (replacement := next(same, None)) is not None:
            renamed[name] = replacement

    return renamed


def names_variable(spec: Json, name: str) -> bool:
    """Return whether a command or its arguments have the name as a word."""
    return bool(with_new_variables(spec, {name: ""}) != spec)


def with_new_variables(value: Any, renamed: Mapping[str, str], *, in_command: bool = False) -> Any:
    """Return the data with the variables renamed in commands and arguments."""
    if isinstance(value, Mapping):
        return {
            key: with_new_variables(inner, renamed, in_command=in_command or key in _COMMANDS)
            for key, inner in value.items()
        }
    if isinstance(value, list):
        return [with_new_variables(inner, renamed, in_command=in_command) for inner in value]
    if not in_command or not isinstance(value, str):
        return value
    return re.sub(rf"\b(?:{'|'.join(renamed)})\b", lambda match: renamed[match.group()], value)
