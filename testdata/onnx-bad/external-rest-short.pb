Bxj
locationfour.binj
offset1p