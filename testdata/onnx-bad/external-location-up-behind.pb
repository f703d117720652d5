Bxj
location
missing/..p