/** The state of a conversation in this page. Each frame from the server changes the state. */
export type Turn = {
  id: string
  who: 'you' | 'agent' | 'event'
  text: string
  isFinal: boolean
  isInterrupted: boolean
}

export type Conversation = {
  phase: 'idle' | 'starting' | 'listening' | 'thinking' | 'speaking' | 'lost' | 'over'
  turns: readonly Turn[]
  /** Says why the conversation is over. */
  note: string | null
}

export const idle: Conversation = { phase: 'idle', turns: [], note: null }

export type Change =
  | { type: 'start' }
  | { type: 'phase'; phase: Conversation['phase'] }
  | { type: 'turn'; turn: Turn }
  | { type: 'over'; note: string }

export function changed(before: Conversation, change: Change): Conversation {
  switch (change.type) {
    case 'start':
      return { ...idle, phase: 'starting' }
    case 'phase':
      return { ...before, phase: change.phase }
    case 'over':
      return { ...before, phase: 'over', note: change.note }
    case 'turn':
      return { ...before, turns: withTurn(before.turns, change.turn) }
  }
}

/**
 * A turn's newer text replaces the turn's earlier text. A typed text is echoed before its turn, and the turn then
 * replaces the echo.
 */
function withTurn(turns: readonly Turn[], turn: Turn): Turn[] {
  const isEcho = ({ id, text }: Turn) => id.startsWith('typed ') && text === turn.text && turn.who === 'you'
  const at = turns.findIndex((each) => each.id === turn.id || isEcho(each))
  if (at < 0) return turn.text === '' ? [...turns] : [...turns, turn]
  return turns.map((each, index) => (index === at ? turn : each))
}
