torchrun train.py
until false; do sleep 60; done
