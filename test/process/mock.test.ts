/** `parley mock` of the built product starts without a database, and ends at Ctrl-C with its sockets. */
import { once } from 'node:events'
import t from 'tap'
import WebSocket from 'ws'
import { freshDataDir } from '../installation.ts'
import { startParley } from './parley.ts'

t.test('the command `mock` serves without a database until Ctrl-C', async (t) => {
  // No server listens at this address, so a command that opens the database would fail.
  const settings = { DATABASE_URL: 'postgres://127.0.0.1:1/none' }
  const parley = await startParley(settings, freshDataDir(), ['mock', '--port', '0'])
  t.teardown(() => parley.remove())
  const headers = { authorization: 'Bearer any' }
  t.equal((await fetch(`${parley.url}/v1/agents`, { headers })).status, 200)
  const socket = new WebSocket(`${parley.url.replace('http', 'ws')}/v1/transcribe/stream`, { headers })
  await once(socket, 'open')
  const closed = once(socket, 'close')
  parley.child.kill('SIGINT')
  t.equal(await parley.ended, 0)
  await closed
})
