NAME=run-$(date +%Y%m%d)
torchrun train.py --name $NAME --out "out/$NAME"
