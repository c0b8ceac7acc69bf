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
  /** The reason why the person is not in the call, or does not speak, in words. */
  note: string | null
  enter: (speaks: boolean) => Promise<void>
  mute: (isMuted: boolean) => void
  leave: () => void
}

/**
 * Keeps the connection with which the person takes part in a live call. The person leaves the call when the page is
 * left.
 */
export function useJoin(callId: string): Join {
  const { user } = useSession()
  const [phase, setPhase] = useState<JoinPhase>('out')
  const { meter, show } = useMeter()
  const [note, setNote] = useState<string | null>(null)
  const seat = useRef<Seat | null>(null)
  const attempts = useRef(0)
  const take = useCallback((next: Seat | null) => {
    const before = seat.current
    seat.current = next
    before?.hangUp()
  }, [])
  const leave = useCallback(() => {
    attempts.current++
    take(null)
    setPhase('out')
  }, [take])
  useEffect(() => leave, [leave, callId])

  const enter = useCallback(
    async (speaks: boolean) => {
      const attempt = ++attempts.current
      // The person may leave the page, or choose again, before the connection is open.
      const isCurrent = () => attempt === attempts.current
      setPhase('joining')
      setNote(null)
      let own: Seat | null = null
      const over = (why: string) => {
        if (seat.current !== own) return
        seat.current = null
        setPhase((now) => (now === 'joining' ? now : 'out'))
        setNote(why)
      }
      try {
        own = await joinCall(callId, { displayName: user.name ?? user.email, speaks, level: show, over })
        if (!isCurrent()) return own.hangUp()
        // Only now is the person's earlier connection closed, because the browser may refuse the microphone for the new
        // connection.
        take(own)
        setNote(null)
        setPhase(speaks ? 'speaking' : 'listening')
      } catch (error) {
        if (!isCurrent()) return
        setPhase(seat.current === null ? 'out' : 'listening')
        const isRefused = speaks && isMicrophoneFault(error)
        setNote(isRefused ? 'The browser gives this page no microphone.' : failureOf(error).message)
      }
    },
    [callId, show, take, user],
  )
  return { phase, meter, note, enter, mute: (isMuted) => seat.current?.mute(isMuted), leave }
}
