torchrun train.py "$@" $@ "$EMPTY" $EMPTY
