"""The recorder of the schema of SARIF, beside its recordings or those of its name."""
