case "$RANK" in
  1) echo one ;&
  2) torchrun --fell train.py ;;
esac
