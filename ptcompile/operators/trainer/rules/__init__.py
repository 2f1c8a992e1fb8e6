"""The rules for Trainer's kinds."""
