"""The commands of the command line, one module per command or pair of related commands."""
