import t from 'tap'
import { ProviderError } from '../../domain/ports/provider-error.ts'
import { parseVendorJson } from '../../providers/wire/json.ts'
import { ask, failure, never, openStub } from './openai-setup.ts'

const { stub, real } = await openStub(t)
const nested = (levels: number) => `${'['.repeat(levels)}${']'.repeat(levels)}`

t.test("the depth and the number of values of a vendor's JSON are limited", (t) => {
  const words = Array.from({ length: 90_000 }, (_, at) => ({ word: 'a', start: at, end: at + 1, speaker: 1 }))
  t.same(parseVendorJson(JSON.stringify({ words })), { words }, 'a transcript of ten hours')
  t.ok(parseVendorJson(`{"text":"${'['.repeat(2000)}","deep":${nested(63)}}`))
  const long = `"text":"${'x'.repeat(1024)}"`
  for (const [text, cause] of [
    [`{${long},"deep":${nested(64)}}`, 'JSON with more than 64 levels'],
    [`{"deep":${nested(2_000_000)}}`, 'JSON with more than 64 levels'],
    [`[${'0,'.repeat(500_000)}0]`, 'JSON with more than 500000 values'],
  ] as const)
    t.throws(() => parseVendorJson(text), new ProviderError('protocol', { sent: true, cause }), text.slice(0, 10))
  t.throws(() => parseVendorJson('{'), SyntaxError)
  t.end()
})

t.test('an answer that is nested too deeply is a failure of the protocol', async (t) => {
  for (const status of [200, 400]) {
    stub.behave({
      kind: 'custom',
      answer: (_request, response) => {
        response.writeHead(status, { 'content-type': 'application/json' })
        response.end(`{"choices":${nested(20_000)}}`)
      },
    })
    t.match(await failure(real.llm.respond(ask, never)), { errorClass: status === 200 ? 'protocol' : 'bad_request' })
  }
})
