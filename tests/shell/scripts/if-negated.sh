if ! [ "$NNODES" = "1" ]; then torchrun --many train.py; fi
