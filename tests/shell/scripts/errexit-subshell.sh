set -e
(torchrun train.py)
echo done
