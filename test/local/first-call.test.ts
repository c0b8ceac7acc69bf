/** A server starts its speech engines before its first call. */
import t from 'tap'
import { warmForFirstCall } from '../../app/engines.ts'
import type { Provider } from '../../domain/ports/provider.ts'
import { model, provider } from '../domain/fakes.ts'

function warmed(...more: readonly Provider[]): string[] {
  const begun: string[] = []
  const local = Object.assign(provider('local', [model('stt', { id: 'ears' }), model('tts', { id: 'voice' })]), {
    warmUp: (stage: string) => void begun.push(stage),
  })
  const vad = {
    warmUp: () => void begun.push('vad'),
    open: () => t.fail('no stream') as never,
    close: () => Promise.resolve(),
  }
  warmForFirstCall({ providers: [local, ...more], vad })
  return begun
}

t.test('the engines for recognition, voice and speech detection are started before the first call', (t) => {
  t.same(warmed(), ['vad', 'stt', 'tts'])
  t.end()
})

t.test('if a vendor serves speech to text or text to speech, the embedded engine for it is not started', (t) => {
  t.same(warmed(provider('vendor', [model('stt', { id: 'x' })])), ['vad', 'tts'])
  const keyless = Object.assign(provider('keyless', [model('stt', { id: 'x' })]), {
    unavailable: () => 'no_credential',
  })
  t.same(warmed(keyless), ['vad', 'stt', 'tts'], 'unless its key is missing')
  t.end()
})
