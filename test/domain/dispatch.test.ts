import t from 'tap'
import type { Routing } from '../../domain/routing/ask.ts'
import { baseAsk } from '../../domain/routing/ask.ts'
import { settled } from '../clock.ts'
import { answer, auto, generateItems, isClean, priced, request, setup } from './fake-llm.ts'
import { caller, failure, fault, healthLimits, key, order, usage } from './fakes.ts'

t.test('each combination of provider failures gives the expected error, attempts and idempotency key state', (t) => {
  const cases: [string, Parameters<typeof setup>[0], object, { asked: string[]; spent: boolean }][] = [
    [
      'all providers limit the rate',
      [failure('rate_limited', true, 3), failure('rate_limited', true, 7)],
      { kind: 'all_rate_limited', detail: { retryAfterS: 7, isKeySpent: true } },
      { asked: ['a', 'b'], spent: true },
    ],
    [
      'the rate is limited before any byte is sent',
      [failure('rate_limited', false)],
      { kind: 'all_rate_limited', detail: { retryAfterS: 1 } },
      { asked: ['a'], spent: false },
    ],
    [
      'no provider is reachable',
      [failure('unreachable', false), failure('overloaded', false, 4)],
      { kind: 'providers_unreachable', detail: { retryAfterS: 4 } },
      { asked: ['a', 'b'], spent: false },
    ],
    [
      'all providers time out',
      [failure('timeout'), failure('timeout')],
      { kind: 'timed_out', detail: { isKeySpent: true } },
      { asked: ['a', 'b'], spent: true },
    ],
    [
      'no provider supports the request',
      [failure('unsupported')],
      { kind: 'all_unsupported' },
      { asked: ['a'], spent: true },
    ],
    [
      'the providers fail in different ways',
      [failure('timeout'), failure('server'), failure('rate_limited')],
      { kind: 'all_failed' },
      { asked: ['a', 'b', 'c'], spent: true },
    ],
    [
      'a bad request does not fail over',
      [failure('bad_request'), answer],
      { kind: 'provider_refused' },
      { asked: ['a'], spent: true },
    ],
    [
      'the credentials are refused',
      [failure('auth'), failure('quota')],
      { kind: 'all_failed' },
      { asked: ['a', 'b'], spent: true },
    ],
    [
      'the answer is empty',
      [{ ...answer, text: '', usage: { ...usage, outputTokens: 0 } }],
      { kind: 'all_failed' },
      { asked: ['a'], spent: true },
    ],
    [
      'an adapter throws an unexpected error',
      [new TypeError('x')],
      { kind: 'all_failed' },
      { asked: ['a'], spent: true },
    ],
    [
      'at most attemptsMax providers are tried',
      [failure('server'), failure('server'), failure('server'), answer],
      { kind: 'all_failed' },
      { asked: ['a', 'b', 'c'], spent: true },
    ],
  ]
  for (const [name, answers, expected, { asked, spent }] of cases)
    t.test(name, async (t) => {
      const all = setup(answers, { prices: priced })
      const got = await fault(all.once())
      t.match(got, expected)
      t.equal(got.detail.isKeySpent ?? false, spent)
      t.same(
        got.detail.attempts?.map(({ provider }) => provider),
        asked,
      )
      t.same(all.asked, asked)
      t.equal(all.idempotency.state, spent ? 'failed' : undefined)
      t.match(all.ledger.last, {
        status: 'failed',
        reservedMicroUsd: 458,
        row: { outcome: got.kind, costMicroUsd: 0 },
      })
      t.equal(all.ledger.last.use !== undefined, spent)
      t.ok(
        all.signals.every(({ aborted }) => aborted),
        'each call was ended',
      )
      isClean(t, all)
    })

  t.test('if a request has no idempotency key, its error does not say that a key was used up', async (t) => {
    const { caller, requestId, operation, signal } = order()
    const keyless = { caller, requestId, operation, signal, routing: auto, request }
    const got = await fault(generateItems(setup([failure('server')]).deps).whole(keyless))
    t.equal(got.detail.isKeySpent, undefined)
  })

  t.test('if the first provider fails, the second provider answers', async (t) => {
    const all = setup([failure('server'), answer])
    t.match(await all.once(), { route: { provider: 'b', failovers: 1 } })
    t.same(all.attempts, ['a/m server', 'b/m succeeded'])
    isClean(t, all)
  })

  t.test('a request that pins a model never fails over', async (t) => {
    const all = setup([failure('server'), answer])
    t.match(await fault(all.once({ routing: { mode: 'explicit', provider: 'a', model: 'm' } })), {
      kind: 'all_failed',
    })
    t.same(all.asked, ['a'])
  })

  t.test('a candidate is skipped if its circuit opened after the choice; if all opened, nothing is sent', async (t) => {
    const all = setup([failure('server'), answer])
    for (const keyDigest of ['1', '2', '3', '4']) await all.once({ key: { keyDigest, contentHash: 'h' } })
    t.same(all.asked, ['a', 'b', 'a', 'b', 'a', 'b', 'b'])

    const pin: Routing = { mode: 'explicit', provider: 'b', model: 'm' }
    const [b] = all.chooser.chooseSome(baseAsk(caller(), 'llm', pin, undefined)).candidates
    if (!b) throw new Error('no row')
    const opening = all.deps.idempotency.admit.bind(all.idempotency)
    all.deps.idempotency.admit = (use, as) => {
      for (let i = 0; i < 3; i++) all.health.begin(b.row, 'stream')?.failed(failure('server'))
      return opening(use, as)
    }
    t.match(await fault(all.once({ routing: pin })), {
      kind: 'providers_unreachable',
      detail: { retryAfterS: 5, attempts: [] },
    })
    t.equal(all.idempotency.state, undefined)
  })
  t.end()
})

