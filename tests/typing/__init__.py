"""What type checkers say of programs that use ptcompile, without plugins: `python -m tests.typing` asks two of them."""
