import { ownOrganization } from '../../postgres/policies.ts'

/**
 * Tables shared by all processes on one database: the instances, and the leases that count against concurrency limits.
 */
export const sharing = `
-- Serving processes. What an instance held is given back when its row has expired.
create table instances (
  id text primary key,
  alive_until timestamptz not null,
  -- An instance without others counts its leases in memory. An instance that starts waits until this is false for
  -- every other instance (store/sharing/limits.ts).
  counts_in_memory boolean not null default false
);

create table concurrency_leases (
  organization_id text not null,
  key_id text not null,
  instance_id text not null,
  held integer not null check (held >= 0),
  -- How many of the held leases are leases of sessions. The limit of a key counts all leases, and the limit of an
  -- organization counts only the other leases.
  sessions integer not null default 0 check (sessions >= 0),
  primary key (organization_id, key_id, instance_id)
) with (fillfactor = 50);
${ownOrganization('concurrency_leases')}
-- Answers null if the lease is granted, and otherwise the limit that refused it. A function, because the count must be
-- read after the lock is taken: one statement would read it from a snapshot that is older than the lock.
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
`
