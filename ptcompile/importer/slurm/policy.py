"""How long a job runs and how often it starts: --time, --requeue, --signal, scripts that requeue themselves.

Source: docs/facts/slurm.md#requeue.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from ptcompile._internal.namedtuple import Any, NamedTuple
from ptcompile.importer.slurm.amounts import array_of, seconds_of, signal_of
from ptcompile.kubernetes.goflags import atoi
from ptcompile.shell.values import is_known, text_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ptcompile.importer.slurm.directives import SlurmOption
    from ptcompile.importer.slurm.findings import ScriptFindings
    from ptcompile.shell.values import Variable

_requeue = re.compile(r"(?m)^(?![ \t]*#).*?\b(scontrol[ \t]+requeue|sbatch[ \t][^\n]*(?:\$0|\$\{?BASH_SOURCE)[^\n]*)")
_limit = re.compile(
    r"(?P<before>\$\{?\w+\}?|\d+)[\"' ]*(?:-gt|-ge|>=?)[\"' ]*\$\{?SLURM_RESTART_COUNT|"
    r"SLURM_RESTART_COUNT[^\n]{0,12}?[\"' ]*(?:-lt|-le|<=?)[\"' ]*(?P<after>\$\{?\w+\}?|\d+)"
)
_trap = re.compile(r"(?m)^[ \t]*trap[ \t]")


class EndOfJob(NamedTuple):
    """The run policy, and the seconds that a pod has after SIGTERM."""

    policy: Mapping[str, Any]
    grace: int | None


def read_policy(
    options: Mapping[str, SlurmOption],
    text: str,
    variables: Mapping[str, Variable],
    findings: ScriptFindings,
    *,
    is_chain: bool,
) -> EndOfJob:
    """Return when a job ends and what restarts it. `is_chain`: the jobs of its array are one long training."""
    policy: dict[str, Any] = {}
    requeue = _requeue.search(text)
    limit = options.get("time")
    seconds = seconds_of(limit.value) if limit is not None else None
    if requeue is not None:
        place = requeue.start(1), requeue.end(1)
        policy["backoffLimit"] = _retries(text, variables, is_trapped=_trap.search(text) is not None)
        sentence = "the script requeues itself: its time is not the end of the training, so there is no deadline"
        help = "the job restarts after a failure; save checkpoints on a volume, below a name that does not change"
        findings.decide(place, sentence, help)
    elif seconds and not is_chain:
        policy["activeDeadlineSeconds"] = seconds

    if "array" in options and is_chain:
        array = array_of(options["array"].value)
        policy["backoffLimit"] = max((array.size if array is not None else 1) - 1, 0)
    if "requeue" in options or requeue is not None:
        policy["onDisruption"] = "Ignore"
    elif "no-requeue" in options:
        policy["onDisruption"] = "FailJob"
    if "hold" in options:
        policy["suspend"] = True

    signal = signal_of(options["signal"].value) if "signal" in options else None
    return EndOfJob(policy, None if signal is None else max(signal.seconds, 30))


def _retries(text: str, variables: Mapping[str, Variable], *, is_trapped: bool) -> int | str:
    """Return how often a script requeues itself, as far as it compares the count."""
    match = _limit.search(text)
    if match is None or is_trapped:
        return "Unlimited"
    written = (match["before"] or match["after"]).strip("${}")
    number = atoi(written)
    variable = variables.get(written)
    if number is None and variable is not None and variable.value is not None and is_known(variable.value):
        number = atoi(text_of(variable.value))
    return "Unlimited" if number is None else number
