echo "torchrun --echoed train.py" > run.sh
bash run.sh
