/** The rules for requests: retries, redirects, headers, time limits, errors, and the check of webhooks. */
import { readFile } from 'node:fs/promises'
import { type ClientOptions, createCompatClient } from '../../../../generated/clients/typescript/compat.ts'
import {
  ApiError,
  ConnectionError,
  createRouterClient,
  ProtocolError,
  RequestTimeoutError,
  type RouterClient,
} from '../../../../generated/clients/typescript/router.ts'
import { verifyWebhook, WebhookVerificationError } from '../../../../generated/clients/typescript/webhooks.ts'
import { question, type Steps, variable } from './settings.ts'

type Case = { name: string; secrets: string[]; headers: Record<string, string>; body: string; now: number }

const body = { input: [question], max_output_tokens: 20 }
const timeoutMs = 1000

export const ruleSteps: Steps = {
  async rule_retries() {
    const names = ['limited', 'progress', 'broken', 'upstream', 'overloaded', 'late', 'final', 'begun']
    const posts = await errorsOf(names, (name) => at(name).createResponse({ body }))
    const reads = await errorsOf(names, (name) => at(name).listModels())
    const headers = { 'idempotency-KEY': 'mine' }
    const withKey = await errorOf(() => at('limited').createResponse({ body, headers }))
    return { posts, reads, with_key: withKey }
  },
  async rule_redirects() {
    return errorsOf(['moved', 'other', 'temporary'], (name) => at(name).createResponse({ body }))
  },
  async rule_headers() {
    const client = createCompatClient({ baseUrl: `${variable('PARLEY_RULES_URL')}/headers//`, headerPrefix: 'Voice' })
    const { body } = await client.transcribe({
      body: new Uint8Array(2),
      header: { 'x-service-intent': { language: 'dé🎵' } },
      headers: { 'content-type': 'audio/l16; rate=8000' },
    })
    return { text: 'text' in body ? body.text : null }
  },
  async rule_errors() {
    const refused = () => createRouterClient({ baseUrl: 'http://127.0.0.1:2', retriesMax: 1 }).listModels()
    return {
      ...(await errorsOf(['reset', 'cut'], (name) => at(name).createResponse({ body }))),
      ...(await errorsOf(['page', 'gateway', 'text', 'longest', 'longer'], (name) => at(name).listModels())),
      refused: await errorOf(refused),
    }
  },
  async rule_timeouts() {
    const slow = await errorsOf(['silent', 'slow'], (name) => at(name, { timeoutMs }).listModels())
    const audio = await errorsOf(['audio', 'stalled'], (name) => listen(at(name, { timeoutMs })))
    return { ...slow, ...audio, paused: await errorOf(() => readStream(at('paused', { timeoutMs }))) }
  },
  async rule_webhooks() {
    const cases = JSON.parse(await readFile(variable('PARLEY_WEBHOOK_CASES'), 'utf8')) as Case[]
    const results: Record<string, string> = {}
    for (const each of cases) results[each.name] = await resultOf(each)
    return results
  },
}

/** No API key is passed, so the client takes it from PARLEY_API_KEY. */
function at(answer: string, options: Omit<ClientOptions, 'baseUrl'> = {}): RouterClient {
  return createRouterClient({ baseUrl: `${variable('PARLEY_RULES_URL')}/${answer}`, ...options })
}

async function listen(router: RouterClient): Promise<void> {
  const { body } = await router.createSpeech({ body: { input: 'Hi.' } })
  for await (const chunk of body) void chunk
}

async function readStream(router: RouterClient): Promise<void> {
  const answer = await router.createResponse({ body: { ...body, stream: true } })
  if (answer.type !== 'text/event-stream') throw new Error(answer.type)
  for await (const event of answer.body) void event
}

async function errorsOf(names: readonly string[], run: (name: string) => Promise<unknown>): Promise<object> {
  const errors: Record<string, unknown> = {}
  for (const name of names) errors[name] = await errorOf(() => run(name))
  return errors
}

async function errorOf(run: () => Promise<unknown>): Promise<unknown> {
  try {
    await run()
    return null
  } catch (error) {
    if (error instanceof ApiError) return error.status
    if (error instanceof RequestTimeoutError) return 'timeout'
    if (error instanceof ProtocolError) return 'protocol'
    if (error instanceof ConnectionError) return error.wasSent ? 'lost' : 'unsent'
    throw error
  }
}

async function resultOf({ secrets, now, ...sent }: Case): Promise<string> {
  try {
    const event = await verifyWebhook(sent, secrets, { nowMs: now * 1000 })
    return 'type' in event ? event.type : event.event_type
  } catch (error) {
    if (error instanceof WebhookVerificationError) return error.reason
    if (error instanceof TypeError) return 'misuse'
    throw error
  }
}
