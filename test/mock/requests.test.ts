/** The mock server checks requests by the contract. */
import { once } from 'node:events'
import { request as httpRequest, type IncomingMessage } from 'node:http'
import t from 'tap'
import { type Envelope, pathOf, serve } from './setup.ts'

const { url, surfaces, request } = await serve(t)

type Issues = { code: string; issues: { path: string; message: string }[] }
const json = { 'content-type': 'application/json' }

for (const { name, contract } of surfaces)
  t.test(`a body that breaks the contract of the ${name} API is answered 400`, async (t) => {
    const operations = [...contract.operations].filter(([, { type }]) => type === 'application/json')
    for (const [id, operation] of operations)
      for (const body of ['{', '5', '[]']) {
        const answer = await request(pathOf(operation), { method: operation.method, headers: json, body })
        t.equal(answer.status, 400, `${id}: ${body}`)
        await answer.text()
      }
    t.ok(operations.length >= 2, `${operations.length} operations`)
  })

t.test('the response 400 names the invalid field', async (t) => {
  const speech = { input: 'Good day.', colour: 'red' }
  const router = await request('/router/v1/tts/speech', { method: 'POST', headers: json, body: JSON.stringify(speech) })
  const { error } = (await router.json()) as Envelope
  t.match(error, { code: 'invalid_parameter', param: '/colour', message: '/colour is not a known field' })
  const platform = await request('/v1/agents/front-desk', { method: 'PATCH', headers: json, body: '{"name":5}' })
  const { code, issues } = (await platform.json()) as Issues
  t.equal(code, 'VALIDATION_ERROR')
  t.match(issues, [{ path: '/name', message: '/name must be string' }])
})

t.test('a parameter that breaks the contract is answered 400', async (t) => {
  const statusOf = async (path: string, init: RequestInit = {}) => {
    const answer = await request(path, init)
    await answer.text()
    return answer.status
  }
  t.equal(await statusOf('/v1/sessions?limit=5'), 200)
  t.equal(await statusOf('/v1/sessions?limit=five'), 400)
  t.equal(await statusOf('/v1/sessions?unknown=1'), 200, 'an unknown parameter is ignored')
  t.equal(await statusOf('/v1/sessions?limit=5&limit=five'), 200, 'the first value counts')
  t.equal(await statusOf('/v1/routing/preview?stage=stt'), 400, 'a required parameter is missing')
  const audio = { method: 'POST', body: 'RIFF' }
  const intent = (text: string) => ({ ...audio, headers: { 'content-type': 'audio/wav', 'x-service-intent': text } })
  t.equal(await statusOf('/v1/transcribe', intent('{"language":"en"}')), 200)
  t.equal(await statusOf('/v1/transcribe', intent('{"language":5}')), 400)
  t.equal(await statusOf('/v1/transcribe', intent('{')), 400)
  const speech = { method: 'POST', headers: { ...json, 'idempotency-key': '' }, body: '{"input":"Good day."}' }
  t.equal(await statusOf('/router/v1/tts/speech', speech), 400, 'the idempotency key is missing')
})

t.test('the parts of a multipart body and their order are checked', async (t) => {
  const statusOf = async (parts: [string, string | Blob][]) => {
    const body = new FormData()
    for (const [name, value] of parts) body.append(name, value)
    const answer = await request('/router/v1/stt/transcriptions', { method: 'POST', body })
    await answer.text()
    return answer.status
  }
  const settings = (value: string) => new Blob([value], { type: 'application/json' })
  const audio = new Blob(['RIFF'], { type: 'application/octet-stream' })
  t.equal(
    await statusOf([
      ['request', settings('{}')],
      ['audio', audio],
    ]),
    200,
  )
  t.equal(
    await statusOf([
      ['audio', audio],
      ['request', settings('{}')],
    ]),
    400,
    'the wrong order',
  )
  t.equal(await statusOf([['request', settings('{}')]]), 400, 'the recording is missing')
  t.equal(
    await statusOf([
      ['request', settings('{')],
      ['audio', audio],
    ]),
    400,
    'no JSON',
  )
  t.equal(
    await statusOf([
      ['request', settings('{"colour":1}')],
      ['audio', audio],
    ]),
    400,
    'an unknown field',
  )
  t.equal(
    await statusOf([
      ['request', settings('{}')],
      ['audio', audio],
      ['more', 'x'],
    ]),
    400,
    'an unknown part',
  )
  const cut = { method: 'POST', headers: { 'content-type': 'multipart/form-data' }, body: 'x' }
  t.equal((await request('/router/v1/stt/transcriptions', cut)).status, 400, 'without a boundary')
})

t.test('a body with an undeclared content type is answered 415, and a body beyond the limit 413', async (t) => {
  const init = { method: 'POST', headers: { 'content-type': 'text/plain' }, body: '{"name":"desk"}' }
  t.equal((await request('/v1/agents', init)).status, 415)
  const large = { method: 'POST', headers: { 'content-type': 'audio/wav' }, body: Buffer.alloc(64 * 1024 * 1024 + 1) }
  t.equal((await request('/v1/transcribe', large)).status, 413)
})

t.test('an unknown path is answered 404, and an undeclared method 405 with the declared methods', async (t) => {
  const unknown = await request('/v1/unknown')
  t.equal(unknown.status, 404)
  t.equal(((await unknown.json()) as Envelope).error.code, 'not_found')
  for (const path of ['//', '/v1/agents/%zz']) t.equal((await fetch(url + path)).status, 404, path)
  const slash = await request('/v1/agents/')
  t.equal(slash.status, 404)
  const method = await request('/v1/agents', { method: 'PUT' })
  t.equal(method.status, 405)
  t.equal(method.headers.get('allow'), 'GET, POST')
})

t.test('a request that offers HTTP/2 is answered', async (t) => {
  const body = JSON.stringify({ text: 'Good day.' })
  const offer = { connection: 'Upgrade, HTTP2-Settings', upgrade: 'h2c', 'http2-settings': 'AAEAAEAAAAIAAAAB' }
  const headers = { ...json, ...offer, authorization: 'Bearer any', 'content-length': body.length }
  const sent = httpRequest(`${url}/v1/synthesize`, { method: 'POST', headers }).end(body)
  const [answer] = (await once(sent, 'response')) as [IncomingMessage]
  answer.resume()
  t.equal(answer.statusCode, 200)
})

t.test('HEAD is answered as GET without a body', async (t) => {
  const [get, head] = [await request('/v1/agents'), await request('/v1/agents', { method: 'HEAD' })]
  t.equal(head.headers.get('content-length'), get.headers.get('content-length'))
  t.equal(await head.text(), '')
})

t.test('the contract document is served completely', async (t) => {
  const answer = await request('/router/openapi.json')
  const { paths } = (await answer.json()) as { paths: object }
  t.equal(Object.keys(paths).length, 5)
})
