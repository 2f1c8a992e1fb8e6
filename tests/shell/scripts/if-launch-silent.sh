if torchrun train.py; then
  echo ok
fi
