if [ ! -d /no/such/data ]; then
  echo "no data"
  exit 1
fi
torchrun train.py
