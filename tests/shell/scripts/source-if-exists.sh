[ -f /etc/nothing.conf ] && . /etc/nothing.conf
torchrun --rank=$RANK train.py
