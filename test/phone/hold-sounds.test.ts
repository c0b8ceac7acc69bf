/** Tests which tones a caller receives while another phone rings. The carrier and the phones run in this test. */
import t from 'tap'
import { startSimulator } from '../../simulator/simulator.ts'
import { call } from '../platform/setup.ts'
import { openDatabase } from '../process/database.ts'
import { freePort } from '../process/machine.ts'
import { loopbackAgent } from '../session/voice-session.ts'
import { hasEnded } from './call-rows.ts'
import { settingsOf, webhookPath } from './outside-carrier.ts'
import { callWhen, newClock, newestInbound, startInTime } from './phones.ts'
import { insertOnlyTenantsNumber } from './stored-number.ts'

const ours = '+14155550100'
/** This phone rings and is never answered. */
const rings = '+15005550002'
const rateHz = 8000
/** The tones are recorded for this long. One period of a ringback tone is shorter. */
const listenS = 14

const clock = newClock()
const port = await freePort()
const url = `http://127.0.0.1:${port}`
/** The audio at each caller since the transfer request. */
const received = new Map<string, number[]>()
const carrier = await startSimulator({
  clock,
  speak: () => Promise.resolve({ samples: new Int16Array(rateHz), sampleRateHz: rateHz }),
  webhookUrl: url + webhookPath,
  received(number, samples, hz) {
    const audio = received.get(number)
    if (samples === null) audio?.push(...new Array<number>(rateHz / 50).fill(0))
    else for (let at = 0; at < samples.length; at += hz / rateHz) audio?.push(samples[at] ?? 0)
  },
})
t.teardown(() => carrier.close())

const target = await startInTime(clock, settingsOf(carrier, port))
t.teardown(() => target.close())

const sql = openDatabase(target.server)
// The text is short, so the agent ends its sentence before a caller is on hold.
const template = { ...loopbackAgent, firstMessage: 'Hi.' }
await insertOnlyTenantsNumber(sql, { e164: ours, direction: 'both', template })
await sql.end()

/** Returns a frequency's amplitude (Goertzel) in 200 ms of audio, from 0 to 1. */
function amplitude(samples: readonly number[], hz: number): number {
  const factor = 2 * Math.cos((2 * Math.PI * hz) / rateHz)
  let [before, last] = [0, 0]
  for (const sample of samples) [before, last] = [last, sample + factor * last - before]
  const power = before ** 2 + last ** 2 - factor * before * last
  return (2 * Math.sqrt(Math.max(0, power))) / samples.length / 32_768
}

const tonesHz = [350, 440, 480] as const
const windowSamples = rateHz / 5
/**
 * Above this amplitude a frequency counts as present. A tone has 5 % of full scale, and an absent frequency has less
 * than 0.5 %.
 */
const audible = 0.03

/** Returns the frequencies in each 200 ms, such as `350 440`. */
function tonesIn(samples: readonly number[]): string[] {
  return Array.from({ length: Math.floor(samples.length / windowSamples) }, (_, at) => {
    const window = samples.slice(at * windowSamples, (at + 1) * windowSamples)
    return tonesHz.filter((hz) => amplitude(window, hz) > audible).join(' ')
  })
}

const share = (all: readonly string[], one: string) => all.filter((each) => each === one).length / all.length
const known = new Set<string>()

/** Starts an inbound call. Returns its id. */
async function called(from: string): Promise<string> {
  carrier.call({ from, to: ours, lines: [], headers: [], forwarding: {} })
  const id = await newestInbound(target, known)
  known.add(id)
  await callWhen(target, id, ({ status }) => status === 'in_progress')
  return id
}

/** Returns the caller's audio, from two seconds after the transfer request. */
async function whileRinging(from: string, id: string, kind: 'blind' | 'warm', more: object): Promise<number[]> {
  const asked = { to: rings, ringingTimeout: 120, ...more }
  const answer = await call(target, 'POST', `/v1/calls/${id}/transfers/${kind}`, asked)
  if (answer.status !== 201) throw new Error(answer.text)
  const audio: number[] = []
  received.set(from, audio)
  await clock.until('the audio', () => audio.length >= (listenS + 2) * rateHz, 60_000)
  await call(target, 'POST', `/v1/calls/${id}/end`)
  await callWhen(target, id, hasEnded)
  return audio.slice(2 * rateHz)
}

/** Collects the audio for each transfer. The calls run at once, because each takes `listenS` seconds. */
const audioOf = new Map<string, number[]>()
const transfers = [
  ['dial tone', 'blind', { playDialtone: true }],
  ['left out', 'blind', {}],
  ['false', 'blind', { playDialtone: false }],
  ['null', 'blind', { playDialtone: null }],
  ['warm', 'warm', {}],
] as const
const calls: [from: string, id: string][] = []
// The caller's number identifies the recorded audio, because each caller has a different number.
for (const at of transfers.keys()) calls.push([`+150055500${31 + at}`, await called(`+150055500${31 + at}`)])
await Promise.all(
  transfers.map(async ([name, kind, more], at) => {
    const [from, id] = calls[at] as [string, string]
    audioOf.set(name, await whileRinging(from, id, kind, more))
  }),
)
const receivedIn = (name: (typeof transfers)[number][0]) => audioOf.get(name) ?? []

t.test('playDialtone: the caller receives the dial tone until the recipient is connected', (t) => {
  const all = tonesIn(receivedIn('dial tone'))
  t.ok(share(all, '350 440') > 0.9, all.join(' | '))
  t.end()
})

for (const name of ['left out', 'false', 'null'] as const)
  t.test(`a blind transfer with playDialtone ${name} plays the ringback tone: 2 s of every 6 s`, (t) => {
    const all = tonesIn(receivedIn(name))
    const [tone, silence] = [share(all, '440 480'), share(all, '')]
    t.ok(tone > 0.2 && tone < 0.5, all.join(' | '))
    t.ok(tone + silence > 0.85, all.join(' | '))
    t.end()
  })

t.test('a warm transfer plays hold music, no dial tone and no ringback tone', (t) => {
  const all = tonesIn(receivedIn('warm'))
  t.ok(share(all, '350 440') + share(all, '440 480') < 0.2, all.join(' | '))
  const isMusic = receivedIn('warm').some((sample) => Math.abs(sample) > 300)
  t.ok(isMusic, 'it is not silence')
  t.end()
})
