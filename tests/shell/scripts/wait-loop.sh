until nc -z $MASTER_ADDR 29500; do
  echo waiting
  sleep 1
done
torchrun train.py
