"""The runtime has no framework label, so that the SDK does not list it.

PTC843 missing-framework-label: warning at style, by trainer.

What: a runtime with a policy of a framework, without the label trainer.kubeflow.org/framework.

Why: Kubeflow's SDK shows the runtimes with that label only: people cannot find this one.

Example: runtime.yaml with

    - metadata: {name: acme-torch}  # <--
    + metadata: {name: acme-torch, labels: {trainer.kubeflow.org/framework: torch}}

Fix: set the label, for example to torch.

Source: Trainer 2.3, runtimes; Kubeflow SDK 0.5.
"""

from __future__ import annotations

from ptcompile.kubernetes.unstructured import nested_string_map
from ptcompile.linter.rule import Findings, Subject, fix_setting, found_at
from ptcompile.operators.trainer.rules.runtime.reading import policy_of

_LABEL = "trainer.kubeflow.org/framework"


def check(subject: Subject) -> Findings:
    policy = policy_of(subject)
    if policy in (None, "plain") or nested_string_map(subject.metadata, "labels").get(_LABEL):
        return

    path = ("metadata", "labels", _LABEL)
    yield found_at(
        path,
        "missing, and the SDK does not list runtimes without it",
        f"set the label {_LABEL}: {policy}",
        fix_setting(f"set the label to {policy}", path, policy),
    )
