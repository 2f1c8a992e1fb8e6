"""Rules for containers of any kind."""

from __future__ import annotations

from ptcompile.linter.needs import MULTI_POD_KINDS, SHELLS, TORCHRUN, VENDORS

RULES: dict[str, str] = {
    "fractional_bytes": "limits",
    "tiny_memory_limit": "limits memory",
    "tiny_memory_request": "requests memory",
    "larger_than_any_node": "limits/requests",
    "fewer_cpus_than_gpus": "gpu cpu",
    "misspelt_resource": f"{VENDORS} limits/requests",
    "nvidia_visible_devices": "nvidia visible",
    "cuda_visible_devices": "visible/affinity",
    "driver_hidden": f"driver/library {VENDORS}",
    "image_for_other_devices": VENDORS,
    "threads_above_cpus": "threads limits",
    "idle_main_container": f"sleep/tail/{SHELLS} {VENDORS}",
    "read_only_shm": "shm readOnly",
    "repeated_mount_path": "mountPath",
    "relative_mount_path": "mountPath",
    "unwritable_tmp": f"readOnlyRootFilesystem {TORCHRUN}",
    "latest_image": MULTI_POD_KINDS,
    "stale_image": f"IfNotPresent {MULTI_POD_KINDS}",
    "option_in_one_word": "command @blank",
    "shell_syntax_without_shell": "command &/|/>/;",
    "shell_variable_without_shell": "command @variable",
    "shell_variable_in_env": "env @variable",
    "script_without_c": f"command {SHELLS} @blank",
    "slurm_launch": "slurm/srun",
    "lost_arguments": SHELLS,
    "hidden_failure": SHELLS,
    "background_training": f"{SHELLS} &",
    "repeated_env": "env",
    "misspelt_env": "env",
    "renamed_env": "nccl handling/streams/blocking/desync/timing/trace",
    "invalid_env_value": "nccl/distributed/threads",
    "inverted_python_switch": "env false/no/off/disabled/PYTHONFAULTHANDLER",
    "debug_left_on": "blocking/distributed/trace/caching",
    "privileged_training": "privileged",
    "relative_working_dir": "workingDir",
    "impatient_liveness": "livenessProbe",
    "ulimit_without_capability": "ulimit unlimited",
    "powerful_capability": "capabilities admin/all",
}
"""Rule modules in evaluation order, each with its trigger words (see `linter.needs`)."""
