import t from 'tap'
import type { Recording } from '../../audio/format.ts'
import { collect, failure, hear, json, never, openStub, say, sendPieces, until, wav } from './openai-setup.ts'
import { stubSpeech, transcriptOf } from './stub-openai.ts'

const { stub, real } = await openStub(t)

t.test('transcription: the recording is sent unchanged', async (t) => {
  const transcript = await real.stt.transcribe(hear, never)
  const file = Buffer.concat(wav.chunks)
  const text = transcriptOf(file)
  t.same(transcript, { text, segments: [{ text, startMs: 0, endMs: 1250 }], billedMs: 2000 })
  const { parts = [], headers } = stub.requests.at(-1) ?? {}
  t.same(
    parts.map(({ name, body }) => [name, name === 'file' ? body.length : body.toString()]),
    [
      ['model', 'whisper'],
      ['response_format', 'json'],
      ['file', 24],
    ],
  )
  t.match(parts.at(-1), { filename: 'audio.wav', type: 'audio/wav', body: file })
  t.ok(Number(headers?.['content-length']) > 24, 'the length is known')
})

t.test('transcription: language, prompt and word times reach the server', async (t) => {
  const options = { prompt: 'Parley\r\nand "quotes"', wordTimestamps: true }
  const transcript = await real.stt.transcribe({ ...hear, language: 'es-MX', options }, never)
  const text = transcriptOf(Buffer.concat(wav.chunks))
  t.same(transcript.segments, [{ text, startMs: 0, endMs: 1250 }])
  t.match(transcript.words, [
    { text: 'heard', startMs: 0, endMs: 400 },
    { startMs: 500, endMs: 900 },
  ])
  t.equal(transcript.language, 'es-MX', 'the name of a language is no tag')
  t.same(
    stub.requests
      .at(-1)
      ?.parts.slice(0, -1)
      .map(({ name, body }) => [name, body.toString()]),
    [
      ['model', 'whisper'],
      ['language', 'es'],
      ['prompt', options.prompt],
      ['response_format', 'verbose_json'],
      ['timestamp_granularities[]', 'word'],
      ['timestamp_granularities[]', 'segment'],
    ],
  )
  stub.behave(json({ text: 'no times here' }))
  t.equal((await failure(real.stt.transcribe({ ...hear, options }, never))).errorClass, 'unsupported')
})

t.test('transcription: raw samples get a WAV header, and silence is a success', async (t) => {
  const chunks = [Buffer.alloc(5, 1), Buffer.alloc(700_000, 2), Buffer.alloc(9, 3)]
  const format = { container: 'raw', encoding: 'mulaw', sampleRateHz: 8000, channels: 1 } as const
  const recording: Recording = { chunks, bytes: 700_014, format, dataOffset: 4, dataBytes: 700_003, durationMs: 87_500 }
  await real.stt.transcribe({ ...hear, recording }, never)
  const file = stub.requests.at(-1)?.parts.at(-1)?.body ?? Buffer.alloc(0)
  t.equal(file.toString('latin1', 0, 4), 'RIFF')
  t.equal(file.readUInt16LE(20), 7, 'mu-law')
  t.same(file.subarray(-700_003), Buffer.concat([Buffer.alloc(1, 1), Buffer.alloc(700_000, 2), Buffer.alloc(2, 3)]))
  stub.behave({ kind: 'empty' })
  t.same(await real.stt.transcribe(hear, never), { text: '', segments: [], billedMs: 2000 })
  const opus: Recording = { ...recording, format: { ...format, encoding: 'opus' } }
  const error = await failure(real.stt.transcribe({ ...hear, recording: opus }, never))
  t.match({ ...error }, { errorClass: 'unsupported', sent: false })
})

