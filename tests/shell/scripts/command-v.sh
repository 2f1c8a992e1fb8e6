if command -v nvidia-smi >/dev/null 2>&1; then nvidia-smi; fi
torchrun train.py
