import { Link } from '@tanstack/react-router'
import type { Conversation } from '../../../../generated/clients/typescript/models/platform.ts'
import { count, plural, words } from '../../parts/formats.ts'
import { Faint } from '../../parts/layout.tsx'
import { Moment } from '../../parts/moment.tsx'
import { Private } from '../../parts/redaction.tsx'
import styles from './conversations.module.css'

/** The server counts at most this many messages of a conversation. */
const countedMax = 1000

type ListProps = {
  conversations: readonly Conversation[]
  /** The id of the conversation whose messages are shown, or an empty text. */
  chosen: string
  filters: Record<string, string>
}

export function ConversationList({ conversations, chosen, filters }: ListProps) {
  return (
    <ul className={styles.rows}>
      {conversations.map(({ id, remoteNumber, phoneNumber, lastMessageAt, lastMessage, messages }) => (
        <li key={id}>
          <Link
            to="/conversations/$id"
            params={{ id }}
            search={filters}
            className={styles.row}
            {...(id === chosen && { 'aria-current': 'page' as const })}
          >
            <strong>
              <Private>{remoteNumber}</Private>
            </strong>
            <Moment at={lastMessageAt} />
            <Faint>
              {`${words(lastMessage.status)}, ${messages < countedMax ? plural(messages, 'message') : `${count(messages)} messages or more`}`}
              {phoneNumber !== null && (
                <>
                  {' over '}
                  <Private>{phoneNumber}</Private>
                </>
              )}
            </Faint>
          </Link>
        </li>
      ))}
    </ul>
  )
}
