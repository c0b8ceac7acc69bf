/** `providers check` says in one sentence what the provider answers, and fails if the key is not accepted. */
import t from 'tap'
import { runCommand } from '../command.ts'
import { startAdministered, stubProviders } from '../platform/setup.ts'
import { startStubOpenAi } from '../providers/stub-openai.ts'
import { sendJson, startStub } from '../vendors/suite/stub-server.ts'

const stub = await startStubOpenAi()
t.teardown(() => stub.close())
const missingScope = { error: { message: 'Missing scopes: api.model.read.' } }
const limited = await startStub({ http: (_request, response) => sendJson(response, missingScope, { status: 403 }) })
t.teardown(() => limited.close())
const models = { llm: ['chat'] }
const { parley, admin } = await startAdministered(t, {
  PARLEY_PROVIDERS: stubProviders(stub, [
    // No server listens on the tcpmux port.
    { id: 'gone', adapter: 'openai', baseUrl: 'http://127.0.0.1:1/v1', apiKey: 'key', models },
    { id: 'limited', adapter: 'openai', baseUrl: limited.url, apiKey: 'key', models },
  ]),
})
const { key } = await admin.organization('that checks from the command line', { scopes: ['platform', 'admin'] })
const check = (...args: string[]) => runCommand(parley, ['providers', 'check', ...args], { PARLEY_API_KEY: key })

t.test('`providers check` exits with 0 if the provider accepts the key', async (t) => {
  const { code, stdout } = await check('main')
  t.equal(code, 0)
  t.match(stdout, /^main: The server answers\. It may show .*not prove the key\. \(HTTP status 200, after \d+ ms\)\n$/)
})

t.test('`providers check` exits with 0 if the provider knows the key but refuses the request', async (t) => {
  const { code, stdout } = await check('limited')
  t.equal(code, 0)
  t.match(
    stdout,
    /^limited: The provider knows the key, but the key may not send the request of this check\. \(HTTP status 403,/,
  )
})

t.test('`providers check` exits with 1 if the provider refuses the key or does not answer', async (t) => {
  stub.behave({ kind: 'status', status: 401, code: 'invalid_api_key' })
  const refused = await check('main')
  t.equal(refused.code, 1)
  t.match(refused.stdout, /^main: The provider refuses the key\. \(HTTP status 401, after \d+ ms\)\n$/)
  stub.behave({ kind: 'status', status: 401, code: 'invalid_api_key' })
  const { code, stdout } = await check('main', '--json')
  t.equal(code, 1)
  t.match(JSON.parse(stdout), { ok: false, outcome: 'auth', providerStatus: 401 })
  const gone = await check('gone')
  t.equal(gone.code, 1)
  t.match(gone.stdout, /^gone: This server cannot connect to the provider\. \(after \d+ ms\)\n$/)
})
