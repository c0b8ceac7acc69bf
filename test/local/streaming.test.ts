/**
 * Live recognition runs with real models in real child processes. The figures are printed; PARLEY_TEST_SLOW=1 plays all
 * recordings.
 */
import { readFileSync } from 'node:fs'
import t from 'tap'
import { convertChannels, decodeSamples, encodeSamples } from '../../audio/pcm.ts'
import { packetsOf, readFixture, spoken } from '../speech/fixtures.ts'
import { loadPrompts } from '../speech/prompts.ts'
import { type ErrorCount, errorRate, wordErrors } from '../speech/words.ts'
import { eventually, isRunning, openLocal, outcome } from './setup.ts'
import { feed, finalText, listen, median, silence, speakInto, telephone } from './streaming.ts'

const slow = process.env['PARLEY_TEST_SLOW'] === '1'
const loaded = await loadPrompts()
const skip = 'missing' in loaded ? loaded.missing : false
const prompts =
  'prompts' in loaded ? loaded.prompts.map((prompt) => ({ ...prompt, samples: prompt.wav.subarray(44) })) : []
const local = openLocal(t)
const { provider } = local
const prompt = readFixture('privacy-prompt').subarray(44)
const text = spoken['privacy-prompt']
const errors = (expected: string, actual: string) => wordErrors(expected, actual).errors

t.test('streamed recordings are recognized, faster than they were spoken', { skip, timeout: 200_000 }, async (t) => {
  const counts: ErrorCount[] = []
  const chosen = slow ? prompts : prompts.filter((_, i) => i % 3 === 0)
  const startedMs = performance.now()
  for (const { samples, text } of chosen) {
    const { stream, transcripts, over } = await listen(provider)
    await feed(stream, samples)
    stream.end()
    t.equal(await over, 'ended')
    counts.push(wordErrors(text, finalText(transcripts)))
  }
  const rate = errorRate(counts)
  t.comment(
    `${chosen.length} prompts in ${Math.round(performance.now() - startedMs)} ms: ${(100 * rate).toFixed(2)} % of words wrong`,
  )
  t.ok(chosen.length >= 20)
  t.ok(rate <= 0.06)
  t.equal(local.started.length, 1, 'by one process')
})

t.test('streamed recordings are recognized at the speed of speech', { skip, timeout: 200_000 }, async (t) => {
  const firsts: number[] = []
  const finals: number[] = []
  const floors: number[] = []
  const counts: ErrorCount[] = []
  const endpointMs = 480
  for (const { samples, text } of slow ? prompts.slice(0, 20) : prompts.slice(0, 8)) {
    const { stream, transcripts, starts, over } = await listen(provider, { endpointingMs: endpointMs })
    const startedMs = await speakInto(stream, Buffer.concat([samples, silence(1200)]))
    stream.end()
    t.equal(await over, 'ended')
    const first = transcripts[0]!
    firsts.push(first.atMs - startedMs - starts[0]!.startMs)
    for (const { speechFinal, endMs, atMs } of transcripts)
      if (speechFinal) finals.push(atMs - startedMs - endMs - endpointMs)
    counts.push(wordErrors(text, finalText(transcripts)))
    t.notOk(first.isFinal)
    floors.push(await recognitionMs(samples))
  }
  const floorMs = median(floors)
  t.comment(
    `first partial ${Math.round(median(firsts))} ms after speech starts, final ${Math.round(median(finals))} ms after the endpoint, recognition ${Math.round(floorMs)} ms`,
  )
  t.comment(`${(100 * errorRate(counts)).toFixed(2)} % of words wrong`)
  t.ok(median(firsts) <= 600 + 2 * floorMs)
  t.ok(median(finals) <= 100 + 2 * floorMs)
})

/**
 * Returns the time the recognizer alone needs for a whole recording. No stream on this machine can be faster at this
 * moment.
 */
