if ! torchrun train.py; then
  echo failed
  exit 5
fi
echo ok
