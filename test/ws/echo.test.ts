import { once } from 'node:events'
import t from 'tap'
import { overEngines } from '../engine/engines.ts'
import { start } from '../http/harness.ts'
import { open } from './harness.ts'

overEngines(t, (t) => {
  t.test('the echo endpoint returns each text frame and binary frame', async (t) => {
    const server = await start([], { echo: true })
    t.teardown(() => server.stop())
    const client = await open(`ws://127.0.0.1:${server.port}/`, [])
    for (const [sent, isBinary] of [
      [Buffer.from('grün'), false],
      [Buffer.alloc(640, 7), true],
      [Buffer.alloc(0), true],
      [Buffer.alloc(16 * 1024 * 1024, 1), true],
    ] as const) {
      client.send(sent, { binary: isBinary })
      const [got, gotBinary] = (await once(client, 'message')) as [Buffer, boolean]
      t.ok(got.equals(sent))
      t.equal(gotBinary, isBinary)
    }
    client.terminate()
  })

  t.test('the echo endpoint is served only on loopback, and only if it is configured', async (t) => {
    await t.rejects(start([], { echo: true, host: '0.0.0.0' }), /loopback address only, not on 0\.0\.0\.0/)
    const server = await start([])
    t.teardown(() => server.stop())
    await t.rejects(open(`ws://127.0.0.1:${server.port}/`, []))
  })
})
