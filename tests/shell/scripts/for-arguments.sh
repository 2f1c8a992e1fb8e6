set -- --nnodes=2 train.py
torchrun "$@"
for arg; do echo "$arg"; done
