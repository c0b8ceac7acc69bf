/** A far end that accepts TCP connections and answers every request with 200. */
import { once } from 'node:events'
import { createServer, type Socket } from 'node:net'
import type { Test } from 'tap'
import { Framing } from '../../providers/trunk/framing.ts'
import { isRequest, readMessage, type SipRequest } from '../../providers/trunk/message.ts'

export type TcpListener = { port: number; requests: SipRequest[] }

export async function listenOverTcp(t: Pick<Test, 'teardown'>): Promise<TcpListener> {
  const requests: SipRequest[] = []
  const sockets = new Set<Socket>()
  const server = createServer((socket) => {
    const framing = new Framing()
    sockets.add(socket)
    socket.on('error', () => {})
    socket.on('data', (chunk) => {
      const messages = framing.take(chunk)
      if (messages === 'broken') return
      for (const bytes of messages) {
        const message = readMessage(bytes)
        if (message === null || !isRequest(message)) continue
        requests.push(message)
        const copied = message.headers.filter(([name]) => ['via', 'from', 'to', 'call-id', 'cseq'].includes(name))
        const head = copied.map(([name, value]) => `${name}: ${value}`)
        socket.write(['SIP/2.0 200 OK', ...head, 'Content-Length: 0', '', ''].join('\r\n'))
      }
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  const { port } = server.address() as { port: number }
  return { port, requests }
}
