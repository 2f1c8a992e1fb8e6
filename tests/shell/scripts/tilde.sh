torchrun --home ~/train.py "~/x" a~b
