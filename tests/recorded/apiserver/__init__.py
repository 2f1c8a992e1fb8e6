"""The recorder of API servers' answers, beside its recordings or those of its name."""
