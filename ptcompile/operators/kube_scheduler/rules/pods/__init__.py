"""Rules for pods that name a group of kube-scheduler."""
