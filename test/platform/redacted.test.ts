/** Credentials are removed from a call's data, in time that is linear in the length of its texts. */
import t from 'tap'
import { redacted, redactedField } from '../../handlers/platform/redacted.ts'
import { jsonPieces } from '../../runtime/values/json-pieces.ts'

const mark = '[redacted]'
const jwt = 'eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2ln'

t.test("a field with a secret's name is redacted, whether it is a text, a list or an object", (t) => {
  const names = ['api_key', 'apiKey', 'accessToken', 'X-Api-Key', 'Authorization', 'clientSecret', 'credentials']
  for (const name of names)
    for (const value of ['a', ['a'], { user: 'a' }]) t.same(redacted([{ [name]: value }]), [{ [name]: mark }], name)
  t.same(redacted({ password: 1234 }), { password: mark })
  t.end()
})

t.test('other fields and words are unchanged', (t) => {
  const schema = { type: 'object', properties: { password: { type: 'string' } } }
  const kept = { text: 'my password is easy', output_tokens: 12, token: 3, keywords: ['token'], cookie: null, schema }
  t.same(redacted(kept), kept)
  for (const text of ['{ "a": 1 }', '[1', 'eyJhbGci', 'eyJhbGci.eyJzdWI', 'sk-SK']) t.equal(redacted(text), text)
  t.end()
})

t.test('credentials inside a text are recognized by their form and redacted', (t) => {
  const secret = 'k4n4ry'.repeat(4)
  const tokens = [
    'sk_live_abc123',
    'whsec_MfKQ9r8G',
    'Bearer abc.def',
    jwt,
    `ut_${secret}`,
    `us_${secret}`,
    `sk-ant-${secret}`,
  ]
  for (const text of tokens) t.equal(redacted(`it is ${text}, yes`), `it is ${mark}, yes`, text)
  t.equal(redacted(`eyJ-${jwt}`), mark)
  t.same(redacted({ [`Bearer ${secret}`]: 1 }), { [mark]: 1 })
  t.end()
})

t.test('secrets in JSON texts are redacted, also if a text was cut', (t) => {
  const inner = JSON.stringify({ password: 'k4n4ry', all: [JSON.stringify({ credentials: { user: 'k4n4ry' } })] })
  for (const text of [
    inner,
    ` [${inner}]`,
    JSON.stringify({ inner }),
    `{"api_key": "k4n4ry\\"k4n4ry`,
    `see {"token":"k4n4ry"}`,
  ]) {
    const shown = redacted(text)
    t.notMatch(shown, /k4n4ry/, text)
    t.match(shown, mark)
  }
  t.end()
})

t.test('a value that is written in pieces gives the same JSON text as the whole value', (t) => {
  const value = {
    a: [],
    b: {},
    c: [{}, [1, 'x'], null],
    d: undefined,
    e: { f: { g: true } },
    '"': '"',
    h: 'x'.repeat(70_000),
  }
  const pieces = [...jsonPieces(value, (each) => each)]
  t.equal(pieces.join(''), `${JSON.stringify(value, null, 2)}\n`)
  t.ok(pieces.length > 1)
  t.end()
})

const charactersMax = 65_536
const filled = (part: string) => part.repeat(Math.ceil(charactersMax / part.length)).slice(0, charactersMax)
const hostile: Record<string, string> = {
  'starts of JWTs': filled('eyJ-'),
  'parts of JWTs': filled('eyJa.eyJa '),
  'Bearer without a token': `Bearer${filled(' ')}`,
  'many Bearer': filled('Bearer '),
  'starts of keys': filled('sk-'),
  'starts of tokens': filled('v1.-us_-ut_-'),
  quotes: filled('"'),
  'open fields': filled('"password":"'),
  'long names': filled(`"${'a'.repeat(128)}`),
  backslashes: filled('"a":"\\'),
  'open brackets': filled('[{"a":'),
  'a JSON text of fields': `[${'{"token":"a"},'.repeat(4600)}0]`,
  'JSON texts in a JSON text': JSON.stringify(Array(5000).fill('["a"]')),
}

for (const [what, text] of Object.entries(hostile))
  t.test(`a call with texts of ${what} is redacted in steps of less than 50 ms`, (t) => {
    const longestMs = Math.min(...Array.from({ length: 5 }, () => longestStepMs({ entries: Array(10).fill({ text }) })))
    t.ok(longestMs < 50, `${longestMs} ms`)
    t.end()
  })

t.test('a call of 10,000 turns is redacted in steps of less than 50 ms', (t) => {
  const turn = { text: 'My name is Ada. '.repeat(20), tool_calls: [{ args: { a: 1 }, result: '{"password":"a"}' }] }
  const longestMs = Math.min(...Array.from({ length: 3 }, () => longestStepMs({ entries: Array(10_000).fill(turn) })))
  t.ok(longestMs < 50, `${longestMs} ms`)
  t.end()
})

/** Returns the longest processor time for a piece. A busy machine makes wall time longer. */
function longestStepMs(value: unknown): number {
  const steps = jsonPieces(value, redactedField)
  for (let longestMs = 0; ; ) {
    const before = process.cpuUsage()
    if (steps.next().done) return longestMs
    const { user, system } = process.cpuUsage(before)
    longestMs = Math.max(longestMs, (user + system) / 1000)
  }
}
