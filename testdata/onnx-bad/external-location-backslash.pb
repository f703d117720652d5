Bxj
location..\yp