/** An organization with very many sockets does not take them from others. */
import t from 'tap'
import { WebSocket } from 'ws'
import type { ServerOptions } from '../../runtime/engine/options.ts'
import type { AdmitSocket } from '../../runtime/engine/socket.ts'
import { Owners } from '../../runtime/shares/owners.ts'
import { overEngines } from '../engine/engines.ts'
import { until } from '../http/harness.ts'
import { open, protocol, refused, serve } from '../ws/harness.ts'

/** The key names the organization. A socket without a key keeps the owner from the server. */
const admit: AdmitSocket = (request) => {
  if (request.authorization !== '') request.owner = request.authorization
  return { name: request.owner }
}

const shares: ServerOptions['shares'] = { owners: new Owners(true), part: 0.25, ownerOf: String, admitBody: () => null }
const options = { limits: { socketsMax: 8 }, shares }

overEngines(t, (t) => {
  t.test('open sockets leave a share to the other organizations', async (t) => {
    const server = await serve({ mount: { admit }, options })
    t.teardown(() => server.stop())
    const url = `${server.wsUrl}/v1/talk`
    const openAs = (key: string) => open(url, protocol, { headers: { authorization: key } })
    const refusedAs = (key: string) => refused(url, protocol, { headers: { authorization: key } })
    const all: WebSocket[] = []
    for (let i = 0; i < 6; i++) all.push(await openAs('a'))
    t.match(await refusedAs('a'), { status: 503, body: { kind: 'overloaded', message: 'too many open sockets' } })
    for (const key of ['b', '']) all.push(await openAs(key))
    t.match(await refusedAs('b'), { status: 503 }, 'all sockets are open')
    all[0]?.terminate()
    await until(() => server.sockets() === 7)
    t.match(await refusedAs('a'), { status: 503 }, 'a loan must leave a share')
    all.push(await openAs('b'))
    for (const client of all) client.terminate()
    await until(() => server.sockets() === 0)
    all.push(await openAs('a'))
    all.at(-1)?.terminate()
  })

  t.test('a socket that does not open returns its place', async (t) => {
    const lookups: (() => void)[] = []
    const later: AdmitSocket = () => new Promise<void>((resolve) => lookups.push(resolve))
    const server = await serve({ mount: { admit: later }, options: { limits: { socketsMax: 1 } } })
    t.teardown(() => server.stop())
    const url = `${server.wsUrl}/v1/talk`
    const left = new WebSocket(url, protocol).on('error', () => {})
    await until(() => lookups.length === 1)
    left.terminate()
    await new Promise((resolve) => left.once('close', resolve))
    lookups[0]?.()
    await until(() => server.inflight() === 0)
    const opening = open(url)
    await until(() => lookups.length === 2)
    lookups[1]?.()
    const client = await opening
    client.terminate()
  })
})
