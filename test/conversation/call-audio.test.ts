/** If the agent's voice has another rate than the recording, the voice is converted for the recording. */
import t, { type Test } from 'tap'
import { CallAudio } from '../../domain/conversation/hearing/call-audio.ts'
import type { OpenResampler, SampleConverter } from '../../domain/conversation/parts/deps.ts'
import { TestClock } from '../clock.ts'

const samples = (value: number) => new Int16Array(3).fill(value)
/** Doubles each sample, so a test can distinguish converted audio. */
const doubling: SampleConverter = { convert: (input) => input.map((sample) => sample * 2), close: () => {} }

function recorded(t: Test, openResampler: OpenResampler) {
  const written: { value: number | undefined; endMs: number }[] = []
  const voice = {
    write: (input: Int16Array, endMs: number) => void written.push({ value: input[0], endMs }),
    restart() {},
  }
  const recorder = {
    caller: voice,
    agent: voice,
    endsAs: 'ready' as const,
    joiner: () => voice,
    close: () => Promise.resolve(0),
  }
  const errors: string[] = []
  const log = { info() {}, warn() {}, error: (_: object, message: string) => void errors.push(message) }
  const callLog = { recording() {} } as unknown as ConstructorParameters<typeof CallAudio>[2]
  const audio = new CallAudio({ clock: new TestClock(), log, openResampler }, recorder, callLog, 24_000)
  t.teardown(() => audio.close())
  return { audio, written, errors }
}

t.test("the agent's first audio waits for the resampler and is recorded in order", async (t) => {
  let opened: (converter: SampleConverter) => void = () => {}
  const { audio, written } = recorded(t, () => new Promise((resolve) => (opened = resolve)))
  const lent = samples(1)
  audio.agent(lent, 20)
  lent.fill(9)
  audio.agent(samples(2), 40)
  t.same(written, [], 'nothing is recorded at the wrong speed')
  opened(doubling)
  await Promise.resolve()
  audio.agent(samples(3), 60)
  t.same(written, [
    { value: 2, endMs: 20 },
    { value: 4, endMs: 40 },
    { value: 6, endMs: 60 },
  ])
})

t.test("if the resampler fails, the agent's track is silent and the failure is logged once", async (t) => {
  const { audio, written, errors } = recorded(t, () => Promise.reject(new Error('no memory')))
  audio.agent(samples(1), 20)
  await new Promise(setImmediate)
  audio.agent(samples(2), 40)
  audio.caller(samples(7))
  t.match(written, [{ value: 7 }])
  t.equal(errors.length, 1)
})

t.test('a resampler that opens after the end of the call is closed', async (t) => {
  let opened: (converter: SampleConverter) => void = () => {}
  let isClosed = false
  const { audio } = recorded(t, () => new Promise((resolve) => (opened = resolve)))
  await audio.close()
  opened({ ...doubling, close: () => void (isClosed = true) })
  await new Promise(setImmediate)
  t.ok(isClosed)
})
