(cd sub 2>/dev/null; torchrun train.py)
echo after
