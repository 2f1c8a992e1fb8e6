"""Rules for training runtimes."""
