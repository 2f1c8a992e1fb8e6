"""Rules for objects that select pods by their labels."""
