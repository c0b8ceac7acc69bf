/** The rule PRE_CALL_CONFLICT is compared with its meaning: is there a call that both endpoints match? */
import t from 'tap'
import { blankEndpoint, type Endpoint, tagsMatch } from '../../domain/records/webhook-endpoint.ts'
import { canBothMatch, preCallConflict } from '../../domain/webhooks/conflict.ts'
import { fc } from '../random.ts'

const agents = ['agent_a', 'agent_b', 'agent_c']
const keys = ['team', 'floor', 'toString']
const values = ['1', '2']

type Route = Pick<Endpoint, 'allAgents' | 'agentIds' | 'filterTags'>

const tags = fc
  .uniqueArray(fc.tuple(fc.constantFrom(...keys), fc.constantFrom(...values)), { selector: ([key]) => key })
  .map((pairs): Record<string, string> => Object.fromEntries(pairs))
const route: fc.Arbitrary<Route> = fc.oneof(
  tags.map((filterTags) => ({ allAgents: true, agentIds: [], filterTags })),
  fc.tuple(fc.subarray(agents, { minLength: 1 }), tags).map(([agentIds, filterTags]) => {
    return { allAgents: false, agentIds, filterTags }
  }),
)

/** Every possible call with these agents and tags, also without an agent and without tags. */
const calls = [null, 'agent_other', ...agents].flatMap((agentId) =>
  keys
    .reduce<Record<string, string>[]>(
      (all, key) => all.flatMap((some) => [some, ...values.map((value) => ({ ...some, [key]: value }))]),
      [{}],
    )
    .map((callTags) => ({ agentId, tags: callTags })),
)

function matches({ allAgents, agentIds, filterTags }: Route, call: (typeof calls)[number]): boolean {
  return (allAgents || (call.agentId !== null && agentIds.includes(call.agentId))) && tagsMatch(filterTags, call.tags)
}

t.test('two routes of call.pre_call conflict exactly if some phone call matches both routes', (t) => {
  fc.assert(
    fc.property(route, route, (a, b) => {
      const isShared = calls.some((call) => matches(a, call) && matches(b, call))
      return canBothMatch(a, b) === isShared && canBothMatch(b, a) === isShared
    }),
    { numRuns: 2000 },
  )
  t.end()
})

t.test(
  'call.pre_call routes conflict if their agents and their tags can match the same call: the examples in the contract',
  (t) => {
    const tagged = (filterTags: Record<string, string>): Route => ({ allAgents: true, agentIds: [], filterTags })
    t.ok(canBothMatch(tagged({}), tagged({ a: '1' })))
    t.ok(canBothMatch(tagged({ a: '1' }), tagged({ b: '2' })))
    t.notOk(canBothMatch(tagged({ a: '1' }), tagged({ a: '2' })))
    const listed = { allAgents: false, agentIds: ['agent_a'], filterTags: {} }
    t.ok(canBothMatch(tagged({}), listed), 'all agents meet a list')
    t.notOk(canBothMatch(listed, { ...listed, agentIds: ['agent_b'] }))
    t.end()
  },
)

t.test('only enabled call.pre_call endpoints conflict, and an endpoint never conflicts with itself', (t) => {
  const blank = blankEndpoint({ organizationId: 'org_a', test: false }, 'a', 0)
  const a: Endpoint = { ...blank, events: ['call.report', 'call.pre_call'] }
  const b: Endpoint = { ...a, id: 'b' }
  t.equal(preCallConflict(a, [a, b]), b)
  t.equal(preCallConflict(a, [a]), null)
  t.equal(preCallConflict(a, [{ ...b, events: ['call.report'] }]), null)
  t.equal(preCallConflict(a, [{ ...b, disabledAtMs: 1 }]), null)
  t.equal(preCallConflict({ ...a, disabledAtMs: 1 }, [b]), null)
  t.equal(preCallConflict({ ...a, events: ['call.status'] }, [b]), null)
  t.end()
})
