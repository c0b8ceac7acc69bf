/** A signed webhook, a list in pages, and an error answer. */
import { readFile } from 'node:fs/promises'
import { type ListSessionsAnswer, PlatformApiError } from '../../../../generated/clients/typescript/platform.ts'
import { verifyWebhook, WebhookVerificationError } from '../../../../generated/clients/typescript/webhooks.ts'
import { platform, type Steps, variable } from './settings.ts'

type Sent = { headers: Record<string, string>; body: string }
const sent = JSON.parse(await readFile(variable('PARLEY_WEBHOOK'), 'utf8')) as Sent
const sessionsMore = 4
const pagesMax = 10

export const webhookSteps: Steps = {
  async webhook() {
    const event = await verifyWebhook(sent, variable('PARLEY_WEBHOOK_SECRET'))
    return { type: 'type' in event ? event.type : event.event_type }
  },
  async webhook_refused() {
    try {
      await verifyWebhook({ ...sent, body: `${sent.body} ` }, variable('PARLEY_WEBHOOK_SECRET'))
      return { error: null }
    } catch (error) {
      return { error: error instanceof WebhookVerificationError ? error.reason : String(error) }
    }
  },
  async pages() {
    for (let made = 0; made < sessionsMore; made++)
      await platform.createSession({ body: { intent: { language: 'en' } } })
    const [sizes, ids] = [[] as number[], new Set<string>()]
    let cursor: string | null = null
    do {
      const { body }: ListSessionsAnswer = await platform.listSessions({
        query: { limit: 2, ...(cursor !== null && { cursor }) },
      })
      sizes.push(body.entries.length)
      for (const { sessionId } of body.entries) ids.add(sessionId)
      cursor = body.nextCursor
    } while (cursor !== null && sizes.length < pagesMax)
    return { sizes, ids: ids.size }
  },
  async not_found() {
    try {
      await platform.getCall({ path: { id: '0198c0de-7c1b-7a4e-9b1d-3a5f0c2e4d6b' } })
      return { status: 200, code: null }
    } catch (error) {
      if (!(error instanceof PlatformApiError)) throw error
      return { status: error.status, code: error.code }
    }
  },
}
