case $RANK in
  0) ROLE=master ;;
  *) ROLE=worker ;;
esac
torchrun --role=$ROLE train.py
