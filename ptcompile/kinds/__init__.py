"""The typed interface of operators: what an operator and a kind of it are."""
