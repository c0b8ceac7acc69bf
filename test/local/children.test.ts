import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import t from 'tap'
import type { ProviderError } from '../../domain/ports/provider-error.ts'
import { Owners } from '../../runtime/shares/owners.ts'
import { eventually, fixture, isRunning, longRecording, openLocal, outcome, ownedBy } from './setup.ts'
import { listen } from './streaming.ts'

/** Makes a provider with one recognition process, and a way to wait until it is in the middle of `longRecording`. */
function openBusy(t: Parameters<typeof openLocal>[0], options: Parameters<typeof openLocal>[1] = {}) {
  let underWay = () => {}
  const middle = new Promise<void>((resolve) => (underWay = resolve))
  return { ...openLocal(t, { ...options, onProgress: () => underWay() }), middle }
}

t.test('speech processes start when they are needed, and a job is refused if the queue is full', async (t) => {
  const { transcribe, started, provider } = openLocal(t, { queueMax: 1 })
  t.equal(started.length, 0)
  const taken = [outcome(transcribe(longRecording(3))), outcome(transcribe(fixture('tt-weasels')))]
  const refused = await transcribe(fixture('tt-weasels')).catch((error: ProviderError) => error)
  t.match(refused, { errorClass: 'overloaded', sent: false })
  t.ok('retryAfterS' in refused && (refused.retryAfterS ?? 0) >= 1)
  t.same(await Promise.all(taken), ['done', 'done'])
  t.equal(started.length, 1)
  await provider.close()
})

t.test('two speech processes work side by side', async (t) => {
  const { transcribe, started } = openLocal(t, { sttProcesses: 2, queueMax: 0 })
  const texts = await Promise.all([transcribe(fixture('tt-weasels')), transcribe(fixture('tt-weasels'))])
  t.equal(started.length, 2)
  t.equal(texts[0].text, texts[1].text)
})

t.test('a text waits for at most one sentence of an organization with many texts', async (t) => {
  const { speak, started } = openLocal(t)
  const spoken: string[] = []
  const say = async (owner: string) => {
    await speak('Yes.', { signal: ownedBy(owner) })
    spoken.push(owner)
  }
  await Promise.all(['busy', 'busy', 'busy', 'busy', 'other'].map(say))
  t.same(spoken, ['busy', 'other', 'busy', 'busy', 'busy'])
  t.equal(started.length, 1)
})

/**
 * A queue with four places. An organization may use three places, because a quarter is kept for other organizations.
 * Its next job waits for a place for up to 2 s.
 */
const divided = { queueMax: 4, shares: { owners: new Owners(true), part: 0.25, waitMs: 2000, waitingMax: 4 } }

t.test("a job beyond its organization's share of the queue waits, and is refused after the wait", async (t) => {
  const { transcribe, clock, middle } = openBusy(t, divided)
  const leaving = new AbortController()
  const signal = Object.assign(leaving.signal, { owner: 'busy' })
  const long = Array.from({ length: 4 }, () => outcome(transcribe(longRecording(1000), signal)))
  await middle
  const refused = outcome(transcribe(fixture('tt-weasels'), ownedBy('busy')))
  clock.pass(1999)
  const waiting = outcome(transcribe(fixture('tt-weasels'), ownedBy('busy')))
  clock.pass(1)
  t.equal(await refused, 'overloaded unsent')
  const beside = outcome(transcribe(fixture('tt-weasels'), ownedBy('other')))
  leaving.abort()
  t.same(await Promise.all(long), ['cancelled sent', 'cancelled unsent', 'cancelled unsent', 'cancelled unsent'])
  t.same(await Promise.all([beside, waiting]), ['done', 'done'])
})

t.test('a job that is cancelled while it waits for a place in the queue never enters the queue', async (t) => {
  const { transcribe, middle } = openBusy(t, divided)
  const leaving = new AbortController()
  const signal = Object.assign(leaving.signal, { owner: 'busy' })
  // The first job runs, three are in the queue, and two wait for a place in the queue.
  const cancelled = Array.from({ length: 6 }, () => outcome(transcribe(longRecording(1000), signal)))
  await middle
  leaving.abort()
  t.same(await Promise.all(cancelled), ['cancelled sent', ...Array<string>(5).fill('cancelled unsent')])
  const next = Array.from({ length: 4 }, () => outcome(transcribe(fixture('tt-weasels'), ownedBy('busy'))))
  t.same(await Promise.all(next), ['done', 'done', 'done', 'done'])
})

