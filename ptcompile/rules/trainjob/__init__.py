"""Rules for TrainJobs."""

from __future__ import annotations

from ptcompile.rules.rule import Rule
from ptcompile.rules.trainjob import (
    deprecated_runtime,
    dropped_claims,
    ignored_trainer_fields,
    inherited_args,
    misspelt_runtime,
    runtime_after_trainjob,
    runtime_of_other_kind,
    trainjob_without_trainer,
    uncounted_gpus,
    unused_trainer,
    zero_nodes,
)

RULES: tuple[Rule, ...] = (
    trainjob_without_trainer.RULE,
    zero_nodes.RULE,
    misspelt_runtime.RULE,
    runtime_of_other_kind.RULE,
    runtime_after_trainjob.RULE,
    inherited_args.RULE,
    dropped_claims.RULE,
    ignored_trainer_fields.RULE,
    unused_trainer.RULE,
    uncounted_gpus.RULE,
    deprecated_runtime.RULE,
)