async function recognitionMs(samples: Uint8Array): Promise<number> {
  const { stream, transcripts, over } = await listen(provider, { endpointingMs: 3000, interimResults: false })
  await feed(stream, samples)
  await eventually(() => stream.bufferedBytes === 0)
  const startedMs = performance.now()
  stream.end()
  await over
  return (transcripts.at(-1)?.atMs ?? Number.NaN) - startedMs
}

t.test('utterances are counted, have times, and end with a pause', async (t) => {
  const { stream, transcripts, starts, over } = await listen(provider)
  await feed(stream, Buffer.concat([silence(1000), prompt, silence(1500), prompt, silence(1500)]))
  stream.end()
  t.equal(await over, 'ended')
  const finals = transcripts.filter(({ isFinal }) => isFinal)
  t.same(
    finals.map(({ utterance, speechFinal }) => [utterance, speechFinal]),
    [
      [0, true],
      [1, true],
    ],
  )
  t.equal(starts.length, 2)
  const promptMs = prompt.length / 16
  finals.forEach(({ startMs, endMs, text: said }, i) => {
    const expectedMs = 1000 + i * (promptMs + 1500)
    t.equal(errors(text, said), 0, said)
    t.ok(Math.abs(startMs - expectedMs) < 400, `starts at ${startMs}`)
    t.ok(Math.abs(endMs - expectedMs - promptMs) < 600, `ends at ${endMs}`)
    t.ok(starts[i]!.atMs < finals[i]!.atMs && starts[i]!.startMs === startMs)
  })
})

t.test('interim transcripts grow towards the final transcript, and are sent only on request', async (t) => {
  const [asking, waiting] = await Promise.all([listen(provider), listen(provider, { interimResults: false })])
  const said = Buffer.concat([prompt, silence(800)])
  await Promise.all([speakInto(asking.stream, said), speakInto(waiting.stream, said)])
  for (const { stream, over } of [asking, waiting]) {
    stream.end()
    t.equal(await over, 'ended')
  }
  t.ok(asking.transcripts.filter(({ isFinal }) => !isFinal).length >= 2)
  t.ok(asking.transcripts.every(({ utterance }) => utterance === 0))
  t.same(
    waiting.transcripts.map(({ isFinal }) => isFinal),
    [true],
  )
  t.equal(waiting.transcripts[0]!.text, asking.transcripts.at(-1)!.text)
})

t.test('long speech without a pause becomes several final transcripts of one utterance', async (t) => {
  const times = 8
  const { stream, transcripts, over } = await listen(provider, { endpointingMs: 3000, interimResults: false })
  await feed(stream, Buffer.concat(new Array<Uint8Array>(times).fill(prompt)))
  stream.end()
  t.equal(await over, 'ended')
  t.ok(transcripts.length >= 2)
  t.ok(transcripts.every(({ utterance, isFinal }) => utterance === 0 && isFinal))
  t.same(
    transcripts.map(({ speechFinal }) => speechFinal),
    transcripts.map((_, i) => i === transcripts.length - 1),
  )
  const { errors: wrong, words } = wordErrors(new Array(times).fill(text).join(' '), finalText(transcripts))
  t.ok(wrong <= words * 0.15, `${wrong} of ${words}`)
})

t.test('flush sends the speech so far as a final transcript', async (t) => {
  const { stream, transcripts, over } = await listen(provider, { endpointingMs: 3000 })
  stream.flush()
  await feed(stream, prompt)
  stream.flush()
  t.ok(await eventually(() => transcripts.some(({ isFinal }) => isFinal)))
  t.match(transcripts.at(-1), { utterance: 0, speechFinal: true })
  t.equal(errors(text, transcripts.at(-1)!.text), 0)
  await feed(stream, prompt)
  stream.end()
  t.equal(await over, 'ended')
  t.match(transcripts.at(-1), { utterance: 1, speechFinal: true })
})

