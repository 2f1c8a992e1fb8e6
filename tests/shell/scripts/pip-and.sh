pip install -e . && torchrun train.py
