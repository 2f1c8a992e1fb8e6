case "$RANK" in
  0) torchrun --master a.py ;;
  1|2) torchrun --worker b.py ;;
  *) echo unknown; exit 1 ;;
esac
