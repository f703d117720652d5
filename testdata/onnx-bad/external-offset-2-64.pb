Bxj
locationfour.binj
offset18446744073709551616p