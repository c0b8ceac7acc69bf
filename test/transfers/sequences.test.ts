/**
 * Random sequences drive a call's transfers over the simulated carrier, on a test clock: late, doubled, swapped and
 * lost events, failing commands and statements, hang-ups at any moment, and processes that die. `PARLEY_TEST_SEED` and
 * `PARLEY_TEST_SEQUENCES=1` run one sequence again.
 */
import t from 'tap'
import { shortest } from './sequences/shortest.ts'
import { type Sequence, sequenceOf } from './sequences/steps.ts'
import { World } from './sequences/world.ts'

const sequences = Number(process.env['PARLEY_TEST_SEQUENCES'] ?? 2500)
const seed = Number(process.env['PARLEY_TEST_SEED'] ?? 1)
const progressEvery = 10_000
/** The sequences reach each end of a transfer attempt: its kind, status, failure cause and fallback. */
const ends = [
  'blind completed - -',
  'blind cancelled - return_to_assistant',
  'blind failed voicemail return_to_assistant',
  'warm completed - -',
  ...['return_to_assistant', 'take_message', 'end_call'].flatMap((action) => [
    `warm cancelled - ${action}`,
    ...['busy', 'no_answer', 'declined', 'voicemail', 'carrier_error'].map((cause) => `warm failed ${cause} ${action}`),
  ]),
  ...['blind', 'warm'].map((kind) => `${kind} failed caller_hung_up -`),
]

t.test(`${sequences} random transfers leave no caller alone and no leg open (PARLEY_TEST_SEED=${seed})`, async (t) => {
  const reached = new Set<string>()
  for (let at = 0; at < sequences; at++) {
    const outcome = await new World(sequenceOf(seed + at), null).run()
    for (const end of outcome.reached) reached.add(end)
    if ((at + 1) % progressEvery === 0) t.comment(`${at + 1} sequences`)
    if (outcome.failure === null) continue
    const found = await shortest(sequenceOf(seed + at), outcome.failure)
    t.fail(`PARLEY_TEST_SEED=${seed + at} PARLEY_TEST_SEQUENCES=1: ${found.failure}`, { found })
    return
  }
  if (sequences < 1000) return
  for (const end of ends) t.ok(reached.has(end), `${end} was reached`)
})

const trunkSequences = Number(process.env['PARLEY_TEST_TRUNK_SEQUENCES'] ?? 500)

t.test(
  `${trunkSequences} random SIP trunk transfers leave no caller alone and no leg open (PARLEY_TEST_SEED=${seed})`,
  async (t) => {
    const reached = new Set<string>()
    for (let at = 0; at < trunkSequences; at++) {
      const sequence = { ...sequenceOf(seed + at), line: 'trunk' } as const
      const outcome = await new World(sequence, null).run()
      for (const end of outcome.reached) reached.add(end)
      if (outcome.failure === null) continue
      const found = await shortest(sequence, outcome.failure)
      t.fail(`PARLEY_TEST_SEED=${seed + at} PARLEY_TEST_TRUNK_SEQUENCES=1: ${found.failure}`, { found })
      return
    }
    if (trunkSequences < 500) return
    for (const end of ends.filter((end) => !end.includes('failed voicemail')))
      t.ok(reached.has(end), `${end} was reached`)
  },
)

const calm = { seed: 1, weather: 'calm', direction: 'inbound', lastOut: 'caller leaves' } as const
const person = { to: '+15005550011', ringingTimeout: 8 }

/** Each of these sequences once showed a defect that is now repaired. After a sequence's last step no fault remains. */
const mended: readonly [title: string, sequence: Sequence, end: string][] = [
  [
    'a recipient who talks is not hung up if the carrier answers the dial command late',
    {
      ...calm,
      steps: [
        { afterMs: 3000, does: 'line fails', ms: 100, how: 'answer late' },
        { afterMs: 0, does: 'warm', asked: { destinations: [person], screeningTimeout: 9 } },
        { afterMs: 2000, does: 'complete', newest: true },
        { afterMs: 8000, does: 'agent speaks', ms: 200 },
      ],
    },
    'warm completed - -',
  ],
  [
    'a transfer completes if its connected parties leave while the database is unreachable',
    {
      ...calm,
      steps: [
        { afterMs: 3000, does: 'blind', asked: person },
        { afterMs: 5000, does: 'database away', ms: 16_000 },
        { afterMs: 100, does: 'caller leaves' },
        { afterMs: 17_000, does: 'agent speaks', ms: 200 },
      ],
    },
    'blind completed - -',
  ],
  [
    'a transfer fails if its process dies after the id of a leg was stored late',
    {
      ...calm,
      steps: [
        { afterMs: 2900, does: 'agent speaks', ms: 200 },
        { afterMs: 500, does: 'warm', asked: { destinations: [person], screeningTimeout: 9 } },
        { afterMs: 25, does: 'database away', ms: 3000 },
        { afterMs: 6000, does: 'process dies' },
      ],
    },
    'warm failed carrier_error -',
  ],
  [
    'if the stream of a caller who leaves ends first, the transfer fails before the call ends',
    {
      ...calm,
      steps: [
        { afterMs: 3000, does: 'warm', asked: { destinations: [{ to: '+15005550002' }] } },
        { afterMs: 900, does: 'caller leaves' },
      ],
    },
    'warm failed caller_hung_up -',
  ],
  [
    'a recipient is asked to accept even if only the audio stream of the leg arrives',
    {
      ...calm,
      steps: [
        { afterMs: 3000, does: 'line fails', ms: 100, how: 'answer lost' },
        { afterMs: 0, does: 'events are lost', ms: 6000 },
        { afterMs: 0, does: 'warm', asked: { destinations: [person], screeningTimeout: 9 } },
        { afterMs: 7000, does: 'complete', newest: true },
        { afterMs: 3000, does: 'agent speaks', ms: 200 },
      ],
    },
    'warm completed - -',
  ],
  [
    'a leg is hung up if only its audio stream arrives, and arrives too late',
    {
      ...calm,
      steps: [
        { afterMs: 3000, does: 'line fails', ms: 100, how: 'answer lost' },
        { afterMs: 0, does: 'events are lost', ms: 25_000 },
        { afterMs: 0, does: 'warm', asked: { destinations: [{ to: '+15005550007' }], ringingTimeout: 30 } },
        { afterMs: 26_000, does: 'agent speaks', ms: 200 },
      ],
    },
    'warm failed carrier_error return_to_assistant',
  ],
  [
    'if the carrier fails to hang up a leg, the hang-up is repeated after 2 s',
    {
      ...calm,
      steps: [
        { afterMs: 3000, does: 'warm', asked: { destinations: [person], screeningTimeout: 9 } },
        { afterMs: 3000, does: 'line fails', ms: 1000, how: 'server' },
        { afterMs: 0, does: 'press', key: '2' },
        { afterMs: 8000, does: 'agent speaks', ms: 200 },
      ],
    },
    'warm failed declined return_to_assistant',
  ],
]

for (const [title, sequence, end] of mended)
  t.test(title, async (t) => {
    // With each seed the events go to other processes.
    for (let seed = 1; seed <= 10; seed++)
      t.same(await new World({ ...sequence, seed }, null).run(), { failure: null, reached: [end] }, `seed ${seed}`)
  })
