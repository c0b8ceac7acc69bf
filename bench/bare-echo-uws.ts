// The lowest possible cost for the socket figures ("floor"): uWebSockets.js returns each frame, without any other work.
// Forked by bench/sockets.ts.
import uWS from 'uWebSockets.js'

uWS
  .App()
  .ws('/*', {
    compression: uWS.DISABLED,
    maxPayloadLength: 64 * 1024,
    idleTimeout: 120,
    message: (socket, message, isBinary) => void socket.send(message, isBinary),
  })
  .listen('127.0.0.1', 0, (socket) => {
    process.send?.({ port: socket ? uWS.us_socket_local_port(socket) : 0 })
  })
process.on('disconnect', () => process.exit(0))
