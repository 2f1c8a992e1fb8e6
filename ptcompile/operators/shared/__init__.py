"""What the targets of several operators share."""
