/**
 * Tests a caller or recipient who hangs up in each state of a transfer, and destinations that fail one after another.
 * The tests compare the events in the call's record.
 */
import t from 'tap'
import type { Step } from './sequences/steps.ts'
import { World } from './sequences/world.ts'

const nobody = '+15005550002'
const busy = '+15005550003'
const declines = '+15005550004'
const person = '+15005550011'

const calm = { seed: 7, weather: 'calm', direction: 'inbound', lastOut: 'caller leaves' } as const

/** Runs the steps. Returns the call's events since its first transfer attempt, and the attempts. */
async function eventsOf(steps: readonly Step[]) {
  const world = new World({ ...calm, steps }, null)
  const { failure, reached } = await world.run()
  const types = world.database.eventTypes.filter((type) => /^(call|transfer)\./.test(type))
  return { failure, reached, events: types.slice(types.indexOf('call.transferring')) }
}

const warm = (...numbers: string[]): Step => ({
  afterMs: 3000,
  does: 'warm',
  asked: { destinations: numbers.map((to) => ({ to })), ringingTimeout: 8, screeningTimeout: 9 },
})
const blind = (to: string): Step => ({ afterMs: 100, does: 'blind', asked: { to } })
/** The agent's sentence ends only after the recipient has answered. Until then the caller cannot be connected. */
const longSentence: Step = { afterMs: 3000, does: 'agent speaks', ms: 4000 }

t.test('if the caller hangs up in any state of a transfer, the transfer fails', async (t) => {
  const leaves = (afterMs: number): Step => ({ afterMs, does: 'caller leaves' })
  const cases: Record<string, [steps: Step[], events: string[]]> = {
    requested: [
      [warm(nobody), leaves(900)],
      ['transfer.requested', 'transfer.failed caller_hung_up', 'call.completed'],
    ],
    screening: [
      [warm(person), leaves(3000)],
      ['transfer.requested', 'transfer.screening', 'transfer.failed caller_hung_up', 'call.completed'],
    ],
    bridging: [
      [longSentence, blind(person), leaves(2500)],
      ['transfer.requested', 'transfer.bridging', 'transfer.failed caller_hung_up', 'call.completed'],
    ],
    completed: [
      [longSentence, blind(person), leaves(9000)],
      ['transfer.requested', 'transfer.bridging', 'transfer.completed', 'call.in_progress', 'call.completed'],
    ],
  }
  for (const [state, [steps, events]] of Object.entries(cases)) {
    const seen = await eventsOf(steps)
    t.equal(seen.failure, null, state)
    t.same(seen.events, ['call.transferring', ...events], state)
  }
})

t.test('if the recipient hangs up in any state of a transfer, the transfer fails', async (t) => {
  const leaves = (afterMs: number): Step => ({ afterMs, does: 'recipient leaves' })
  /** After the recipient has declined, the agent talks on until the caller hangs up. */
  const goesOn = ['transfer.failed declined', 'call.in_progress', 'call.completed']
  const cases: Record<string, [steps: Step[], events: string[]]> = {
    requested: [[warm(declines)], ['transfer.requested', ...goesOn]],
    screening: [
      [warm(person), leaves(3000)],
      ['transfer.requested', 'transfer.screening', ...goesOn],
    ],
    bridging: [
      [longSentence, blind(person), leaves(2500)],
      ['transfer.requested', 'transfer.bridging', ...goesOn],
    ],
    completed: [
      [longSentence, blind(person), leaves(9000)],
      ['transfer.requested', 'transfer.bridging', 'transfer.completed', 'call.in_progress', 'call.completed'],
    ],
  }
  for (const [state, [steps, events]] of Object.entries(cases)) {
    const seen = await eventsOf(steps)
    t.equal(seen.failure, null, state)
    t.same(seen.events, ['call.transferring', ...events], state)
  }
})

t.test('if the first recipient declines, the next recipient may accept', async (t) => {
  const steps: Step[] = [
    warm(person, person),
    { afterMs: 3000, does: 'press', key: '2' },
    { afterMs: 3000, does: 'press', key: '1' },
    { afterMs: 2000, does: 'agent speaks', ms: 200 },
  ]
  const { failure, events } = await eventsOf(steps)
  t.equal(failure, null)
  t.same(events, [
    'call.transferring',
    'transfer.requested',
    'transfer.screening',
    'transfer.failed declined',
    'transfer.requested',
    'transfer.screening',
    'transfer.bridging',
    'transfer.completed',
    'call.in_progress',
    'call.completed',
  ])
})

t.test("if no recipient accepts, the transfer's fallback runs once, at the end, whichever kind it is", async (t) => {
  for (const strategy of ['return_to_assistant', 'take_message', 'end_call'] as const) {
    const destinations = [busy, declines, nobody].map((to) => ({ to }))
    const fallback = { strategy, message: 'Nobody is free.' }
    const asked = { destinations, ringingTimeout: 5, fallback }
    const steps: Step[] = [
      { afterMs: 3000, does: 'warm', asked },
      { afterMs: 12_000, does: 'agent speaks', ms: 200 },
    ]
    const { failure, reached, events } = await eventsOf(steps)
    t.equal(failure, null)
    t.same(reached, ['warm failed busy -', 'warm failed declined -', `warm failed no_answer ${strategy}`])
    t.same(events, [
      'call.transferring',
      ...['transfer.requested', 'transfer.failed busy', 'transfer.requested', 'transfer.failed declined'],
      ...['transfer.requested', 'transfer.failed no_answer', 'call.in_progress', 'call.completed'],
    ])
  }
})
