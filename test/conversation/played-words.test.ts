/**
 * The text of an interrupted turn is compared with the embedded voice, whose engine reports each word's end (`flite
 * -voice <voice> -psdur`).
 */
import t from 'tap'
import { PlayedText } from '../../domain/conversation/speaking/played-text.ts'
import { openFlite } from '../../providers/local/voices/flite.ts'

/** Sentences with each word's end in ms, as the engine reports it. */
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
const stepMs = 20

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

/** More sentences, which were not used to fit the estimate. */
const others = [
  'Good morning, this is Ada from the dental practice, how may I help you?',
  'I can offer you Thursday at 2:15 or Friday at 9.',
  'Your balance is $89.99, and the next payment of $12 is due on June 30.',
  'Hm, I see.',
  'Congratulations on your retirement!',
  'She sells sea shells by the sea shore, does she not?',
  'If it rains we go in, if it is dry we go out.',
  'The characteristics of extraterrestrial organisms are, unsurprisingly, entirely hypothetical.',
  'A, B, C, D, E, F, and G.',
  'Right, so what I am going to do now is put you through to someone in our billing department who can look at that.',
]
const speeds = [0.8, 1.2]

for (const aheadMs of [500, Number.POSITIVE_INFINITY])
  t.test(`without word timings the played text is never too long, with audio ${aheadMs} ms ahead`, async (t) => {
    const flite = await openFlite()
    const short = [0, 0, 0, 0]
    let moments = 0
    for (const voice of ['rms', 'slt', 'awb', 'kal16'])
      for (const speed of speeds)
        for (const text of others) {
          const speech = await flite.speak(text, voice, speed)
          const samples = new Int16Array(speech.samples.slice().buffer)
          const played = new PlayedText(rateHz, speed)
          played.sentence(text)
          const lastMs = speech.ends.at(-1)?.endMs ?? 0
          for (let atMs = 0, pushed = 0; atMs < lastMs; atMs += stepMs, moments++) {
            const to = Math.min(samples.length, (atMs + aheadMs) * (rateHz / 1000))
            played.audio(samples.subarray(pushed, to))
            pushed = to
            if (to === samples.length) played.complete()
            const place = speech.ends.findLast(({ endMs }) => endMs <= atMs)?.place ?? 0
            const spoken = text.slice(0, place).split(' ').filter(Boolean).length
            const counted = played.at(atMs).split(' ').filter(Boolean).length
            if (counted > spoken) t.fail(`${voice} ${speed} at ${atMs} ms: ${played.at(atMs)}`)
            const words = Math.min(3, Math.max(0, spoken - counted))
            short[words] = (short[words] ?? 0) + 1
          }
        }
    const percents = short.map((count) => (100 * count) / moments)
    t.comment(`none, one, two, more words short: ${percents.map((part) => part.toFixed(1)).join(', ')} %`)
    // If the end of the sentence is unknown, the estimate assumes the slowest voice, so the played text lacks more
    // words.
    const most = Number.isFinite(aheadMs) ? 60 : 5
    t.ok(percents[3]! <= most, `at most ${most} % are more than two words short`)
  })
