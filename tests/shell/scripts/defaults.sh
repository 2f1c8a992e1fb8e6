torchrun --nnodes=${NNODES:-1} --nproc_per_node=${GPUS:-8} --x=${EMPTY:-e} --y=${EMPTY-f} train.py
