/**
 * An interrupted turn's text is exact with the voice Hibari. Some turns are written forms such as "$4.50" with several
 * spoken words, and some are long sentences with a cut after a clause.
 */
import t from 'tap'
import { sentences } from '../../domain/speech/reading/sentences.ts'
import { openHibari } from '../../providers/local/voices/hibari/hibari.ts'
import { hibariEngine } from '../../providers/local/voices/hibari/hibari-engine.ts'
import { hibariRateHz } from '../../providers/local/voices/hibari/waveform.ts'
import { recognised } from '../audio/build.ts'
import { native, openLocal } from '../local/setup.ts'
import { wordErrors, words } from '../speech/words.ts'
import { english } from '../speech/written-forms/english.ts'
import { spoken } from './spoken-turn.ts'

const local = openLocal(t)
const hibari = await openHibari()
const bytesPerMs = (hibariRateHz * 2) / 1000

/** These sentences are longer than `firstCharsMax`, so the voice speaks their first clause separately. */
const long = [
  'Thank you for calling us today, all of our lines are busy at the moment, please hold on.',
  'We have three rooms with a view of the lake, and one without a view.',
  'I can offer you Thursday at 2:15 p.m., or Friday at 9 a.m., whichever you prefer.',
  'Unfortunately the manager is away until next month, so please leave a message.',
  'Your balance is $89.99, and the next payment of $12 is due on June 30.',
  'If it rains we go in, if it is dry we go out, and that is all there is to it.',
]
const rates = [8000, 16_000, 24_000]
const texts = [...english.filter((_, row) => row % 2 === 0).map(([written]) => written), ...long]

/** Returns the texts of the engine's jobs for a sentence, each with its first character's place. */
function jobsOf(sentence: string): { text: string; at: number }[] {
  const clause = 'first clause'
  const comma = sentence.length > hibariEngine.firstCharsMax ? sentence.indexOf(', ', clause.length) : -1
  if (comma < 0) return [{ text: sentence, at: 0 }]
  return [
    { text: sentence.slice(0, comma + 1), at: 0 },
    { text: sentence.slice(comma + 2), at: comma + 2 },
  ]
}

type SpokenWord = { endMs: number; place: number }

/** Returns the end time for each spoken word in the turn's audio, and the word's end in the turn's text. */
async function spokenWords(text: string, durationMs: number): Promise<SpokenWord[]> {
  const words: SpokenWord[] = []
  let fromMs = 0
  for (const [index, sentence] of sentences(text, { language: 'en', charsMax: 120 }).entries())
    for (const job of index === 0 ? jobsOf(sentence.text) : [{ text: sentence.text, at: 0 }]) {
      const { samples, ends } = await hibari.speak(job.text, 'heart', 1)
      for (const { endMs, place } of ends)
        words.push({ endMs: fromMs + endMs, place: sentence.sourcePlace(job.at + place) })
      fromMs += samples.length / bytesPerMs
    }
  return words.map(({ endMs, place }) => ({ endMs: durationMs - fromMs + endMs, place }))
}

/** Returns the words that end at or before the place. Punctuation marks and a dash after a word are not spoken. */
function wordsUpTo(text: string, place: number): string {
  const whole = [...text.matchAll(/\S+(?: –)?/g)].filter(
    ({ 0: word, index }) => index + word.replace(/(?<=.)(?:[.,:;!?)"”…]+| –)$/, '').length <= place,
  )
  return whole.map(([word]) => word).join(' ')
}

t.test('the played text of at least 60 sentences is exact at every moment', async (t) => {
  t.ok(texts.length >= 60, `${texts.length} sentences`)
  let cuts = 0
  for (const [index, text] of texts.entries()) {
    const rateHz = rates[index % rates.length]!
    const { speech, durationMs } = await spoken(t, local, { text, engine: 'hibari', voice: 'heart', rateHz })
    const ends = await spokenWords(text, durationMs)
    const wrong: string[] = []
    // The step is not a multiple of a frame or sample, so the cuts come at all positions within them.
    for (let atMs = 0.3; atMs < durationMs; atMs += 1.7, cuts++) {
      // Near a word's end no text is expected, because resampling and rounding shift the end by less than a sample at 8
      // kHz.
      if (ends.some(({ endMs }) => Math.abs(endMs - atMs) < 0.2)) continue
      const expected = wordsUpTo(text, ends.findLast(({ endMs }) => endMs < atMs)?.place ?? 0)
      const played = speech.playedText(atMs)
      if (played !== expected) wrong.push(`${atMs.toFixed(1)}: ${played} | ${expected}`)
    }
    t.same(wrong.slice(0, 3), [], text)
    t.equal(speech.playedText(durationMs), text)
  }
  t.comment(`${cuts} cuts in ${texts.length} sentences`)
})

t.test('the recognizer finds as many words in the played audio as the played text has', async (t) => {
  for (const text of long.filter((text) => !/\d/.test(text))) {
    const { speech, samples, durationMs } = await spoken(t, local, { text, engine: 'hibari', voice: 'heart' })
    const ends = await spokenWords(text, durationMs)
    for (let word = 4; word < ends.length; word += 3) {
      const endMs = ends[word]!.endMs + 1
      const played = Int16Array.from(samples.slice(0, Math.round(endMs * 16)))
      const audio = [new Uint8Array(played.buffer)]
      const { text: found } = await local.transcribe(recognised(audio, { ...native, encoding: 'pcm_s16le' }))
      const expected = speech.playedText(endMs)
      // A cut at a word's end sounds like the beginning of another word, so a word may be missing or added there.
      t.ok(Math.abs(words(found).length - words(expected).length) <= 1, `${expected} | ${found}`)
      t.ok(wordErrors(expected, found).errors <= 2, `${expected} | ${found}`)
    }
  }
})
