import { Link } from '@tanstack/react-router'
import { useCallback, useMemo, useRef } from 'react'
import type { Conversation } from '../../../../generated/clients/typescript/models/platform.ts'
import { Button } from '../../parts/button.tsx'
import { count, plural, words } from '../../parts/formats.ts'
import { useHeldRows } from '../../parts/held-rows.ts'
import { Faint } from '../../parts/layout.tsx'
import { Moment } from '../../parts/moment.tsx'
import { Private } from '../../parts/redaction.tsx'
import styles from './conversations.module.css'

/** The server counts at most this many messages of a conversation. */
const countedMax = 1000

type ListProps = {
  pages: readonly { conversations: readonly Conversation[] }[]
  /** The id of the conversation whose messages are shown, or an empty text. */
  chosen: string
  filters: Record<string, string>
}

const timeOf = ({ lastMessageAt }: Conversation) => lastMessageAt
/** The browser can round the list's position. */
const slackPx = 1

/** A conversation with a new message comes first, except while a person has scrolled down or moves by keyboard. */
export function ConversationList({ pages, chosen, filters }: ListProps) {
  const list = useRef<HTMLDivElement>(null)
  const isHeld = useCallback(() => {
    const { current: element } = list
    if (element === null) return false
    // A mouse leaves the focus on the chosen row, and only a keyboard moves through the rows.
    return element.getBoundingClientRect().top < -slackPx || element.querySelector(':focus-visible') !== null
  }, [])
  const fresh = useMemo(() => pages.flatMap(({ conversations }) => conversations), [pages])
  const { rows, isWaiting, show } = useHeldRows(fresh, timeOf, isHeld)
  const showAtTop = () => {
    show()
    if (isHeld()) list.current?.scrollIntoView()
  }
  return (
    <div>
      {isWaiting && (
        <div className={styles.waiting}>
          <Button look="main" isSmall onClick={showAtTop}>
            Show the newest first
          </Button>
        </div>
      )}
      <div ref={list}>
        <Rows conversations={rows} chosen={chosen} filters={filters} />
      </div>
    </div>
  )
}

type RowsProps = Omit<ListProps, 'pages'> & { conversations: readonly Conversation[] }

function Rows({ conversations, chosen, filters }: RowsProps) {
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
            {lastMessage.text !== null && (
              <span className={styles.text}>
                <Private>{lastMessage.text}</Private>
              </span>
            )}
          </Link>
        </li>
      ))}
    </ul>
  )
}
