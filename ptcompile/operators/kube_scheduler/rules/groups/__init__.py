"""Rules for PodGroups and Workloads of kube-scheduler."""
