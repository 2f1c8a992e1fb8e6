OPTS="--nnodes=2 --nproc_per_node=8"
torchrun $OPTS train.py
