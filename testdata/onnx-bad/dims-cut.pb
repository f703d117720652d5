
€Jabcd