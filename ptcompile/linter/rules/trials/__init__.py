"""Rules for the trials of Katib's Experiments."""
