function main {
  torchrun train.py "$@"
}
main --x 1
