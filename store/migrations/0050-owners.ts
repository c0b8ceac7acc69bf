import type { Migration } from './migration.ts'

/**
 * Adds the roles viewer and owner. The previous version serves an owner by the value in `role`, and it answers a viewer
 * with an error, never with data.
 *
 * Every admin becomes an owner, so no user loses a right. If an organization has users but no admin, its first user
 * becomes the owner.
 */
export const owners: Migration = {
  version: 50,
  name: 'owners and viewers',
  sql: `
-- The program names the roles. A wider check would be a new constraint on an older table.
alter table user_roles drop constraint user_roles_role_check;
-- The user is an owner while role has this value. If the previous version changes the role, the ownership ends.
alter table user_roles add column owner_as text;
-- Until the transaction ends, as in a restore, which goes on after this step.
select set_config('app.organization', '*', true);
update user_roles set owner_as = role where role = 'admin';
update user_roles r set owner_as = r.role
where (organization_id, user_id) in (
  select distinct on (organization_id) organization_id, user_id from user_roles
  order by organization_id, created_at, user_id
) and not exists (select from user_roles o where o.organization_id = r.organization_id and o.owner_as is not null);`,
}
