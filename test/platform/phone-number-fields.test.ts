/**
 * Tests the contract's fields for phone numbers. Each field refuses a text that is not a phone number in its country's
 * numbering plan, and the error names the field.
 */
import t from 'tap'
import { platformContract } from '../../generated/platform/contract.ts'
import { openDatabase } from '../process/database.ts'
import { call, faultOf, startOwnAdministered } from './setup.ts'

type Schema = {
  $ref?: string
  pattern?: string
  properties?: Record<string, Schema>
  items?: Schema
  allOf?: Schema[]
  anyOf?: Schema[]
  oneOf?: Schema[]
}
type Content = { schema: Schema; example?: object; examples?: Record<string, { value: object }> }
type Operation = { operationId?: string; requestBody?: { content: Record<string, Content> } }
type Contract = { paths: Record<string, Record<string, Operation>> }
type Field = { operationId: string; method: string; url: string; path: readonly string[]; example: object }

const contract = JSON.parse(platformContract) as Contract
const pattern = '^\\+[1-9]\\d{6,14}$'
/** The text fits the pattern, but no country has such numbers. */
const wrong = '+15551234567'
const tool = { name: 'transfer_call', description: 'Transfers the caller.' }
const config = { kind: 'warm', destinations: [{ to: '+12025550143', label: 'Sales' }] }
const transferTool = { ...tool, source: { kind: 'builtin', name: 'transfer_call', config } }

const fields = Object.entries(contract.paths).flatMap(([url, operations]) =>
  Object.entries(operations).flatMap(([method, { operationId = '', requestBody }]): Field[] => {
    const content = requestBody?.content['application/json']
    if (content === undefined) return []
    const example = content.example ?? Object.values(content.examples ?? {})[0]?.value ?? {}
    return numbersIn(content.schema).map((path) => ({ operationId, method, url, path, example }))
  }),
)

const { parley, admin } = await startOwnAdministered(t, { PARLEY_RMSG_KEEP_REMOVED_SEND: 'true' })
const target = await admin.organization('numbers', { scopes: ['router', 'platform', 'rmsg'] })
const sql = openDatabase(parley)
await sql`update organizations set sms_enabled = true, rmsg_enabled = true, rmsg_legacy_inventory = true where id = ${target.id}`
await sql.end()

t.test('this test finds the phone number fields in the contract', (t) => {
  t.ok(fields.length >= 20, `${fields.length} fields`)
  for (const known of ['createPhoneSession to', 'transferCallWarm destinations.*.to', 'saveSmsBrand supportPhone'])
    t.ok(fields.map(nameOf).includes(known), known)
  t.end()
})

for (const field of fields)
  t.test(`${nameOf(field)} refuses text that is not a phone number`, async (t) => {
    const url = field.url.replace(/\{[^}]+\}/g, '0198c0de-7c1b-7a4e-9b1d-3a5f0c2e4d6b')
    const body = withValue(withTool(field), field.path, wrong) as object
    const { status, code, paths } = faultOf(await call(target, field.method.toUpperCase(), url, body))
    const path = `/${field.path.join('/').replaceAll('*', '0')}`
    t.match({ status, code, paths }, { status: 400, code: 'VALIDATION_ERROR', paths: [path] })
  })

t.test('if a phone number has no country code, the error shows the right form', async (t) => {
  const answer = await call(target, 'POST', '/v1/sessions/phone', { to: '5550001', intent: { language: 'en' } })
  t.equal(answer.status, 400)
  t.match(answer.text, '/to must be a phone number with + and its country code, such as +12125550100')
})

const transfers = '/v1/calls/0198c0de-7c1b-7a4e-9b1d-3a5f0c2e4d6b/transfers'
const inWords: [string, object, string][] = [
  [
    `${transfers}/blind`,
    { to: '+12025550143', headers: { Via: 'x' } },
    '/headers takes the names X-… and User-to-User alone',
  ],
  [`${transfers}/blind`, { to: '+12025550143', headers: { 'X-A': 'a\nb' } }, '/headers/X-A must have printable ASCII'],
  [`${transfers}/warm`, {}, '/destinations or to must be given, and not both'],
  [
    '/v1/phone-numbers/kyb/draft',
    { businessProfile: { country: 'us' } },
    'must be the two capital letters of a country',
  ],
]
for (const [url, body, words] of inWords)
  t.test(`the error of a request to ${url.split('/').at(-1)} contains the readable message: ${words}`, async (t) => {
    const answer = await call(target, url.endsWith('draft') ? 'PUT' : 'POST', url, body)
    t.equal(answer.status, 400)
    t.match(answer.json<{ error: string }>().error, words)
  })

t.test('a body that is not JSON is refused with one issue, and the path of the issue is empty', async (t) => {
  const headers = { Authorization: `Bearer ${target.key}`, 'Content-Type': 'application/json' }
  for (const body of ['{"to":', 'nonsense', '', '{"to":"+1"}}']) {
    const answer = await fetch(`${target.url}/v1/sessions/phone`, { method: 'POST', headers, body })
    const { code, issues } = (await answer.json()) as { code: string; issues?: object[] }
    t.match(
      { status: answer.status, code, issues },
      { status: 400, code: 'VALIDATION_ERROR', issues: [{ path: '' }] },
      body,
    )
    t.ok((issues?.[0] as { message: string; keyword: string }).message.length > 0)
  }
})

function nameOf({ operationId, path }: Pick<Field, 'operationId' | 'path'>): string {
  return `${operationId} ${path.join('.')}`
}

/** Returns the paths to all fields with the phone number pattern. `*` stands for each item. */
function numbersIn(schema: Schema, path: readonly string[] = [], seen: readonly string[] = []): string[][] {
  const { $ref } = schema
  if ($ref !== undefined) return seen.includes($ref) ? [] : numbersIn(resolved($ref), path, [...seen, $ref])
  const { properties = {}, items, allOf = [], anyOf = [], oneOf = [] } = schema
  const found = [
    ...(schema.pattern === pattern ? [[...path]] : []),
    ...Object.entries(properties).flatMap(([name, each]) => numbersIn(each, [...path, name], seen)),
    ...(items === undefined ? [] : numbersIn(items, [...path, '*'], seen)),
    ...[...allOf, ...anyOf, ...oneOf].flatMap((each) => numbersIn(each, path, seen)),
  ]
  return [...new Map(found.map((each) => [each.join('/'), each])).values()]
}

function resolved(ref: string): Schema {
  const names = ref.split('/').slice(1)
  return names.reduce<unknown>((at, name) => (at as Record<string, unknown>)[name], contract) as Schema
}

/** Returns the operation's example. If the field is in a transfer tool, the example gets such a tool. */
function withTool({ operationId, path, example }: Field): unknown {
  const at = path.indexOf('source')
  if (operationId === 'updateAgentTool') return { source: transferTool.source }
  // A warm transfer has either one number or a number list.
  if (operationId === 'transferCallWarm' && path[0] === 'to') return {}
  return at < 0 ? example : withValue(example, path.slice(0, at), transferTool)
}

function withValue(value: unknown, [name, ...rest]: readonly string[], leaf: unknown): unknown {
  if (name === undefined) return leaf
  if (name === '*') return [withValue(Array.isArray(value) ? value[0] : {}, rest, leaf)]
  const fields = typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {}
  return { ...fields, [name]: withValue(fields[name], rest, leaf) }
}
