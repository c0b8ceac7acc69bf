/**
 * Tests the config frame in the forms that published clients send, and options that the chosen provider does not
 * support.
 */
import t from 'tap'
import { ownServer } from '../server.ts'
import { queryOf, startDeepgramStub } from '../vendors/deepgram/stub.ts'
import { loopback, loopbackModel, open, start } from './socket.ts'

const stub = await startDeepgramStub()
const vendor = { id: 'vendor', adapter: 'deepgram', baseUrl: stub.url, apiKey: 'k', models: { stt: ['nova-3'] } }
const providers = [vendor, ...(JSON.parse(loopback) as object[])]
const env = { PARLEY_LOCAL_ENABLED: 'false', PARLEY_WARM_SOCKETS_PER_ROUTE: '0' }
t.teardown(() => stub.close())
const parley = await ownServer(t, { PARLEY_PROVIDERS: JSON.stringify(providers), ...env })

const address = '/v1/transcribe/stream'
const model = 'vendor/nova-3'

t.test('a config frame may have `sttOptions`, `region`, and `accuracy` as another name for `quality`', async (t) => {
  const published = { sttOptions: { language: 'de', keywords: ['Parley'] }, region: 'eu', optimizeFor: 'accuracy' }
  const client = await start(parley, address, { model, ...published })
  t.equal(client.frames('ready')[0]!['ignored'], undefined)
  const query = queryOf(stub.seen.at(-1)!)
  t.match([query.get('language'), query.getAll('keyterm')], ['de', ['Parley']])
  client.socket.terminate()
  const own = await start(parley, address, { model, language: 'en', sttOptions: { language: 'de' } })
  t.equal(queryOf(stub.seen.at(-1)!).get('language'), 'en', 'a field of the config goes first')
  own.socket.terminate()
  const voice = await start(parley, '/v1/synthesize/stream', {
    model: loopbackModel,
    region: 'eu',
    optimizeFor: 'accuracy',
  })
  voice.socket.terminate()
})

t.test('an option that the provider does not support is ignored and listed', async (t) => {
  const client = await start(parley, address, { model: loopbackModel, keywords: ['Parley'], prompt: 'A call.' })
  t.same(client.frames('ready')[0]!['ignored'], ['keywords', 'prompt'])
  client.socket.terminate()
  const partly = await start(parley, address, { model, language: 'en', keywords: ['Parley'], prompt: 'A call.' })
  t.same(partly.frames('ready')[0]!['ignored'], ['prompt'])
  partly.socket.terminate()
})

t.test('an unknown field of `sttOptions` in a config frame is refused', async (t) => {
  const client = await open(parley, address)
  client.send({ type: 'config', sttOptions: { diarize: true } })
  t.equal(await client.closed, 1008)
  t.match(client.frames('error'), [{ code: 'INVALID_CONFIG' }])
})
