import t from 'tap'
import { readJson, readLargeJson } from '../../runtime/engine/json.ts'
import { RawContent } from '../../runtime/http/raw-content.ts'
import { validator } from '../http/harness.ts'

const validate = validator({
  type: 'object',
  required: ['name'],
  properties: { name: { type: 'string', maxLength: 2_000_000 }, level: { type: 'integer', default: 3 } },
  additionalProperties: false,
})
const megabyte = 'x'.repeat(1_048_576)
const bodies: Record<string, string | Buffer> = {
  'a value': `{"name":"${megabyte}"}`,
  escapes: `{"name":"${'\\u0041'.repeat(200_000)}"}`,
  'a value that breaks the schema': `{"name":"${megabyte}","level":"high"}`,
  'an unknown field': `{"name":"${megabyte}","other":1}`,
  'a text that is no JSON': `{"name":"${megabyte}`,
  'bytes that are no UTF-8': Buffer.concat([Buffer.from(megabyte), Buffer.of(0xff)]),
  'too many levels': '['.repeat(2_000_000),
  'too many values': `[${'0,'.repeat(600_000)}0]`,
  'a prototype': `{"name":"${megabyte}","__proto__":{"a":1}}`,
  'a prototype in escapes': `{"name":"${megabyte}","\\u005f_proto__":{"a":1}}`,
}

async function outcome(read: () => unknown): Promise<unknown> {
  try {
    return { value: await read() }
  } catch (error) {
    return { error }
  }
}

t.test('a large JSON text is parsed or refused exactly like a small JSON text', async (t) => {
  for (const [what, body] of Object.entries(bodies)) {
    const bytes = typeof body === 'string' ? Buffer.from(body) : body
    const small = await outcome(() => readJson(bytes, validate))
    t.same(await outcome(() => readLargeJson(bytes, validate, 'org_1')), small, what)
  }
})

t.test('other work runs while a large JSON text is parsed', async (t) => {
  let turns = 0
  let timer = setImmediate(function next() {
    turns++
    timer = setImmediate(next)
  })
  await readLargeJson(Buffer.from(`{"name":"${megabyte}"}`), validate, 'org_1')
  clearImmediate(timer)
  t.ok(turns >= 3, `${turns} turns`)
})

t.test('large JSON texts of one organization do not delay the text of another', async (t) => {
  const bytes = Buffer.from(`{"name":"${megabyte}"}`)
  const order: string[] = []
  const read = (owner: string) => readLargeJson(bytes, validate, owner).then(() => void order.push(owner))
  await Promise.all([...Array.from({ length: 10 }, () => read('org_1')), read('org_2')])
  t.ok(order.indexOf('org_2') <= 2, order.join(' '))
})

t.test('a JSON body of more than 1 MiB is parsed asynchronously, in steps', async (t) => {
  const content = (text: string) => {
    const made = new RawContent('application/json', true)
    made.take(Buffer.from(text), true)
    return made.read(validate, 'org_1')
  }
  t.same(content('{"name":"a"}'), { name: 'a', level: 3 })
  const large = content(`{"name":"${megabyte}"}`)
  t.ok(large instanceof Promise)
  t.same(await large, { name: megabyte, level: 3 })
})