t.test('silence and noise give no transcript', async (t) => {
  let seed = 1
  const noise = () => (seed = (seed * 1664525 + 1013904223) % 2 ** 32) / 2 ** 31 - 1
  const hiss = Buffer.from(Int16Array.from({ length: 40_000 }, () => 1000 * noise()).buffer)
  const { stream, transcripts, starts, over } = await listen(provider)
  await feed(stream, Buffer.concat([silence(3000), hiss, silence(3000)]))
  stream.flush()
  stream.end()
  t.equal(await over, 'ended')
  t.same([transcripts, starts], [[], []])
})

t.test('streams in other encodings, rates and channels are recognized, with frames cut anywhere', async (t) => {
  const mono = decodeSamples(prompt, 'pcm_s16le')
  const wide = Float32Array.from({ length: mono.length * 6 }, (_, i) => mono[Math.floor(i / 6)]!)
  const formats = [
    { audio: { ...telephone, encoding: 'mulaw' as const }, bytes: encodeSamples(mono, 'mulaw') },
    {
      audio: { encoding: 'alaw' as const, sampleRateHz: 8000, channels: 2 },
      bytes: encodeSamples(convertChannels(mono, 1, 2), 'alaw'),
    },
    { audio: { ...telephone, sampleRateHz: 48_000 }, bytes: encodeSamples(wide, 'pcm_s16le') },
  ]
  for (const { audio, bytes } of formats) {
    const { stream, transcripts, over } = await listen(provider, { audio })
    await feed(stream, bytes, { bytes: 777, aheadMs: 10_000 })
    stream.end()
    t.equal(await over, 'ended')
    t.ok(errors(text, finalText(transcripts)) <= 1, `${JSON.stringify(audio)}: ${finalText(transcripts)}`)
  }
})

t.test('packets of Opus are recognized at every rate that they can have', async (t) => {
  const packets = await packetsOf('privacy-prompt')
  for (const sampleRateHz of [48_000, 16_000]) {
    const audio = { encoding: 'opus' as const, sampleRateHz, channels: 1 }
    const { stream, transcripts, starts, over } = await listen(provider, { audio })
    for (const packet of packets) stream.audio(packet)
    const [ahead] = [stream.bufferedBytes / 16]
    t.ok(Math.abs(ahead - prompt.length / 16) < 100, `${ahead} ms are ahead`)
    stream.end()
    t.equal(await over, 'ended')
    t.equal(errors(text, finalText(transcripts)), 0, finalText(transcripts))
    const { startMs, endMs } = transcripts.at(-1)!
    t.ok(startMs < 400 && Math.abs(endMs - prompt.length / 16) < 600, `from ${startMs} to ${endMs} ms`)
    t.equal(starts.length, 1)
  }
  const surround = { encoding: 'opus' as const, sampleRateHz: 48_000, channels: 6 }
  t.equal(await outcome(listen(provider, { audio: surround })), 'unsupported unsent')
})

t.test('streams in one process get their own transcripts, and a stream beyond the limit is refused', async (t) => {
  const { provider, started } = openLocal(t, { sttStreamsMax: 3 })
  const names = ['privacy-prompt', 'tt-weasels', 'please-try-call-later'] as const
  const streams = await Promise.all(names.map(() => listen(provider)))
  t.equal(started.length, 1)
  const refused = await listen(provider).catch((error: unknown) => error)
  t.match(refused, { errorClass: 'overloaded', sent: false, retryAfterS: Number })
  await Promise.all(
    names.map(async (name, i) => {
      const { stream, transcripts, over } = streams[i]!
      await speakInto(stream, Buffer.concat([readFixture(name).subarray(44), silence(700)]))
      stream.end()
      t.equal(await over, 'ended')
      t.ok(errors(spoken[name], finalText(transcripts)) <= 1, finalText(transcripts))
    }),
  )
  const next = await listen(provider)
  next.stream.close()
})