t.test('a request and each attempt end at their deadlines', (t) => {
  t.test('if an answer without streaming exceeds its deadline, the next provider is tried', async (t) => {
    const all = setup(['hang', answer])
    const waiting = all.once()
    await settled()
    await all.clock.advance(2999)
    t.same(all.asked, ['a'], 'later than a first token may come')
    await all.clock.advance(1)
    t.match(await waiting, { route: { provider: 'b', failovers: 1 } })
    t.ok(all.signals[0]?.aborted)
    t.notOk(all.signals[1]?.aborted)
    isClean(t, all)
  })

  t.test('a request fails when its total time limit is over', async (t) => {
    const all = setup(['hang', 'hang', 'hang'])
    all.deps.limits.llm.totalMs = 4500
    const waiting = fault(all.once())
    await settled()
    await all.clock.advance(4500)
    t.match(await waiting, { kind: 'timed_out' })
    t.same(all.asked, ['a', 'b'])
    isClean(t, all)
  })
  t.end()
})

t.test('before dispatch every failure releases the idempotency key', (t) => {
  t.test('a request over the concurrency limit releases the idempotency key', async (t) => {
    const all = setup(['hang'])
    const limited = caller(
      {},
      { organization: { id: 'org_1', name: 'one', maxConcurrency: 1, ownKeys: {}, isDisabled: false } },
    )
    const client = new AbortController()
    const first = fault(all.once({ caller: limited, signal: client.signal }))
    await settled()
    t.match(await fault(all.once({ caller: limited, key: { keyDigest: 'second', contentHash: 'h' } })), {
      data: { kind: 'too_many_at_once', limit: 'organization' },
      detail: { retryAfterS: 1 },
    })
    t.notOk(all.idempotency.states.has('second'))
    client.abort()
    await first
    isClean(t, all)
    t.match(await fault(all.once({ caller: caller({ maxConcurrency: 0 }) })), {
      data: { kind: 'too_many_at_once', limit: 'key' },
    })
  })

  t.test('a request within a phone call needs no concurrency lease, because the call has a lease', async () => {
    await setup([answer]).once({ caller: caller({ maxConcurrency: 0 }), callId: 'call' })
  })

  t.test('a request without enough credit releases the idempotency key', async (t) => {
    const all = setup([answer], { prices: priced })
    all.credit.balance = 457
    t.match(await fault(all.once()), { kind: 'credit_too_low' })
    t.equal(all.idempotency.state, undefined)
    t.same(all.asked, [])
    isClean(t, all)
  })

  t.test('a request that pins an unknown model releases the idempotency key', async (t) => {
    const all = setup([answer])
    t.match(await fault(all.once({ routing: { mode: 'explicit', provider: 'a', model: 'x' } })), {
      kind: 'unknown_pin',
    })
    t.equal(all.idempotency.state, undefined)
    isClean(t, all)
  })

  t.test('if the lease of an idempotency key is lost, credit is returned and the key is left unchanged', async (t) => {
    const all = setup([answer], { prices: priced })
    all.idempotency.leaseLost = true
    t.match(await fault(all.once()), { kind: 'key_in_progress', detail: { retryAfterS: 1 } })
    t.equal(all.idempotency.state, 'admitted')
    t.equal(all.credit.reserved, 0)
    t.same(all.asked, [])
    isClean(t, all)
  })

  t.test('a request whose client left before dispatch releases the idempotency key', async (t) => {
    const all = setup([answer])
    t.match(await fault(all.once({ signal: AbortSignal.abort() })), { kind: 'cancelled' })
    t.same(all.asked, [])
    t.equal(all.idempotency.state, undefined)
    isClean(t, all)
  })

  for (const routing of [{ mode: 'explicit', provider: 'a', model: 'm' } as const, auto])
    t.test(`a request without a callable model fails even if a circuit closes later: ${routing.mode}`, async (t) => {
      const all = setup([failure('server')])
      for (let i = 0; i < 3; i++) {
        await fault(all.once())
        all.idempotency.states.clear()
      }
      const admit = all.idempotency.admit.bind(all.idempotency)
      all.idempotency.admit = async (use, as) => {
        await all.clock.advance(healthLimits.model.openMs)
        return admit(use, as)
      }
      const { data, detail } = await fault(all.once({ routing }))
      t.same([data.kind, detail.retryAfterS], ['none_callable', 1])
      t.equal(all.idempotency.state, undefined, 'the key may be used again')
    })

  t.test('if the database fails, the request fails and its idempotency key may be used again', async (t) => {
    const all = setup([answer])
    all.idempotency.admit = () => Promise.reject(new Error('no database'))
    await t.rejects(all.once(), { message: 'no database' })
    t.equal(all.idempotency.state, undefined)
    isClean(t, all)
  })

  t.test('admission takes one database commit if the model is free, and two if credit is reserved', async (t) => {
    for (const over of [{}, { prices: priced }]) {
      const all = setup([answer], over)
      const steps: string[] = []
      const admit = all.idempotency.admit.bind(all.idempotency)
      const dispatch = all.idempotency.dispatch.bind(all.idempotency)
      all.idempotency.admit = (use, as = 'admitted') => {
        steps.push(as)
        return admit(use, as)
      }
      all.idempotency.dispatch = (use) => {
        steps.push('then dispatched')
        return dispatch(use)
      }
      await all.once()
      t.same(steps, 'prices' in over ? ['admitted', 'then dispatched'] : ['dispatched'])
    }
  })
  t.end()
})

