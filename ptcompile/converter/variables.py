"""Variables from which commands take their pod's rank, such as JOB_COMPLETION_INDEX: each operator sets others."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Final

    from ptcompile.simulator.pod import Pod

    Pairs = Sequence[tuple[Pod, Pod]]

RANK_VARIABLES: Final = ("RANK", "JOB_COMPLETION_INDEX", "PET_NODE_RANK")
_COMMANDS: Final = ("command", "args")


def renamed_variables(spec: Mapping[str, Any], pairs: Pairs) -> dict[str, str]:
    """Return the rank variables that the commands of a spec name and that only the old pods have, each with one that
    has the same value in every new pod.
    """
    renamed: dict[str, str] = {}
    for name in RANK_VARIABLES:
        ranks = [old.env.get(name) for old, _ in pairs]
        if None in ranks or any(name in new.env for _, new in pairs) or not names_variable(spec, name):
            continue
        same = (other for other in RANK_VARIABLES if [new.env.get(other) for _, new in pairs] == ranks)
        if (replacement := next(same, None)) is not None:
            renamed[name] = replacement
    return renamed


def names_variable(spec: Mapping[str, Any], name: str) -> bool:
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
    return re.sub(rf"\b(?:{'|'.join(renamed)})\b", lambda match: renamed[match[0]], value)
