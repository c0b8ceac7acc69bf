/** An organization with very many sockets cannot use up the sockets of the server. */
import { rmSync } from 'node:fs'
import t from 'tap'
import { WebSocket } from 'ws'
import { ExpectedLegs } from '../../handlers/carrier/expected-legs.ts'
import { mountCarrierStreams } from '../../handlers/carrier/streams.ts'
import type { ServerOptions } from '../../runtime/engine/options.ts'
import { type AdmitSocket, OwnedElsewhere } from '../../runtime/engine/socket.ts'
import { Owners } from '../../runtime/shares/owners.ts'
import { TestClock } from '../clock.ts'
import { overEngines } from '../engine/engines.ts'
import { until } from '../http/harness.ts'
import { silent, temporaryFolder } from '../store/cluster.ts'
import { open, protocol, refused, serve } from '../ws/harness.ts'

/** The API key is the name of the organization. */
const admit: AdmitSocket = ({ authorization, belongsTo }) => {
  if (authorization !== '') belongsTo(authorization)
  return { name: authorization }
}

const shares: ServerOptions['shares'] = { owners: new Owners(true), part: 0.25, ownerOf: String, admitBody: () => null }
const options = { limits: { socketsMax: 8 }, shares }

overEngines(t, (t) => {
  t.test('open sockets of one organization leave a share of the sockets to the others', async (t) => {
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

  t.test('pending upgrades of one organization leave a share of the requests to the others', async (t) => {
    const waiting: (() => void)[] = []
    const later: AdmitSocket = ({ authorization, belongsTo }) => {
      if (authorization !== 'unknown') belongsTo(authorization)
      return new Promise<void>((resolve) => waiting.push(resolve))
    }
    const server = await serve({ mount: { admit: later }, options: { limits: { requestsMax: 8 }, shares } })
    t.teardown(() => server.stop())
    const url = `${server.wsUrl}/v1/talk`
    const withKey = (authorization: string) => ({ headers: { authorization } })
    for (const key of ['a', 'unknown']) {
      const clients = Array.from({ length: 6 }, () => new WebSocket(url, protocol, withKey(key)).on('error', () => {}))
      await until(() => waiting.length === 6)
      const refusal = { status: 503, body: { kind: 'overloaded', message: 'too many requests at once' } }
      t.match(await refused(url, protocol, withKey(key)), refusal, key)
      waiting.length = 6
      const other = open(url, protocol, withKey('b'))
      await until(() => waiting.length === 7)
      for (const admitNow of waiting.splice(0)) admitNow()
      clients.push(await other)
      await until(() => server.sockets() === 7)
      for (const client of clients) client.terminate()
      await until(() => server.sockets() + server.inflight() === 0)
    }
  })

  t.test('relayed sockets of one organization leave a share to the others', async (t) => {
    const dataDir = temporaryFolder()
    t.teardown(() => rmSync(dataDir, { recursive: true, force: true }))
    const relay = { dataDir, socketsMax: 8 }
    const holder = await serve({ options: { relay: { ...relay, name: 'holder' } } })
    t.teardown(() => holder.stop())
    const elsewhere: AdmitSocket = ({ authorization, belongsTo }) => {
      belongsTo(authorization)
      throw new OwnedElsewhere('holder')
    }
    const server = await serve({
      mount: { admit: elsewhere },
      options: { ...options, relay: { ...relay, name: 'entrance' } },
    })
    t.teardown(() => server.stop())
    const url = `${server.wsUrl}/v1/talk`
    const all: WebSocket[] = []
    const openAs = async (key: string) => all.push(await open(url, protocol, { headers: { authorization: key } }))
    for (let i = 0; i < 6; i++) await openAs('a')
    t.match(await refused(url, protocol, { headers: { authorization: 'a' } }), { status: 503 })
    await openAs('b')
    for (const client of all) client.terminate()
    await until(() => server.sockets() + holder.sockets() === 0)
  })

  t.test("a carrier's socket counts for the organization of its call leg", async (t) => {
    const { legs, expect, reachedAt } = carrierLegs('one')
    const server = await serve({ more: [legs], options })
    t.teardown(() => server.stop())
    reachedAt(server.wsUrl)
    const all: WebSocket[] = []
    for (let i = 0; i < 6; i++) all.push(await open(expect('a', `leg_a${i}`), []))
    t.match(await refused(expect('a', 'leg_a7'), []), { status: 503 })
    all.push(await open(expect('b', 'leg_b'), []))
    for (const client of all) client.terminate()
    await until(() => server.sockets() === 0)
  })

  t.test('if another process has the call, its socket counts for the organization in both processes', async (t) => {
    const dataDir = temporaryFolder()
    t.teardown(() => rmSync(dataDir, { recursive: true, force: true }))
    const { legs, expect, reachedAt } = carrierLegs('holder')
    const few = { dataDir, socketsMax: 8 }
    const many = { dataDir, socketsMax: 100 }
    // First the process that clients reach has a low limit for relayed sockets, then the process with the call.
    for (const [name, inFront, behind] of [
      ['in front', few, many],
      ['behind', many, few],
    ] as const) {
      const holder = await serve({ more: [legs], options: { shares, relay: { ...behind, name: 'holder' } } })
      const entrance = await serve({
        more: [carrierLegs('entrance').legs],
        options: { shares, relay: { ...inFront, name: 'entrance' } },
      })
      reachedAt(entrance.wsUrl)
      const all: WebSocket[] = []
      for (let i = 0; i < 6; i++) all.push(await open(expect('a', `leg_a${i}`), []))
      t.match(await refused(expect('a', 'leg_a7'), []), { status: 503 }, name)
      for (let i = 0; i < 2; i++) all.push(await open(expect('b', `leg_b${i}`), []))
      for (const client of all.splice(0, 7)) client.terminate()
      await until(() => entrance.sockets() === 1 && holder.sockets() === 1)
      all.push(await open(expect('a', 'leg_a8'), []))
      for (const client of all) client.terminate()
      await until(() => entrance.sockets() + holder.sockets() === 0)
      await entrance.stop()
      await holder.stop()
    }
  })

  t.test('a socket that does not open no longer counts for the socket limit', async (t) => {
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

/** Makes the sockets for carrier audio in one process. `expect` returns the URL for one socket. */
function carrierLegs(ownerId: string) {
  const address = { url: '' }
  const expected = new ExpectedLegs({ ownerId, addressFor: () => address.url, rateHz: 8000 })
  const settings = { host: null, headerPrefix: 'Service', corsOrigins: [], log: silent, count: () => {} }
  const joined = () => {
    throw new Error('no stream begins here')
  }
  return {
    legs: mountCarrierStreams(settings, { legs: expected, clock: new TestClock() }),
    reachedAt: (url: string) => void (address.url = url),
    expect: (organizationId: string, legId: string): string => {
      const leg = { legId, organizationId, line: 'carrier' as const, sampleRateHz: 16_000 as const }
      const { url, token } = expected.expect({ ...leg, joined, failed: () => {} })
      return `${url}?token=${token}`
    },
  }
}
