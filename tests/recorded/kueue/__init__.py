"""The recorder of Kueue's answers, beside its recordings or those of its name."""
