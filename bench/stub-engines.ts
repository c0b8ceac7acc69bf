/** Forks session-engines.ts, and gives the settings with which a server uses only its engines. */
import { forkListener } from './fork.ts'

type StubEngines = { env: Record<string, string>; close(): void }

export const stubsAlone = { allowedProviders: { stt: ['stub-stt'], llm: ['stub'], tts: ['stub'] } }

export async function stubEngines(): Promise<StubEngines> {
  const { port, child } = await forkListener('session-engines.ts')
  return { env: { PARLEY_PROVIDERS: stubProviders(port) }, close: () => child.disconnect() }
}

export function stubProviders(port: number): string {
  const url = `http://127.0.0.1:${port}`
  const openAi = { id: 'stub', adapter: 'openai', baseUrl: `${url}/v1`, apiKey: 'k' }
  return JSON.stringify([
    { ...openAi, models: { llm: ['chat'], tts: ['speak'] } },
    { id: 'stub-stt', adapter: 'deepgram', baseUrl: url, apiKey: 'k' },
  ])
}

export function percentile(values: readonly number[], part: number): number {
  return values.toSorted((a, b) => a - b)[Math.ceil(values.length * part) - 1] ?? Number.NaN
}
