"""Rules that compare network policies and autoscalers with the pods that they are about."""
