nohup torchrun train.py > out.log &
sleep 1
