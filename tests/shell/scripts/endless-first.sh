while :; do sleep 3600; done
torchrun train.py
