import type { Migration } from './migration.ts'

export const sessionLeases: Migration = {
  version: 12,
  name: 'leases of sessions do not count against the concurrency of an organization',
  sql: `
-- How many of the leases that are held are of sessions. The limit of a key counts all leases, that of an organization the others only.
alter table concurrency_leases add column sessions integer not null default 0 check (sessions >= 0);

drop function acquire_lease(text, text, text, integer, integer, timestamptz);

-- The default serves the processes of the version before, which ask for leases of sessions like those of requests.
create function acquire_lease(
  organization text, key text, instance text, organization_max integer, key_max integer, at timestamptz, is_session boolean default false
) returns text language plpgsql as $$
declare
  requests_held integer;
  key_held integer;
begin
  perform pg_advisory_xact_lock(hashtextextended(organization, 7275539002));
  select coalesce(sum(l.held - l.sessions), 0), coalesce(sum(l.held) filter (where l.key_id = key), 0)
    into requests_held, key_held
    from concurrency_leases l join instances i on i.id = l.instance_id and i.alive_until > at
    where l.organization_id = organization;
  if not is_session and requests_held >= organization_max then
    return 'organization';
  end if;
  if key_held >= key_max then
    return 'key';
  end if;
  insert into concurrency_leases (organization_id, key_id, instance_id, held, sessions)
    values (organization, key, instance, 1, is_session::int)
    on conflict (organization_id, key_id, instance_id)
      do update set held = concurrency_leases.held + 1, sessions = concurrency_leases.sessions + excluded.sessions;
  return null;
end $$;
`,
}
