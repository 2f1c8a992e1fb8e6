trap 'exit 0' EXIT
trap - EXIT
torchrun train.py
