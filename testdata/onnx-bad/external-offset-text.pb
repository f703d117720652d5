Bxj
locationfour.binj
offset0x0p