/**
 * An interrupted turn's text is exact if the voice reports word ends. The voice is the embedded engine, with every
 * change that a session makes to text or audio. The audio is cut at any moment.
 */
import t from 'tap'
import { openFlite } from '../../providers/local/voices/flite.ts'
import { recognised } from '../audio/build.ts'
import { fixture, native, openLocal } from '../local/setup.ts'
import { wordErrors } from '../speech/words.ts'
import { type Given, spoken } from './spoken-turn.ts'

const local = openLocal(t)
const flite = await openFlite()

/** Returns the token ends on the turn's time line. The engine reports them for each sentence separately. */
async function tokenEnds(sentences: readonly string[], { voice = 'slt', speed = 1 }: Given, durationMs: number) {
  const all = await Promise.all(sentences.map((sentence) => flite.speak(sentence, voice, speed)))
  const wholeMs = all.reduce((sum, { samples }) => sum + samples.length / 32, 0)
  const endsMs: number[] = []
  let fromMs = durationMs - wholeMs
  for (const { samples, ends } of all) {
    endsMs.push(...ends.map(({ endMs }) => fromMs + endMs))
    fromMs += samples.length / 32
  }
  return endsMs
}

/**
 * Turns and their sentences. `tokens` is the number of engine tokens in each word; if absent, each word has one token.
 */
const turns: (Given & { sentences: string[]; tokens?: number[] })[] = [
  {
    text: 'We have three rooms with a view of the lake, and one without. Which one would you like?',
    sentences: ['We have three rooms with a view of the lake, and one without.', 'Which one would you like?'],
  },
  {
    text: 'It costs €5 or $4.50, café included… “really”, 20 % off! Call 555-1234 by 10:30 a.m., please.',
    voice: 'rms',
    sentences: [
      'It costs five euros or four dollars and fifty cents, cafe included...',
      '"really", twenty percent off!',
      'Call five five five, one two three four by ten thirty a.m., please.',
    ],
    tokens: [1, 1, 2, 1, 5, 1, 1, 1, 1, 1, 1, 1, 7, 1, 2, 1, 1],
  },
  {
    text: 'SQL is easy; SQL is fun. Dr. Nguyen said — quite rightly — that NATO needs it.',
    dictionary: { SQL: 'structured query language', Nguyen: 'win', NATO: 'Nay. Toe' },
    voice: 'awb',
    speed: 1.25,
    sentences: [
      'structured query language is easy;',
      'structured query language is fun.',
      'Doctor win said, quite rightly, that Nay.',
      'Toe needs it.',
    ],
    tokens: [3, 1, 1, 3, 1, 1, 1, 1, 1, 0, 1, 1, 0, 1, 2, 1, 1],
  },
  {
    text: 'Slowly now: every word counts! And again, at another rate.',
    speed: 0.7,
    rateHz: 24_000,
    sentences: ['Slowly now:', 'every word counts!', 'And again, at another rate.'],
  },
  {
    text: 'Over the telephone this is spoken as well. Goodbye.',
    rateHz: 8000,
    voice: 'kal16',
    sentences: ['Over the telephone this is spoken as well.', 'Goodbye.'],
  },
]

/** Returns the end time for each word in the text. */
async function wordEnds(turn: (typeof turns)[number], durationMs: number): Promise<number[]> {
  const shown = turn.text.split(' ')
  const endsMs = await tokenEnds(turn.sentences, turn, durationMs)
  const counts = turn.tokens ?? shown.map(() => 1)
  t.equal(counts.length, shown.length)
  t.equal(
    counts.reduce((sum, count) => sum + count, 0),
    endsMs.length,
    `each token of the engine belongs to a word of ${turn.text}`,
  )
  let token = 0
  // The voice engine has no token for a dash, so a dash ends with the word before it.
  return counts.map((count) => endsMs[(token += count) - 1] ?? 0)
}

t.test('with word timings the played text is exact at every moment, even after audio processing', async (t) => {
  let cuts = 0
  for (const turn of turns) {
    const { speech, durationMs } = await spoken(t, local, turn)
    const shown = turn.text.split(' ')
    const wordEndsMs = await wordEnds(turn, durationMs)
    const wrong: string[] = []
    // The step is not a multiple of a frame or sample, so the cuts come at all positions within them.
    for (let atMs = 0.3; atMs < durationMs; atMs += 1.7, cuts++) {
      // Near a word's end no text is expected, because resampling and rounding shift the end by less than a sample at 8
      // kHz.
      if (wordEndsMs.some((endMs) => Math.abs(endMs - atMs) < 0.2)) continue
      const expected = shown.slice(0, wordEndsMs.filter((endMs) => endMs < atMs).length).join(' ')
      const text = speech.playedText(atMs)
      if (text !== expected) wrong.push(`${atMs.toFixed(1)}: ${text} | ${expected}`)
    }
    t.same(wrong.slice(0, 3), [], turn.text)
    t.equal(speech.playedText(durationMs), turn.text)
  }
  t.comment(`${cuts} cuts`)
})

t.test('the played text matches the speech-to-text transcript of the played audio', async (t) => {
  const { speech, samples, durationMs } = await spoken(t, local, {
    text: 'We have three rooms with a view of the lake, and one without. Our opening hours are from nine in the morning to six in the evening, and on Saturdays we close at noon.',
    voice: 'rms',
  })
  let errors = 0
  let words = 0
  const endsMs: number[] = []
  for (let ms = 0, before = ''; ms < durationMs; ms += 5) {
    const text = speech.playedText(ms)
    if (text !== before) endsMs.push(ms)
    before = text
  }
  for (let word = 4; word < endsMs.length; word += 3) {
    const atMs = endsMs[word]!
    const played = Int16Array.from(samples.slice(0, atMs * 16))
    const { text } = await local.transcribe(
      recognised([new Uint8Array(played.buffer)], { ...native, encoding: 'pcm_s16le' }),
    )
    const count = wordErrors(speech.playedText(atMs), text)
    t.ok(count.errors <= 1, `${speech.playedText(atMs)} | ${text}`)
    errors += count.errors
    words += count.words
  }
  t.comment(`${errors} of ${words} words of the cut audio are recognized as others`)
  t.ok(errors <= 0.03 * words)
})

t.test('without word timings a word aligner finds the played words in the processed audio', async (t) => {
  await local.transcribe(fixture('tt-weasels'))
  const aligner = local.provider.ports.speech!.aligner!
  const signal = new AbortController().signal
  const short: number[] = []
  for (const turn of turns) {
    const { speech, durationMs } = await spoken(t, local, { ...turn, hidesTimes: true })
    const wordEndsMs = await wordEnds(turn, durationMs)
    for (let atMs = 150; atMs < durationMs; atMs += 470) {
      const cut = speech.cutAt(atMs)
      const { rateHz: sampleRateHz = 16_000 } = turn
      if (cut !== null) cut.reportPlace(await aligner.spokenUpTo({ ...cut, sampleRateHz }, signal))
      const text = speech.playedText(atMs)
      const words = wordEndsMs.filter((endMs) => endMs <= atMs + 0.2).length
      const found = text.split(' ').filter((word) => word !== '').length
      if (found > words) t.fail(`at ${atMs} ms, where the next word ends at ${wordEndsMs[words]}: ${text}`)
      short.push(words - found)
    }
    t.equal(speech.cutAt(durationMs), null, 'nothing is to be found at the end')
  }
  t.comment(`words that were played and not found: ${short.join(' ')}`)
  t.ok(short.filter((words) => words <= 1).length >= 0.95 * short.length)
})
