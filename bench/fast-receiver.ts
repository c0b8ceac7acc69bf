// A server that accepts every delivery at once. Forked.
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

const server = createServer((request, response) => {
  request.on('end', () => response.writeHead(204).end()).resume()
})
// The measured client's connection must not end while it waits for work.
server.keepAliveTimeout = 60_000
server.listen(0, '127.0.0.1', () => process.send?.({ port: (server.address() as AddressInfo).port }))
process.on('disconnect', () => process.exit(0))
