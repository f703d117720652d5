Bxj
locationfour.binj
length3p