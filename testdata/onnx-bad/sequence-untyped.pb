
seqJa