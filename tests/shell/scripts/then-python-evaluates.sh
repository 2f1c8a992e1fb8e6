torchrun train.py
python eval.py
