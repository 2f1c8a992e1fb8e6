torchrun train.py > out.log 2>&1 &
echo started
