if [ "$RANK" = "0" ]; then
  torchrun --role=master train.py
else
  torchrun --role=worker train.py
fi
