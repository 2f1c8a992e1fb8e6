torchrun {a,b{1,2}} {01..03} {c..e} {5..1..2} {-1..1} train.py
