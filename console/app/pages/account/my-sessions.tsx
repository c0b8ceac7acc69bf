import { useQuery } from '@tanstack/react-query'
import type { MySession } from '../../../../generated/console/types.ts'
import { mySessionsQuery, useEndMySession } from '../../data/account.ts'
import { useSignOut } from '../../data/session.ts'
import { Badge } from '../../parts/badge.tsx'
import { Button } from '../../parts/button.tsx'
import { Line, Stack } from '../../parts/layout.tsx'
import { Moment } from '../../parts/moment.tsx'
import { ActionFault } from '../../parts/notice.tsx'
import { Private } from '../../parts/redaction.tsx'
import { Answer } from '../../parts/states.tsx'
import { type Column, Table } from '../../parts/table.tsx'
import { browserOf } from './browser-name.ts'

/** The browsers in which the person is signed in. */
export function MySessions() {
  const sessions = useQuery(mySessionsQuery)
  const end = useEndMySession()
  const signOut = useSignOut()
  const actions: Column<MySession> = {
    name: 'Actions',
    cell: ({ id, current, userAgent, createdAt }) =>
      current ? (
        <Button isSmall onClick={() => signOut.mutate(false)}>
          Sign out
        </Button>
      ) : (
        <Button
          isSmall
          look="alarm"
          aria-label={`End the session in ${browserOf(userAgent)} from ${createdAt}`}
          disabled={end.isPending}
          onClick={() => end.mutate(id)}
        >
          End
        </Button>
      ),
  }
  return (
    <Stack>
      <h2>Sessions</h2>
      <ActionFault error={end.error ?? signOut.error} />
      <Answer of={sessions} rows={3}>
        {(rows) => <Table label="Sessions" columns={[...columns, actions]} rows={rows} keyOf={({ id }) => id} />}
      </Answer>
      <Line>
        <Button look="alarm" onClick={() => signOut.mutate(true)}>
          Sign out everywhere
        </Button>
      </Line>
    </Stack>
  )
}

const columns: readonly Column<MySession>[] = [
  {
    name: 'Browser',
    cell: ({ userAgent, current }) => (
      <Line>
        <strong title={userAgent ?? undefined}>{browserOf(userAgent)}</strong>
        {current && <Badge tone="accent">this browser</Badge>}
      </Line>
    ),
  },
  { name: 'Address', cell: ({ ip }) => (ip === null ? 'not known' : <Private>{ip}</Private>) },
  { name: 'By', cell: ({ method }) => method, isExtra: true },
  { name: 'Signed in', cell: ({ createdAt }) => <Moment at={createdAt} /> },
  { name: 'Last seen', cell: ({ lastSeenAt }) => (lastSeenAt === null ? 'not known' : <Moment at={lastSeenAt} />) },
]
