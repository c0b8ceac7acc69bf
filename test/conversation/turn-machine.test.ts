import t from 'tap'
import {
  type InterruptionMode,
  initialTurnState,
  step,
  type TurnEffect,
  type TurnEvent,
  type TurnPhase,
} from '../../domain/conversation/turns/turn-machine.ts'

const events: TurnEvent[] = [
  'speechStarted',
  'speechEnded',
  'words',
  'longSpeech',
  'falseAlarm',
  'decided',
  'nothingSaid',
  'typed',
  'prompted',
  'agentStarted',
  'agentFinished',
  'close',
  'end',
]
const modes: InterruptionMode[] = ['adaptive', 'vad', 'none']
const agents: TurnPhase[] = ['thinking', 'speaking', 'paused']

/** Makes a random number generator (mulberry32). Equal seeds give equal runs. */
function random(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

function pick<T>(list: readonly T[], next: () => number): T {
  return list[Math.floor(next() * list.length)] as T
}

t.test('the turn state machine obeys its rules for random events', (t) => {
  const reached = new Set<TurnPhase>()
  const broken: string[] = []
  for (let seed = 0; seed < 3000; seed++) {
    const next = random(seed)
    const mode = pick(modes, next)
    let state = initialTurnState
    let finishes = 0
    let isPaused = false
    const trace: string[] = []
    for (let at = 0; at < 40; at++) {
      // `close` and `end` are drawn rarely, because otherwise most runs would be short.
      const event = next() < 0.9 ? pick(events.slice(0, -2), next) : pick(events, next)
      const before = state
      const { state: after, effects } = step(state, event, mode)
      trace.push(`${event} ${after.phase}`)
      const check = (name: string, holds: boolean) => {
        if (!holds) broken.push(`${name}: seed ${seed}, ${trace.join(', ')}`)
      }
      const has = (effect: TurnEffect) => effects.includes(effect)
      finishes += effects.filter((effect) => effect === 'finish').length
      if (has('pause')) isPaused = true
      if (has('resume') || has('interrupt') || has('finish') || has('catchUp') || has('sayGoodbye')) isPaused = false
      check('nothing follows the end', before.phase !== 'over' || (after.phase === 'over' && effects.length === 0))
      check('the end is reached by finish', (after.phase === 'over') === finishes > 0 && finishes <= 1)
      check('only adaptive pauses', !has('pause') || mode === 'adaptive')
      check('paused is the phase of a pause', isPaused === (after.phase === 'paused'))
      check('none is never interrupted by speech', mode !== 'none' || !has('interrupt') || event === 'typed')
      check('only an agent that has the turn is interrupted', !has('interrupt') || agents.includes(before.phase))
      check('an answer follows a decision', has('answer') === (before.phase === 'deciding' && event === 'decided'))
      check('closing only ends', before.phase !== 'closing' || after.phase === 'closing' || after.phase === 'over')
      check('started only in the turn of the agent', !after.started || agents.includes(after.phase))
      reached.add(after.phase)
      state = after
    }
  }
  t.same(broken.slice(0, 3), [])
  t.equal(reached.size, 8, 'every phase is reached')
  t.end()
})

t.test('from every state the user gets an answer, or the session ends', (t) => {
  const starts: TurnEvent[][] = [
    [],
    ['speechStarted'],
    ['speechStarted', 'speechEnded'],
    ['prompted'],
    ['prompted', 'agentStarted'],
    ['prompted', 'agentStarted', 'speechStarted'],
    ['prompted', 'agentStarted', 'speechStarted', 'falseAlarm'],
    ['prompted', 'speechStarted', 'words'],
  ]
  const goOn: TurnEvent[] = ['agentFinished', 'speechStarted', 'speechEnded', 'words', 'decided']
  for (const mode of modes) {
    for (const start of starts) {
      const run = [...start, ...goOn].reduce((state, event) => step(state, event, mode).state, initialTurnState)
      t.equal(run.phase, 'thinking', `${mode}: ${start.join(', ')}`)
      t.equal(step(run, 'end', mode).state.phase, 'over')
    }
  }
  t.end()
})
