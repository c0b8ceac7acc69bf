import t from 'tap'
import { createDeepgramProvider } from '../../../providers/deepgram/provider.ts'
import type { OutboundLimits } from '../../../runtime/outbound/limits.ts'
import type { Expected } from '../suite/given.ts'
import { vendorOptions } from '../suite/given.ts'
import { sttSuite } from '../suite/stt.ts'
import { sttStreamSuite } from '../suite/stt-live.ts'
import { ttsSuite } from '../suite/tts.ts'
import { ttsLiveSuite } from '../suite/tts-live.ts'
import { startDeepgramStub } from './stub.ts'

const apiKey = 'dg-stub-0123456789abcdef'
const stub = await startDeepgramStub()
const provider = (baseUrl: string, limits: OutboundLimits) =>
  createDeepgramProvider(vendorOptions('deepgram', apiKey, baseUrl, limits))
t.teardown(() => stub.close())

const server: Expected = { errorClass: 'server', because: 'no code of a socket means overload' }
const noErrorMid = { error_mid: 'an answer over HTTP is one object, or audio: it cannot hold an error' }
const given = { provider, stub, apiKey }

t.test('Deepgram Nova passes the shared adapter tests for recordings', (t) =>
  sttSuite(t, { ...given, model: 'nova-3', billedMs: 250, cannot: noErrorMid }),
)
t.test('Deepgram Nova passes the shared adapter tests for live recognition', (t) =>
  sttStreamSuite(t, { ...given, model: 'nova-3', billedMs: 700, expected: { error_mid: server } }),
)
t.test('Deepgram Flux passes the shared adapter tests for live recognition', (t) =>
  sttStreamSuite(t, { ...given, model: 'flux-general-en', expected: { error_mid: server } }),
)
t.test('Deepgram Aura passes the shared adapter tests for speech over HTTP', (t) =>
  ttsSuite(t, { ...given, model: 'aura-2', cannot: noErrorMid }),
)
t.test('Deepgram Aura passes the shared adapter tests for speech over a socket', (t) =>
  ttsLiveSuite(t, { ...given, model: 'aura-2', expected: { error_mid: server } }),
)
