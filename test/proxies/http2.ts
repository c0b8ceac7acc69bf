/** Sends requests over HTTP/2 without TLS, including requests that Node's client refuses to send. */
import http2 from 'node:http2'
import net from 'node:net'

/** Resolves with the answer's body, or with '' if there is no answer. */
export function post2(url: string, path: string, body: string, length = body.length): Promise<string> {
  const session = http2.connect(url)
  session.on('error', () => {})
  const stream = session.request({ ':method': 'POST', ':path': path, 'content-length': length })
  let text = ''
  stream.setEncoding('utf8').on('data', (piece: string) => (text += piece))
  stream.on('error', () => {}).end(body)
  return new Promise((resolve) =>
    stream.once('close', () => {
      session.destroy()
      resolve(text)
    }),
  )
}

/** Sends the headers of a POST, with a Content-Length for each length, and no body. The caller ends the socket. */
export function postLengths(url: string, path: string, lengths: readonly number[]): net.Socket {
  const { hostname, port } = new URL(url)
  const socket = net.connect(Number(port), hostname)
  socket.on('error', () => {})
  const fields = [
    [':method', 'POST'],
    [':scheme', 'http'],
    [':authority', hostname],
    [':path', path],
    ...lengths.map((length) => ['content-length', String(length)]),
  ]
  // Encodes each field as a literal that is not indexed: RFC 7541, 6.2.2.
  const block = fields.flatMap(([name = '', value = '']) => [Buffer.of(0), string(name), string(value)])
  socket.write('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n')
  socket.write(frame(4, 0, 0, Buffer.alloc(0)))
  socket.write(frame(1, endHeaders, 1, Buffer.concat(block)))
  return socket
}

const endHeaders = 4

function string(text: string): Buffer {
  return Buffer.concat([Buffer.of(text.length), Buffer.from(text)])
}

/** Makes an HTTP/2 frame (RFC 9113, 4.1). */
function frame(type: number, flags: number, stream: number, payload: Buffer): Buffer {
  const head = Buffer.alloc(9)
  head.writeUIntBE(payload.length, 0, 3)
  head.writeUInt8(type, 3)
  head.writeUInt8(flags, 4)
  head.writeUInt32BE(stream, 5)
  return Buffer.concat([head, payload])
}
