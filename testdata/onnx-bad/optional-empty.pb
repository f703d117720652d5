
opt