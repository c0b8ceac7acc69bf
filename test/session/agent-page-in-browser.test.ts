/**
 * Tests the page /try/agent in a real browser: a recorded voice is the microphone, and the agent answers by repeating
 * it.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import { Resampler } from '../../console/session/resampler.js'
import type { MediaTransport } from '../../domain/ports/media.ts'
import { bytes, fmt, riff } from '../audio/build.ts'
import { axeFaults, type Browser, type Page } from '../browser/chromium.ts'
import { inBrowser, patience, shows, watch } from '../browser/visiting.ts'
import { readFixture } from '../speech/fixtures.ts'
import { serveAgentPage } from './agent-page.ts'
import { RecordingSink } from './media-harness.ts'

const rateHz = 16_000
const fixture = samplesOf(readFixture('privacy-prompt').subarray(44))
const folder = mkdtempSync(path.join(os.tmpdir(), 'parley-test-'))
t.teardown(() => rmSync(folder, { recursive: true, force: true }))
const recording = path.join(folder, 'voice.wav')
writeFileSync(recording, withPauses(fixture))

/** Repeats the user's speech as soon as the user is silent. */
class Parrot extends RecordingSink {
  static readonly all: Parrot[] = []
  readonly recorded: number[] = []
  readonly spoken: number[] = []
  readonly texts = { user: 'please enter your phone number', agent: 'You said: please enter your phone number.' }
  #quiet = 0
  #hasAnswered = false
  #speaking: NodeJS.Timeout | null = null

  constructor(transport: MediaTransport) {
    super(transport)
    Parrot.all.push(this)
    transport.notify({ type: 'state', state: 'listening' })
    this.onAudio = (samples) => this.#listen(samples)
  }

