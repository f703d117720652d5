
seqBxJabc