t.test('a stream that is closed in mid-speech gets no more transcripts, and a new stream may open', async (t) => {
  const { provider, started, ended, clock } = openLocal(t, { sttStreamsMax: 1, idleMs: 5000 })
  const { stream, transcripts } = await listen(provider)
  await feed(stream, prompt)
  const before = transcripts.length
  stream.close()
  stream.close()
  stream.audio(prompt)
  const second = await listen(provider)
  t.equal(transcripts.length, before)
  second.leave()
  const third = await listen(provider)
  third.stream.end()
  t.equal(await third.over, 'ended')
  t.equal(clock.timers, 1, 'only the idle timer is left')
  clock.pass(5000)
  t.ok(await eventually(() => ended.length === 1))
  t.same(ended, started)
  const gone = AbortSignal.abort()
  const sink = { speechStarted() {}, transcript() {}, ended() {}, failed() {} }
  const request = { model: 'moonshine-tiny-en', audio: telephone, interimResults: true, words: false }
  t.equal(await outcome(provider.ports.speech!.stt!.open!(request, sink, gone)), 'cancelled unsent')
})

t.test('if a speech process is killed, its streams fail, and a process that hangs is killed', async (t) => {
  const { provider, started, clock } = openLocal(t)
  const both = await Promise.all([listen(provider), listen(provider)])
  process.kill(started[0]!, 'SIGKILL')
  t.same(await Promise.all(both.map(({ over }) => over)), ['server', 'server'])
  const [closing, beside] = await Promise.all([listen(provider), listen(provider)])
  process.kill(started[1]!, 'SIGSTOP')
  closing.stream.close()
  clock.pass(2000)
  t.equal(await beside.over, 'server')
  const opening = outcome(listen(provider))
  t.ok(await eventually(() => started.length === 3))
  await provider.close()
  t.equal(await opening, 'server sent')
  t.notOk(started.some(isRunning))
  t.equal(clock.timers, 0)
  t.equal(await outcome(listen(provider)), 'unreachable unsent')
})

t.test(
  'half an hour of audio through one stream does not increase the memory of the speech process',
  { skip: slow ? false : 'half an hour of audio: PARLEY_TEST_SLOW=1', timeout: 600_000 },
  async (t) => {
    const { provider, started } = openLocal(t)
    const { stream, transcripts, over } = await listen(provider)
    const said = Buffer.concat([prompt, silence(700)])
    const times = Math.ceil(1_800_000 / (said.length / 16))
    const sizes: number[] = []
    for (let i = 0; i < times; i++) {
      await feed(stream, said, { bytes: 640 })
      if (i % Math.floor(times / 10) === 0) sizes.push(residentMb(started[0]!))
    }
    stream.end()
    t.equal(await over, 'ended')
    t.comment(`MB: ${sizes.join(' ')}`)
    t.equal(transcripts.at(-1)!.utterance, times - 1)
    t.ok(sizes.at(-1)! - sizes[2]! < 40)
  },
)

function residentMb(pid: number): number {
  return Math.round(Number(/^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))![1]) / 1024)
}

t.test('a flush while somebody speaks loses no speech', { timeout: 60_000 }, async (t) => {
  const samples = readFixture('please-try-call-later').subarray(44)
  for (const flushMs of [140, 300, 400, 460, 520, 600, 700]) {
    const { stream, transcripts, over } = await listen(provider)
    await feed(stream, samples.subarray(0, flushMs * 16))
    stream.flush()
    await feed(stream, samples.subarray(flushMs * 16))
    await feed(stream, silence(1000))
    stream.end()
    t.equal(await over, 'ended')
    const finals = transcripts.filter(({ isFinal, text }) => isFinal && text !== '')
    t.ok(finals.at(-1)!.endMs > 2000, `flushed after ${flushMs} ms: ${finalText(transcripts)}`)
    // If the flush comes this early, the model finds no word yet, so all speech is recognized together and without an
    // error.
    if (flushMs <= 460) t.equal(errors(spoken['please-try-call-later'], finalText(transcripts)), 0)
  }
})
