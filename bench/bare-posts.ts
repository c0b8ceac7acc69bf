// The lowest possible cost for deliveries ("floor"): only undici sends the posts. Forked with the receiver's port, the
// number of posts and the maximum number of open posts. A message from the parent process starts the posts, and a
// message to the parent reports their end.
import { createServer } from 'node:net'
import { Pool } from 'undici'

const [port = '', count = '', open = ''] = process.argv.slice(2)
const pool = new Pool(`http://127.0.0.1:${port}`, { connections: Number(open) })
const body = Buffer.alloc(1024, 'x')
const headers = { 'content-type': 'application/json' }

async function post(): Promise<void> {
  const answer = await pool.request({ method: 'POST', path: '/hook', headers, body })
  await answer.body.dump()
}

process.on('message', () => {
  let left = Number(count)
  const lane = async () => {
    while (left-- > 0) await post()
  }
  void Promise.all(Array.from({ length: Number(open) }, lane)).then(() => process.send?.({ done: true }))
})
process.on('disconnect', () => process.exit(0))
// The forking process waits until this process sends a port. No request comes to this port.
createServer().listen(0, '127.0.0.1', () => process.send?.({ port: 1 }))
