import { Headphones, LogOut, Mic, MicOff } from 'lucide-react'
import { useState } from 'react'
import { Button } from '../../parts/button.tsx'
import { RoleButton } from '../../parts/role.tsx'
import styles from './join-bar.module.css'
import type { Join } from './use-join.ts'

/** The button that brings a person into a live call. */
export function JoinButton({ join: { phase, enter } }: { join: Join }) {
  if (phase !== 'out') return null
  return (
    <RoleButton needs="webJoinCall" onClick={() => void enter(false)}>
      <Headphones aria-hidden="true" />
      Join
    </RoleButton>
  )
}

type JoinBarProps = {
  join: Join
  /** True while a transfer is under way. The caller and the people in the call then do not hear each other. */
  isOnHold: boolean
}

/** Lets a person listen to the call, then speak instead of the agent, and then give the caller back to the agent. */
export function JoinBar({ join, isOnHold }: JoinBarProps) {
  const { phase, note, enter, leave } = join
  if (phase === 'out')
    return note === null ? null : (
      <p role="status" className={styles.bar}>
        {note}
      </p>
    )
  const sentence = (isOnHold ? onHold : sentences)[phase]
  return (
    <section aria-label="Your place in the call" className={styles.bar}>
      <p role="status">{note === null ? sentence : `${note} ${sentence}`}</p>
      {phase === 'listening' && !isOnHold && (
        <Button look="main" onClick={() => void enter(true)}>
          <Mic aria-hidden="true" />
          Take over
        </Button>
      )}
      {phase === 'speaking' && <Microphone join={join} />}
      <Button onClick={leave}>
        <LogOut aria-hidden="true" />
        {phase === 'speaking' ? 'Leave, and let the agent go on' : 'Leave'}
      </Button>
    </section>
  )
}

const sentences: Record<Exclude<Join['phase'], 'out'>, string> = {
  joining: 'Joining…',
  listening: 'You listen. Nobody hears you, and the agent goes on.',
  speaking: 'You are connected with the caller, and the agent is silent.',
}

const onHold: typeof sentences = {
  joining: 'Joining…',
  listening: 'You hear nobody while the caller is on hold.',
  speaking: 'The caller is on hold and does not hear you.',
}

function Microphone({ join: { meter, mute } }: { join: Join }) {
  const [isMuted, setMuted] = useState(false)
  return (
    <>
      <Button
        aria-pressed={isMuted}
        onClick={() => {
          mute(!isMuted)
          setMuted(!isMuted)
        }}
      >
        <MicOff aria-hidden="true" />
        Mute
      </Button>
      <meter ref={meter} className={styles.level} hidden={isMuted} aria-label="Loudness of your microphone" />
    </>
  )
}
