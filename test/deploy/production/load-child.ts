/** A process in a separate network, which runs the clients. It also serves the mock model. */
import { createServer } from 'node:http'
import { sendWords } from '../../proxies/paced.ts'
import { counts, endingMs, type Result, type Target, UpgradeLoad } from './load.ts'

/** The parent and the child exchange these messages. */
export type ToChild = { kind: 'start'; target: Target; addresses: string[] } | { kind: 'stop' }
export type FromChild = { kind: 'listens' } | { kind: 'full' } | { kind: 'result'; result: Result }

const wordMs = 500
let load: UpgradeLoad | null = null
const tell = (message: FromChild) => process.send?.(message)

const answer = { choices: [{ index: 0, message: { role: 'assistant', content: 'hello' }, finish_reason: 'stop' }] }
createServer((request, response) => {
  let body = ''
  request.on('data', (chunk: Buffer) => (body += chunk.toString()))
  request.on('end', () => {
    if (!body.includes('"stream":true')) {
      response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(answer))
      return
    }
    let left = body.includes('staying') ? Number.POSITIVE_INFINITY : endingMs / wordMs
    void sendWords(response, wordMs, () => (left-- > 0 ? 'word ' : null))
  })
}).listen(9000, '192.0.2.20', () => tell({ kind: 'listens' }))

process.on('message', (message: ToChild) => {
  if (message.kind === 'stop') return void finish()
  const started = new UpgradeLoad(message.target, message.addresses)
  load = started
  const timer = setInterval(() => {
    // At every moment a few clients are between two streams or sockets, so the load counts as full a little earlier.
    if (started.openStreams < counts.streams * 0.97 || started.openSockets < counts.sockets * 0.95) return
    clearInterval(timer)
    started.begin()
    tell({ kind: 'full' })
  }, 100)
})
process.on('disconnect', () => process.exit(0))

async function finish(): Promise<void> {
  const result = await load?.stop()
  if (result) process.send?.({ kind: 'result', result } satisfies FromChild, () => process.exit(0))
}
