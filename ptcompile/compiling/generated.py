"""`metadata.generateName`: manifests whose name the server completes."""

from __future__ import annotations

from collections.abc import Sequence

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ptcompile.vocabulary.spec import Spec


def with_generate_name(manifests: Sequence[dict[str, Any]], spec: Spec) -> tuple[dict[str, Any], ...]:
    """Return the manifests with the spec's generateName, where it has one, on the job, which is the last of them."""
    beginning = spec.metadata.generate_name
    if beginning is None or not manifests:
        return tuple(manifests)
    *others, last = manifests
    metadata = {key: value for key, value in last["metadata"].items() if key != "name"}
    return (*others, {**last, "metadata": {"generateName": beginning, **metadata}})
