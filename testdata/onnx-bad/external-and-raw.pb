Bxj
locationfour.binpJabcd