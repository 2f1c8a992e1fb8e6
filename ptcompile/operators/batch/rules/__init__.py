"""Rules for Jobs of batch/v1."""
