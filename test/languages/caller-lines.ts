/**
 * A caller's lines, spoken by the embedded voice for their language, and the recognizer's error rate without a phone
 * line.
 */
import { randomUUID } from 'node:crypto'
import { speech, type Target, transcribe } from '../router/requests.ts'
import { callerRateHz } from '../session/voice-caller.ts'
import { errorRate, wordErrors, words, wordsIn } from '../speech/words.ts'
import type { Dialogue } from './dialogues.ts'

export type CallerLines = {
  spoken: readonly Int16Array[]
  /** The share of wrong words if the recognizer gets the voice's audio as a recording. */
  ownErrorRate: number
}

export async function callerLines(target: Target, { language, turns }: Dialogue): Promise<CallerLines> {
  const spoken: Int16Array[] = []
  const found: string[] = []
  for (const [line] of turns) {
    const samples = await speak(target, line, language)
    spoken.push(samples)
    const bytes = new Uint8Array(samples.buffer, samples.byteOffset, samples.byteLength)
    const answer = await transcribe(target, bytes, { language, audio: formatOf(callerRateHz) })
    if (answer.status !== 200) throw new Error(answer.text)
    found.push(answer.json<{ text: string }>().text)
  }
  return { spoken, ownErrorRate: errorRateOf({ language, turns }, found) }
}

/** Returns the share of wrong words. `found` has the recognized lines. */
export function errorRateOf({ language, turns }: Pick<Dialogue, 'language' | 'turns'>, found: readonly string[]) {
  const reference = turns.map(([line]) => line).join(' ')
  return errorRate([wordErrors(reference, found.join(' '), language === 'en' ? words : wordsIn(language))])
}

async function speak(target: Target, input: string, language: string): Promise<Int16Array> {
  const authorization = `Bearer ${target.key}`
  const headers = { authorization, 'content-type': 'application/json', 'idempotency-key': randomUUID() }
  const body = JSON.stringify({ input, language, audio: formatOf(callerRateHz) })
  const answer = await fetch(target.url + speech, { method: 'POST', headers, body })
  if (answer.status !== 200) throw new Error(await answer.text())
  return new Int16Array(await answer.arrayBuffer())
}

const formatOf = (rateHz: number) => ({ encoding: 'pcm_s16le', sample_rate_hz: rateHz, channels: 1 })
