/** The adapter for Deepgram, connected to a stub, for tests outside of the suites. */
import type { Test } from 'tap'
import type { SttStreamRequest } from '../../../domain/ports/stt.ts'
import { createDeepgramProvider } from '../../../providers/deepgram/provider.ts'
import type { VendorOptions } from '../../../providers/wire/adapter.ts'
import { systemClock } from '../../../runtime/timing/clock.ts'
import { catalog, never, patient, present } from '../suite/given.ts'
import { type Listening, listen } from '../suite/stt-live.ts'
import { queryOf, startDeepgramStub } from './stub.ts'

export const apiKey = 'dg-stub-0123456789abcdef'

/** Starts a stub and its adapter for one test file. */
export async function openDeepgram(t: Test) {
  const stub = await startDeepgramStub()
  const adapter = (changes: Partial<VendorOptions> = {}) =>
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
  const provider = adapter()
  const stt = present(provider.ports.speech?.stt, 'stt')
  const tts = present(provider.ports.speech?.tts, 'tts')
  const live = present(tts.live?.bind(tts), 'live')
  t.beforeEach(() => stub.behave('ok'))
  t.teardown(async () => {
    await provider.close()
    await stub.close()
  })
  const given = { provider: () => provider, stub, apiKey, model: 'nova-3' }
  const listenTo = (changes: Partial<SttStreamRequest> = {}): Promise<Listening> =>
    listen(t, provider, given, never, changes)
  const lastQuery = () => queryOf(present(stub.seen.at(-1), 'request'))
  const asked = () => Object.fromEntries(lastQuery())
  return { stub, adapter, provider, stt, tts, live, given, listenTo, lastQuery, asked }
}
