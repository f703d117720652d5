Bxj
locationfour.binj
offset5p