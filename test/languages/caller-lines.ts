/** A caller's lines, spoken by the embedded voice for their language, and the recognizer's error rate. */
import { randomUUID } from 'node:crypto'
import { speech, type Target, transcribe } from '../router/requests.ts'
import { callerRateHz } from '../session/voice-caller.ts'
import { type ErrorCount, errorRate, wordErrors, words, wordsIn } from '../speech/words.ts'
import { callerSentences } from './caller-sentences.ts'
import type { Dialogue } from './dialogues.ts'

/** A browser microphone's audio format. */
const microphone = { encoding: 'pcm_s16le', sample_rate_hz: callerRateHz, channels: 1 } as const

/** Returns the lines as samples for a browser's microphone. */
export async function spokenLines(target: Target, { language, turns }: Dialogue): Promise<Int16Array[]> {
  const lines: Int16Array[] = []
  for (const [line] of turns) lines.push(new Int16Array(await speak(target, line, language)))
  return lines
}

/**
 * The recognizer's maximum error rate with recordings by the embedded voices: the measured rate (in
 * docs/embedded-speech.md) and 3 points. If a voice or the recognizer gets worse, the tests fail. Without a maximum
 * they would allow more errors in a conversation.
 */
export const ownErrorRateMax: Readonly<Record<string, number>> = { en: 0.05, de: 0.08, es: 0.07, fr: 0.13, it: 0.16 }

/** Returns the recognizer's error rate if each sentence is a recording without a telephone line. */
export async function ownErrorRate(target: Target, language: string): Promise<number> {
  const counts: ErrorCount[] = []
  for (const sentence of callerSentences[language] ?? []) {
    const bytes = new Uint8Array(await speak(target, sentence, language))
    const answer = await transcribe(target, bytes, { language, audio: microphone })
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

async function speak(target: Target, input: string, language: string): Promise<ArrayBuffer> {
  const authorization = `Bearer ${target.key}`
  const headers = { authorization, 'content-type': 'application/json', 'idempotency-key': randomUUID() }
  const body = JSON.stringify({ input, language, audio: microphone })
  const answer = await fetch(target.url + speech, { method: 'POST', headers, body })
  if (answer.status !== 200) throw new Error(await answer.text())
  return answer.arrayBuffer()
}
