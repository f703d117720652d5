Bxj
location../yp