set -e
main() { torchrun train.py; echo ok; }
main
