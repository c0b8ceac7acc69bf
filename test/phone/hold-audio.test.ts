/** Hold audio from the organization's server, over the simulated carrier. */
import t from 'tap'
import { wavHeader } from '../../audio/wav.ts'
import { call } from '../platform/setup.ts'
import { startReceiver } from '../webhooks/receiver.ts'
import { eventsOf } from './call-rows.ts'
import { callWhen, eventsWithType, startPhones } from './phones.ts'

const phones = await startPhones()
t.teardown(() => phones.close())

async function talking(): Promise<string> {
  const started = await call(phones, 'POST', '/v1/sessions/phone', { to: '+15005550006', agentId: phones.agentId })
  const { sessionId } = started.json<{ sessionId: string }>()
  await callWhen(phones, sessionId, ({ status }) => status === 'in_progress')
  return sessionId
}

t.test("hold audio is fetched from the organization's URL, and an event reports a failed fetch", async (t) => {
  const wav = Buffer.concat([
    wavHeader({ encoding: 'mulaw', sampleRateHz: 8000, channels: 1 }, 8000),
    Buffer.alloc(8000),
  ])
  const audio = await startReceiver((response, { path }) => {
    if (path === '/hold.wav') response.end(wav)
    else response.writeHead(404).end()
  })
  t.teardown(() => audio.close())
  const id = await talking()
  for (const path of ['/hold.wav', '/other.wav']) {
    const holdAudioUrl = new URL(path, audio.url).href
    const asked = { to: '+15005550002', ringingTimeout: 120, fallback: { holdAudioUrl } }
    const started = await call(phones, 'POST', `/v1/calls/${id}/transfers/warm`, asked)
    t.equal(started.status, 201, started.text)
    if (path === '/hold.wav') await phones.clock.until('the request', () => audio.received.length === 1)
    else await eventsWithType(phones, id, 'room.hold_audio_failed')
    const cancel = `/v1/calls/${id}/transfers/${started.json<{ id: string }>().id}/cancel`
    const cancelled = await call(phones, 'POST', cancel, {})
    t.match(cancelled.json(), { status: 'cancelled', fallback: { hold_audio_url: holdAudioUrl } })
  }
  t.same(
    audio.received.map(({ path }) => path),
    ['/hold.wav', '/other.wav'],
    'each once',
  )
  const failed = (await eventsOf(phones, id)).filter(({ event_type }) => event_type === 'room.hold_audio_failed')
  t.match(failed, [{ payload: { reason: 'status' } }])
  t.equal(failed.length, 1)
  await call(phones, 'POST', `/v1/calls/${id}/end`)
})
