"""Type checkers on programs that use ptcompile, without plugins; `python -m tests.typing` runs two of them."""
