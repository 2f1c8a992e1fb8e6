cleanup() { echo bye; }
trap cleanup EXIT INT TERM
torchrun --nnodes=2 train.py
