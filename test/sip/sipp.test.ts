/** Calls between the SIP trunk line and SIPp, in both directions and in real time. */
import t from 'tap'
import type { LegEvent } from '../../domain/ports/phone-line.ts'
import { systemClock } from '../../runtime/timing/clock.ts'
import { freePort } from '../process/machine.ts'
import { media, openTrunkOn, outgoingTo, toDial } from '../trunk/setup.ts'
import { wanted } from '../trunk/sip-peer.ts'
import { skipWithoutSipp } from './programs.ts'
import { callsCount, runSipp } from './run-sipp.ts'

const countOf = (events: readonly LegEvent[], type: LegEvent['type']) =>
  events.filter((event) => event.type === type).length

for (const transport of ['u1', 't1'])
  t.test(
    `SIPp places ${callsCount} calls over ${transport}, and every call is answered and ends`,
    { skip: skipWithoutSipp },
    async (t) => {
      const trunk = await openTrunkOn(t, systemClock, {
        received: (event) => {
          if (event.type !== 'initiated') return
          const ref = { legId: `leg_${event.carrierLegId}`, carrierLegId: event.carrierLegId }
          queueMicrotask(() => void trunk.line.answer(ref, media))
        },
      })
      const caller = runSipp(t, [
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

t.test(
  `${callsCount} calls are placed to SIPp, and every call is answered and ends`,
  { skip: skipWithoutSipp },
  async (t) => {
    const port = await freePort()
    const answering = runSipp(t, ['-sn', 'uas', '-p', String(port)])
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
    for (const type of ['ringing', 'answered', 'hangup'] as const)
      t.equal(countOf(trunk.events, type), callsCount, type)
  },
)
