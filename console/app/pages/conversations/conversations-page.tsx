import { useInfiniteQuery } from '@tanstack/react-query'
import { type ConversationFilters, conversationsQuery, searchedMessages } from '../../data/conversations.ts'
import { pick, writeSearch } from '../../data/search.ts'
import { useFilterChange, usePathId, useSearchValues } from '../../parts/address.ts'
import { AgentFilter, NumberFilter } from '../../parts/call-filters.tsx'
import { classes } from '../../parts/classes.ts'
import { FilterRow } from '../../parts/filter-row.tsx'
import { count } from '../../parts/formats.ts'
import { Faint, Stack } from '../../parts/layout.tsx'
import { Older } from '../../parts/older.tsx'
import { Page } from '../../parts/page.tsx'
import { Answer, Empty } from '../../parts/states.tsx'
import { useTimes } from '../../parts/times.tsx'
import { ConversationList } from './conversation-list.tsx'
import styles from './conversations.module.css'
import { Messages } from './messages.tsx'

const names = ['agentId', 'phoneNumberId', 'number', 'since', 'until'] as const
type Filters = Partial<Record<(typeof names)[number], string>>

/** The conversations, and beside them the messages of one. On a narrow screen, either the list or the messages are shown. */
export function ConversationsPage() {
  const { zone } = useTimes()
  const filters: Filters = pick(useSearchValues(), names)
  const id = usePathId()
  const change = useFilterChange(filters)
  const command =
    id === ''
      ? { path: `/v1/conversations${writeSearch(filters)}`, cli: 'conversations list' }
      : { path: `/v1/conversations/${encodeURIComponent(id)}/messages`, cli: `conversations messages ${id}` }
  return (
    <Page
      title="Conversations"
      lead={`Messages between your numbers and people. Settings decide whether their texts are stored. Times are in ${zone}.`}
      command={command}
    >
      <div className={classes(styles.columns, id !== '' && styles.chosen)}>
        <section className={styles.list} aria-label="Conversations">
          <FilterRow clear={Object.keys(filters).length > 0 ? () => change(null) : null}>
            <AgentFilter value={filters.agentId ?? ''} choose={(agentId) => change({ agentId })} />
            <NumberFilter key={filters.number} value={filters.number ?? ''} search={(number) => change({ number })} />
          </FilterRow>
          <Conversations key={writeSearch(filters)} filters={filters} chosen={id} />
        </section>
        <div className={styles.messages}>
          {id === '' ? <Faint>Choose a conversation.</Faint> : <Messages key={id} id={id} filters={filters} />}
        </div>
      </div>
    </Page>
  )
}

function Conversations({ filters, chosen }: { filters: Filters; chosen: string }) {
  // The server refuses values that are not in its contract, and the page shows this refusal.
  const conversations = useInfiniteQuery(conversationsQuery(filters as ConversationFilters))
  return (
    <Answer of={conversations} rows={8}>
      {({ pages }) => {
        const hasRows = pages.some((page) => page.conversations.length > 0)
        if (!hasRows && !conversations.hasNextPage)
          return <NoConversations isFiltered={Object.keys(filters).length > 0} />
        return (
          <Stack>
            {hasRows ? (
              <ConversationList pages={pages} chosen={chosen} filters={filters} />
            ) : (
              <Faint>{`No conversation in the newest ${count(pages.length * searchedMessages)} messages.`}</Faint>
            )}
            <Older of={conversations} what="conversations" />
          </Stack>
        )
      }}
    </Answer>
  )
}

function NoConversations({ isFiltered }: { isFiltered: boolean }) {
  if (isFiltered) return <Empty title="No conversation matches these filters" />
  return (
    <Empty title="No conversation yet">
      <p>The messages that agents send and receive over rich-message numbers are listed here.</p>
      <p>
        <a href="/docs/rmsg">How agents send messages</a>
      </p>
    </Empty>
  )
}
