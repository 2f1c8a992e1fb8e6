bash -euo pipefail -c 'torchrun train.py | tee log'
