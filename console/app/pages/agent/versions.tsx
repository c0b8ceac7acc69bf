import { useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import type { Agent, AgentVersionItem } from '../../../../generated/clients/typescript/models/platform.ts'
import { useRestoreVersion, versionQuery, versionsQuery } from '../../data/agent.ts'
import { Badge } from '../../parts/badge.tsx'
import { Card } from '../../parts/card.tsx'
import { classes } from '../../parts/classes.ts'
import { plural } from '../../parts/formats.ts'
import { Columns, Faint, Line, Stack } from '../../parts/layout.tsx'
import { Moment } from '../../parts/moment.tsx'
import { ActionFault } from '../../parts/notice.tsx'
import { Older } from '../../parts/older.tsx'
import { RoleButton, RoleNote } from '../../parts/role.tsx'
import { Answer } from '../../parts/states.tsx'
import { Changes } from './changes.tsx'
import styles from './versions.module.css'

/** Lists the versions, the newest first, and compares the shown version with the version before. */
export function Versions({ agent, shown }: { agent: Agent; shown: number }) {
  const versions = useInfiniteQuery(versionsQuery(agent.id))
  return (
    <Answer of={versions}>
      {({ pages }) => (
        <Columns>
          <Shown agent={agent} version={shown} />
          <Stack>
            <Card title="All versions" isFlush>
              <ol className={styles.list}>
                {pages.flatMap((page) =>
                  page.versions.map((item) => (
                    <li key={item.version}>
                      <Item agentId={agent.id} item={item} isShown={item.version === shown} />
                    </li>
                  )),
                )}
              </ol>
            </Card>
            <Older of={versions} what="versions" />
          </Stack>
        </Columns>
      )}
    </Answer>
  )
}

function Item({ agentId, item, isShown }: { agentId: string; item: AgentVersionItem; isShown: boolean }) {
  const { version, createdAt, createdBy, changed, restoredFrom, calls } = item
  const author =
    createdBy === null ? 'unknown' : (createdBy.name ?? `a ${createdBy.type === 'user' ? 'person' : 'key'}`)
  return (
    <Link
      to="/agents/$id"
      params={{ id: agentId }}
      search={{ tab: 'versions', version: String(version) }}
      replace
      className={classes(styles.item, isShown && styles.shown)}
      {...(isShown && { 'aria-current': 'true' as const })}
    >
      <span className={styles.head}>
        <strong>Version {version}</strong>
        <Faint>
          <Moment at={createdAt} />
        </Faint>
      </span>
      <Faint>
        {restoredFrom === null ? changed.join(', ') || 'made' : `version ${restoredFrom} restored`} · {author}
        {calls > 0 && ` · ${plural(calls, 'call')}`}
      </Faint>
    </Link>
  )
}

function Shown({ agent, version }: { agent: Agent; version: number }) {
  const shown = useQuery(versionQuery(agent.id, version))
  const before = useQuery({ ...versionQuery(agent.id, version - 1), enabled: version > 1 })
  const restore = useRestoreVersion(agent.id)
  const isNewest = version === agent.version
  return (
    <Card
      title={version > 1 ? `Version ${version} against version ${version - 1}` : 'Version 1'}
      actions={
        isNewest ? (
          <Badge tone="good">in use</Badge>
        ) : (
          <RoleButton
            needs="restoreAgentVersion"
            isSmall
            disabled={restore.isPending}
            onClick={() => restore.mutate(version)}
          >
            Restore version {version}
          </RoleButton>
        )
      }
    >
      <Stack>
        {!isNewest && <RoleNote needs="restoreAgentVersion" action="Restoring a version" />}
        <ActionFault error={restore.error} />
        <Answer of={shown}>
          {(data) => {
            // Old versions are deleted after a while, so the version before may be gone.
            if (version > 1 && before.isPending) return <Faint>Comparing…</Faint>
            return <Changes before={before.data ?? null} after={data} />
          }}
        </Answer>
        <Line>
          <Link to="/calls" search={{ agent_id: agent.id, agent_version: String(version) }}>
            Calls with this version
          </Link>
        </Line>
      </Stack>
    </Card>
  )
}
