import { Headphones, LogOut, Mic, MicOff } from 'lucide-react'
import { useState } from 'react'
import { Button } from '../../parts/button.tsx'
import styles from './join-bar.module.css'
import type { Join } from './use-join.ts'

/** The button that brings a person into a live call. */
export function JoinButton({ join: { phase, enter } }: { join: Join }) {
  if (phase !== 'out') return null
  return (
    <Button onClick={() => void enter(false)}>
      <Headphones aria-hidden="true" />
      Join
    </Button>
  )
}

/** Lets a person listen to the call, then speak instead of the agent, and then give the caller back to the agent. */
export function JoinBar({ join }: { join: Join }) {
  const { phase, note, enter, leave } = join
  if (phase === 'out')
    return note === null ? null : (
      <p role="status" className={styles.bar}>
        {note}
      </p>
    )
  return (
    <section aria-label="Your place in the call" className={styles.bar}>
      <p role="status">{note === null ? sentences[phase] : `${note} ${sentences[phase]}`}</p>
      {phase === 'listening' && (
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
