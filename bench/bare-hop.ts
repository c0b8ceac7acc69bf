// The floor: uWebSockets.js in, undici out, nothing between. Forked by bench/main.ts with the upstream's port.

import uWS from 'uWebSockets.js'
import { Pool } from 'undici'

const pool = new Pool(`http://127.0.0.1:${process.argv[2]}`, { connections: 256 })

function forward(body: Buffer, done: (answer: Buffer) => void): void {
  const chunks: Buffer[] = []
  pool.dispatch(
    { method: 'POST', path: '/v1/chat/completions', headers: { 'content-type': 'application/json' }, body },
    {
      onConnect() {},
      onHeaders: () => true,
      onData(chunk) {
        chunks.push(chunk)
        return true
      },
      onComplete() {
        done(Buffer.concat(chunks))
      },
      onError() {
        done(Buffer.alloc(0))
      },
    },
  )
}

uWS
  .App()
  .post('/*', (res) => {
    const parts: Buffer[] = []
    let gone = false
    res.onAborted(() => {
      gone = true
    })
    res.onData((part, last) => {
      parts.push(Buffer.from(part.slice(0)))
      if (!last) return
      forward(Buffer.concat(parts), (answer) => {
        if (!gone) res.cork(() => res.writeHeader('Content-Type', 'application/json').end(answer))
      })
    })
  })
  .listen('127.0.0.1', 0, (socket) => {
    process.send?.({ port: socket ? uWS.us_socket_local_port(socket) : 0 })
  })
process.on('disconnect', () => process.exit(0))
