"""Rules for TrainJobs."""

from __future__ import annotations

RULES: dict[str, str] = {
    "trainjob_without_trainer": "",
    "zero_nodes": "numNodes",
    "misspelt_runtime": "",
    "renamed_runtime": "@TrainingRuntime/@ClusterTrainingRuntime",
    "runtime_of_other_kind": "@TrainingRuntime/@ClusterTrainingRuntime",
    "runtime_after_trainjob": "@TrainingRuntime/@ClusterTrainingRuntime",
    "inherited_args": "command",
    "dropped_claims": "claims",
    "ignored_trainer_fields": "",
    "unused_trainer": "",
    "uncounted_gpus": "resourcesPerNode",
    "deprecated_runtime": "deprecated",
}
"""Rule modules in evaluation order, each with its trigger words (see `words`)."""
