/** Relayed sockets: two servers share a data folder, and the other process serves the session. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, mkdirSync, readdirSync, rmSync, statSync } from 'node:fs'
import net from 'node:net'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import t, { type Test } from 'tap'
import type { WebSocket } from 'ws'
import { Refusal } from '../../runtime/engine/handler.ts'
import { OwnedElsewhere, type UpgradeRequest } from '../../runtime/engine/socket.ts'
import { overEngines } from '../engine/engines.ts'
import { until } from '../http/harness.ts'
import { temporaryFolder } from '../store/cluster.ts'
import { channel, closing, nextText, open, Recorder, refused, type SocketServer, serve } from './harness.ts'

type Wanted = Parameters<typeof serve>[0]

function dataFolder(t: Test, ...deeper: string[]): string {
  const root = temporaryFolder()
  t.teardown(() => rmSync(root, { recursive: true, force: true }))
  const folder = path.join(root, ...deeper)
  mkdirSync(folder, { recursive: true })
  return folder
}

async function owner(t: Test, dataDir: string, wanted: Wanted = {}, socketsMax = 2): Promise<SocketServer> {
  const server = await serve({
    ...wanted,
    options: { relay: { dataDir, name: 'owner', socketsMax }, ...wanted.options },
  })
  t.teardown(() => server.stop())
  return server
}

/** Starts the server that clients reach. It relays their sockets, because all sessions are in the other server. */
async function entrance(t: Test, dataDir: string, wanted: Wanted = {}, socketsMax = 3): Promise<SocketServer> {
  const admit = () => {
    throw new OwnedElsewhere('owner')
  }
  return serve({
    mount: { admit },
    ...wanted,
    options: { relay: { dataDir, name: 'entrance', socketsMax }, ...wanted.options },
  }).then((server) => {
    t.teardown(() => server.stop())
    return server
  })
}

const urlOf = ({ wsUrl }: SocketServer) => `${wsUrl}/v1/talk`

