"""tune run does not start the recipe.

PTC499 refused-tune-run: error at run (fails), by ptcompile.
Needs: tune run

What: `tune run` of torchtune has no word `--config`; a recipe for one device gets options of
torchrun, or a distributed recipe none; or neither a recipe nor a configuration of torchtune has the
name.

Why: tune looks for the word `--config`, so `--config=X` is not enough. It starts torchrun only if
an option of torchrun is before the recipe, and reads no PET_* variable to find out. A recipe for
one device refuses torchrun: "does not support distributed training". A distributed recipe without
torchrun is one process that lacks RANK and WORLD_SIZE.

Example: pod.yaml with

      command:
        - tune
        - run
    -   - full_finetune_distributed  # <--
    +   - --nproc-per-node=4
    +   - full_finetune_distributed
        - --config
        - llama3_2/3B_full
      resources: {limits: {cpu: 8, memory: 64Gi, nvidia.com/gpu: 4}}

Fix: write `tune run --nproc-per-node=4 full_finetune_distributed --config llama3_2/3B_full`.

Source: torchtune 0.6.1, _cli/run.py (_run_cmd, _is_distributed_args), _recipe_registry.py,
recipes/.
"""

from __future__ import annotations

from collections.abc import Sequence

from ptcompile._internal.schema_files import load_table
from ptcompile._internal.spelling import closest_match
from ptcompile.linter.rule import Findings, Subject, found_at
from ptcompile.linter.training_roles import TrainingRole
from ptcompile.simulator.launchers.torchrun import is_literal


def check(subject: Subject) -> Findings:
    for role in subject.training_roles:
        launch = role.launch
        if launch.program == "tune run" and launch.entry and all(map(is_literal, launch.entry)):
            yield from _check_recipe(role, launch.entry[0])
            yield from _check_config(role, launch.entry[1:])


def _check_recipe(role: TrainingRole, recipe: str) -> Findings:
    table = load_table("simulator/launchers/torchtune.json")
    path = role.path_of_word(recipe)
    if recipe in table["single_device"] and role.is_torchrun:
        yield found_at(
            path,
            f"tune run does not start: the recipe {recipe} does not support distributed training",
            f"remove the options before {recipe}, or use a distributed recipe",
        )
    elif recipe in table["distributed"] and not role.is_torchrun and not role.misplaced_options:
        has_ranks = {"RANK", "WORLD_SIZE", "MASTER_ADDR"} <= role.launch.env.keys()
        yield found_at(
            path,
            f"tune run starts {recipe} as one process without torchrun, but it is a distributed "
            "recipe",
            f"write --nproc-per-node with the number of GPUs before {recipe}: tune run reads no "
            "PET_* variables",
            severity="warning" if has_ranks else None,
        )

    near = closest_match(recipe, (*table["single_device"], *table["distributed"]))
    if near not in (None, recipe) and "/" not in recipe:
        yield found_at(
            path, f"torchtune has no recipe {recipe}", f"did you mean {near}?", severity="warning"
        )


def _check_config(role: TrainingRole, words: Sequence[str]) -> Findings:
    joined = next((word for word in words if word.startswith("--config=")), None)
    if "--config" not in words and joined is not None:
        yield found_at(
            role.path_of_word(joined),
            "tune run does not start: it requires --config as a separate word",
            f"write --config {joined.removeprefix('--config=')}, with a space",
        )
        return
    if "--config" not in words:
        yield found_at(
            role.command_path,
            "tune run does not start: it requires --config",
            "add --config and its name, after the recipe",
        )
        return

    name = "".join(words[words.index("--config") + 1 :][:1])
    configs = load_table("simulator/launchers/torchtune.json")["configs"]
    near = closest_match(name, configs)
    is_builtin = near is not None or "/" in name
    if is_builtin and name not in configs and not name.endswith((".yaml", ".yml")):
        yield found_at(
            role.path_of_word(name),
            f"torchtune has no configuration {name}, and the name is not that of a YAML file",
            f"did you mean {near}?"
            if near
            else "write a name from `tune ls`, or the path of a YAML file",
            severity="warning",
        )
