/**
 * Tests a phone number's dispatch template: its placeholders, the keys that fill the agent's missing settings, and the
 * keys that become metadata.
 */
import t from 'tap'
import { dispatchedBy } from '../../domain/phone/dispatch-template.ts'
import type { AgentSettings } from '../../domain/records/agent.ts'
import { call } from '../platform/setup.ts'
import { hasEnded } from './call-rows.ts'
import { callWhen, newestInbound, startPhones } from './phones.ts'

const numbers = { from: '+14155550123', to: '+14155550100', forwardedFrom: null }
const withheld = { ...numbers, from: null }
const agent = {
  name: 'Shop',
  systemPrompt: 'You are the shop.',
  intent: { language: 'en' },
  llmOptions: { model: 'one' },
} as unknown as AgentSettings

t.test('a placeholder is replaced by its phone number, or by null or empty text if the number is unknown', (t) => {
  const rows: [template: unknown, numbers: typeof withheld | typeof numbers, value: unknown][] = [
    ['{{callerNumber}}', numbers, '+14155550123'],
    ['{{ dialedNumber }}', numbers, '+14155550100'],
    ['{{callerNumber}}', withheld, null],
    ['{{forwardedFromNumber}}', numbers, null],
    ['from {{callerNumber}} to {{dialedNumber}}', numbers, 'from +14155550123 to +14155550100'],
    ['from {{callerNumber}} to {{dialedNumber}}', withheld, 'from  to +14155550100'],
    ['{{callerNumber}}{{forwardedFromNumber}}', withheld, ''],
    [' {{callerNumber}}', withheld, ' '],
    ['no placeholder', numbers, 'no placeholder'],
    [
      { deep: ['{{callerNumber}}', { deeper: '{{forwardedFromNumber}}' }] },
      numbers,
      { deep: ['+14155550123', { deeper: null }] },
    ],
    [7, numbers, 7],
    [null, numbers, null],
    [false, numbers, false],
  ]
  for (const [template, of, value] of rows) {
    const { request } = dispatchedBy({ key: template }, null, of)
    t.strictSame(request.metadata, { key: value }, JSON.stringify(template))
  }
  const keys = dispatchedBy({ '{{callerNumber}}': 1 }, null, numbers)
  t.strictSame(keys.request.metadata, { '{{callerNumber}}': 1 }, 'the name of a key is no text')
  t.end()
})

t.test("the agent's settings override the template's settings, and the template adds the missing settings", (t) => {
  const template = {
    systemPrompt: 'You answer {{callerNumber}}.',
    firstMessage: 'Hello {{callerNumber}}.',
    intent: { language: 'de' },
    llm: { model: 'two', temperature: 1 },
    constraints: { maxCost: 1 },
  }
  const { request } = dispatchedBy(template, agent, numbers)
  t.strictSame(
    request,
    { firstMessage: 'Hello +14155550123.', constraints: { maxCost: 1 }, metadata: {} },
    'a key of the agent is not merged',
  )
  const alone = dispatchedBy(template, null, numbers)
  t.strictSame(alone.request, {
    ...template,
    systemPrompt: 'You answer +14155550123.',
    firstMessage: 'Hello +14155550123.',
    metadata: {},
  })
  t.strictSame(dispatchedBy(null, agent, numbers), { request: { metadata: {} }, tags: {} })
  t.end()
})

t.test("a tool of the template is added to the agent's tools, and never replaces a tool of the agent", (t) => {
  const tool = (name: string) => ({ name, description: 'd', source: { kind: 'inline' } })
  const template = { tools: [tool('stock'), tool('price')] }
  const names = (toolsOfAgent: string[]) =>
    dispatchedBy(template, agent, numbers, toolsOfAgent).request.tools?.map(({ name }) => name)
  t.same(names([]), ['stock', 'price'])
  t.same(names(['stock', 'other']), ['price'])
  t.same(names(['stock', 'price']), [])
  t.equal(dispatchedBy({ tools: null }, agent, numbers, ['stock']).request.tools, null)
  t.end()
})

t.test('a dispatch template accepts webhook tags, variables, metadata and other keys', (t) => {
  const template = {
    webhookTags: { line: 'shop', caller: '{{callerNumber}}', forwarded: '{{forwardedFromNumber}}' },
    variables: { number: '{{dialedNumber}}', forwarded: '{{forwardedFromNumber}}' },
    metadata: { crm: '{{callerNumber}}', queue: 'one' },
    queue: 'two',
    crmId: 7,
    agentId: 'agent_x',
    telephony: { region: 'us' },
  }
  const { request, tags } = dispatchedBy(template, agent, numbers)
  t.strictSame(tags, { line: 'shop', caller: '+14155550123' }, 'a tag without a value is left out')
  t.strictSame(request, {
    variables: { number: '+14155550100' },
    metadata: { crm: '+14155550123', queue: 'one', crmId: 7, agentId: 'agent_x', telephony: { region: 'us' } },
  })
  t.end()
})

t.test("an inbound call uses the settings of its number's agent and dispatch template", async (t) => {
  const phones = await startPhones()
  t.teardown(() => phones.close())
  const list = await call(phones, 'GET', '/v1/phone-numbers')
  const [number] = list.json<{ id: string; e164: string }[]>()
  const source = { kind: 'webhook', url: `${phones.receiver.url}/stock`, secret: 'a secret of the agent' }
  const tool = { name: 'stock', description: 'Asks the stock.', source }
  const added = await call(phones, 'POST', `/v1/agents/${phones.agentId}/tools`, tool)
  t.equal(added.status, 201, added.text)
  const inline = (name: string) => ({ name, description: 'Of the template.', source: { kind: 'inline' } })
  const changed = await call(phones, 'PATCH', `/v1/phone-numbers/${number?.id}`, {
    dispatchMetadataTemplate: {
      firstMessage: 'Hello {{callerNumber}}, this is the template.',
      endCallMessage: 'Good day, {{callerNumber}}.',
      metadata: { crm: 'call of {{callerNumber}}', via: '{{forwardedFromNumber}}', callerNumber: 'mine' },
      queue: 'from {{forwardedFromNumber}}',
      tools: [inline('stock'), inline('price')],
      webhookTags: { caller: '{{callerNumber}}', via: '{{forwardedFromNumber}}' },
    },
  })
  t.equal(changed.status, 200, changed.text)
  const caller = '+15005550021'
  const answer = await call(phones, 'POST', '/simulator/calls', { from: caller, to: phones.number })
  t.equal(answer.status, 201, answer.text)
  const row = await callWhen(phones, await newestInbound(phones), hasEnded)
  t.match(row['metadata'], {
    crm: `call of ${caller}`,
    via: null,
    queue: 'from ',
    callerNumber: caller,
    dialedNumber: phones.number,
  })
  const asked = () =>
    phones.receiver.received
      .map(({ body }) => JSON.parse(body.toString()) as Asked)
      .find(({ type }) => type === 'call.pre_call')
  const config = asked()?.pipeline_config
  t.equal(config?.firstMessage, 'Hello, this is the bicycle shop.', 'the agent has one of its own')
  t.equal(config?.endCallMessage, `Good day, ${caller}.`, 'the agent has none')
  const kinds = [
    { name: 'stock', kind: 'webhook' },
    { name: 'price', kind: 'inline' },
  ]
  t.same(config?.tools, kinds, 'the agent has the first one')
  t.same(asked()?.webhook_tags, { caller })
})

type Asked = {
  type: string
  webhook_tags: object
  pipeline_config: { firstMessage?: string; endCallMessage?: string; tools: object[] }
}
