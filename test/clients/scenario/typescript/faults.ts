/** Failures: a refused request that is repeated, cut streams, a cancelled request, and a late answer. */
import {
  createRouterClient,
  RequestTimeoutError,
  StreamTruncatedError,
} from '../../../../generated/clients/typescript/router.ts'
import { apiKey, loopback, question, type Steps, variable } from './settings.ts'

const body = { input: [question], max_output_tokens: 20, routing: loopback }
const timeoutMs = 300

export const faultSteps: Steps = {
  async retry() {
    const answer = await at('busy').createResponse({ body })
    if (answer.type !== 'application/json') throw new Error(answer.type)
    const [item] = answer.body.output
    return { text: item?.type === 'message' ? item.content.map((part) => part.text).join('') : null }
  },
  cut_stream: () => errorOf(() => readStream('reset')),
  short_stream: () => errorOf(() => readStream('short')),
  cancel: () => errorOf(cancelled),
  timeout: () => errorOf(() => at('silent').createResponse({ body, timeoutMs })),
}

const at = (fault: string) => createRouterClient({ baseUrl: `${variable('PARLEY_FAULTS_URL')}/${fault}`, apiKey })

async function cancelled(): Promise<void> {
  const controller = new AbortController()
  const answer = at('silent').createResponse({ body, signal: controller.signal })
  await Promise.race([answer, fetch(`${variable('PARLEY_FAULTS_URL')}/sent/silent`)])
  controller.abort()
  await answer
}

async function readStream(fault: string): Promise<void> {
  const answer = await at(fault).createResponse({ body: { ...body, stream: true } })
  if (answer.type !== 'text/event-stream') throw new Error(answer.type)
  for await (const { event } of answer.body) if (event === 'response.completed') return
}

async function errorOf(run: () => Promise<unknown>): Promise<{ error: string | null }> {
  try {
    await run()
    return { error: null }
  } catch (error) {
    if (error instanceof StreamTruncatedError) return { error: 'truncated' }
    if (error instanceof RequestTimeoutError) return { error: 'timeout' }
    return { error: error instanceof DOMException && error.name === 'AbortError' ? 'cancelled' : String(error) }
  }
}
