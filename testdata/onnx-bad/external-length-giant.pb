Bxj
locationfour.binj
length4611686018427387904p