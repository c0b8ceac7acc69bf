import { useInfiniteQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import type {
  CallOverview,
  Conversation,
  ConversationMessage,
  ConversationMessageStatus,
} from '../../../../generated/clients/typescript/models/platform.ts'
import { hasCalls, messagesQuery, useCallsBetween } from '../../data/conversations.ts'
import { AgentName } from '../../parts/agent-name.tsx'
import { Badge, type Tone } from '../../parts/badge.tsx'
import { classes } from '../../parts/classes.ts'
import { clockTime, plural, words } from '../../parts/formats.ts'
import { Faint, Line, Stack } from '../../parts/layout.tsx'
import { Moment } from '../../parts/moment.tsx'
import { ActionFault } from '../../parts/notice.tsx'
import { Older } from '../../parts/older.tsx'
import { Private } from '../../parts/redaction.tsx'
import { Answer } from '../../parts/states.tsx'
import { toneOfStatus } from '../../parts/statuses.ts'
import styles from './conversations.module.css'
import { entriesOf } from './entries.ts'

/** Shows a conversation in the order of time, with the calls between the two numbers. */
export function Messages({ id, filters }: { id: string; filters: Record<string, string> }) {
  const messages = useInfiniteQuery(messagesQuery(id))
  return (
    <section aria-label="Messages">
      <Link to="/conversations" search={filters} className={styles.back}>
        All conversations
      </Link>
      <Answer of={messages} rows={8}>
        {({ pages }) => {
          const [first] = pages
          return (
            first && (
              <Stack>
                <Parties conversation={first.conversation} />
                <Older of={messages} what="messages" />
                <Entries
                  conversation={first.conversation}
                  messages={pages.flatMap((page) => page.messages)}
                  hasOlder={messages.hasNextPage}
                />
              </Stack>
            )
          )
        }}
      </Answer>
    </section>
  )
}

function Parties({ conversation: { remoteNumber, phoneNumber, agentId } }: { conversation: Conversation }) {
  return (
    <header>
      <h2>
        <Private>{remoteNumber}</Private>
      </h2>
      <Line>
        <Faint>with</Faint>
        {phoneNumber === null ? <Faint>a number that was removed</Faint> : <Private>{phoneNumber}</Private>}
        <Faint>agent</Faint>
        <AgentName id={agentId} />
      </Line>
    </header>
  )
}

type EntriesProps = { conversation: Conversation; messages: readonly ConversationMessage[]; hasOlder: boolean }

function Entries(props: EntriesProps) {
  return hasCalls(props.conversation) ? <EntriesWithCalls {...props} /> : <EntryList {...props} calls={[]} />
}

function EntriesWithCalls(props: EntriesProps) {
  const { error, calls, searched, hasOlder } = useCallsBetween(props.conversation)
  return (
    <>
      <ActionFault error={error} />
      {hasOlder && (
        <Faint>{`Only the newest ${plural(searched, 'call')} with the person are searched, so older calls are not shown.`}</Faint>
      )}
      <EntryList {...props} calls={calls} />
    </>
  )
}

type EntryListProps = Pick<EntriesProps, 'messages' | 'hasOlder'> & { calls: readonly CallOverview[] }

function EntryList({ messages, hasOlder, calls }: EntryListProps) {
  return (
    <ol className={styles.entries} aria-label="Messages and calls">
      {entriesOf(messages, calls, hasOlder).map((entry) =>
        'call' in entry ? (
          <CallEntry key={entry.call.id} call={entry.call} />
        ) : (
          <MessageEntry key={entry.message.id} message={entry.message} />
        ),
      )}
    </ol>
  )
}

const tones: Partial<Record<ConversationMessageStatus, Tone>> = {
  received: 'accent',
  delivered: 'good',
  declined: 'alarm',
  error: 'alarm',
}
const channels = { rmsg: 'rich message', sms: 'SMS', rcs: 'RCS' } as const

function MessageEntry({ message }: { message: ConversationMessage }) {
  const { direction, channel, status, text, tags, createdAt } = message
  const isInbound = direction === 'inbound'
  return (
    <li className={classes(styles.entry, isInbound ? styles.inbound : styles.outbound)} data-message={direction}>
      {text === null ? (
        <Faint>{isInbound ? 'Received message' : 'Sent message'}</Faint>
      ) : (
        <p>
          <Private>{text}</Private>
        </p>
      )}
      <Line>
        <Badge tone={tones[status] ?? 'plain'}>{words(status)}</Badge>
        <Faint>
          {channel !== null && `${channels[channel]}, `}
          <Moment at={createdAt} />
        </Faint>
        {Object.entries(tags).map(([name, value]) => (
          <Faint key={name}>
            {`${name}: `}
            <Private>{value}</Private>
          </Faint>
        ))}
      </Line>
    </li>
  )
}

function CallEntry({
  call: { id, direction, status, duration_seconds: seconds, created_at: at },
}: {
  call: CallOverview
}) {
  return (
    <li className={classes(styles.entry, styles.call)} data-call={id}>
      <Line>
        <Link to="/calls/$id" params={{ id }}>
          {direction === 'inbound' ? 'Call from the person' : 'Call to the person'}
        </Link>
        <Badge tone={toneOfStatus(status)}>{words(status)}</Badge>
        <Faint>
          {seconds !== null && `${clockTime(seconds)}, `}
          <Moment at={at} />
        </Faint>
      </Line>
    </li>
  )
}
