/** Runs Cartesia's models for speech and for recognition through the shared adapter tests. */
import t from 'tap'
import { recordingMs, sttSuite } from '../suite/stt.ts'
import { sttStreamSuite } from '../suite/stt-live.ts'
import { transcriptOf } from '../suite/stub-server.ts'
import { ttsSuite } from '../suite/tts.ts'
import { ttsLiveSuite } from '../suite/tts-live.ts'
import { apiKey, provider } from './setup.ts'
import { startCartesiaStub } from './stub.ts'
import { withoutSilence } from './stub-sockets.ts'

const stub = await startCartesiaStub()
t.teardown(() => stub.close())
const given = { provider, stub, apiKey }
/** undici opens a connection in place of the connection that ended with its attempt. */
const keeps = { sockets: 1, because: 'the pool replaces the connection of a call that was left' }
const text = (utterance: Buffer) => transcriptOf(withoutSilence(utterance))

t.test('Cartesia Sonic passes the shared adapter tests for speech over HTTP', (t) =>
  ttsSuite(t, {
    ...given,
    keeps,
    model: 'sonic-3.5',
    cannot: { header_only: 'raw samples have no header', error_mid: 'an audio body has no room for an error' },
  }),
)
t.test('Cartesia Sonic passes the shared adapter tests for speech over the socket', (t) =>
  ttsLiveSuite(t, { ...given, model: 'sonic-3' }),
)
t.test('Cartesia Ink passes the shared adapter tests for recordings', (t) =>
  sttSuite(t, {
    ...given,
    keeps,
    model: 'ink-whisper',
    billedMs: recordingMs,
    cannot: { error_mid: 'an answer is one object' },
  }),
)
t.test('Cartesia Ink passes the shared adapter tests for live recognition', (t) =>
  sttStreamSuite(t, { ...given, model: 'ink-whisper', text }),
)
t.test('Cartesia Ink passes the shared adapter tests for turn detection', (t) =>
  sttStreamSuite(t, { ...given, model: 'ink-2', text }),
)
