Bxj
location	a/../../yp