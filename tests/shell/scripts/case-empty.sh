case "$NNODES" in
esac
torchrun train.py
