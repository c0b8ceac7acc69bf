/**
 * Tests streams at the built program, which sends their audio back. The tests measure its memory, and its shutdown with
 * a thousand open streams.
 */
import { readFileSync } from 'node:fs'
import t from 'tap'
import { type Client, loopback, loopbackModel, start } from '../realtime/socket.ts'
import { startParley } from './parley.ts'

const address = '/v1/transcribe/stream'
const settings = {
  PARLEY_PROVIDERS: loopback,
  PARLEY_LOCAL_ENABLED: 'false',
  // The first of 1,000 sockets sends nothing until the last socket is open, so silence may last long.
  PARLEY_REALTIME_SILENCE_MS: '600000',
}

t.test('30 minutes of audio through one socket are not kept in memory', async (t) => {
  const parley = await startParley(settings)
  t.teardown(() => parley.remove())
  const frame = Buffer.alloc(32_000, 1)
  const client = await start(parley, address, { model: loopbackModel })
  // The first minutes allocate memory that is kept, so they are not measured.
  for (let i = 0; i < 120; i++) await client.feed(frame)
  await client.take('transcript')
  const beforeMb = residentMb(parley.pid)
  let peakMb = beforeMb
  for (let i = 120; i < 1800; i++) {
    await client.feed(frame)
    if (i % 100 === 0) peakMb = Math.max(peakMb, residentMb(parley.pid))
  }
  client.send({ type: 'end' })
  t.match(await client.take('end'), { usage: { durationMs: 1_800_000 } })
  peakMb = Math.max(peakMb, residentMb(parley.pid))
  t.comment(`resident: ${beforeMb} MB before, at most ${peakMb} MB`)
  t.ok(peakMb - beforeMb < 60, `grew by ${peakMb - beforeMb} MB`)
})

t.test('when the server stops, each of 1,000 sockets receives SHUTTING_DOWN and code 1012', async (t) => {
  const server = await startParley(settings)
  t.teardown(() => server.remove())
  const clients: Client[] = []
  for (let i = 0; i < 20; i++) {
    const config = { model: loopbackModel }
    clients.push(...(await Promise.all(Array.from({ length: 50 }, () => start(server, address, config)))))
  }
  const stopped = server.stop()
  const codes = await Promise.all(clients.map(({ closed }) => closed))
  t.equal(codes.filter((code) => code === 1012).length, 1000)
  const errors = clients.flatMap((client) => client.frames('error'))
  t.equal(errors.filter(({ code, retryable }) => code === 'SHUTTING_DOWN' && retryable === true).length, 1000)
  t.equal(await stopped, 0)
})

function residentMb(pid: number): number {
  return Math.round(Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1024)
}
