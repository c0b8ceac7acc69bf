/** Calls with SIPp, in both directions and in real time. */
import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import t, { type Test } from 'tap'
import type { LegEvent } from '../../domain/ports/phone-line.ts'
import { systemClock } from '../../runtime/clock.ts'
import { freePort } from '../trunk/free-port.ts'
import { media, openTrunkOn, outgoingTo, toDial } from '../trunk/setup.ts'
import { wanted } from '../trunk/sip-peer.ts'

const program = process.env['PARLEY_SIPP'] ?? ''
const skip = program === '' && 'there is no SIPp, which `make sip` installs'
const callsCount = 200
/** A busy machine may be slow. SIPp itself gives a call up after 32 s without an answer. */
const patienceS = 120

type Ran = { code: number | null; output: string }

/** Runs SIPp until it has made or taken all calls. It ends with 0 if all of them succeeded. */
function sipp(t: Test, args: readonly string[]): { ended: Promise<Ran> } {
  const folder = mkdtempSync(path.join(os.tmpdir(), 'parley-sipp-'))
  const fixed = ['-i', '127.0.0.1', '-m', String(callsCount), '-nostdin', '-timeout', `${patienceS}s`, '-timeout_error']
  // SIPp draws on a terminal, which it looks for by this variable.
  const env = { ...process.env, TERM: 'dumb' }
  const child = spawn(program, [...args, ...fixed], { cwd: folder, env, stdio: ['ignore', 'pipe', 'pipe'] })
  let output = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (data: Buffer) => (output += data.toString()))
  t.teardown(() => {
    child.kill('SIGKILL')
    rmSync(folder, { recursive: true, force: true })
  })
  return { ended: new Promise((resolve) => child.once('exit', (code) => resolve({ code, output }))) }
}

const countOf = (events: readonly LegEvent[], type: LegEvent['type']) =>
  events.filter((event) => event.type === type).length

for (const transport of ['u1', 't1'])
  t.test(
    `SIPp calls ${callsCount} times over ${transport}, and every call is answered and ends`,
    { skip },
    async (t) => {
      const trunk = await openTrunkOn(t, systemClock, {
        received: (event) => {
          if (event.type !== 'initiated') return
          const ref = { legId: `leg_${event.carrierLegId}`, carrierLegId: event.carrierLegId }
          queueMicrotask(() => void trunk.line.answer(ref, media))
        },
      })
      const caller = sipp(t, [
        '-sn',
        'uac',
        '-t',
        transport,
        '-r',
        '20',
        '-d',
        '500',
        '-s',
        '+15550001111',
        `127.0.0.1:${trunk.line.port}`,
      ])
      const { code, output } = await caller.ended
      t.equal(code, 0, output.slice(-2000))
      await wanted(() => countOf(trunk.events, 'hangup') === callsCount, 'the end of all calls')
      for (const type of ['initiated', 'answered', 'stream_started'] as const)
        t.equal(countOf(trunk.events, type), callsCount, type)
      t.ok(trunk.rtps.every(({ isClosed }) => isClosed))
    },
  )

t.test(`SIPp is called ${callsCount} times, and every call is answered and ends`, { skip }, async (t) => {
  const port = await freePort()
  const answering = sipp(t, ['-sn', 'uas', '-p', String(port)])
  const trunk = await openTrunkOn(t, systemClock, { outgoing: () => [outgoingTo(port, { host: '127.0.0.1' })] })
  const { signal } = new AbortController()
  const call = async (at: number) => {
    const legId = `leg_${at}`
    const { carrierLegId } = await trunk.line.dial(toDial({ legId }), signal)
    const isAnswered = () => trunk.events.some((event) => event.legId === legId && event.type === 'stream_started')
    await wanted(isAnswered, `the answer of call ${at}`)
    await trunk.line.hangUp({ legId, carrierLegId })
  }
  const atOnce = 10
  const row = async (first: number) => {
    for (let at = first; at < callsCount; at += atOnce) await call(at)
  }
  await Promise.all(Array.from({ length: atOnce }, (_, first) => row(first)))
  const { code, output } = await answering.ended
  t.equal(code, 0, output.slice(-2000))
  for (const type of ['ringing', 'answered', 'hangup'] as const) t.equal(countOf(trunk.events, type), callsCount, type)
})
