if [ ! "$NNODES" = 2 ]; then exit 0; fi
torchrun train.py
