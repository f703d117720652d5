
optBxJabcd