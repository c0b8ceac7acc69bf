import t from 'tap'
import { readRouting } from '../../handlers/router/routing.ts'
import { Refusal } from '../../runtime/engine/handler.ts'

t.test('omitted routing and an omitted objective take the default', (t) => {
  t.same(readRouting(undefined), { mode: 'auto', objective: 'balanced' })
  t.same(readRouting({ mode: 'auto' }), { mode: 'auto', objective: 'balanced' })
  t.same(readRouting(undefined, 'cost'), { mode: 'auto', objective: 'cost' }, 'the objective of the key fills in')
  t.same(readRouting({ mode: 'auto', objective: 'latency' }, 'cost'), { mode: 'auto', objective: 'latency' })
  t.end()
})

t.test('with the mode auto, empty strings and empty lists count as omitted', (t) => {
  t.same(readRouting({ mode: 'auto', provider: '', model: '', allowProviders: [], denyProviders: [] }), {
    mode: 'auto',
    objective: 'balanced',
  })
  t.same(readRouting({ mode: 'auto', allowProviders: ['a'], denyProviders: ['b'] }), {
    mode: 'auto',
    objective: 'balanced',
    allowProviders: ['a'],
    denyProviders: ['b'],
  })
  t.end()
})

t.test('in mode explicit a provider in front of the model name is split off, even if `provider` repeats it', (t) => {
  const explicit = (provider: string, model: string) => ({ mode: 'explicit', provider, model })
  t.same(readRouting({ mode: 'explicit', provider: 'a', model: 'm' }), explicit('a', 'm'))
  t.same(readRouting({ mode: 'explicit', model: 'a/m' }), explicit('a', 'm'))
  t.same(readRouting({ mode: 'explicit', provider: '', model: 'a/m' }), explicit('a', 'm'))
  t.same(readRouting({ mode: 'explicit', model: 'a/org/m' }), explicit('a', 'org/m'))
  t.same(readRouting({ mode: 'explicit', provider: 'a', model: 'a/org/m' }), explicit('a', 'org/m'))
  t.same(readRouting({ mode: 'explicit', provider: 'a', model: 'org/m' }), explicit('a', 'org/m'))
  t.end()
})

t.test('the error for invalid routing names the field', (t) => {
  const refused = [
    [{ mode: 'explicit' }, '/routing/model'],
    [{ mode: 'explicit', model: 'm' }, '/routing/model'],
    [{ mode: 'explicit', model: '/m' }, '/routing/model'],
    [{ mode: 'explicit', model: 'a/' }, '/routing/model'],
    [{ mode: 'explicit', provider: 'a', model: 'a/' }, '/routing/model'],
    [{ mode: 'explicit', model: 'a/m', objective: 'cost' }, '/routing/objective'],
    [{ mode: 'explicit', model: 'a/m', allowProviders: [] }, '/routing/allow_providers'],
    [{ mode: 'explicit', model: 'a/m', denyProviders: [] }, '/routing/deny_providers'],
    [{ mode: 'auto', provider: 'a' }, '/routing/provider'],
    [{ mode: 'auto', model: 'm' }, '/routing/model'],
    [{ mode: 'auto', allowProviders: ['a', ' '] }, '/routing/allow_providers/1'],
    [{ mode: 'auto', denyProviders: [''] }, '/routing/deny_providers/0'],
  ] as const
  for (const [raw, param] of refused) {
    const refusal = thrown(() => readRouting(raw))
    t.ok(refusal instanceof Refusal)
    t.match(refusal, { kind: 'invalid_parameter', detail: { param } }, JSON.stringify(raw))
  }
  t.end()
})

function thrown(run: () => unknown): unknown {
  try {
    run()
  } catch (error) {
    return error
  }
  throw new Error('expected a refusal')
}
