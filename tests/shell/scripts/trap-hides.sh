trap 'exit 0' EXIT
torchrun train.py
exit 4
