module engines

go 1.24