overEngines(t, (t) => {
  t.test('relayed frames pass in both directions, and the close code arrives', async (t) => {
    const dataDir = dataFolder(t)
    const holder = await owner(t, dataDir)
    const reached = await entrance(t, dataDir)
    const client = await open(`${urlOf(reached)}?from=here`, ['service.realtime.v1', 'service.ephemeral.secret'])
    await until(() => holder.sessions.length === 1)
    t.equal(reached.sessions.length, 0)
    const session = holder.sessions[0] as Recorder
    t.match(holder.asked, [{ credential: 'secret', channelId: 'talk', requestId: 'req_1' }])
    t.equal(session.context.query.get('from'), 'here')
    client.send('{"type":"config","rate":1}')
    client.send(Buffer.from([1, 2, 3]))
    client.send('{"type":"nothing"}')
    await until(() => session.events.length === 3)
    t.match(session.events, [{ rate: 1 }, Buffer.from([1, 2, 3]), { kind: 'unknown_type' }])
    const binary = once(client, 'message')
    session.socket.sendBytes(new Uint8Array([9, 8]))
    t.same((await binary)[0], Buffer.from([9, 8]))
    const text = nextText(client)
    session.socket.send('{"type":"said","text":"hélas"}')
    t.equal(await text, '{"type":"said","text":"hélas"}')
    const large = Buffer.alloc(200_000, 7)
    const echoed = once(client, 'message')
    client.send(large)
    await until(() => session.events.length === 4)
    session.socket.sendBytes(session.events[3] as Buffer)
    t.same((await echoed)[0], large)
    const end = closing(client)
    session.socket.close(4001, 'that was all')
    t.same(await end, { code: 4001, reason: 'that was all' })
    t.same(session.events.at(-1), 'gone')
    await until(() => reached.sockets() + holder.sockets() === 0)
  })

  t.test("a session's process is notified of a lost client; if the process stops, the client gets 1012", async (t) => {
    const dataDir = dataFolder(t)
    const holder = await owner(t, dataDir)
    const reached = await entrance(t, dataDir)
    const leaving = await open(urlOf(reached))
    await until(() => holder.sessions.length === 1)
    leaving.terminate()
    await until(() => holder.sessions[0]?.events.includes('gone') === true)
    const staying = await open(urlOf(reached))
    await until(() => holder.sessions.length === 2)
    const end = closing(staying)
    await holder.stop()
    t.equal((await end).code, 1012)
    t.match(await refused(urlOf(reached)), { status: 503, headers: { 'retry-after': '1' } })
  })

  t.test("if the relaying process stops, the client gets 1012 and the session's process is notified", async (t) => {
    const dataDir = dataFolder(t)
    const holder = await owner(t, dataDir)
    const reached = await entrance(t, dataDir)
    const end = closing(await open(urlOf(reached)))
    await until(() => holder.sessions.length === 1)
    await reached.stop()
    t.equal((await end).code, 1012)
    await until(() => holder.sessions[0]?.events.at(-1) === 'gone')
  })

  t.test("a refusal by the session's process is passed on, and a relayed socket is not relayed again", async (t) => {
    const dataDir = dataFolder(t)
    const admit = ({ credential }: UpgradeRequest) => {
      if (credential === 'away') throw new OwnedElsewhere('entrance')
      throw new Refusal('unauthenticated', { message: `not with ${credential}` })
    }
    await owner(t, dataDir, { mount: { admit } })
    const reached = await entrance(t, dataDir)
    const ask = (credential: string) =>
      refused(urlOf(reached), ['service.realtime.v1', `service.ephemeral.${credential}`])
    t.match(await ask('a-lie'), { status: 401, body: { message: 'not with a-lie' } })
    t.match(await ask('away'), { status: 503, headers: { 'retry-after': '1' } })
  })

  t.test('a relayed client that does not read is reported to the process that owns the session', async (t) => {
    const dataDir = dataFolder(t)
    const session = (...[socket, context]: ConstructorParameters<typeof Recorder>) => {
      const made = new Recorder(socket, context)
      made.onSlowReader = () => {
        made.events.push('slow')
        socket.send('{"type":"said","text":"BACKPRESSURE"}')
        socket.close(1008, 'too slow')
      }
      return made
    }
    const holder = await owner(t, dataDir, { session })
    const reached = await entrance(t, dataDir)
    const client = await open(urlOf(reached))
    await until(() => holder.sessions.length === 1)
    client.pause()
    const made = holder.sessions[0] as Recorder
    const frame = new Uint8Array(1920)
    let count = 0
    for (; !made.events.includes('slow') && count < 20_000; count++) {
      made.socket.sendBytes(frame)
      if (count % 50 === 0) await sleep(1)
    }
    await until(() => made.events.includes('gone'))
    t.same(
      made.events.filter((event) => event !== 'drained'),
      ['slow', 'gone'],
    )
    const texts: string[] = []
    let bytes = 0
    client.on('message', (data: Buffer, isBinary) => (isBinary ? (bytes += data.length) : texts.push(data.toString())))
    const end = closing(client)
    client.resume()
    t.same(await end, { code: 1008, reason: 'too slow' })
    t.same(texts, ['{"type":"said","text":"BACKPRESSURE"}'])
    t.ok(bytes > 1_048_576 && bytes < count * frame.length, `${bytes} of ${count * frame.length} bytes`)
  })

  t.test('if the process that owns a relayed socket stalls, the client is closed with 1013', async (t) => {
    const dataDir = dataFolder(t)
    const reached = await entrance(t, dataDir, { options: { limits: { bufferBytesMax: 100_000 } } })
    const silent = net.createServer((socket) => {
      socket.once('data', () => {
        // A relay message of the kind `accepted`, without content.
        socket.write(Buffer.from([2, 0, 0, 0, 0]))
        socket.pause()
      })
    })
    silent.listen(path.join(dataDir, 'sockets/owner.sock'))
    t.teardown(() => silent.close())
    const client = await open(urlOf(reached))
    const end = closing(client)
    const sending = setInterval(() => client.send(Buffer.alloc(60_000)), 1)
    t.equal((await end).code, 1013)
    clearInterval(sending)
  })

  t.test('relayed sockets and message sizes are limited, and malformed frames are refused', async (t) => {
    const dataDir = dataFolder(t)
    const holder = await owner(t, dataDir, { options: { limits: { frameBytesMax: 70_000, bufferBytesMax: 70_000 } } })
    const reached = await entrance(t, dataDir)
    const clients: WebSocket[] = [await open(urlOf(reached)), await open(urlOf(reached))]
    t.match(await refused(urlOf(reached)), { status: 503 }, 'the owner takes two')
    await until(() => holder.sessions.length === 2)
    const end = closing(clients[0] as WebSocket)
    clients[0]?.send(Buffer.alloc(80_000))
    t.equal((await end).code, 1012)
    t.same(holder.sessions[0]?.events, ['gone'], 'it was never taken')
    for (const sent of [
      '{"type":"config"}',
      '\x01\0\0\0\x02{}',
      '\x01\0\0\0\x01x',
      '\x01\xff\xff\xff\xff',
      '\x04\0\0\0\0',
    ]) {
      const stranger = net.connect(path.join(dataDir, 'sockets/owner.sock'))
      stranger.on('error', () => {})
      stranger.end(Buffer.from(sent, 'latin1'))
      stranger.resume()
      await once(stranger, 'close')
    }
    t.equal(holder.sessions.length, 2)
    t.same(holder.errors, [])
    for (const client of clients) client.terminate()
  })

  t.test('a process relays no more sockets than its limit', async (t) => {
    const dataDir = dataFolder(t)
    await owner(t, dataDir, {}, 9)
    const reached = await entrance(t, dataDir, {}, 1)
    const client = await open(urlOf(reached))
    t.match(await refused(urlOf(reached)), { status: 503 })
    const end = closing(client)
    client.close(1000)
    await end
    await until(() => reached.sockets() === 0)
    t.equal((await open(urlOf(reached))).readyState, 1, 'there is room again')
  })

  t.test(
    'relay sockets are private to their user, stale sockets are removed, and a path that is too long is avoided',
    async (t) => {
      const dataDir = dataFolder(t)
      const folder = path.join(dataDir, 'sockets')
      mkdirSync(folder, { mode: 0o700 })
      await killedIn(folder)
      const alive = net.createServer().listen(path.join(folder, 'alive.sock'))
      await once(alive, 'listening')
      t.same(readdirSync(folder).sort(), ['alive.sock', 'killed.sock'])
      const holder = await owner(t, dataDir)
      t.same(readdirSync(folder).sort(), ['alive.sock', 'owner.sock'])
      t.equal(statSync(path.join(folder, 'owner.sock')).mode & 0o777, 0o600)
      t.equal(statSync(folder).mode & 0o777, 0o700)
      await holder.stop()
      alive.close()
      t.same(readdirSync(folder), [], 'a server that ends removes its socket')

      const deep = dataFolder(t, 'd'.repeat(60), 'e'.repeat(60))
      await owner(t, deep)
      const client = await open(urlOf(await entrance(t, deep)))
      client.terminate()
      t.throws(() => statSync(path.join(deep, 'sockets')))

      const open_ = dataFolder(t)
      mkdirSync(path.join(open_, 'sockets'))
      chmodSync(path.join(open_, 'sockets'), 0o755)
      const alone = await owner(t, open_)
      t.match(alone.errors, [{ message: /not ours or is open to others/ }], 'it serves without a relay')
      t.equal((await open(urlOf(alone))).readyState, 1)
    },
  )

  /** Kills a process that listens in the folder. */
  async function killedIn(folder: string): Promise<void> {
    const code = `require('net').createServer().listen('${folder}/killed.sock', () => console.log('ready'))`
    const child = spawn(process.execPath, ['-e', code], { stdio: ['ignore', 'pipe', 'inherit'] })
    await once(child.stdout, 'data')
    child.kill('SIGKILL')
    await once(child, 'exit')
  }

  t.test('channels with only text frames are relayed too', async (t) => {
    const dataDir = dataFolder(t)
    const channels = [channel({ acceptsBinary: false })]
    const holder = await owner(t, dataDir, { channels })
    const client = await open(urlOf(await entrance(t, dataDir, { channels })))
    await until(() => holder.sessions.length === 1)
    client.send(Buffer.from('x'))
    await until(() => holder.sessions[0]?.events.length === 1)
    t.match(holder.sessions[0]?.events, [{ kind: 'binary' }])
    client.terminate()
  })
})
