/** An adapter in front of the stub, for tests outside of the suites. */
import t from 'tap'
import type { SttStreamRequest } from '../../../domain/speech/stt.ts'
import type { VendorOptions } from '../../../providers/adapter.ts'
import { createDeepgramProvider } from '../../../providers/deepgram/provider.ts'
import { systemClock } from '../../../runtime/clock.ts'
import { catalog, never, patient, present } from '../suite/given.ts'
import { type Listening, listen } from '../suite/stt-live.ts'
import { queryOf, startDeepgramStub } from './stub.ts'

export const apiKey = 'dg-stub-0123456789abcdef'
export const stub = await startDeepgramStub()
export const adapter = (changes: Partial<VendorOptions> = {}) =>
  createDeepgramProvider({
    id: 'deepgram',
    baseUrl: stub.url,
    apiKey,
    models: null,
    catalog,
    limits: patient,
    clock: systemClock,
    unavailable: null,
    ...changes,
  })
export const provider = adapter()
export const stt = present(provider.ports.speech?.stt, 'stt')
export const tts = present(provider.ports.speech?.tts, 'tts')
export const live = present(tts.live?.bind(tts), 'live')
t.beforeEach(() => stub.behave('ok'))
t.teardown(async () => {
  await provider.close()
  await stub.close()
})

export const given = { provider: () => provider, stub, apiKey, model: 'nova-3' }
export const listenTo = (changes: Partial<SttStreamRequest> = {}): Promise<Listening> =>
  listen(t, provider, given, never, changes)
export const lastQuery = () => queryOf(present(stub.seen.at(-1), 'request'))
export const asked = () => Object.fromEntries(lastQuery())
