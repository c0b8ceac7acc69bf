// The lowest possible cost for a forwarded request ("floor"): uWebSockets.js receives the request and undici sends it
// on, without any other work. Events are forwarded as they come. Forked with the upstream's port.

import uWS, { type HttpResponse } from 'uWebSockets.js'
import { Pool } from 'undici'

const pool = new Pool(`http://127.0.0.1:${process.argv[2]}`, { connections: 256 })

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
      if (last) forward(res, Buffer.concat(parts), () => gone)
    })
  })
  .listen('127.0.0.1', 0, (socket) => {
    process.send?.({ port: socket ? uWS.us_socket_local_port(socket) : 0 })
  })
process.on('disconnect', () => process.exit(0))

function forward(res: HttpResponse, body: Buffer, isGone: () => boolean): void {
  const chunks: Buffer[] = []
  let streams = false
  pool.dispatch(
    { method: 'POST', path: '/v1/chat/completions', headers: { 'content-type': 'application/json' }, body },
    {
      onConnect() {},
      onHeaders(_status, headers) {
        streams = headers.some((header) => header.toString() === 'text/event-stream')
        if (streams && !isGone()) res.cork(() => void res.writeHeader('Content-Type', 'text/event-stream'))
        return true
      },
      onData(chunk) {
        if (!streams) chunks.push(chunk)
        else if (!isGone()) res.cork(() => void res.write(chunk))
        return true
      },
      onComplete() {
        if (isGone()) return
        if (streams) return void res.cork(() => res.end())
        res.cork(() => res.writeHeader('Content-Type', 'application/json').end(Buffer.concat(chunks)))
      },
      onError() {
        if (!isGone()) res.close()
      },
    },
  )
}
