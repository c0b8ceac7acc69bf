/** The English written forms are heard back: the default embedded voice says them, and the recognizer finds the words. */
import t from 'tap'
import { sentences } from '../../domain/speech/reading/sentences.ts'
import { recognised } from '../audio/build.ts'
import { native, openLocal } from '../local/setup.ts'
import { errorRate, wordErrors } from './words.ts'
import { english } from './written-forms/english.ts'

const heardMin = 0.95
const local = openLocal(t)

/** The recognizer writes numbers and addresses as signs again, so both texts are compared as spoken words. */
const inWords = (text: string) =>
  sentences(text, { language: 'en', charsMax: 1000 })
    .map((sentence) => sentence.text)
    .join(' ')

t.test(`${heardMin * 100} % of the words in the English written forms are heard back`, async (t) => {
  const counts = []
  for (const [written, spoken] of english) {
    const chunks = await local.speak(written)
    const { text } = await local.transcribe(recognised(chunks, { ...native, encoding: 'pcm_s16le' }))
    const count = wordErrors(spoken, inWords(text))
    if (count.errors > 0) t.comment(`${count.errors} of ${count.words}: ${spoken} → ${text}`)
    counts.push(count)
  }
  t.ok(errorRate(counts) <= 1 - heardMin, `${Math.round((1 - errorRate(counts)) * 1000) / 10} %`)
  t.equal(counts.length, english.length)
})
