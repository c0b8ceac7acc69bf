import { useCallback, useEffect, useReducer, useRef, useState } from 'react'
import { endWords } from '../../../session/end-words.js'
import { failureOf } from '../../data/failures.ts'
import { queries } from '../../data/queries.ts'
import { type SessionCallbacks, type Talk, talkTo } from '../../data/talk.ts'
import { useMeter } from '../../parts/meter.ts'
import { type Change, type Conversation, changed, idle, type Turn } from './conversation.ts'

/** Holds one conversation with the agent. It ends when the page is left. */
export function useConversation(agentId: string) {
  const [state, dispatch] = useReducer(changed, idle)
  const [talk, setTalk] = useState<Talk | null>(null)
  const { meter, show } = useMeter()
  const current = useRef<Talk | null>(null)
  const isLeft = useRef(false)
  useEffect(() => {
    isLeft.current = false
    return () => {
      isLeft.current = true
      current.current?.session.hangUp()
    }
  }, [])

  const start = useCallback(async () => {
    dispatch({ type: 'start' })
    try {
      const started = await talkTo(
        agentId,
        callbacks(dispatch, show, () => (current.current = null)),
      )
      // A person can leave the page before the conversation has started.
      if (isLeft.current) return started.session.hangUp()
      current.current = started
      setTalk(started)
    } catch (error) {
      dispatch({ type: 'over', note: failureOf(error).message })
    }
  }, [agentId, show])

  return { state, talk, meter, start }
}

function callbacks(dispatch: (change: Change) => void, level: (value: number) => void, end: () => void) {
  let typed = 0
  const turn = (who: Turn['who'], { id, text, isFinal, interrupted }: Record<string, unknown>) =>
    dispatch({
      type: 'turn',
      turn: {
        id: String(id),
        who,
        text: String(text),
        isFinal: isFinal === true,
        isInterrupted: interrupted === true,
      },
    })
  return {
    ready: () => dispatch({ type: 'phase', phase: 'listening' }),
    lost: () => dispatch({ type: 'phase', phase: 'lost' }),
    level,
    state: ({ value }: { value: Conversation['phase'] }) => dispatch({ type: 'phase', phase: value }),
    transcript: (frame: Record<string, unknown>) => turn('you', frame),
    user_message_echo: ({ text }: { text: string }) => turn('you', { id: `typed ${typed++}`, text, isFinal: true }),
    agent_message: (frame: Record<string, unknown>) => turn('agent', frame),
    tool_call: ({ id, name, status }: Record<string, unknown>) =>
      turn('event', { id: `tool ${String(id)}`, text: `Tool ${String(name)}: ${String(status)}`, isFinal: true }),
    over({ reason, error }) {
      end()
      const message = error === null ? null : String(error.message)
      dispatch({ type: 'over', note: endWords(reason, message) })
      void queries.invalidateQueries({ queryKey: ['calls'] })
    },
  } satisfies SessionCallbacks
}