t.test('a request is refused if its idempotency key is in use or already used', async (t) => {
  const all = setup([answer])
  const outcomes = [
    [
      { outcome: 'in_progress', retryAfterS: 2 },
      { kind: 'key_in_progress', detail: { retryAfterS: 2 } },
    ],
    [
      { outcome: 'already_started', originalRequestId: 'req_1' },
      { data: { kind: 'key_already_started', originalRequestId: 'req_1' } },
    ],
    [
      { outcome: 'conflict', originalRequestId: 'req_1' },
      { data: { kind: 'key_conflict', originalRequestId: 'req_1' } },
    ],
  ] as const
  all.idempotency.states.set('digest', {
    use: { ...key, organizationId: '', operation: '', requestId: '' },
    state: 'admitted',
  })
  for (const [admission, expected] of outcomes) {
    all.idempotency.admission = admission
    t.match(await fault(all.once()), expected)
    t.equal(all.idempotency.state, 'admitted', 'the key of another is left alone')
  }
  t.same(all.asked, [])
  t.equal(all.held.leases, 0)
})

t.test('200 copies of one idempotency key make one provider request', async (t) => {
  const all = setup([answer])
  const all200 = await Promise.allSettled(Array.from({ length: 200 }, () => all.once()))
  t.equal(all.asked.length, 1)
  t.equal(all200.filter(({ status }) => status === 'fulfilled').length, 1)
  t.equal(all.held.leases, 0)
})

t.test('if the settlement queue is full, a request is refused before its first attempt', async (t) => {
  const all = setup([answer])
  all.ledger.isFull = true
  t.match(await fault(all.once()), { kind: 'store_unreachable', detail: { retryAfterS: 1 } })
  t.same(all.asked, [])
})
