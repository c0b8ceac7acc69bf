/** A caller's lines, spoken by the embedded voice for their language, and the recognizer's error rate. */
import { randomUUID } from 'node:crypto'
import { speech, type Target, transcribe } from '../router/requests.ts'
import { callerRateHz } from '../session/voice-caller.ts'
import { type ErrorCount, errorRate, wordErrors, words, wordsIn } from '../speech/words.ts'
import { callerSentences } from './caller-sentences.ts'
import type { Dialogue } from './dialogues.ts'

/** The audio formats for a browser's microphone and a phone line. */
const formats = {
  browser: { encoding: 'pcm_s16le', sample_rate_hz: callerRateHz, channels: 1 },
  phone: { encoding: 'mulaw', sample_rate_hz: 8000, channels: 1 },
} as const
export type Way = keyof typeof formats

/** Returns the lines as samples for a browser's microphone. */
export async function spokenLines(target: Target, { language, turns }: Dialogue): Promise<Int16Array[]> {
  const lines: Int16Array[] = []
  for (const [line] of turns) lines.push(new Int16Array(await speak(target, line, language, 'browser')))
  return lines
}

/**
 * The recognizer's maximum error rate with recordings by the embedded voices: the measured rate (in
 * docs/embedded-speech.md) and 3 points. If a voice or the recognizer gets worse, the tests fail. Without a maximum
 * they would allow more errors in a conversation.
 */
export const ownErrorRateMax: Readonly<Record<Way, Readonly<Record<string, number>>>> = {
  browser: { en: 0.05, de: 0.08, es: 0.07, fr: 0.13, it: 0.16 },
  phone: { en: 0.08, de: 0.09, es: 0.09, fr: 0.2, it: 0.12 },
}

/** Returns the recognizer's error rate if each sentence is a recording in this format. */
export async function ownErrorRate(target: Target, language: string, way: Way): Promise<number> {
  const counts: ErrorCount[] = []
  for (const sentence of callerSentences[language] ?? []) {
    const bytes = new Uint8Array(await speak(target, sentence, language, way))
    const answer = await transcribe(target, bytes, { language, audio: formats[way] })
    if (answer.status !== 200) throw new Error(answer.text)
    counts.push(wordErrors(sentence, answer.json<{ text: string }>().text, splitIn(language)))
  }
  return errorRate(counts)
}

/** Returns a conversation's share of wrong words. `found` has the recognized lines. */
export function errorRateOf({ language, turns }: Pick<Dialogue, 'language' | 'turns'>, found: readonly string[]) {
  const reference = turns.map(([line]) => line).join(' ')
  return errorRate([wordErrors(reference, found.join(' '), splitIn(language))])
}

const splitIn = (language: string) => (language === 'en' ? words : wordsIn(language))

async function speak(target: Target, input: string, language: string, way: Way): Promise<ArrayBuffer> {
  const authorization = `Bearer ${target.key}`
  const headers = { authorization, 'content-type': 'application/json', 'idempotency-key': randomUUID() }
  const body = JSON.stringify({ input, language, audio: formats[way] })
  const answer = await fetch(target.url + speech, { method: 'POST', headers, body })
  if (answer.status !== 200) throw new Error(await answer.text())
  return answer.arrayBuffer()
}
