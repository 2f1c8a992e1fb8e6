"""Text to documents that know their lines, and back."""
