Bxj
locationfour.binpj
locationfive.bin