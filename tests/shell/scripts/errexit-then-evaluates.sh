set -e
torchrun train.py
python eval.py
