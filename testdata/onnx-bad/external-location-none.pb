Bxj
offset0p