/** A hostile organization cannot use up the streams or the queues of the embedded speech engines. */
import t from 'tap'
import { openAdministration, pinned } from '../platform/setup.ts'
import { type Client, open, start } from '../realtime/socket.ts'
import { postJson, speech, type Target } from '../router/requests.ts'
import { ownServer } from '../server.ts'

const settings = {
  PARLEY_LOCAL_STT_PROCESSES: '1',
  PARLEY_LOCAL_TTS_PROCESSES: '1',
  // The engines load slowly on a busy machine.
  PARLEY_REALTIME_OPEN_MS: '60000',
  PARLEY_TIMEOUTS_FIRST_AUDIO_MS: '60000',
}
/** With this capacity each organization's share is one stream or one sentence. */
const placesMax = 4
const address = '/v1/transcribe/stream'

t.test('streams of one organization leave a share of the recognizer to another organization', async (t) => {
  const server = await ownServer(t, { ...settings, PARLEY_LOCAL_STT_STREAMS_MAX: String(placesMax) })
  const admin = await openAdministration(server)
  t.teardown(() => admin.close())
  const scopes = ['realtime'] as const
  const [honest, hostile] = [
    await admin.organization('honest', { scopes }),
    await admin.organization('hostile', { scopes }),
  ]
  const stream = (target: Target) => start(target, address, { language: 'en' })
  await end(await stream(honest))

  const taken: Client[] = []
  for (let i = 0; i < placesMax - 1; i++) taken.push(await stream(hostile))
  const refused = await open(hostile, address)
  refused.send({ type: 'config', language: 'en' })
  t.match(await refused.take('error'), { code: 'RATE_LIMITED', retryable: true })

  const beside = await stream(honest)
  t.match(beside.frames('ready'), [{ provider: 'local' }])
  for (const client of [beside, ...taken]) await end(client)
  await end(await stream(hostile))
})

async function end(client: Client): Promise<void> {
  client.send({ type: 'end' })
  await client.closed
}

t.test('texts of one organization leave a share of the speech queue to another organization', async (t) => {
  const server = await ownServer(t, { ...settings, PARLEY_LOCAL_QUEUE_MAX: String(placesMax) })
  const admin = await openAdministration(server)
  t.teardown(() => admin.close())
  const [honest, hostile] = [await admin.organization('honest'), await admin.organization('hostile')]
  // Routing is pinned, because otherwise a request to a full engine goes to the next embedded voice.
  const say = (target: Target, input: string) => postJson(target, speech, { input, routing: pinned('local/flite') })
  t.equal((await say(honest, 'Hello.')).status, 200)

  const long = 'This sentence is one of very many sentences that nobody wants to listen to. '.repeat(40)
  let answers = 0
  const isFull = new Promise<void>((resolve) => {
    const count = (status: number) => (status === 200 ? answers++ : resolve())
    // These requests are not awaited, because they end with the test.
    for (let i = 0; i < 4 * placesMax; i++)
      say(hostile, long).then(
        ({ status }) => count(status),
        () => {},
      )
  })
  await isFull
  t.equal((await say(honest, 'Hello.')).status, 200)
  t.equal(answers, 0, 'the honest organization need not wait until the others are served')
})
