ARGS=()
torchrun "${ARGS[@]}" train.py
