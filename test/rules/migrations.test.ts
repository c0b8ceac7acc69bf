/**
 * A migration only adds, so the previous version can serve with the new schema. To remove or restrict something, a
 * migration waits for the next version.
 */
import t from 'tap'
import { baseline } from '../../store/migrations/0048-baseline.ts'
import { migrations } from '../../store/migrations/list.ts'
import { laterSteps } from '../store/later-steps.ts'

/** Migrations that break the rule, by number. Each migration gives the reason in its field `breaks`. */
const exceptions: readonly number[] = []

/** If a migration contains such a statement, the previous version would fail afterwards. */
const breaking: readonly [what: string, statement: RegExp][] = [
  ['drops a table or what is in it', /\bdrop\s+(table|column|view|type|schema)\b/],
  ['drops a function', /\bdrop\s+function\b/],
  ['drops a policy or changes one', /\b(drop|alter)\s+policy\b/],
  ['renames', /\brename\b/],
  ['changes a type', /\balter\s+column\s+\w+\s+(set\s+data\s+)?type\b/],
  ['requires a value', /\bset\s+not\s+null\b/],
  ['takes a default away', /\bdrop\s+default\b/],
  ['deletes rows', /\b(delete\s+from|truncate)\b/],
]

/**
 * Finds breaking statements on the previous version's tables. A table that the same migration creates may be changed
 * freely.
 */
function problemsOf(sql: string): string[] {
  const text = sql
    .replace(/--.*$/gm, '')
    .replace(/\$\$[\s\S]*?\$\$/g, "''")
    .toLowerCase()
  const own = new Set([...text.matchAll(/create\s+table\s+(?:if\s+not\s+exists\s+)?(\w+)/g)].map(([, name]) => name))
  const found: string[] = []
  for (const statement of text.split(';')) {
    for (const [what, pattern] of breaking) if (pattern.test(statement)) found.push(what)
    const altered = /\balter\s+table\s+(?:if\s+exists\s+)?(?:only\s+)?(\w+)/.exec(statement)?.[1]
    if (altered !== undefined && !own.has(altered)) found.push(...tightening(statement))
    const [, unique, indexed] = /create\s+(unique\s+)?index\s+(?:\w+\s+)?on\s+(\w+)/.exec(statement) ?? []
    if (indexed !== undefined && !own.has(indexed))
      found.push(
        unique === undefined ? 'keeps writers waiting for an index: name it in `indexes`' : 'makes values unique',
      )
  }
  return found
}

function tightening(statement: string): string[] {
  const found: string[] = []
  const columns = statement.split(/\badd\s+column\b/).slice(1)
  if (columns.some((column) => /\bnot\s+null\b/.test(column) && !/\bdefault\b|\bgenerated\b/.test(column)))
    found.push('adds a column that needs a value')
  if (/\badd\s+(constraint\s+\w+\s+)?(check|unique|primary\s+key|foreign\s+key|exclude)\b/.test(statement))
    found.push('adds a constraint')
  return found
}

t.test('each migration after the baseline only adds, or is a listed exception with a reason', (t) => {
  t.equal(migrations[0], baseline)
  // The migrations in the tests follow the rule too, because upgrades are tested with them.
  for (const migration of laterSteps.slice(1)) {
    const { version, name, breaks } = migration
    const isException = exceptions.includes(version)
    t.equal(breaks !== undefined, isException, `${version} ${name}: an exception says why, and only an exception`)
    if (!isException && migration.sql !== undefined) t.same(problemsOf(migration.sql), [], `${version} ${name}`)
  }
  t.end()
})

t.test('the migration rule detects SQL statements that remove something or add a restriction', (t) => {
  const refused = [
    'drop table calls',
    'alter table calls drop column kind',
    'alter table calls\n  rename column kind to sort',
    'alter table calls alter column kind set not null',
    'alter table calls alter column kind type integer',
    'alter table calls add column a text not null',
    'alter table calls add column a text default 1, add column b text not null',
    'alter table calls add check (kind <> 1)',
    'create unique index calls_kind on calls (kind)',
    'create index calls_kind on calls (kind)',
    'alter policy own_world on calls using (true)',
    'delete from calls',
  ]
  for (const sql of refused) t.not(problemsOf(sql).length, 0, sql)
  const allowed = [
    'create table a (b text not null, unique (b)); create unique index a_b on a (b); alter table a add check (b <> 1)',
    'alter table calls add column a text not null default 1',
    'alter table calls add column a boolean',
    '-- drop table calls\ncreate table a (b text references calls on delete cascade)',
  ]
  for (const sql of allowed) t.same(problemsOf(sql), [], sql)
  t.end()
})

t.test('migrations are sorted by version, and no version occurs twice', (t) => {
  const versions = migrations.map(({ version }) => version)
  t.same(
    versions,
    [...new Set(versions)].sort((a, b) => a - b),
  )
  t.end()
})
