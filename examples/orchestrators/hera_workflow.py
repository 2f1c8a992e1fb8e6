"""Hera: a spec as an Argo Workflow whose last step ends when the job does.

python hera_workflow.py job.yaml | argo submit -
"""

from __future__ import annotations

import sys
from pathlib import Path

from hera.workflows import Resource, Steps, Workflow

import ptcompile
from ptcompile.adapters.argo import templates


def workflow(spec: str, target: str = "jobset") -> Workflow:
    """Companions first, then the job. `{{workflow.uid}}` cannot name the job: host names are derived from its name."""
    result = ptcompile.compile(spec, target=target)
    name = result.handle.job.name
    with Workflow(
        generate_name=f"{name}-", entrypoint="train", namespace=result.handle.job.namespace
    ) as made:
        steps = []
        for one in templates(result):
            said = one["resource"]
            steps.append(
                Resource(
                    name=one["name"],
                    action=said["action"],
                    manifest=said["manifest"],
                    set_owner_reference=True,
                    success_condition=said.get("successCondition"),
                    failure_condition=said.get("failureCondition"),
                )
            )
        with Steps(name="train"):
            for step in steps:
                step()
    return made


if __name__ == "__main__":
    print(workflow(Path(sys.argv[1]).read_text(encoding="utf-8")).to_yaml())
