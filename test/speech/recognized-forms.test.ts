/**
 * The English written forms are recognized: the default embedded voice says them, and the recognizer finds the words.
 */
import t from 'tap'
import { sentences } from '../../domain/speech/reading/sentences.ts'
import { recognised } from '../audio/build.ts'
import { native, openLocal } from '../local/setup.ts'
import { type ErrorCount, errorRate, wordErrors } from './words.ts'
import { english } from './written-forms/english.ts'

/** Flite is harder to understand: the recognizer misses 5 % of its words in plain prompts, and more in short ones. */
const shareMin: Readonly<Record<string, number>> = { hibari: 0.95, flite: 0.85 }
const local = openLocal(t)
const model = local.provider.models.some(({ id }) => id === 'hibari') ? 'hibari' : 'flite'

async function transcriptOf(text: string): Promise<string> {
  const request = { model, text, outputFormat: native }
  const { audio, format } = await local.provider.ports.speech!.tts!.synthesize(request, new AbortController().signal)
  const chunks: Uint8Array[] = []
  for await (const chunk of audio) chunks.push(chunk)
  return (await local.transcribe(recognised(chunks, format))).text
}

/**
 * The recognizer writes numbers and addresses in their written form again, so the spoken and the recognized text are
 * compared as words. It groups the digits of a phone number in its own way, so grouped digits are compared one by one.
 */
function inWords(text: string): string {
  const digits = (groups: string) => [...groups.replace(/\D/g, '')].join(' ')
  const separate = text
    .replace(/\d+(?:(?:-|, )\d+){2,}/g, digits)
    .replace(/(?<=[a-z])\d{4,}|\d{5,}(?!,)/gi, (group) => ` ${digits(group)}`)
  return sentences(separate, { language: 'en', charsMax: 1000 })
    .map((sentence) => sentence.text)
    .join(' ')
}

t.test('the recognizer finds the words of English written forms that the embedded voice speaks', async (t) => {
  const counts: ErrorCount[] = []
  for (const [written, spoken] of english) {
    const found = await transcriptOf(written)
    const count = wordErrors(spoken, inWords(found))
    if (count.errors > 0) t.comment(`${count.errors} of ${count.words}: ${spoken} → ${found}`)
    counts.push(count)
  }
  const share = 1 - errorRate(counts)
  t.ok(share >= (shareMin[model] ?? 1), `${model}: ${Math.round(share * 1000) / 10} %`)
})
