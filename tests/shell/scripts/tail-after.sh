torchrun train.py; tail -f /dev/null
