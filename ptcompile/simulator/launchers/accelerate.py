"""The config file of accelerate, as `accelerate config` writes it.

Source: Accelerate 1.10, commands/launch.py (_validate_launch_command): options on the command line win.
"""

from __future__ import annotations

from collections.abc import Mapping

from ptcompile._internal.lazy import Pattern
from ptcompile.simulator.launchers import LAUNCHERS

_setting = Pattern(r"(?m)^([a-z_]+):[ \t]*([^\s#]+)").finditer


def read_config(text: str) -> Mapping[str, str]:
    """Return the settings of a config file that are options of torchrun too, under torchrun's names."""
    torchrun_names = {name: option for option, name in LAUNCHERS["accelerate"].names.items()}
    settings = {match[1].replace("_", "-"): match[2].strip("'\"") for match in _setting(text[: 1 << 16])}
    return {torchrun_names[name]: value for name, value in settings.items() if name in torchrun_names}
