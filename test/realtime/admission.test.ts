/**
 * Tests refusals before the upgrade, with the contract's messages in the contract's order. Some refusals use up the
 * token, and some do not.
 */
import t from 'tap'
import { overEngines } from '../engine/engines.ts'
import { putKey, startAdministered } from '../platform/setup.ts'
import { postJson, type Target } from '../router/requests.ts'
import { serverWith } from '../server.ts'
import { queryOf, startDeepgramStub } from '../vendors/deepgram/stub.ts'
import { playListen } from '../vendors/deepgram/stub-sockets.ts'
import { type Opening, open, refusal, start, subprotocol } from './socket.ts'

const hearing = '/v1/transcribe/stream'
const speaking = '/v1/synthesize/stream'
overEngines(t, async (t) => {
  const stub = await startDeepgramStub()
  stub.playSocket((socket, request) => playListen(socket, queryOf(request), 'ok'))
  /** This vendor's only model has a price, and it cannot synthesize speech. */
  const vendor = { id: 'vendor', adapter: 'deepgram', baseUrl: stub.url, apiKey: 'k', models: { stt: ['nova-3'] } }
  t.teardown(() => stub.close())
  const { parley, admin } = await startAdministered(t, {
    PARLEY_PROVIDERS: JSON.stringify([vendor]),
    PARLEY_LOCAL_ENABLED: 'false',
  })

  const scopes = ['realtime', 'platform'] as const
  const bearer = ({ key }: Target): Opening => ({ headers: { authorization: `Bearer ${key}` } })

  /** Gets an ephemeral token, and returns the headers with which a browser on our page opens a socket. */
  async function token(target: Target): Promise<Opening> {
    const answer = await postJson(target, '/v1/realtime/sessions', {})
    const { client_secret } = answer.json<{ client_secret: { value: string } }>()
    const protocols = [subprotocol, `service.ephemeral.${client_secret.value}`]
    return { protocols, headers: { origin: target.url } }
  }

  const opens = async (target: Target, address: string, opening: Opening) =>
    (await open(target, address, opening)).socket.terminate()

  t.test('neither a revoked key nor its token opens a socket', async (t) => {
    const acme = await admin.organization('acme', { scopes })
    await opens(acme, hearing, bearer(acme))
    const minted = await token(acme)
    await opens(acme, hearing, await token(acme))
    await admin.store.keys.revoke(acme.id, acme.keyId)
    const refused = { status: 401, code: 'authentication_failed' }
    t.same(await refusal(acme, hearing, minted), refused)
    // A token's key is read for each socket, and a revoked key is announced to every process after a moment.
    for (let tries = 0; (await refusal(acme, hearing, bearer(acme))).status === 101 && tries < 100; tries += 1);
    t.same(await refusal(acme, hearing, bearer(acme)), refused)
  })

  t.test('an organization without credit opens no socket', async (t) => {
    const poor = await admin.organization('poor', { scopes, creditMicroUsd: 0 })
    const refused = { status: 402, code: 'insufficient_credit' }
    const minted = await token(poor)
    t.same(await refusal(poor, hearing, bearer(poor)), refused)
    t.same(await refusal(poor, hearing, minted), refused)
    t.same(await refusal(poor, '/v1/realtime?intent=transcription', bearer(poor)), refused)

    await admin.store.organizations.addCredit(poor.id, 1)
    await opens(poor, hearing, minted)
    t.pass('the token was not spent by the refusal')
    const client = await open(poor, hearing)
    client.send({ type: 'config', language: 'en' })
    t.equal(await client.closed, 1008)
    t.match(client.frames('error'), [{ code: 'BUDGET_EXHAUSTED', retryable: false }], 'what is left covers no session')

    await admin.store.organizations.addCredit(poor.id, -1)
    t.same(await refusal(poor, hearing, bearer(poor)), refused)
    t.equal((await putKey(poor, 'vendor', 'own')).status, 200)
    const own = await start(poor, hearing, { language: 'en' })
    own.socket.terminate()
    t.equal(stub.seen.at(-1)?.headers['authorization'], 'Token own', 'its own key needs none')
  })

  t.test('without a streaming provider sockets are refused with 503', async (t) => {
    const acme = await admin.organization('acme', { scopes })
    const refused = { status: 503, code: 'provider_unavailable' }
    const minted = await token(acme)
    t.same(await refusal(acme, speaking, bearer(acme)), refused)
    t.same(await refusal(acme, speaking, minted), refused)
    await opens(acme, hearing, minted)
    t.same(await refusal(acme, hearing, minted), { status: 401, code: 'authentication_failed' }, 'it is good once')

    const bare = await serverWith({ PARLEY_LOCAL_ENABLED: 'false' })
    for (const address of [hearing, speaking])
      t.same(await refusal(bare, address, {}), refused, `${address} of no provider`)
  })

  t.test('if a stream overrides an unusable default of its API key, the stream opens', async (t) => {
    const { id } = await admin.organization('acme')
    const policy = { language: 'zu', chain: { stt: ['vendor/none'] } }
    const wanted = { organizationId: id, name: '', scopes, test: false, policy, expiresAtMs: null }
    const made = await admin.store.keys.create(wanted)
    const target = { url: parley.url, key: made!.secret }
    const client = await start(target, hearing, { language: 'en', model: 'vendor/nova-3' })
    client.socket.terminate()
    t.match(client.frames('ready'), [{ model: 'nova-3' }])
  })

  t.test('a client error such as a wrong origin or scope is answered before a lack of credit', async (t) => {
    const poor = await admin.organization('poor', { scopes, creditMicroUsd: 0 })
    const foreign = { origin: 'https://foreign.example' }
    const key = bearer(poor)
    const code = async (opening: Opening, address = hearing) => (await refusal(poor, address, opening)).code
    t.equal(await code({ headers: foreign }), 'authentication_failed')
    t.equal(await code({ ...(await token(poor)), headers: foreign }), 'origin_not_allowed')
    t.equal(await code({ ...key, protocols: ['service.realtime.v2'] }), 'invalid_parameter')
    const narrow = await admin.organization('narrow', { scopes: ['router'], creditMicroUsd: 0 })
    t.same(await refusal(narrow, hearing, bearer(narrow)), { status: 403, code: 'access_denied' })
  })
})
