/**
 * SQL for row level security on tables with organizations' rows. A transaction sets `app.organization` and `app.world`
 * (tenant.ts). If a setting is missing it is null, so the transaction sees no row. Postgres reads a setting in a
 * sub-select once for a statement, and otherwise once for each row.
 */

/** Rows belong to an organization and a world. */
export function ownWorld(table: string): string {
  return `${forced(table)}
create policy own_world on ${table}
  using ((select current_setting('app.organization', true)) in (organization_id, '*')
    and (select current_setting('app.world', true)) in (case when test then 'test' else 'live' end, '*'));
`
}

/** Rows belong to an organization. Its live keys and its test keys share them. */
export function ownOrganization(table: string, column = 'organization_id'): string {
  return `${forced(table)}
create policy own_organization on ${table}
  using ((select current_setting('app.organization', true)) in (${column}, '*'));
`
}

/** The same for tables where every request inserts a row. One insert is faster if the check has no sub-select. */
export function ownOrganizationFast(table: string): string {
  return `${forced(table)}
create policy own_organization on ${table}
  using ((select current_setting('app.organization', true)) in (organization_id, '*'))
  with check (current_setting('app.organization', true) in (organization_id, '*'));
`
}

/** Only the operator sees the rows. */
export function operatorOnly(table: string): string {
  return `${forced(table)}
create policy operator_only on ${table} using ((select current_setting('app.organization', true)) = '*');
`
}

/** The server's role owns the tables, and a policy binds the owner only if it is forced. */
const forced = (table: string) => `
alter table ${table} enable row level security;
alter table ${table} force row level security;`
