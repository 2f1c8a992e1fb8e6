touch a.yaml b.yaml
for f in *.yaml; do
  torchrun train.py --config $f
done
