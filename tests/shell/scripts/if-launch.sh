if torchrun train.py; then
  echo ok
else
  echo failed
  exit 1
fi