t.test("speech: the request's fields reach the server, and each audio chunk has whole samples", async (t) => {
  const speech = await real.tts.synthesize(say, never)
  t.same(speech.format, { encoding: 'pcm_s16le', sampleRateHz: 24_000, channels: 1 })
  t.same(Buffer.concat(await collect(speech.audio)), stubSpeech)
  t.same(stub.requests.at(-1)?.json, { model: 'voice', input: 'Hello', voice: 'alloy', response_format: 'pcm' })
  stub.behave({ kind: 'half_sample' })
  const outputFormat = { encoding: 'opus', sampleRateHz: 48_000, channels: 1 } as const
  const full = await real.tts.synthesize(
    { ...say, voice: 'nova', instructions: 'Softly.', speed: 1.5, outputFormat },
    never,
  )
  t.equal(full.format.encoding, 'pcm_s16le', 'the Content-Type decides, not the wish')
  t.same(Buffer.concat(await collect(full.audio)), stubSpeech)
  t.match(stub.requests.at(-1)?.json, { voice: 'nova', instructions: 'Softly.', speed: 1.5, response_format: 'opus' })
  stub.behave({ kind: 'empty' })
  t.same(await collect((await real.tts.synthesize(say, never)).audio), [], 'the caller judges an empty answer')
})

t.test('speech: the header of a WAV file is not played as audio', async (t) => {
  const header = Buffer.from(
    '52494646ffffffff57415645' +
      '4c4953540500000001020304050' +
      '0666d742010000000' +
      '0100010022560000' +
      '44ac0000' +
      '02001000' +
      '64617461ffffffff',
    'hex',
  )
  for (const pieces of [
    [header, stubSpeech],
    [Buffer.concat([header, stubSpeech])],
    [...Array.from(header, (byte) => Buffer.from([byte])), stubSpeech],
  ]) {
    stub.behave({ kind: 'custom', answer: (_, response) => void sendPieces(response, 'audio/wav', pieces) })
    const speech = await real.tts.synthesize(say, never)
    t.same(speech.format, { encoding: 'pcm_s16le', sampleRateHz: 22_050, channels: 1 })
    t.same(Buffer.concat(await collect(speech.audio)), stubSpeech)
  }
  const answers: [type: string, body: Buffer][] = [
    ['audio/wav', header.subarray(0, 20)],
    ['audio/wav', Buffer.from('<html>this is no audio</html>')],
    ['audio/mpeg', Buffer.from('ID3')],
    ['text/html', Buffer.from('<html>')],
  ]
  for (const [type, body] of answers) {
    stub.behave({ kind: 'custom', answer: (_, response) => void sendPieces(response, type, [body]) })
    t.equal((await failure(real.tts.synthesize(say, never))).errorClass, 'protocol', type)
  }
})

t.test('speech: Ogg is passed through, and the sample rate in the Content-Type is used', async (t) => {
  const format = async (type: string) => {
    stub.behave({ kind: 'custom', answer: (_, response) => void sendPieces(response, type, [stubSpeech]) })
    const speech = await real.tts.synthesize(say, never)
    await collect(speech.audio)
    return speech.format
  }
  t.same(await format('audio/opus'), { encoding: 'opus', sampleRateHz: 48_000, channels: 1 })
  t.match(await format('audio/pcm; rate=16000'), { encoding: 'pcm_s16le', sampleRateHz: 16_000 })
  t.match(await format('application/octet-stream'), { encoding: 'pcm_s16le', sampleRateHz: 24_000 })
})

t.test('speech is passed on as it arrives, and a slow reader slows the server down', async (t) => {
  let written = 0
  stub.behave({
    kind: 'custom',
    answer: (_, response) => {
      response.writeHead(200, { 'content-type': 'audio/pcm' })
      const chunk = Buffer.alloc(65_536)
      const more = () => {
        while (response.write(chunk)) written += chunk.length
      }
      response.on('drain', more)
      more()
    },
  })
  const speech = await real.tts.synthesize(say, never)
  const audio = speech.audio[Symbol.asyncIterator]()
  await audio.next()
  let seen = -1
  await until(() => {
    const still = written === seen
    seen = written
    return still
  }, 50)
  t.ok(written < 32 * 1024 * 1024, 'what is not read is not sent')
  await audio.return?.()
  await stub.requests.at(-1)?.closed
})
