set -euo pipefail
torchrun --nnodes=2 train.py 2>&1 | tee train.log
