/** If the filters leave no candidate, the error names the request's need and the client's filter. */
import t from 'tap'
import type { KeyPolicy } from '../../domain/records/organization.ts'
import { type Ask, baseAsk } from '../../domain/routing/ask.ts'
import { bench, caller, model, provider, thrownFault } from './fakes.ts'

const batchOnly = { ...model('stt').capabilities, streaming: false }
const { chooser } = bench([
  provider('whole', [model('stt', { capabilities: batchOnly })]),
  provider('live', [model('stt')]),
])

function refused(routing: Partial<Ask['routing']>, over: Partial<Ask>, policy: KeyPolicy = {}) {
  const auto = { mode: 'auto', objective: 'balanced', ...routing } as Ask['routing']
  return thrownFault(() => chooser.chooseSome({ ...baseAsk(caller(policy), 'stt', auto, undefined), ...over })).data
}

t.test('if no streaming model has a requested capability, the error names that capability', (t) => {
  t.match(refused({}, { needs: ['streaming', 'diarization'] }), { capability: 'diarization' })
  t.end()
})

t.test('if a filter excluded the models that could serve a request, the error names the filter', (t) => {
  const needs: Ask['needs'] = ['streaming']
  t.match(refused({ allowProviders: ['whole'] }, { needs }), { capability: 'streaming', by: 'not_allowed' })
  t.match(refused({ denyProviders: ['live'] }, { needs }), { capability: 'streaming', by: 'denied' })
  t.match(refused({}, { needs }, { allowProviders: ['whole'] }), { capability: 'streaming', by: 'key_policy' })
  t.notOk('by' in refused({}, { needs: ['diarization'] }), 'no filter is named where none was set')
  t.end()
})
