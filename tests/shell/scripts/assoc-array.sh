declare -A P=([small]=2 [large]=8)
S=large
torchrun --nproc_per_node=${P[$S]} train.py
