/** The echo gate runs with the real VAD, and with recorded speech as the agent's voice and as the caller's. */
import t from 'tap'
import { EchoGate } from '../../domain/conversation/hearing/echo-gate.ts'
import { SpeechDetector } from '../../domain/conversation/hearing/speech-detector.ts'
import { vadFrameSamples } from '../../domain/ports/vad.ts'
import { openVad } from '../../providers/local/vad/vad.ts'
import { type FixtureName, spoken } from '../speech/fixtures.ts'
import { speechAt } from '../speech/samples.ts'

const names = Object.keys(spoken) as FixtureName[]
const samplesPerMs = 16
const vad = await openVad()
const clips = new Map<FixtureName, Int16Array>()
for (const name of names) clips.set(name, await speechAt(name, 16_000))
const clip = (name: FixtureName) => clips.get(name) as Int16Array

type Sound = { samples: Int16Array; atMs: number; db: number }
type Scene = { agent: Int16Array; microphone: readonly Sound[]; gated?: boolean }

/** Returns the times at which speech is detected in a call in which caller and agent speak at once. */
async function onsetsMs({ agent, microphone, gated = true }: Scene): Promise<{ onsets: number[]; couplingDb: number }> {
  const gate = new EchoGate()
  const detector = new SpeechDetector({ onsetMs: 96, offsetMs: 300 })
  const mixed = mix(microphone, agent.length + 1000 * samplesPerMs)
  const onsets: number[] = []
  vad.reset()
  for (let at = 0; at + vadFrameSamples <= mixed.length; at += vadFrameSamples) {
    const frame = mixed.subarray(at, at + vadFrameSamples)
    if (at < agent.length) gate.played(agent.subarray(at, at + vadFrameSamples))
    gate.microphone(frame)
    const probability = await vad.speechProbability(Float32Array.from(frame, (sample) => sample / 32_768))
    const change = detector.frame(gated ? gate.pass(probability) : probability)
    if (change?.type === 'onset') onsets.push(change.atMs)
  }
  return { onsets, couplingDb: gate.couplingDb }
}

function mix(sounds: readonly Sound[], length: number): Int16Array {
  const mixed = new Float64Array(length)
  for (const { samples, atMs, db } of sounds) {
    const gain = 10 ** (db / 20)
    const start = atMs * samplesPerMs
    for (let i = 0; i < samples.length && start + i < length; i++) mixed[start + i]! += gain * samples[i]!
  }
  return Int16Array.from(mixed, (sample) => Math.max(-32_768, Math.min(32_767, Math.round(sample))))
}

/** Makes an echo: the direct sound and three room reflections. */
function echo(samples: Int16Array, atMs: number, db: number): Sound[] {
  const paths: [ms: number, db: number][] = [
    [0, 0],
    [10, -8],
    [30, -12],
    [70, -16],
  ]
  return paths.map(([ms, quieter]) => ({ samples, atMs: atMs + ms, db: db + quieter }))
}

function repeated(samples: Int16Array, times: number): Int16Array {
  return Int16Array.from(Array.from({ length: times }, () => [...samples]).flat())
}

t.test("the agent's echo at -20 dB does not count as the caller's speech, at any delay up to 500 ms", async (t) => {
  for (const name of names) {
    const agent = repeated(clip(name), 2)
    for (const delayMs of [0, 120, 300, 500]) {
      const microphone = echo(agent, delayMs, -20)
      t.same((await onsetsMs({ agent, microphone })).onsets, [], `${name} after ${delayMs} ms`)
    }
    const { onsets } = await onsetsMs({ agent, microphone: echo(agent, 120, -20), gated: false })
    t.not(onsets.length, 0, 'the VAD alone takes it for speech')
  }
})

t.test('a caller who speaks while the agent speaks is detected', async (t) => {
  const callerAtMs = 1500
  const late: number[] = []
  for (const name of names) {
    const agent = repeated(clip(name), 2)
    const caller = clip(names[(names.indexOf(name) + 1) % names.length]!)
    const alone = await onsetsMs({ agent: new Int16Array(agent.length), microphone: [said(caller, 0)] })
    for (const db of [0, -6]) {
      const { onsets } = await onsetsMs({ agent, microphone: [...echo(agent, 200, -20), said(caller, db)] })
      late.push(onsets[0]! - alone.onsets[0]!)
    }
  }
  t.comment(`onset later than without the agent, ms: ${late.join(', ')}`)
  t.ok(late.every((ms) => Math.abs(ms) <= 128))

  function said(samples: Int16Array, db: number): Sound {
    return { samples, atMs: callerAtMs, db }
  }
})

t.test('the estimated loudness of the echo follows the real echo', async (t) => {
  const agent = repeated(clip('privacy-prompt'), 4)
  const headset = await onsetsMs({ agent, microphone: echo(agent, 200, -60) })
  t.ok(headset.couplingDb <= -35)
  const loud = await onsetsMs({ agent, microphone: echo(agent, 200, -14) })
  t.ok(loud.couplingDb > -18)
  t.same(loud.onsets, [])
})

t.test('while the agent is silent, each speech probability passes unchanged', (t) => {
  const gate = new EchoGate()
  gate.microphone(clip('tt-weasels').subarray(0, 10 * vadFrameSamples))
  t.same(
    Array.from({ length: 10 }, () => gate.pass(0.7)),
    new Array(10).fill(0.7),
  )
  t.end()
})
