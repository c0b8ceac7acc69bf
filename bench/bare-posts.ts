// The floor of deliveries: undici and nothing else sends the posts. Forked with the port of the receiver, the number of
// posts and the most that are open at once; a message starts it, and one says that it is done.
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
// The channel of a forked bench process begins with a port.
createServer().listen(0, '127.0.0.1', () => process.send?.({ port: 1 }))
