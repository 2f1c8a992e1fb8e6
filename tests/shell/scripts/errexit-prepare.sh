set -e
pip install -r requirements.txt
torchrun --nnodes=2 train.py
echo done
