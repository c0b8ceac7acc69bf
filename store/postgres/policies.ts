/**
 * SQL for row level security on tables with organizations' rows. A transaction sets `app.organization` and `app.world`
 * (tenant.ts). If a setting is missing it is null, so the transaction sees no row. A setting is read in a sub-select,
 * because Postgres then reads it once for a statement and not once for each row.
 */

/** A policy for one organization's live or test rows. */
export function ownWorld(table: string): string {
  return `${forced(table)}
create policy own_world on ${table}
  using ((select current_setting('app.organization', true)) in (organization_id, '*')
    and (select current_setting('app.world', true)) in (case when test then 'test' else 'live' end, '*'));
`
}

/** A policy for one organization's rows if its live and test keys share them. */
export function ownOrganization(table: string, column = 'organization_id'): string {
  return `${forced(table)}
create policy own_organization on ${table}
  using ((select current_setting('app.organization', true)) in (${column}, '*'));
`
}

/**
 * Like `ownOrganization`, for tables where every request inserts a row. One insert is faster if the check has no
 * sub-select.
 */
export function ownOrganizationFast(table: string): string {
  return `${forced(table)}
create policy own_organization on ${table}
  using ((select current_setting('app.organization', true)) in (organization_id, '*'))
  with check (current_setting('app.organization', true) in (organization_id, '*'));
`
}

/** A policy for rows that only the operator sees. */
export function operatorOnly(table: string): string {
  return `${forced(table)}
create policy operator_only on ${table} using ((select current_setting('app.organization', true)) = '*');
`
}

/** Turns the policies on. The server's role owns the tables, and a policy binds the owner only if it is forced. */
const forced = (table: string) => `
alter table ${table} enable row level security;
alter table ${table} force row level security;`
