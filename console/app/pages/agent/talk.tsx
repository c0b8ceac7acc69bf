import { Link } from '@tanstack/react-router'
import { Mic, MicOff, PhoneOff } from 'lucide-react'
import { type FormEvent, useEffect, useRef, useState } from 'react'
import { usePlaceCall } from '../../data/calls.ts'
import { useSession } from '../../data/session.ts'
import { Badge, type Tone } from '../../parts/badge.tsx'
import { Button } from '../../parts/button.tsx'
import { Card } from '../../parts/card.tsx'
import { classes } from '../../parts/classes.ts'
import { TextField } from '../../parts/field.tsx'
import { FormValues } from '../../parts/form-values.ts'
import { Columns, Faint, Line, Stack } from '../../parts/layout.tsx'
import { Notice } from '../../parts/notice.tsx'
import { PhoneField } from '../../parts/phone-field.tsx'
import { useMask } from '../../parts/redaction.tsx'
import { RoleButton, RoleForm, RoleNote } from '../../parts/role.tsx'
import { StandInNotice } from '../../parts/stand-in-notice.tsx'
import type { Conversation, Turn } from './conversation.ts'
import styles from './talk.module.css'
import { useConversation } from './use-conversation.ts'

const phases: Record<Conversation['phase'], { text: string; tone: Tone }> = {
  idle: { text: 'not connected', tone: 'plain' },
  starting: { text: 'starting', tone: 'calm' },
  listening: { text: 'listening', tone: 'accent' },
  thinking: { text: 'thinking', tone: 'calm' },
  speaking: { text: 'speaking', tone: 'good' },
  lost: { text: 'trying again', tone: 'warn' },
  over: { text: 'over', tone: 'plain' },
}

/** Holds a conversation in this page, with the microphone or by typing, and calls a phone. */
export function Talk({ agentId }: { agentId: string }) {
  return (
    <Columns>
      <Here agentId={agentId} />
      <CallMe agentId={agentId} />
    </Columns>
  )
}

function Here({ agentId }: { agentId: string }) {
  const { state, talk, meter, start } = useConversation(agentId)
  const { text, tone } = phases[state.phase]
  const isOpen = ['listening', 'thinking', 'speaking', 'lost'].includes(state.phase)
  return (
    <Card
      title="Talk to it here"
      actions={
        <Badge tone={tone} isLive={isOpen}>
          {text}
        </Badge>
      }
    >
      <Stack>
        <StandInNotice />
        <Log turns={state.turns} />
        {state.phase === 'over' && (
          <Notice tone="calm" title={state.note ?? 'The conversation is over.'}>
            {talk && (
              <Link to="/calls/$id" params={{ id: talk.id }}>
                See the call
              </Link>
            )}
          </Notice>
        )}
        {isOpen && talk ? (
          <Controls talk={talk} meter={meter} />
        ) : (
          <Line>
            <RoleButton
              needs="createSession"
              look="main"
              disabled={state.phase === 'starting' || isOpen}
              onClick={() => void start()}
            >
              <Mic aria-hidden="true" />
              {state.phase === 'over' ? 'Talk again' : 'Talk'}
            </RoleButton>
            <Faint>The browser asks for your microphone. Without one you type.</Faint>
            <RoleNote needs="createSession" action="Talking to the agent" />
          </Line>
        )}
      </Stack>
    </Card>
  )
}

type Started = ReturnType<typeof useConversation>
type ControlsProps = { talk: NonNullable<Started['talk']>; meter: Started['meter'] }

function Controls({ talk: { session, hasMicrophone }, meter }: ControlsProps) {
  const [isMuted, setMuted] = useState(false)
  const type = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    const form = event.currentTarget
    const text = new FormValues(form).text('text')
    if (text !== '' && session.say(text)) form.reset()
  }
  const mute = () => {
    session.mute(!isMuted)
    setMuted(!isMuted)
  }
  return (
    <Stack>
      <form className={styles.type} onSubmit={type}>
        <TextField label="Type instead" name="text" autoComplete="off" autoFocus={!hasMicrophone} />
        <Button type="submit">Send</Button>
      </form>
      <Line>
        <Button look="alarm" onClick={() => session.hangUp()}>
          <PhoneOff aria-hidden="true" />
          Hang up
        </Button>
        {hasMicrophone && (
          <>
            <Button aria-pressed={isMuted} onClick={mute}>
              <MicOff aria-hidden="true" />
              Mute
            </Button>
            <meter ref={meter} className={styles.level} hidden={isMuted} aria-label="Loudness of your microphone" />
          </>
        )}
      </Line>
    </Stack>
  )
}

const names: Record<Turn['who'], string> = { you: 'You', agent: 'Agent', event: '' }

function Log({ turns }: { turns: readonly Turn[] }) {
  const end = useRef<HTMLDivElement>(null)
  const mask = useMask()
  useEffect(() => {
    void end.current?.scrollIntoView({ block: 'nearest' })
  }, [turns])
  if (turns.length === 0) return null
  return (
    <div className={styles.log} role="log" aria-label="Conversation" tabIndex={0}>
      {turns.map(({ id, who, text, isFinal, isInterrupted }) => (
        <p key={id} className={classes(styles.turn, styles[who], !isFinal && styles.open)}>
          {names[who] !== '' && <strong>{names[who]}</strong>} {mask(text)}
          {isInterrupted && ' (interrupted)'}
        </p>
      ))}
      <div ref={end} />
    </div>
  )
}

function CallMe({ agentId }: { agentId: string }) {
  const call = usePlaceCall()
  const isSimulated = useSession().server.simulatedCarrier
  return (
    <Card title="Let it call a phone">
      <RoleForm
        needs="createPhoneSession"
        action="Calling a phone"
        error={call.error}
        submit={(values) => call.mutate({ agentId, to: values.text('to') })}
        actions={
          <Button type="submit" disabled={call.isPending}>
            {call.isPending ? 'Calling…' : 'Call'}
          </Button>
        }
      >
        <PhoneField
          label="Phone number"
          name="to"
          required
          placeholder="+15005550006"
          note={
            isSimulated ? 'The simulated +15005550006 answers, …0003 is busy, and …0008 is a voicemail.' : undefined
          }
        />
        {call.data && (
          <Notice tone="good" title={`Calling ${call.data.to}`}>
            <Link to="/calls/$id" params={{ id: call.data.sessionId }}>
              Follow the call
            </Link>
          </Notice>
        )}
      </RoleForm>
    </Card>
  )
}
