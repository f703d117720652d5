
seqBxJabcd