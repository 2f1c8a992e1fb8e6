GPUS=$(nvidia-smi -L | wc -l)
torchrun --nproc_per_node=$GPUS train.py
