/**
 * Texts that an earlier session has rendered are used unchanged. Texts in the pre-call webhook's response are
 * templates.
 */
import t from 'tap'
import { type Preparation, prepared } from '../../domain/sessions/prepare.ts'
import { renderTemplate } from '../../runtime/values/template.ts'
import { intent } from './start-setup.ts'

const rules = { render: renderTemplate } as unknown as Parameters<typeof prepared>[0]['rules']
const phone = { from: '+15005550140', to: '+15005550006', forwardedFrom: null }
const occasion = { callId: 'call_1', nowMs: 0, direction: 'outbound', phone, unset: new Set<string>() }
const again: Preparation = {
  ...{ organizationId: 'org_1', occasion, transport: 'phone', organization: null, agent: null, tools: [] },
  isRendered: true,
}
const text = 'Anna {{ system.direction }} {% raw'
const wanted = {
  intent,
  systemPrompt: text,
  firstMessage: text,
  endCallMessage: text,
  idleRePrompts: { messages: [text] },
}

t.test('a callback without an agent does not render the texts of its request again', async (t) => {
  const { pipeline } = await prepared({ rules }, again, wanted)
  t.match(pipeline, { systemPrompt: text, firstMessage: text, endCallMessage: text })
  t.same(pipeline.idleRePrompts.messages, [text])
})

t.test('a callback renders only the templates in the answer to the pre-call webhook', async (t) => {
  const answer = {
    firstMessage: 'An {{ system.direction }} call',
    idleRePrompts: { messages: ['{{ system.direction }}'] },
  }
  const { pipeline } = await prepared({ rules }, again, wanted, answer)
  t.match(pipeline, { systemPrompt: text, firstMessage: 'An outbound call', endCallMessage: text })
  t.same(pipeline.idleRePrompts.messages, ['outbound'])
  const reset = await prepared({ rules }, again, wanted, { firstMessage: null })
  t.match(reset.pipeline, { systemPrompt: text, firstMessage: null })
})
