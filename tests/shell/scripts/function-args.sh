launch() { torchrun "$@"; }
launch --nnodes=2 train.py --name "two words"
