torchrun train.py
rc=$?
if [ $rc -ne 0 ]; then
  echo "training failed with $rc"
  exit 1
fi
echo success
