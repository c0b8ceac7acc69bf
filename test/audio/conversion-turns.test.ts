/** Speech is converted in steps, each in a separate event loop turn, however large a provider's chunks are. */
import t from 'tap'
import { createConvertSpeech } from '../../audio/encode-output.ts'
import type { OutputFormat } from '../../audio/format.ts'
import { hasShortFilter } from '../../audio/frame-resampler.ts'
import { encodeSamples, frameBytes, isSampleEncoding } from '../../audio/pcm.ts'
import { createResampler } from '../../runtime/optional.ts'
import { cut, sine } from './build.ts'

const convertSpeech = createConvertSpeech(createResampler)
const native: OutputFormat = { encoding: 'pcm_s16le', sampleRateHz: 16_000, channels: 1 }
const spoken = encodeSamples(sine(440, 16_000, 1), 'pcm_s16le')

/**
 * A counted event loop turn may contain two steps with 8192 values each, because the count does not begin with a step.
 * It may also contain the samples that a filter has held back.
 */
const valuesInTurnMax = 2 * 8192 + 1500

/** Counts event loop turns until `end` is called. */
function countTurns(): { turns: () => number; end: () => void } {
  let turns = 0
  let timer = setImmediate(function next() {
    turns++
    timer = setImmediate(next)
  })
  return { turns: () => turns, end: () => clearImmediate(timer) }
}

async function* stream(chunks: Iterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  for (const chunk of chunks) yield await Promise.resolve(chunk)
}

/** Converts the chunks. Returns the number of values in total, and the largest number in one event loop turn. */
async function valuesOf(chunks: readonly Uint8Array[], to: OutputFormat, live: boolean) {
  if (!isSampleEncoding(to.encoding)) throw new Error('not a sample encoding')
  const valueBytes = frameBytes({ encoding: to.encoding, channels: 1 })
  const counted = countTurns()
  let [all, most, inTurn, turn] = [0, 0, 0, 0]
  for await (const piece of convertSpeech(stream(chunks), native, to, { live })) {
    if (turn !== counted.turns()) [turn, inTurn] = [counted.turns(), 0]
    inTurn += piece.length / valueBytes
    most = Math.max(most, inTurn)
    all += piece.length / valueBytes
  }
  counted.end()
  return { all, most }
}

const formats: Record<string, { to: OutputFormat; live: boolean }> = {
  'to 192 kHz': { to: { ...native, sampleRateHz: 192_000 }, live: false },
  'to eight channels of floats': { to: { encoding: 'pcm_f32le', sampleRateHz: 192_000, channels: 8 }, live: false },
  'to 8 kHz': { to: { ...native, sampleRateHz: 8000 }, live: false },
  'to another encoding': { to: { ...native, encoding: 'mulaw' }, live: false },
  'live to 192 kHz': { to: { ...native, sampleRateHz: 192_000 }, live: true },
  'live to an odd rate': { to: { ...native, sampleRateHz: 191_999 }, live: true },
}

for (const [what, { to, live }] of Object.entries(formats))
  t.test(`a second of audio in one chunk is converted ${what} in steps`, async (t) => {
    const { all, most } = await valuesOf([spoken], to, live)
    t.equal(all, to.sampleRateHz * to.channels)
    t.ok(most <= valuesInTurnMax, `${most} values`)
    const chunks = await valuesOf(cut(spoken, 640), to, live)
    t.equal(chunks.all, all)
    t.ok(chunks.most <= valuesInTurnMax, `${chunks.most} values of many chunks`)
  })

t.test('streams converted at the same time share each turn of the event loop', async (t) => {
  const counted = countTurns()
  const values = new Map<number, number>()
  const format: OutputFormat = { ...native, sampleRateHz: 192_000 }
  const convert = async () => {
    for await (const piece of convertSpeech(stream([spoken]), native, format)) {
      const turn = counted.turns()
      values.set(turn, (values.get(turn) ?? 0) + piece.length / 2)
    }
  }
  await Promise.all([convert(), convert(), convert(), convert()])
  counted.end()
  const most = Math.max(...values.values())
  t.ok(most <= valuesInTurnMax, `${most} values`)
})

t.test('organizations get equal shares of the conversion time, even if one has many streams', async (t) => {
  const format: OutputFormat = { ...native, sampleRateHz: 192_000 }
  const values = { hostile: 0, honest: 0 }
  let isOver = false
  const convert = async (owner: keyof typeof values) => {
    for await (const piece of convertSpeech(stream([spoken]), native, format, { live: false, owner })) {
      if (isOver) return
      values[owner] += piece.length / 2
    }
    isOver = true
  }
  const hostile = Array.from({ length: 20 }, () => convert('hostile'))
  await Promise.all([...hostile, convert('honest')])
  t.equal(values.honest, format.sampleRateHz, 'the honest stream ends first')
  t.ok(values.hostile < 2 * values.honest, `${values.hostile} values`)
})

t.test('the filter for a pair of sample rates is computed in one step only if the filter is short', (t) => {
  const usual = [8000, 11_025, 16_000, 22_050, 24_000, 32_000, 44_100, 48_000]
  for (const fromHz of usual) for (const toHz of usual) t.ok(hasShortFilter(fromHz, toHz), `${fromHz} to ${toHz}`)
  t.ok(hasShortFilter(24_000, 96_000))
  t.ok(hasShortFilter(11_025, 192_000))
  for (const toHz of [191_999, 8001, 47_999]) t.notOk(hasShortFilter(16_000, toHz), `${toHz}`)
  t.end()
})
