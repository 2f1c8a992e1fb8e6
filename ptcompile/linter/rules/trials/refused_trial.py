"""Katib refuses the trial template of an Experiment.

PTC596 refused-trial: error at apply, by katib.
Needs: trialTemplate

What: trialTemplate names no primary container; or a trial parameter refers to a parameter that the
Experiment does not have, or occurs nowhere in trialSpec; or trialSpec has a `${trialParameters.X}`
that trialParameters does not declare.

Why: Katib's webhook puts a value in place of each trial parameter, and refuses an Experiment of
which some would be left.

Example:

      apiVersion: kubeflow.org/v1beta1
      kind: Experiment
      metadata: {name: search}
      spec:
        objective: {type: minimize, objectiveMetricName: loss}
        algorithm: {algorithmName: random}
        parameters:
          - {name: lr, parameterType: double, feasibleSpace: {min: "0.01", max: "0.1"}}
        trialTemplate:
          primaryContainerName: pytorch
          trialParameters:
            - name: learningRate
    -         reference: learning-rate  # <--
    +         reference: lr
          trialSpec:
            apiVersion: batch/v1
            kind: Job
            spec:
              backoffLimit: 0
              template:
                spec:
                  restartPolicy: Never
                  containers:
                    - name: pytorch
                      image: ghcr.io/acme/train:1.0
                      command: [python, train.py, "--lr=${trialParameters.learningRate}"]
                      resources: {limits: {cpu: 8, memory: 64Gi}}

Fix: write the name of a parameter, and declare each trial parameter that trialSpec has.

Source: Katib 0.18, pkg/webhook/v1beta1/experiment/validator/validator.go, validateTrialTemplate.
"""

from __future__ import annotations

from collections.abc import Iterator

from ptcompile._internal.lazy import Pattern
from ptcompile.diagnostics import Path
from ptcompile.kubernetes.unstructured import (
    nested_map,
    nested_maps,
    nested_string,
    placed_values,
)
from ptcompile.linter.rule import Findings, Subject, found_at

_TEMPLATE: Path = ("spec", "trialTemplate")
_PARAMETERS: Path = (*_TEMPLATE, "trialParameters")
_use = Pattern(r"\$\{trialParameters\.(.+?)\}")
_is_of_trial = Pattern(
    r"\$\{trialSpec\.(?:Name|Namespace|Kind|APIVersion|(?:Annotations|Labels)\[.+\])\}"
).search


def check(subject: Subject) -> Findings:
    template = nested_map(subject.spec, "trialTemplate")
    if template and not template.get("primaryContainerName"):
        text = "has no primaryContainerName, which Katib needs to collect metrics"
        yield found_at(_TEMPLATE, text, "name the container that trains", on_key=True)
    yield from _unknown_references(subject)

    uses = {
        name: path for path, name in _uses(template.get("trialSpec"), (*_TEMPLATE, "trialSpec"))
    }
    declared = [
        nested_string(parameter, "name") for parameter in nested_maps(template, "trialParameters")
    ]
    for i, name in enumerate(declared if template.get("trialSpec") else ()):
        if name and name not in uses:
            text = f"trialSpec has no ${{trialParameters.{name}}}"
            yield found_at(
                (*_PARAMETERS, i, "name"), text, "use it in trialSpec, or remove it here"
            )

    for name, path in uses.items():
        if name not in declared:
            text = f"${{trialParameters.{name}}} is not among the trialParameters"
            yield found_at(
                path, text, "declare it in trialParameters, with the parameter as its reference"
            )


def _unknown_references(subject: Subject) -> Findings:
    parameters = [
        nested_string(parameter, "name") for parameter in nested_maps(subject.spec, "parameters")
    ]
    declared = nested_maps(subject.spec, "trialTemplate", "trialParameters")
    for i, parameter in enumerate(declared if parameters else ()):
        reference = nested_string(parameter, "reference")
        if reference and reference not in parameters and not _is_of_trial(reference):
            text = f"the Experiment has no parameter {reference}"
            yield found_at(
                (*_PARAMETERS, i, "reference"), text, f"write one of {', '.join(parameters)}"
            )


def _uses(value: object, path: Path) -> Iterator[tuple[Path, str]]:
    """Yield the trial parameters in the keys and texts of a value."""
    for place, item in placed_values(value, path):
        texts = [text for text in (*place[len(path) :][-1:], item) if isinstance(text, str)]
        yield from ((place, name) for text in texts for name in _use.findall(text))
