trap 'exit 7' EXIT
torchrun train.py
