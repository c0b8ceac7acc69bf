/** Streams that are cut, repeated, unreadable or too long, from the scripted server. */
import type { CallOptions } from '../../../../generated/clients/typescript/call.ts'
import { createPlatformClient } from '../../../../generated/clients/typescript/platform.ts'
import {
  createRouterClient,
  ProtocolError,
  StreamTruncatedError,
} from '../../../../generated/clients/typescript/router.ts'
import { apiKey, loopback, question, type Steps, variable } from './settings.ts'

const scripted = variable('PARLEY_SCRIPTED_URL')
const timeoutMs = 1000

export const streamSteps: Steps = {
  async resumed_webhooks() {
    const events: string[] = []
    await readWebhooks('twins', events)
    return { events }
  },
  async resumed_session() {
    const client = createPlatformClient({ baseUrl: `${scripted}/states`, apiKey })
    const { body } = await client.streamSession({ path: { id: 's' } })
    const events: string[] = []
    for await (const { event, data } of body) {
      if (event === 'status') events.push(data.status)
      else if (event === 'transcript') events.push(`turn ${data.index}`)
      else events.push(event === 'event' ? `event ${data.id}` : event)
    }
    return { events }
  },
  async lost_stream() {
    const events: string[] = []
    return { error: await errorOf(() => readWebhooks('lost', events)), events }
  },
  async late_read() {
    const events: string[] = []
    await readWebhooks('stalled', events, { timeoutMs })
    return { events }
  },
  closed_streams: async () => ({
    opening: await readUntilClosed('opening'),
    pausing: await readUntilClosed('pausing'),
  }),
  unreadable_event: async () => ({ error: await errorOf(() => readResponse('unreadable')) }),
  long_event: async () => ({
    longest: await errorOf(() => readResponse('longest')),
    longer: await errorOf(() => readResponse('long')),
  }),
}

async function readUntilClosed(fault: string): Promise<string[]> {
  const controller = new AbortController()
  const events: string[] = []
  const read = readWebhooks(fault, events, { signal: controller.signal }).catch(() => undefined)
  await fetch(`${scripted}/reached/${fault}`)
  controller.abort()
  await fetch(`${scripted}/released/${fault}`)
  await read
  return events
}

async function readWebhooks(fault: string, events: string[], options: CallOptions = {}): Promise<void> {
  const client = createPlatformClient({ baseUrl: `${scripted}/${fault}`, apiKey })
  const { body } = await client.streamWebhookEvents({ query: { cursor: '0:0' }, ...options })
  for await (const { event, data } of body) events.push(event === 'webhook' ? data.eventId : event)
}

async function readResponse(fault: string): Promise<void> {
  const client = createRouterClient({ baseUrl: `${scripted}/${fault}`, apiKey })
  const body = { input: [question], max_output_tokens: 20, routing: loopback, stream: true }
  const answer = await client.createResponse({ body })
  if (answer.type !== 'text/event-stream') throw new Error(answer.type)
  for await (const { event } of answer.body) if (event === 'response.completed') return
}

async function errorOf(run: () => Promise<unknown>): Promise<string | null> {
  try {
    await run()
    return null
  } catch (error) {
    if (error instanceof StreamTruncatedError) return 'truncated'
    return error instanceof ProtocolError ? 'protocol' : String(error)
  }
}
