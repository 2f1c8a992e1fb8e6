for i in $(seq 1 60); do
  if getent hosts $MASTER_ADDR >/dev/null; then break; fi
  sleep 1
done
torchrun train.py
