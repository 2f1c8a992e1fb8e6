tries=0
until torchrun train.py; do
  tries=$((tries+1))
  [ $tries -lt 2 ] || exit 1
done
