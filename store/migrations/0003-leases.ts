import type { Migration } from './migration.ts'

export const leases: Migration = {
  version: 3,
  name: 'concurrency across processes',
  sql: `
create table concurrency_leases (
  organization_id text not null,
  key_id text not null,
  instance_id text not null,
  held integer not null check (held >= 0),
  primary key (organization_id, key_id, instance_id)
) with (fillfactor = 50);

-- Answers null when granted, else which limit refused. A function, because the count must be read after the lock is held: within one statement
-- it would be read from a snapshot that is older than the lock.
create function acquire_lease(
  organization text, key text, instance text, organization_max integer, key_max integer, at timestamptz
) returns text language plpgsql as $$
declare
  organization_held integer;
  key_held integer;
begin
  perform pg_advisory_xact_lock(hashtextextended(organization, 7275539002));
  select coalesce(sum(l.held), 0), coalesce(sum(l.held) filter (where l.key_id = key), 0)
    into organization_held, key_held
    from concurrency_leases l join instances i on i.id = l.instance_id and i.alive_until > at
    where l.organization_id = organization;
  if organization_held >= organization_max then
    return 'organization';
  end if;
  if key_held >= key_max then
    return 'key';
  end if;
  insert into concurrency_leases (organization_id, key_id, instance_id, held)
    values (organization, key, instance, 1)
    on conflict (organization_id, key_id, instance_id) do update set held = concurrency_leases.held + 1;
  return null;
end $$;

alter table concurrency_leases enable row level security;
alter table concurrency_leases force row level security;
create policy own_organization on concurrency_leases
  using ((select current_setting('app.organization', true)) in (organization_id, '*'));
`,
}
