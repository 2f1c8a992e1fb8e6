"""pytorchjob."""
