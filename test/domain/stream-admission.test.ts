/** Depending on the model's price, an organization without credit may open a stream. */
import t from 'tap'
import { createStreamAdmission } from '../../domain/speech/stream-admission.ts'
import { bench, caller, fault, model, provider } from './fakes.ts'

t.test('a model of unknown price streams without credit, unless unpricedNeedsCredit is set', async (t) => {
  const all = bench([provider('a', [model('stt')])])
  all.credit.balance = 0
  const admit = createStreamAdmission(all.deps)
  await admit(caller(), 'stt')
  const strict = createStreamAdmission({ ...all.deps, unpricedNeedsCredit: true })
  t.match(await fault(strict(caller(), 'stt')), { kind: 'no_credit_to_stream' })
  all.credit.balance = 1
  await strict(caller(), 'stt')
})

t.test('a free model needs no credit, nor does a model of unknown price with a test API key', async () => {
  const free = [{ unit: 'audio_hour' as const, microUsd: 0, source: 's', asOf: 'd' }]
  const all = bench([provider('a', [model('stt', { prices: free })]), provider('b', [model('tts')])], ['b'])
  all.credit.balance = 0
  const strict = createStreamAdmission({ ...all.deps, unpricedNeedsCredit: true })
  await strict(caller(), 'stt')
  await strict(caller({}, { test: true }), 'tts')
})
