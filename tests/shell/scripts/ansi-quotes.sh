torchrun --sep=$'\t' --text=$'a\'b' train.py
