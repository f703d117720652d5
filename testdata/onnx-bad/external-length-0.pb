Bxj
locationfour.binj
length0p