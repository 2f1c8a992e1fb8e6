case "$HOSTNAME" in
  *-0) torchrun --rank=0 train.py ;;
  *-[1-9]) torchrun --rank=n train.py ;;
esac
