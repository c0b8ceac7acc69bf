import t from 'tap'
import { createLoopbackProvider } from '../../providers/loopback/provider.ts'
import { listen, telephone } from './streaming.ts'

const provider = createLoopbackProvider({ id: 'loopback' })
const frame = Uint8Array.from({ length: 320 }, (_, i) => i)
const text = Buffer.from(frame.subarray(0, 24)).toString('base64')
const untimed = (transcripts: readonly object[]) => transcripts.map((transcript) => ({ ...transcript, atMs: 0 }))
const interim = { utterance: 0, text, isFinal: false, speechFinal: false, startMs: 0, endMs: 20, atMs: 0 }

t.test('the adapter loopback answers each frame at once, and computes times from the number of bytes', async (t) => {
  const { stream, transcripts, over } = await listen(provider)
  stream.audio(frame)
  t.same(untimed(transcripts), [interim])
  stream.audio(frame.subarray(100, 110))
  const short = Buffer.from(frame.subarray(100, 110)).toString('base64')
  t.match(transcripts[1], { text: short, startMs: 20, endMs: 21 })
  stream.flush()
  t.match(transcripts[2], { utterance: 0, text: short, isFinal: true, speechFinal: true, startMs: 0, endMs: 21 })
  stream.flush()
  t.equal(transcripts.length, 3, 'nothing was said since')
  stream.audio(frame)
  stream.end()
  t.match(transcripts[4], { utterance: 1, text, isFinal: true, startMs: 21, endMs: 41 })
  t.equal(await over, 'ended')
  t.equal(stream.bufferedBytes, 0)
})

t.test(
  'the adapter loopback sends interim transcripts only on request, in all encodings, and none after the end',
  async (t) => {
    const finals = await listen(provider, { interimResults: false, audio: { ...telephone, encoding: 'mulaw' } })
    finals.stream.audio(frame)
    t.same(finals.transcripts, [])
    finals.stream.end()
    t.match(finals.transcripts, [{ isFinal: true, endMs: 40 }])
    const packets = await listen(provider, { audio: { encoding: 'opus', sampleRateHz: 48_000, channels: 1 } })
    packets.stream.audio(frame)
    packets.stream.audio(frame)
    t.match(packets.transcripts[1], { startMs: 20, endMs: 40 })
    packets.leave()
    for (const { stream, transcripts } of [finals, packets]) {
      const before = transcripts.length
      stream.audio(frame)
      stream.flush()
      stream.end()
      stream.close()
      t.equal(transcripts.length, before)
    }
  },
)
