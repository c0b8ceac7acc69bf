import t from 'tap'
import type { ProviderError } from '../../domain/ports/provider-error.ts'
import { SpeechEngineProcess } from '../../providers/local/children/speech-engine-process.ts'

t.test('if this server kills an engine that hangs, the failure does not count against the model', async (t) => {
  const ends: ProviderError[] = []
  const engine = new SpeechEngineProcess('flite-child', {
    onMessage: () => {},
    onEnd: (error) => void ends.push(error),
  })
  engine.kill()
  t.equal(await engine.exited, 'SIGKILL')
  t.match(ends, [{ errorClass: 'server', isOurs: true }])
  t.equal(ends.length, 1)
})
