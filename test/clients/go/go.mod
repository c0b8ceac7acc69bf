module clienttest

go 1.24

require parley v0.1.0

require github.com/coder/websocket v1.8.15 // indirect

replace parley => ../../../generated/clients/go