t.test('a job that waits for a place in the queue is rejected when the provider closes', async (t) => {
  const { transcribe, middle, provider } = openBusy(t, divided)
  const jobs = Array.from({ length: 5 }, () => outcome(transcribe(longRecording(1000), ownedBy('busy'))))
  await middle
  await provider.close()
  t.match(await Promise.all(jobs), [
    /sent/,
    'unreachable unsent',
    'unreachable unsent',
    'unreachable unsent',
    'unreachable unsent',
  ])
})

t.test('a job that is cancelled in the queue frees its place in the queue', async (t) => {
  const { transcribe } = openLocal(t)
  const leaving = new AbortController()
  const first = outcome(transcribe(longRecording(2)))
  const second = outcome(transcribe(longRecording(1000), leaving.signal))
  const third = outcome(transcribe(fixture('tt-weasels')))
  leaving.abort()
  t.equal(await second, 'cancelled unsent')
  t.same(await Promise.all([first, third]), ['done', 'done'])
  t.equal(await outcome(transcribe(longRecording(1), leaving.signal)), 'cancelled unsent', 'gone before it came')
})

t.test('a running job that is cancelled frees its process without a kill', async (t) => {
  const { transcribe, started, middle } = openBusy(t)
  const leaving = new AbortController()
  const first = outcome(transcribe(longRecording(1000), leaving.signal))
  await middle
  leaving.abort()
  t.equal(await first, 'cancelled sent')
  t.equal(await outcome(transcribe(fixture('tt-weasels'))), 'done')
  t.equal(started.length, 1)
})

t.test('a speech process that does not stop is killed', async (t) => {
  const { transcribe, started, ended, clock, middle } = openBusy(t)
  const leaving = new AbortController()
  const first = outcome(transcribe(longRecording(1000), leaving.signal))
  await middle
  process.kill(started[0]!, 'SIGSTOP')
  leaving.abort()
  t.equal(await first, 'cancelled sent')
  const next = outcome(transcribe(fixture('tt-weasels')))
  clock.pass(2000)
  t.equal(await next, 'done')
  t.same(ended, started.slice(0, 1))
})

t.test('if a speech process is killed, only its job fails', async (t) => {
  const { transcribe, started, middle } = openBusy(t)
  const first = outcome(transcribe(longRecording(1000)))
  const second = outcome(transcribe(fixture('tt-weasels')))
  await middle
  process.kill(started[0]!, 'SIGKILL')
  t.same(await Promise.all([first, second]), ['server sent', 'done'])
  t.equal(started.length, 2)
})

t.test('a job that takes too long is ended, and the time limit grows with the audio', async (t) => {
  const { transcribe, clock, middle } = openBusy(t, { jobTimeoutMs: 10_000 })
  const recording = longRecording(100)
  const first = outcome(transcribe(recording))
  await middle
  clock.pass(10_000 + recording.durationMs / 2 - 1)
  clock.pass(1)
  t.equal(await first, 'timeout sent')
  t.equal(await outcome(transcribe(fixture('tt-weasels'))), 'done')
})

t.test('an idle speech process ends, and the next job starts a new process', async (t) => {
  const { transcribe, started, ended, ways, clock } = openLocal(t, { idleMs: 5000 })
  await transcribe(fixture('tt-weasels'))
  clock.pass(4999)
  t.ok(isRunning(started[0]!))
  clock.pass(1)
  t.equal(await outcome(transcribe(fixture('tt-weasels'))), 'done')
  t.equal(started.length, 2)
  t.same(ended, started.slice(0, 1))
  t.same(ways, ['code 0'], 'it left when it was asked to')
})

t.test('an idle speech process that does not end is killed', async (t) => {
  const { transcribe, started, ways, clock } = openLocal(t, { idleMs: 5000 })
  await transcribe(fixture('tt-weasels'))
  process.kill(started[0]!, 'SIGSTOP')
  clock.pass(5000)
  clock.pass(2000)
  t.ok(await eventually(() => ways.length === 1))
  t.same(ways, ['SIGKILL'])
})

