"""Text to documents with positions, and data back to text."""
