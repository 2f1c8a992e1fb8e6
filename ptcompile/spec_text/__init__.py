"""A spec as text for people: short collections on one line, and comments where they help. Written with ruamel.yaml."""

from ptcompile.spec_text.write import write

__all__ = ["write"]
