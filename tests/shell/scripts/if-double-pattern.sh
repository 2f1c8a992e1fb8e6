if [[ $HOSTNAME == job-* ]]; then torchrun --job train.py; else torchrun --no train.py; fi
