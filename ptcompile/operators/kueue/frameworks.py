"""The kinds that Kueue's shipped configuration leaves out, by their names in `integrations.frameworks`.

Source: Kueue 0.19, config/components/manager/controller_manager_config.yaml; 0.18 has them on. The integrations are
deprecated since 0.19 (issue 12620).
"""

from __future__ import annotations

from collections.abc import Collection

from ptcompile.kubernetes.versions import Versions

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final

    from ptcompile.kubernetes.requests import GroupVersionKind


_OFF_SINCE: Final = (0, 19)
_OFF: Final = {
    ("kubeflow.org/v1", kind): f"kubeflow.org/{kind.lower()}"
    for kind in ("JAXJob", "PaddleJob", "PyTorchJob", "TFJob", "XGBoostJob")
}


def framework_off(kind: GroupVersionKind, versions: Versions, switched_on: Collection[str]) -> str:
    """Return the framework that must be switched on before Kueue manages a kind, or "" if it does without."""
    name = _OFF.get(kind, "")
    return name if versions.kueue >= _OFF_SINCE and name not in switched_on else ""
