"""Kueue: its queues and labels."""
