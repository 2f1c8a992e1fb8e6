"""The rules of Kubernetes at large, a package for each family; operators have their own."""
