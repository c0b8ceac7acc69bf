/** Every operation and every socket names a scope and a role, and the table in docs/users.md agrees with the specs. */
import { readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import t from 'tap'
import { parse } from 'yaml'
import { roles, scopes } from '../../domain/records/organization.ts'
import { carrierSurface } from '../../generated/carrier/channels.ts'
import { compatSurface } from '../../generated/compat/routes.ts'
import { internalSurface } from '../../generated/internal/routes.ts'
import { platformContract } from '../../generated/platform/contract.ts'
import { platformSurface } from '../../generated/platform/routes.ts'
import { realtimeSurface } from '../../generated/realtime/channels.ts'
import { routerSurface } from '../../generated/router/routes.ts'
import { sessionSurface } from '../../generated/session/channels.ts'

const root = path.resolve(import.meta.dirname, '../..')
const operations = [platformSurface, routerSurface, compatSurface, internalSurface].flatMap((surface) =>
  surface.operations.map(({ id, scope, role }) => ({ surface: surface.name, id, scope, role })),
)
const channels = [realtimeSurface, sessionSurface, carrierSurface].flatMap((surface) =>
  surface.channels.map(({ id, scope, role }) => ({ surface: surface.name, id, scope, role })),
)
const least = [...roles, 'none']

t.test('every operation that needs an API key and every socket declares a scope and a role', (t) => {
  for (const { id, scope, role } of [...operations, ...channels]) {
    t.equal(scope === null, role === null, `${id} names both or neither`)
    if (scope !== null) t.ok((scopes as readonly string[]).includes(scope), `${id}: scope ${scope}`)
    if (role !== null) t.ok(least.includes(role), `${id}: role ${role}`)
  }
  const { components } = parse(readFileSync(path.join(root, 'specs/shared.yaml'), 'utf8')) as {
    components: { schemas: { Role: { enum: string[] } } }
  }
  t.same(roles, components.schemas.Role.enum)
  t.end()
})

t.test('every write operation of the platform API has an audit action in `x-audit`, or the value none', (t) => {
  type Operation = { operationId?: string; 'x-audit'?: string }
  const { paths, components } = JSON.parse(platformContract) as {
    paths: Record<string, Record<string, Operation>>
    components: { schemas: { AuditAction: { enum: string[] } } }
  }
  const actions = new Set(['none', ...components.schemas.AuditAction.enum])
  for (const methods of Object.values(paths))
    for (const [method, { operationId, 'x-audit': action }] of Object.entries(methods)) {
      if (action === undefined) t.notOk(/^(post|put|patch|delete)$/.test(method), `${operationId} needs x-audit`)
      else t.ok(actions.has(action), `${operationId}: ${action} is an action of the schema AuditAction`)
    }
  t.end()
})

t.test(
  'only the platform API has operations with an audit action, because only its mount writes the audit log',
  (t) => {
    const others = [routerSurface, compatSurface, internalSurface].flatMap((surface) => [...surface.operations])
    t.same(
      others.filter(({ audit }) => audit !== undefined).map(({ id }) => id),
      [],
    )
    t.end()
  },
)

const begin = '<!-- roles: UPDATE_GOLDEN=1 npx tap test/rules/access.test.ts -->'
const end = '<!-- /roles -->'

/** Makes one table row for each role, API and scope. */
function tableOf(): string {
  const rows = new Map<string, string[]>()
  for (const role of least)
    for (const entry of [...operations, ...channels])
      if (entry.role === role) {
        const key = `| ${role === 'none' ? 'no user' : `\`${role}\``} | ${entry.surface} | \`${entry.scope}\` |`
        rows.set(key, [...(rows.get(key) ?? []), `\`${entry.id}\``])
      }
  const lines = [...rows].map(([key, ids]) => `${key} ${ids.join(', ')} |`)
  return ['| lowest role | surface | scope of a key | operations |', '|---|---|---|---|', ...lines].join('\n')
}

t.test('the table in docs/users.md lists every operation with its role and its scope', (t) => {
  const file = path.join(root, 'docs/users.md')
  const text = readFileSync(file, 'utf8')
  const [before = '', rest = ''] = text.split(begin)
  const wanted = `${before}${begin}\n${tableOf()}\n${end}${rest.split(end)[1] ?? ''}`
  if (process.env['UPDATE_GOLDEN'] === '1') writeFileSync(file, wanted)
  t.equal(readFileSync(file, 'utf8'), wanted)
  t.end()
})
