case "$MODE" in
  eval) python eval.py ;;
  *) torchrun train.py ;;
esac
