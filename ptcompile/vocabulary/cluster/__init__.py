"""The ClusterProfile: its model in parts, and the questions that the compiler asks of a profile."""
