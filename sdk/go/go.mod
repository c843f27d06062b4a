module callgate.test/read

go 1.19
