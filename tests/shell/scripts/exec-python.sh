exec python3 -u train.py "$@"
