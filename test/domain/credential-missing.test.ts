/** A missing credential is not an outage: the error names it, and does not ask for a repeated request. */
import t from 'tap'
import type { Stage } from '../../domain/ports/model.ts'
import { type Ask, baseAsk, type Routing } from '../../domain/routing/ask.ts'
import { bench, caller, failure, model, provider, thrownFault } from './fakes.ts'
import { routerError } from './router-error.ts'

const auto: Routing = { mode: 'auto', objective: 'balanced' }
const pinned = (provider: string, model: string): Routing => ({ mode: 'explicit', provider, model })

t.test('if a pinned model lacks a credential, the error first names the missing environment variable', (t) => {
  const a = Object.assign(provider('a', [model('llm'), model('tts')]), { credentialVariable: 'A_KEY' })
  const b = provider('b', [model('tts', { id: 'bare' })])
  a.reason = 'no_credential'
  const { chooser, health } = bench([a, b])
  const refused = (stage: Stage, routing: Routing, over: Partial<Ask> = {}, who = caller()) =>
    thrownFault(() => chooser.chooseSome({ ...baseAsk(who, stage, routing, undefined), ...over }))
  const missing = { kind: 'credential_missing', variables: ['A_KEY'], served: [] }
  t.match(refused('llm', auto), { data: { ...missing, model: null }, detail: { retryAfterS: undefined } })
  t.match(refused('llm', pinned('a', 'm'), { needs: ['tools'] }), { data: { ...missing, model: 'a:m' } }, 'goes first')
  t.match(refused('tts', pinned('a', 'm'), {}, caller({ allowProviders: ['b'] })), { kind: 'key_policy_leaves_none' })
  t.match(refused('tts', pinned('a', 'm')), { data: { model: 'a:m', served: ['b:bare'] } })
  const answer = routerError(refused('llm', auto))
  t.match(answer, { code: 'capability_unsupported', message: /A_KEY/, hint: /A_KEY/ })
  const row = chooser.world.catalog.find('tts', 'b', 'bare')
  if (!row) throw new Error('no row')
  for (let i = 0; i < 3; i++) health.begin(row, 'stream')?.failed(failure('server'))
  t.match(refused('tts', auto), { kind: 'none_callable' }, 'one that has a credential is out, and comes back')
  t.match(refused('tts', pinned('b', 'bare')), { kind: 'none_callable' }, 'a circuit that is open stays an outage')
  t.end()
})
