"""The recorder of how kubectl reads texts, beside its recordings or those of its name."""
