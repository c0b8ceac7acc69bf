/** A relay to a server on this machine. It counts passing TCP bytes, both directions together. */
import net from 'node:net'

export type CountingRelay = { port: number; bytes(): number; close(): void }

export function startRelay(targetPort: () => number, port = 0): Promise<CountingRelay> {
  const open = new Set<net.Socket>()
  let count = 0
  const server = net.createServer((near) => {
    const far = net.connect(targetPort(), '127.0.0.1')
    for (const [socket, other] of [
      [near, far],
      [far, near],
    ] as const) {
      open.add(socket)
      socket.setNoDelay(true)
      socket.on('data', (data) => {
        count += data.length
        other.write(data)
      })
      socket.on('end', () => other.end())
      socket.on('error', () => other.destroy())
      socket.on('close', () => {
        open.delete(socket)
        other.destroy()
      })
    }
  })
  return new Promise((resolve) => {
    server.listen(port, '127.0.0.1', () => {
      resolve({
        port: (server.address() as net.AddressInfo).port,
        bytes: () => count,
        close() {
          server.close()
          for (const socket of open) socket.destroy()
        },
      })
    })
  })
}
