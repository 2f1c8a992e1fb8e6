BASE=${HOSTNAME%-*}
torchrun --rdzv_endpoint=$BASE-0.$SVC:29500 --x=${HOSTNAME%%-*} --y=${HOSTNAME#*-} train.py
