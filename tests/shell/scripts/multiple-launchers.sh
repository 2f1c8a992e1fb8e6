accelerate config default
accelerate launch --num_machines=$NNODES train.py
torchrun --last eval.py
