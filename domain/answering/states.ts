/**
 * The state table for answering machine detection. An event without an entry changes nothing.
 *
 *   asking ──► talking                              the conversation goes on
 *      │
 *      └──► greeting ──► message ──► over           a machine: the agent waits for the end of its greeting
 *      └──────────────────────────────▲             or leaves no message
 */
export type AnswerState = 'asking' | 'talking' | 'greeting' | 'message' | 'over'

export type AnswerEvent =
  /** A person has answered, or the result is `not_sure`. */
  | 'person'
  /** A machine has answered, and it gets a message. */
  | 'machine'
  /** A machine has answered, and it gets no message. */
  | 'unwanted'
  /** The greeting has ended with a tone or with silence, or the greeting takes too long. */
  | 'greeted'
  | 'closed'

const moves: Readonly<Record<AnswerState, Partial<Record<AnswerEvent, AnswerState>>>> = {
  asking: { person: 'talking', machine: 'greeting', unwanted: 'over', closed: 'over' },
  talking: { closed: 'over' },
  greeting: { greeted: 'message', closed: 'over' },
  message: { closed: 'over' },
  over: {},
}

/** Returns the next state, or null if the event has no effect in this state. */
export function nextAnswerState(state: AnswerState, event: AnswerEvent): AnswerState | null {
  return moves[state][event] ?? null
}