t.test('a warm engine is started before the first recording, and keeps running', async (t) => {
  const { transcribe, started, ended, clock, isWarm } = openLocal(t, { idleMs: 5000, warm: true, sttProcesses: 2 })
  clock.pass(500)
  t.equal(started.length, 1)
  t.ok(await eventually(isWarm))
  await Promise.all([transcribe(fixture('tt-weasels')), transcribe(fixture('tt-weasels'))])
  t.equal(started.length, 2)
  clock.pass(5000)
  t.ok(await eventually(() => ended.length === 1), 'the second one ends')
  clock.pass(5000)
  const times = []
  for (const name of ['please-try-call-later', 'tt-weasels'] as const) {
    const startedMs = performance.now()
    t.equal(await outcome(transcribe(fixture(name))), 'done')
    times.push(Math.round(performance.now() - startedMs))
  }
  t.equal(started.length, 2, `answered in ${times.join(' and ')} ms`)
})

t.test('the engines of a session are started once before they are needed, and end if nobody joins', async (t) => {
  const { provider, speak, started, ended, clock } = openLocal(t, { idleMs: 5000, warm: true })
  const models = provider.models.filter(({ id }) => ['moonshine-tiny-en', 'flite', 'scripted'].includes(id))
  t.equal(models.length, 3, 'a model for each stage')
  for (let times = 0; times < 2; times++) for (const { stage, id } of models) provider.warmUp?.(stage, id)
  t.equal(started.length, 2)
  t.ok((await speak('Hello.')).length > 0)
  const { stream, leave } = await listen(provider)
  stream.close()
  leave()
  t.equal(started.length, 2, 'they serve the session')
  // Moving the clock may also start the recording engine and end it at the limit for a warm-up. So only the engines
  // started until now are checked.
  const engines = started.slice()
  const haveEnded = await eventually(() => {
    clock.pass(5000)
    return engines.every((pid) => ended.includes(pid))
  })
  t.ok(haveEnded)
  const cold = openLocal(t, { warm: false })
  cold.provider.warmUp?.('stt', 'moonshine-tiny-en')
  t.equal(cold.started.length, 0, 'the setting `local.warm` says no')
})

t.test('close ends all jobs and speech processes at once', async (t) => {
  const { transcribe, speak, provider, started, ways, clock, middle } = openBusy(t)
  const running = outcome(transcribe(longRecording(1000)))
  const waiting = outcome(transcribe(longRecording(1000)))
  await Promise.all([middle, speak('Hello.')])
  await provider.close()
  t.same(ways, ['code 0', 'code 0'])
  t.same(await Promise.all([running, waiting]), ['server sent', 'unreachable unsent'])
  t.equal(started.length, 2)
  t.notOk(started.some(isRunning))
  t.equal(clock.timers, 0, 'no timer stays')
  t.equal(await outcome(speak('Hello.')), 'unreachable unsent')
})

t.test('speech processes end when their parent process ends', async (t) => {
  const entry = fileURLToPath(new URL('./orphan.ts', import.meta.url))
  const parent = spawn(process.execPath, ['--import', import.meta.resolve('tsx'), entry], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  t.teardown(() => parent.kill('SIGKILL'))
  const [line] = (await once(parent.stdout, 'data')) as [Buffer]
  const pids = JSON.parse(line.toString()) as number[]
  t.equal(pids.filter(isRunning).length, 2)
  parent.kill('SIGKILL')
  t.ok(await eventually(() => !pids.some(isRunning)))
})

t.test(
  'if as many jobs wait for a place in the queue as the limit allows, a further job is refused at once',
  async (t) => {
    const { transcribe, middle } = openBusy(t, divided)
    const leaving = new AbortController()
    const signal = Object.assign(leaving.signal, { owner: 'busy' })
    // The first job runs, three are in the queue, and three wait for a place in the queue. One place is kept for other
    // organizations.
    const jobs = Array.from({ length: 7 }, () => outcome(transcribe(longRecording(1000), signal)))
    await middle
    t.equal(await outcome(transcribe(fixture('tt-weasels'), ownedBy('busy'))), 'overloaded unsent')
    leaving.abort()
    t.same(await Promise.all(jobs), ['cancelled sent', ...Array<string>(6).fill('cancelled unsent')])
  },
)
