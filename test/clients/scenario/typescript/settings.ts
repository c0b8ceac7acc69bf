/** The environment, and the clients that all steps share. */
import { readFile } from 'node:fs/promises'
import { createCompatClient } from '../../../../generated/clients/typescript/compat.ts'
import { createPlatformClient } from '../../../../generated/clients/typescript/platform.ts'
import { type CreateResponseCall, createRouterClient } from '../../../../generated/clients/typescript/router.ts'

export const text = 'Hello there.'
export const question: CreateResponseCall['body']['input'][number] = {
  type: 'message',
  role: 'user',
  content: [{ type: 'text', text }],
}
/** The loopback model: it answers with the request's text, or with a tone as long as the text. */
export const loopback = { mode: 'explicit', model: 'loopback/loopback' } as const

export const baseUrl = variable('PARLEY_URL')
export const apiKey = variable('PARLEY_API_KEY')
export const router = createRouterClient({ baseUrl, apiKey })
export const compat = createCompatClient({ baseUrl, apiKey })
export const platform = createPlatformClient({ baseUrl, apiKey })
export const recording = new Uint8Array(await readFile(variable('PARLEY_WAV')))

export type Steps = Readonly<Record<string, () => Promise<object>>>

export function variable(name: string): string {
  const value = process.env[name]
  if (value === undefined) throw new Error(`${name} is not set`)
  return value
}

/** Returns the text in lower case, without punctuation. */
export const wordsOf = (transcript: string) =>
  transcript
    .toLowerCase()
    .replace(/[^a-z]+/g, ' ')
    .trim()
