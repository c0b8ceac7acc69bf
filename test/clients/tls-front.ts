/** Puts TLS without a certificate before a server on this machine, because one client supports only TLS. */
import { type AddressInfo, connect, type Socket } from 'node:net'
import { createServer } from 'node:tls'

/**
 * The ciphers need no certificate. The client must name the same ciphers, and TLS 1.2, because a later version requires
 * a certificate.
 */
export const ciphers = 'AECDH-AES256-SHA:@SECLEVEL=0'

/** Terminates TLS on a free port and passes the bytes on to `port`. */
export async function startTlsFront(port: number): Promise<{ port: number; close(): void }> {
  const server = createServer({ ciphers, maxVersion: 'TLSv1.2' }, (client) => {
    const upstream = connect(port, '127.0.0.1')
    client.pipe(upstream).pipe(client)
    endTogether(client, upstream)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return { port: (server.address() as AddressInfo).port, close: () => void server.close() }
}

function endTogether(client: Socket, upstream: Socket): void {
  const end = () => {
    client.destroy()
    upstream.destroy()
  }
  client.on('error', end)
  upstream.on('error', end)
}
