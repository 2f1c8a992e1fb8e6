R=Worker
torchrun --a=${R^^} --b=${R,,} --c=${R^} --d=${R,} --e=${ROLE_NAME^} train.py
