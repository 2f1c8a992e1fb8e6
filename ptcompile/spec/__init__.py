"""What people write: the models of a TrainingJob and a ClusterProfile, and their reader."""
