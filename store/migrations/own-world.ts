/** SQL for a table's row policy by organization and world (store/postgres/tenant.ts). */
export function ownWorld(table: string): string {
  return `
alter table ${table} enable row level security;
alter table ${table} force row level security;
create policy own_world on ${table}
  using ((select current_setting('app.organization', true)) in (organization_id, '*')
    and (select current_setting('app.world', true)) in (case when test then 'test' else 'live' end, '*'));
`
}
