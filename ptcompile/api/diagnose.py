"""`diagnose`: the first cause in a job's logs, and the line of the manifest that led to it."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence

from ptcompile._internal import arguments, files
from ptcompile._internal.limits import limits
from ptcompile.api.inputs import AnyProfile, Inputs, JobSource
from ptcompile.api.lint import lint_inputs
from ptcompile.api.options import LintOptions
from ptcompile.api.simulate import DEFAULT, simulate_inputs
from ptcompile.diagnosis.causes import compare, weigh_causes
from ptcompile.diagnosis.first import consequences, find_origin, masked
from ptcompile.diagnosis.lines import Logs
from ptcompile.diagnosis.model import Diagnosis
from ptcompile.diagnosis.pages import search
from ptcompile.kubernetes.unstructured import texts_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    LogSource = str | bytes | os.PathLike[str]


def diagnose(
    logs: LogSource | Sequence[os.PathLike[str]] | Mapping[str, LogSource],
    source: JobSource | None = None,
    *,
    cluster: AnyProfile | None = None,
    filename: str | None = None,
) -> Diagnosis:
    """Return the first cause of a failure in the logs of a job's pods, and what the manifest says
    about it.

    `logs` is text, bytes, a path, a list of paths, or a mapping from names to texts, bytes or
    paths: logs of pods, events, the output of kubectl. A name that ends with `.log` is that of a
    pod. `source` is the manifest or the spec of the job, in any form that `lint` takes: causes that
    it rules out are dropped, and one that a finding of `lint` proves comes first, with its line.
    `cluster` is a ClusterProfile in any form, `filename` the manifest's name. Logs beyond 64 MB in
    all are not looked at; `Diagnosis.is_cut` tells. Mistakes in texts never raise.

    Raises TypeError for logs of another form, and OSError for a path that cannot be read.
    """
    arguments.check(filename=filename)
    named = _named_logs(logs)
    if source is None:
        return diagnose_inputs(named, None)

    inputs = Inputs.read(source, filename=filename, cluster=cluster)
    return diagnose_inputs(named, inputs, LintOptions(inputs.given_profile, inputs.versions))


def _named_logs(
    logs: LogSource | Sequence[os.PathLike[str]] | Mapping[str, LogSource],
) -> dict[str, str | bytes]:
    """Return the logs by their names, with files read."""
    if isinstance(logs, str | bytes):
        return {"<text>": logs}
    if isinstance(logs, os.PathLike):
        logs = [logs]
    if not isinstance(logs, Mapping):
        logs = {os.fspath(path): path for path in logs}
    return {
        str(name): files.read(content) if isinstance(content, os.PathLike) else content
        for name, content in logs.items()
    }


def diagnose_inputs(
    logs: Mapping[str, str | bytes], inputs: Inputs | None, options: LintOptions | None = None
) -> Diagnosis:
    """Return the diagnosis of logs by their names, with the manifest or the spec, if there is one,
    and what judges it.
    """
    read = Logs()
    left = limits().characters
    for name, content in logs.items():
        read.read(name, content[:left])
        left -= len(content)
    tolerates = inputs is not None and any(
        "tolerations" in (document.texts or texts_of(document.data))
        for file in inputs.files
        for document in file.source.documents
    )
    origin = find_origin(read, tolerates=tolerates)
    diagnosis = Diagnosis(
        first=origin,
        nearest=() if origin is not None else tuple(search(_join_beginnings(logs))),
        files=tuple(logs),
        lines=read.lines,
        is_cut=read.is_cut or left < 0,
    )
    if origin is None:
        return diagnosis

    message = origin.sighting.message
    values = origin.sighting.values
    followed = tuple(consequences(read, origin))
    if inputs is None or options is None:
        causes = tuple(weigh_causes(message, values, None))
        return diagnosis._replace(first=masked(origin, ()), causes=causes, consequences=followed)

    (file,) = inputs.files
    findings = lint_inputs(inputs, options).diagnostics

    return diagnosis._replace(
        first=masked(origin, (document.data for document in file.source.documents)),
        causes=tuple(weigh_causes(message, values, file.source, findings)),
        compared=tuple(compare(values, simulate_inputs(inputs, DEFAULT))),
        consequences=followed,
        source_name=file.name or "<manifest>",
        diagnostics=tuple(inputs.settings_diagnostics),
    )


_BEGINNING = 10_000
"""Characters of logs without a known message that are compared with the pages of messages."""


def _join_beginnings(logs: Mapping[str, str | bytes]) -> str:
    texts = (content[:_BEGINNING] for content in logs.values())
    return "\n".join(
        text.decode(errors="replace") if isinstance(text, bytes) else text for text in texts
    )
