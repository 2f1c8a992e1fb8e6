"""Rules for Trainer's kinds."""
