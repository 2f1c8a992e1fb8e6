"""Kubeflow Trainer: TrainJob, TrainingRuntime and ClusterTrainingRuntime."""
