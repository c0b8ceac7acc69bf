import { useCallback, useEffect, useRef, useState } from 'react'
import { failureOf } from '../../data/failures.ts'
import { joinCall, type Seat } from '../../data/join.ts'
import { useSession } from '../../data/session.ts'
import { isMicrophoneFault } from '../../data/talk.ts'
import { type Meter, useMeter } from '../../parts/meter.ts'

export type JoinPhase = 'out' | 'joining' | 'listening' | 'speaking'

export type Join = {
  phase: JoinPhase
  /** Shows the loudness of the person's microphone. */
  meter: Meter
  /** The reason why the person is not in the call, in words. */
  note: string | null
  enter: (speaks: boolean) => Promise<void>
  mute: (isMuted: boolean) => void
  leave: () => void
}

/** Holds the person's seat in a live call. The person leaves when the page is left. */
export function useJoin(callId: string): Join {
  const { user } = useSession()
  const [phase, setPhase] = useState<JoinPhase>('out')
  const { meter, show } = useMeter()
  const [note, setNote] = useState<string | null>(null)
  const seat = useRef<Seat | null>(null)
  const attempts = useRef(0)
  const leave = useCallback(() => {
    attempts.current++
    seat.current?.hangUp()
    seat.current = null
    setPhase('out')
  }, [])
  useEffect(() => leave, [leave, callId])

  const enter = useCallback(
    async (speaks: boolean) => {
      leave()
      const attempt = attempts.current
      // The person may leave the page, or choose again, before a seat is there or has ended.
      const isCurrent = () => attempt === attempts.current
      setPhase('joining')
      setNote(null)
      const over = ({ error }: { error: { message?: unknown } | null }) => {
        if (!isCurrent()) return
        seat.current = null
        setPhase('out')
        setNote(error === null ? 'You are no longer in the call.' : String(error.message))
      }
      const ready = () => isCurrent() && setPhase(speaks ? 'speaking' : 'listening')
      try {
        const displayName = user.name ?? user.email
        const own = await joinCall(callId, { displayName, speaks }, { ready, level: show, over })
        if (isCurrent()) seat.current = own
        else own.hangUp()
      } catch (error) {
        if (!isCurrent()) return
        setPhase('out')
        setNote(isMicrophoneFault(error) ? 'The browser gives this page no microphone.' : failureOf(error).message)
      }
    },
    [callId, leave, show, user],
  )
  return { phase, meter, note, enter, mute: (isMuted) => seat.current?.mute(isMuted), leave }
}
