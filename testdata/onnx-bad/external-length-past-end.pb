Bxj
locationfour.binj
offset2j
length4p