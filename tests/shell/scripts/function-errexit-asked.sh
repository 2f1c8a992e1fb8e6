set -e
main() { torchrun train.py; echo ok; }
main || echo failed
