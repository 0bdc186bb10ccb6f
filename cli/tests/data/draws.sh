# Three traces: with draws in two labels, with draws without labels, and as an older layer wrote it. The lines are of a repaired link, of
# another, and of one that is left.
all=$(dirname "$0")/all.jsonl
shadow='"frame":12,"draw":7,"label":"Shadow pass"'
sed "364s/}\$/,$shadow}/; 368s/}\$/,\"frame\":0,\"draw\":3,\"label\":\"Main pass\"}/; 371s/}\$/,$shadow}/" "$all" >labels.jsonl
sed '364s/}$/,"frame":0,"draw":1}/; 368s/}$/,"frame":0,"draw":1}/; 371s/}$/,"frame":0,"draw":1}/' "$all" >draws.jsonl
cp "$all" older.jsonl
