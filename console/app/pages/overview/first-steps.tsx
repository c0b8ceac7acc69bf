import { useQuery } from '@tanstack/react-query'
import { Link, useNavigate } from '@tanstack/react-router'
import { Check, PhoneCall, Sparkles } from 'lucide-react'
import type { ReactNode } from 'react'
import type { Agent, CallOverview } from '../../../../generated/clients/typescript/models/platform.ts'
import { agentsQuery, useCreateAgent } from '../../data/agents.ts'
import { usePlaceCall } from '../../data/calls.ts'
import { numbersQuery } from '../../data/numbers.ts'
import { useSession } from '../../data/session.ts'
import { Card } from '../../parts/card.tsx'
import { RoleButton, RoleNote } from '../../parts/role.tsx'
import { StandInNotice } from '../../parts/stand-in-notice.tsx'
import { Answer, Failed } from '../../parts/states.tsx'
import styles from './first-steps.module.css'

/** At this simulated phone a person answers, and says goodbye. */
const simulatedPhone = '+15005550006'

/** Leads in three steps to a call that can be played: an agent, a call, its page. */
export function FirstSteps({ newest }: { newest: CallOverview | undefined }) {
  const agents = useQuery(agentsQuery)
  return (
    <Card title="Hear a call in three steps">
      <Answer of={agents} rows={4}>
        {([agent]) => <Steps agent={agent} newest={newest} />}
      </Answer>
    </Card>
  )
}

function Steps({ agent, newest }: { agent: Agent | undefined; newest: CallOverview | undefined }) {
  return (
    <ol className={styles.steps}>
      <AgentStep agent={agent} />
      <CallStep agent={agent} isDone={newest !== undefined} />
      <Step number={3} title="Listen to it" isDone={false}>
        <p>
          The call page follows the call while it lasts. Afterwards it plays the recording, and shows where the time of
          each answer went.
        </p>
        {newest && (
          <Link to="/calls/$id" params={{ id: newest.id }}>
            Open the call
          </Link>
        )}
      </Step>
    </ol>
  )
}

/**
 * The prompt contains an answer to each question of the simulated person, so the call also comes to an end without a
 * language model.
 */
const sample = {
  name: 'Sample agent',
  systemPrompt: [
    'You are the friendly assistant of a bicycle shop. Answer in one or two short sentences. Say goodbye when you are thanked.',
    'Q: Hello there.',
    'A: Hello, this is the bicycle shop. What can I do for you?',
    'Q: I have a question about your opening hours.',
    'A: We are open from nine to five, on Monday to Friday.',
    'Q: Are you also open on Saturday?',
    'A: On Saturday we are open until noon.',
    'Q: And where are you?',
    'A: You find us at the end of Market Street.',
    'Q: Good, thank you very much.',
    'A: Thank you for calling. Goodbye.',
  ].join('\n'),
  intent: { language: 'en-US' },
}

function AgentStep({ agent }: { agent: Agent | undefined }) {
  const create = useCreateAgent()
  return (
    <Step number={1} title={agent ? `Your agent: ${agent.name}` : 'Make an agent'} isDone={agent !== undefined}>
      {agent ? (
        <p>{agent.systemPrompt.split('\n', 1)[0]?.slice(0, 140)}</p>
      ) : (
        <>
          <p>
            A sample that answers for a bicycle shop. Without keys of a provider it speaks with the voices of this
            server.
          </p>
          <RoleButton needs="createAgent" look="main" disabled={create.isPending} onClick={() => create.mutate(sample)}>
            <Sparkles aria-hidden="true" />
            Make the sample agent
          </RoleButton>
          <RoleNote needs="createAgent" action="Making an agent" />
        </>
      )}
      <StandInNotice />
      {create.error && <Failed error={create.error} />}
    </Step>
  )
}

function CallStep({ agent, isDone }: { agent: Agent | undefined; isDone: boolean }) {
  const { server } = useSession()
  const place = usePlaceCall()
  const navigate = useNavigate()
  const { data: numbers = [] } = useQuery(numbersQuery)
  const canCall = agent !== undefined && numbers.length > 0
  const start = (agentId: string) =>
    place.mutate(
      { agentId, to: simulatedPhone },
      { onSuccess: ({ sessionId }) => void navigate({ to: '/calls/$id', params: { id: sessionId } }) },
    )
  return (
    <Step number={2} title="Let it call the simulated phone" isDone={isDone}>
      <p>
        {server.simulatedCarrier
          ? 'A simulated person answers and talks to your agent. It costs nothing and needs no carrier.'
          : 'This server has a real carrier: call your own phone with parley dial.'}
      </p>
      {server.simulatedCarrier && (
        <RoleButton
          needs="createPhoneSession"
          look="main"
          disabled={!canCall || place.isPending}
          onClick={() => agent && start(agent.id)}
        >
          <PhoneCall aria-hidden="true" />
          {place.isPending ? 'Calling…' : isDone ? 'Start another call' : 'Start the call'}
        </RoleButton>
      )}
      <RoleNote needs="createPhoneSession" action="Calling a phone" />
      {agent !== undefined && numbers.length === 0 && (
        <p>The organization needs a phone number first: parley numbers buy.</p>
      )}
      {place.error && <Failed error={place.error} />}
    </Step>
  )
}

function Step({
  number,
  title,
  isDone,
  children,
}: {
  number: number
  title: string
  isDone: boolean
  children: ReactNode
}) {
  return (
    <li className={styles.step}>
      <span className={styles.number} data-done={isDone}>
        {isDone ? <Check role="img" aria-label="done" /> : number}
      </span>
      <div className={styles.words}>
        <h3>{title}</h3>
        {children}
      </div>
    </li>
  )
}
