Bxj
location.p