  override played(mark: string) {
    super.played(mark)
    if (mark !== `agent-1:${Math.round(this.spoken.length / 16)}` || this.#speaking !== null) return
    this.#say(this.texts.agent, true)
    this.transport.notify({ type: 'state', state: 'listening' })
  }

  override userMessage(text: string) {
    super.userMessage(text)
    if (this.#speaking === null) return
    clearInterval(this.#speaking)
    this.#speaking = null
    this.transport.clear()
  }

  override cleared(mark: string | null, playedMs: number) {
    super.cleared(mark, playedMs)
    const event = { type: 'agentMessage', id: 'agent-1', text: 'You said:', isFinal: true, interrupted: true } as const
    this.transport.notify(event)
    this.transport.notify({ type: 'state', state: 'listening' })
  }

  #listen(samples: Int16Array) {
    if (this.#hasAnswered) return
    const peak = samples.reduce((most, sample) => Math.max(most, Math.abs(sample)), 0)
    if (peak > 800) this.#quiet = 0
    else this.#quiet += samples.length
    if (this.recorded.length > 0 || peak > 800) this.recorded.push(...samples)
    if (this.recorded.length < rateHz || this.#quiet < rateHz) return
    this.#hasAnswered = true
    this.transport.notify({ type: 'transcript', id: 'user-1', text: this.texts.user, isFinal: true })
    this.transport.notify({ type: 'state', state: 'speaking' })
    this.#say(this.texts.agent, false)
    this.#speak(Int16Array.from(this.recorded))
  }

  #say(text: string, isFinal: boolean) {
    this.transport.notify({ type: 'agentMessage', id: 'agent-1', text, isFinal, interrupted: false })
  }

  /** Sends 20 ms frames, up to 400 ms ahead of real time. */
  #speak(samples: Int16Array) {
    const startedMs = performance.now()
    this.#speaking = setInterval(() => {
      const dueMs = performance.now() - startedMs + 400
      while (this.spoken.length / 16 < dueMs && this.spoken.length + 320 <= samples.length) {
        const frame = samples.slice(this.spoken.length, this.spoken.length + 320)
        this.transport.frame(frame)
        this.spoken.push(...frame)
        const ms = this.spoken.length / 16
        if (ms % 100 === 0 || this.spoken.length + 320 > samples.length) this.transport.mark(`agent-1:${ms}`)
      }
      if (this.spoken.length + 320 <= samples.length || this.#speaking === null) return
      clearInterval(this.#speaking)
      this.#speaking = null
    }, 20)
  }
}

await inBrowser(t, 'the agent page works in a browser', tests, recording)

function tests(browser: Browser): void {
  t.test("the agent page sends the user's voice to the server and plays answers", { timeout: 150_000 }, async (t) => {
    const served = await serveAgentPage(t, (transport) => new Parrot(transport))
    const latency = { eouMs: 250, llmTtftMs: 12, ttsTtfbMs: 80, conversationalLatencyMs: 360 }
    const turn = {
      index: 1,
      source: 'agent',
      text: '',
      startedAtMs: 0,
      endedAtMs: 0,
      toolCalls: [],
      metadata: {},
    } as const
    served.turns.push({
      ...turn,
      id: 'agent-1',
      provider: 'local',
      model: 'scripted',
      ...latency,
      latencyStatus: 'complete',
      playedText: '',
    })
    const context = await browser.newContext({ permissions: ['microphone'] })
    t.teardown(() => context.close())
    const page = await context.newPage()
    // This server does not serve the API with the list of models, so the page gets no list.
    const { faults } = watch(page)
    await page.goto(`${served.url}/try/agent`)
    await tapSpeaker(page)
    await page.fill('#prompt', 'Repeat every word.')
    // On a busy machine the fake microphone loses samples, so one good conversation is enough. The browser's gain
    // control changes the level, so a perfect likeness is not reached. A wrong recording reaches less than 0.75.
    let through = { microphone: 0, speaker: 0 }
    for (let attempt = 0; attempt < 3 && (through.microphone < 0.85 || through.speaker < 0.9); attempt++) {
      if (attempt > 0) {
        await page.click('#talk')
        await shows(page, '#talk-label', 'Talk')
      }
      await page.evaluate('tapped.samples.length = 0')
      through = await talk(page)
    }
    t.match(served.wanted[0], { systemPrompt: 'Repeat every word.', intent: { language: 'en' } })
    t.ok(through.microphone >= 0.85, `what reached the server is the recording: ${through.microphone.toFixed(3)}`)
    t.ok(through.speaker >= 0.9, `what reached the speaker is what the server sent: ${through.speaker.toFixed(2)}`)
    const parrot = Parrot.all.at(-1)!

    const marks = parrot.calls.flatMap(([name, mark]) => (name === 'played' ? [mark] : []))
    t.equal(marks.length, Math.ceil(parrot.spoken.length / 1600), 'each mark was answered')
    t.equal(marks.at(-1), `agent-1:${parrot.spoken.length / 16}`)
    await shows(page, '#latency', '360 ms')
    t.match(await page.textContent('#latency'), /360 ms.*noticing 250 ms · model 12 ms · voice 80 ms · rest 18 ms/s)
    t.ok(await page.isVisible('#scripted'), 'the page says that a script answers')
    t.same(await axeFaults(page), [])

    await page.click('#talk')
    await shows(page, '#status', 'You have ended the conversation.')
    t.same(parrot.calls.at(-1), ['hangUp'])
    t.same(faults, [])
  })

  t.test('on interruption the agent page strikes out the words that were cut off', { timeout: 90_000 }, async (t) => {
    const served = await serveAgentPage(t, (transport) => new Parrot(transport))
    const context = await browser.newContext({ permissions: ['microphone'], colorScheme: 'dark' })
    t.teardown(() => context.close())
    const page = await context.newPage()
    await page.goto(`${served.url}/try/agent`)
    await tapSpeaker(page)
    await page.click('#talk')
    await shows(page, '#state', 'Speaking')
    await sleep(800)
    await page.fill('#text', 'Stop!')
    await page.click('#send')
    await page.waitForSelector('.turn.interrupted', patience)
    t.equal(await page.textContent('.turn.interrupted .words'), 'You said: please enter your phone number.')
    t.equal(await page.textContent('.turn.interrupted del'), ' please enter your phone number.')
    t.match(await page.textContent('#conversation'), /Stop!/)
    const parrot = Parrot.all.at(-1)!
    const [, mark, playedMs] = parrot.calls.find(([name]) => name === 'cleared') as [string, string, number]
    const playedInAll = Number(mark.slice('agent-1:'.length)) + playedMs
    t.ok(playedInAll > 500 && playedInAll < 2500, `${playedInAll} ms were played`)
    await sleep(500)
    const [speakerHz, samples] = (await page.evaluate('[tapped.rateHz, tapped.samples]')) as [number, number[]]
    // While the page has no audio to play, it plays exact zeros, as between two late frames.
    const sounds = samples.filter((sample) => sample !== 0).length
    const soundMs = (sounds * 1000) / speakerHz
    t.ok(Math.abs(soundMs - playedInAll) < 60, `${soundMs} ms of sound, ${playedInAll} ms were reported`)
    t.ok(
      samples.slice(-speakerHz / 4).every((sample) => sample === 0),
      'silence follows',
    )
    t.same(await axeFaults(page), [])
  })
}

/** Holds one conversation. Returns how much of the audio arrived in each direction, as a fraction. */
async function talk(page: Page): Promise<{ microphone: number; speaker: number }> {
  await page.click('#talk')
  await shows(page, '#state', 'Listening')
  await shows(page, '#state', 'Speaking')
  await shows(page, '#conversation', 'please enter your phone number')
  await shows(page, '#state', 'Listening')
  await sleep(500)
  const parrot = Parrot.all.at(-1)!
  const microphone = likeness(envelope(Float32Array.from(parrot.recorded)), envelope(atRate(fixture, 8000, rateHz)))
  const [speakerHz, samples] = (await page.evaluate('[tapped.rateHz, tapped.samples]')) as [number, number[]]
  // A busy machine delays frames, so the playout has gaps.
  const speaker = atRate(withoutGaps(samples, speakerHz), speakerHz, rateHz)
  const sent = withoutGaps(
    Float32Array.from(parrot.spoken, (sample) => sample / 32_768),
    rateHz,
  )
  return { microphone, speaker: shareInside(speaker, sent) }
}

/** Records the speaker's audio, block by block on the audio thread, because a busy machine loses nothing there. */
async function tapSpeaker(page: Page): Promise<void> {
  await page.evaluate(`{
    globalThis.tapped = { samples: [], rateHz: 0 }
    const { addModule } = AudioWorklet.prototype
    AudioWorklet.prototype.addModule = async function (name) {
      await addModule.call(this, '/tap.js')
      await addModule.call(this, name)
    }
    const { connect } = AudioNode.prototype
    AudioNode.prototype.connect = function (target, ...rest) {
      if (target !== this.context.destination) return connect.call(this, target, ...rest)
      tapped.rateHz = this.context.sampleRate
      tapped.node = new AudioWorkletNode(this.context, 'tap', { outputChannelCount: [1] })
      tapped.node.port.onmessage = ({ data }) => tapped.samples.push(...data)
      connect.call(this, tapped.node)
      return connect.call(tapped.node, target)
    }
  }`)
}

function samplesOf(pcm: Uint8Array): Float32Array {
  const view = new DataView(pcm.buffer, pcm.byteOffset, pcm.byteLength)
  return Float32Array.from({ length: pcm.length / 2 }, (_, i) => view.getInt16(2 * i, true) / 32_768)
}

/** Adds silence in front, because a page needs a moment to start, and at the end, so the end is noticed. */
function withPauses(samples: Float32Array): Uint8Array {
  const pcm = new Uint8Array(Int16Array.from(samples, (sample) => sample * 32_767).buffer)
  return riff([
    ['fmt ', fmt(1, 1, 8000, 16)],
    ['data', bytes(new Uint8Array(8000 * 2 * 2), pcm, new Uint8Array(8000 * 2 * 10))],
  ])
}

function atRate(samples: Float32Array, fromHz: number, toHz: number): Float32Array {
  const resampler = new Resampler(fromHz, toHz)
  const whole = resampler.push(samples).slice()
  return Float32Array.from([...whole, ...resampler.flush()])
}

/**
 * Returns the loudness per 10 ms, because the browser's noise suppression changes waveforms, but not the shape of
 * speech.
 */
function envelope(samples: Float32Array): Float32Array {
  const step = rateHz / 100
  return Float32Array.from({ length: Math.floor(samples.length / step) }, (_, i) =>
    Math.sqrt(samples.subarray(i * step, (i + 1) * step).reduce((sum, sample) => sum + sample * sample, 0)),
  )
}

/** Returns the highest correlation coefficient between `part` and any section in `whole`, from -1 to 1. */
function likeness(whole: Float32Array, part: Float32Array): number {
  return best(whole, part, -part.length / 4, whole.length).value
}

/** Removes exact zeros if they last 5 ms or longer. */
function withoutGaps(samples: ArrayLike<number>, hz: number): Float32Array {
  const kept: number[] = []
  let zeros = 0
  for (let i = 0; i < samples.length; i++) {
    zeros = samples[i] === 0 ? zeros + 1 : 0
    kept.push(samples[i]!)
    if (zeros === Math.ceil(hz / 200)) kept.length -= zeros
    else if (zeros > Math.ceil(hz / 200)) kept.length -= 1
  }
  return Float32Array.from(kept)
}

/**
 * Returns the fraction of `part` that is in `whole`. It is counted in quarter seconds with sound: each must be found
 * within 100 ms of its expected position.
 */
function shareInside(whole: Float32Array, part: Float32Array): number {
  const step = rateHz / 100
  const near = step * best(envelope(whole), envelope(part), 0, whole.length / step).lag
  const all = Array.from({ length: Math.floor(part.length / (25 * step)) }, (_, i) => i * 25 * step)
  const pieces = all.filter((at) => part.subarray(at, at + 25 * step).some((sample) => Math.abs(sample) > 0.05))
  const inside = pieces.filter((at) => {
    const from = Math.max(0, near + at - 10 * step)
    const piece = part.subarray(at, at + 25 * step)
    return likeness(whole.subarray(from, near + at + 35 * step), piece) > 0.98
  })
  return inside.length / pieces.length
}

function best(whole: Float32Array, part: Float32Array, from: number, to: number) {
  let found = { value: -1, lag: 0 }
  for (let lag = Math.ceil(from); lag < to; lag++) {
    let [product, a, b] = [0, 0, 0]
    for (let i = 0; i < part.length; i++) {
      const x = whole[lag + i] ?? 0
      const y = part[i]!
      product += x * y
      a += x * x
      b += y * y
    }
    const value = a > 0 && b > 0 ? product / Math.sqrt(a * b) : 0
    if (value > found.value) found = { value, lag }
  }
  return found
}
