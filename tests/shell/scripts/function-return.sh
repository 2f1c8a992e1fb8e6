launch() {
  torchrun train.py
  return $?
}
launch
