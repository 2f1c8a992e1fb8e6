"""Rules for a pod's image and command line, wherever a kind has them."""
