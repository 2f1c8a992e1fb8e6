"""Models of TrainingJob and ClusterProfile documents, and the reader of both."""
