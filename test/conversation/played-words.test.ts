/**
 * The text of an interrupted turn against the embedded voice, whose engine knows when each word ends
 * (`flite -voice <voice> -psdur`).
 */
import t from 'tap'
import { PlayedText } from '../../domain/conversation/played-text.ts'
import { openFlite } from '../../providers/local/flite.ts'

/** The end of each word in ms. */
const sentences: readonly { voice: string; text: string; endsMs: readonly number[] }[] = [
  {
    voice: 'rms',
    text: 'We have three rooms with a view of the lake, and one without.',
    endsMs: [342, 583, 916, 1278, 1497, 1545, 1799, 1928, 2010, 2400, 2764, 3046, 3505],
  },
  {
    voice: 'slt',
    text: 'We have three rooms with a view of the lake, and one without.',
    endsMs: [321, 466, 709, 1134, 1279, 1304, 1508, 1622, 1678, 2095, 2362, 2568, 3129],
  },
  {
    voice: 'rms',
    text: 'Rome, Constantinople, Oslo, Bratislava, Nice, Johannesburg, Bonn, and Philadelphia.',
    endsMs: [528, 1862, 2368, 3217, 3774, 4917, 5326, 5689, 6558],
  },
  {
    voice: 'slt',
    text: 'Rome, Constantinople, Oslo, Bratislava, Nice, Johannesburg, Bonn, and Philadelphia.',
    endsMs: [578, 2073, 2677, 3578, 4221, 5299, 5723, 6014, 6835],
  },
  {
    voice: 'rms',
    text: 'I, you, we, everybody, she, the president, they, and somebody else.',
    endsMs: [360, 821, 1269, 2161, 2484, 2698, 3456, 4035, 4322, 4975, 5372],
  },
  {
    voice: 'slt',
    text: 'I, you, we, everybody, she, the president, they, and somebody else.',
    endsMs: [410, 891, 1342, 2226, 2623, 2872, 3509, 3782, 4172, 4786, 5183],
  },
  {
    voice: 'rms',
    text: 'Unfortunately the international representative is unavailable until the beginning of next month, so please leave a message.',
    endsMs: [1193, 1298, 2082, 3024, 3215, 4022, 4385, 4457, 5019, 5188, 5562, 5996, 6303, 6698, 7013, 7072, 7628],
  },
  {
    voice: 'slt',
    text: 'Unfortunately the international representative is unavailable until the beginning of next month, so please leave a message.',
    endsMs: [1099, 1250, 2191, 3055, 3169, 3865, 4243, 4320, 4775, 4884, 5311, 5711, 6035, 6432, 6776, 6829, 7396],
  },
  {
    voice: 'rms',
    text: 'Our opening hours are from nine in the morning to six in the evening, and on Saturdays we close at noon.',
    endsMs: [
      466, 999, 1496, 1651, 1935, 2259, 2413, 2499, 2937, 3047, 3530, 3683, 3807, 4130, 4435, 4707, 5460, 5635, 6127,
      6287, 6619,
    ],
  },
  {
    voice: 'slt',
    text: 'Our opening hours are from nine in the morning to six in the evening, and on Saturdays we close at noon.',
    endsMs: [
      566, 1051, 1405, 1569, 1851, 2173, 2271, 2323, 2714, 2810, 3203, 3295, 3461, 3972, 4236, 4448, 5056, 5214, 5558,
      5678, 6146,
    ],
  },
  {
    voice: 'rms',
    text: 'Thank you very much for calling, have a wonderful afternoon.',
    endsMs: [583, 742, 1035, 1288, 1455, 2156, 2473, 2521, 3251, 4008],
  },
  {
    voice: 'slt',
    text: 'Thank you very much for calling, have a wonderful afternoon.',
    endsMs: [513, 631, 954, 1176, 1363, 1825, 2126, 2185, 2807, 3569],
  },
]
const rateHz = 16_000
const stepMs = 10

t.test('the embedded voice reports when each word ends', async (t) => {
  const flite = await openFlite()
  for (const { voice, text, endsMs } of sentences) {
    const { ends } = await flite.speak(text, voice, 1)
    t.same(
      ends.map(({ endMs }) => Math.round(endMs)),
      endsMs,
      text,
    )
    t.same(
      ends.map(({ place }) => text.slice(0, place).split(' ').length),
      endsMs.map((_, i) => i + 1),
      'a word each',
    )
  }
})

t.test('the text of an interrupted sentence is never two words too long, and seldom one', async (t) => {
  const flite = await openFlite()
  const off = { long: 0, short: 0, moments: 0 }
  for (const { voice, text, endsMs } of sentences) {
    const samples = new Int16Array((await flite.speak(text, voice, 1)).samples.slice().buffer)
    const played = new PlayedText(rateHz)
    played.sentence(text)
    played.audio(samples)
    played.complete()
    const lastMs = endsMs.at(-1) ?? 0
    t.ok(lastMs < (1000 * samples.length) / rateHz, text)
    for (let atMs = 0; atMs < lastMs; atMs += stepMs) {
      const words = endsMs.filter((endMs) => endMs <= atMs).length
      const more = played.at(atMs).split(' ').filter(Boolean).length - words
      off.moments++
      if (more > 0) off.long++
      if (more < -1) off.short++
      if (more > 1) t.fail(`${voice} at ${atMs} ms: ${more} words too many of ${text}`)
    }
  }
  const part = (count: number) => count / off.moments
  t.comment(
    `a word too long ${(100 * part(off.long)).toFixed(1)} %, two or more short ${(100 * part(off.short)).toFixed(1)} %`,
  )
  t.ok(part(off.long) <= 0.04)
  t.ok(part(off.short) <= 0.1)
})
