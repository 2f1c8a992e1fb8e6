n=0
while [ ! -f ready ]; do
  n=$((n+1))
  if [ $n -ge 3 ]; then touch ready; fi
  sleep 1
done
torchrun train.py
