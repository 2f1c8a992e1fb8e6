launch() {
  if [ "$RANK" = "9" ]; then return 0; fi
  torchrun train.py
}
launch
echo ok
