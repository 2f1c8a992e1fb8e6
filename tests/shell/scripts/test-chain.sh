[ -d /no/such ] && cd /no/such
torchrun train.py
