import { writeFileSync } from 'node:fs'
import path from 'node:path'
import { type Running, startParley } from '../test/process/parley.ts'

/** Starts Parley with these settings. Authentication, routing, idempotency and ledger are on, as always. */
export function startGateway(dataDir: string, settings: object, env: Record<string, string> = {}): Promise<Running> {
  const file = path.join(dataDir, 'bench.yaml')
  writeFileSync(file, JSON.stringify(settings))
  return startParley({ PARLEY_CONFIG: file, ...env }, dataDir)
}

/** Configures the mock as the only LLM provider besides the embedded provider. */
export const withMock = (mockPort: number) => ({
  providers: [
    {
      id: 'mock',
      adapter: 'openai',
      baseUrl: `http://127.0.0.1:${mockPort}/v1`,
      apiKey: 'none',
      models: { llm: ['mock', 'mock-words'] },
    },
  ],
})

/** About 2 KB of conversation. */
export const prompt = 'Which of the lines are open this afternoon? '.repeat(45)

export const routerBody = (stream: boolean) =>
  JSON.stringify({
    routing: { mode: 'explicit', provider: 'mock', model: 'mock' },
    input: [{ type: 'message', role: 'user', content: [{ type: 'text', text: prompt }] }],
    max_output_tokens: 500,
    stream,
  })

export const providerBody = (stream: boolean, model = 'mock') =>
  JSON.stringify({ model, messages: [{ role: 'user', content: prompt }], max_tokens: 500, stream })
