"""What is wrong with a file, as values: diagnostics, their codes, how they are selected, fixes of single values."""
