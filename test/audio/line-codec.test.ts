/**
 * Phone line encodings are decoded and encoded. test/audio/samples.test.ts checks the G.711 tables against the
 * recommendation.
 */
import t from 'tap'
import { l16, pcma, pcmu } from '../../audio/line-codec.ts'

const every16 = Int16Array.from({ length: 65_536 }, (_, i) => i - 32_768)

t.test('L16 is big-endian, and decoding and encoding lose nothing', (t) => {
  const bytes = new Uint8Array(2 * every16.length)
  t.equal(l16.encode(every16, bytes), bytes.length)
  t.same(bytes.subarray(0, 4), [0x80, 0x00, 0x80, 0x01])
  const back = new Int16Array(every16.length)
  t.equal(l16.decode(bytes, bytes.length, back), every16.length)
  t.same(Buffer.compare(Buffer.from(back.buffer), Buffer.from(every16.buffer)), 0)
  t.equal(l16.decode(bytes, 5, back), 2, 'half a sample is dropped')
  t.end()
})

for (const { name, codec, silence, step } of [
  { name: 'mu-law', codec: pcmu, silence: 0xff, step: 8 },
  { name: 'A-law', codec: pcma, silence: 0xd5, step: 16 },
]) {
  t.test(`${name}: each code survives decoding and encoding, and each sample stays close to its value`, (t) => {
    const codes = Uint8Array.from({ length: 256 }, (_, i) => i)
    const samples = new Int16Array(every16.length)
    t.equal(codec.decode(codes, codes.length, samples), 256)
    const again = new Uint8Array(every16.length)
    t.equal(codec.encode(samples.subarray(0, 256), again), 256)
    const back = new Int16Array(256)
    codec.decode(again, 256, back)
    // Mu-law has two codes for zero, so only the decoded samples are compared.
    t.same(back, samples.subarray(0, 256))
    codec.encode(every16, again)
    codec.decode(again, again.length, samples)
    const worst = every16.reduce(
      (most, sample, i) => Math.max(most, Math.abs(sample - samples[i]!) / (Math.abs(sample) + step * 32)),
      0,
    )
    t.ok(worst < 0.04, `${worst} of the sample`)
    t.equal(codec.encode(Int16Array.of(0), again), 1)
    t.equal(again[0], silence)
    t.end()
  })
}
