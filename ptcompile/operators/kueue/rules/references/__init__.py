"""Rules for what Kueue's objects refer to by name."""
