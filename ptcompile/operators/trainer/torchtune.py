"""`tune run` under Trainer's torch policy (2.3): the arguments that the plugin puts behind the command."""

from __future__ import annotations

from ptcompile.kubernetes.untyped import at, items, text, texts
from ptcompile.operators.trainer import runtimes
from ptcompile.operators.trainer.build import PORT, Build
from ptcompile.operators.trainer.runtimes import ancestor, tune_model

_KEPT = ("output_dir=", "tokenizer.path=", "tokenizer.merges_file=", "checkpointer.checkpoint_dir=")


def torchtune(build: Build) -> None:
    """The command with rendezvous, recipe, config and the runtime's own paths behind it."""
    trainer = build.trainer or {}
    nodes = runtimes.nodes(build.manifest, build.runtime)
    single = nodes <= 1 and not _several(build)
    words = [] if single else [f"--rdzv_endpoint={build.master}:{PORT}"]
    recipe, config = _recipe(build, nodes, single=single)
    words += [recipe, "--config", config, *_overrides(build)]
    command = [*texts(trainer.get("command")), *words]
    build.own = frozenset({"command"})
    build.on_container(lambda c: {**c, "command": command})


def _several(build: Build) -> bool:
    """Whether a node runs more than one process."""
    count = runtimes.processes(build.manifest, build.runtime, build.version)
    if count != "auto":
        return count != "1"
    return runtimes.gpus(runtimes.node_resources(build.manifest, build.runtime)) > 1


def _recipe(build: Build, nodes: int, *, single: bool) -> tuple[str, str]:
    """Recipe and config, by the model in the runtime's name and the arguments that ask for LoRA."""
    model = tune_model(text(at(build.manifest, "spec", "runtimeRef").get("name")))
    args = texts((build.trainer or {}).get("args"))
    lora = any(a.startswith("model.lora_attn_modules") for a in args)
    quantised = lora and "model.quantize_base=True" in args
    place = "single_device" if single else "distributed"
    method = "lora" if lora else "full"
    suffix = "qlora" if quantised else method
    if single:
        suffix += "_single_device"
    elif nodes > 1:
        suffix += "_multinode"
    return f"{method}_finetune_{place}", f"{model}_{suffix}"


def _overrides(build: Build) -> list[str]:
    """The paths that the runtime's own command sets."""
    node = next((rj for rj in items(build.spec.get("replicatedJobs")) if ancestor(rj) == "trainer"), {})
    container = runtimes.container(node, "node") or {}
    return [w for w in texts(container.get("command")) if w.startswith(_KEPT)]
