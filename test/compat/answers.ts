/** Reads answers of the compatible surface. */
import { readFileSync } from 'node:fs'
import path from 'node:path'
import t from 'tap'
import { judgedFetch } from '../oracle.ts'
import { startStubOpenAi, stubSpeech, stubText, stubUsage, transcriptOf } from '../providers/stub-openai.ts'
import { type Answer, form, send } from '../router/requests.ts'
import { ownServer } from '../server.ts'

/** A stream's events, parsed except `[DONE]`. Chat and audio events have only data. */
export function frames(text: string): unknown[] {
  return text
    .split('\n\n')
    .filter((frame) => frame.startsWith('data: '))
    .map((frame) => (frame === 'data: [DONE]' ? '[DONE]' : (JSON.parse(frame.slice(6)) as unknown)))
}

export function events(text: string): { event: string; data: Record<string, unknown> }[] {
  return text
    .split('\n\n')
    .filter((frame) => frame.includes('event: '))
    .map((frame) => ({
      event: /^event: (.*)$/m.exec(frame)?.[1] ?? '',
      data: JSON.parse(/^data: (.*)$/m.exec(frame)?.[1] ?? 'null') as Record<string, unknown>,
    }))
}
