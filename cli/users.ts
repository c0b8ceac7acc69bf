import type { Command } from 'commander'
import type { Actions } from './actions.ts'
import type { UserRow } from './admin-users.ts'
import { CommandError, UsageError } from './command-error.ts'
import { print } from './print.ts'

const emailCharactersMax = 254

export function users(program: Command, actions: Actions): void {
  const group = program.command('users').description('people with a role in an organization')
  const command = (name: string, description: string) =>
    group
      .command(name)
      .description(description)
      .argument('<email>')
      .requiredOption('--org <organization>', 'name or id of the organization')
      .option('--json', 'print as JSON', false)
  command('create', 'give a person a role in an organization, or another one')
    .option('--role <role>', 'viewer, member, admin or owner; without it the first person is owner, all others member')
    .action(async (email: string, { org, json, role }: Options & { role?: string }) => {
      const user = await actions.admin((admin) => admin.createUser(org, readEmail(email), role ?? null))
      print(json, userJson(user), () => [lineOf(user)])
    })
  group
    .command('list')
    .description('the people with a role in an organization')
    .requiredOption('--org <organization>', 'name or id of the organization')
    .option('--json', 'print as JSON', false)
    .action(async ({ org, json }: Options) => {
      const rows = await actions.admin((admin) => admin.users(org))
      print(json, rows.map(userJson), () => (rows.length > 0 ? rows.map(lineOf) : ['no users']))
    })
  const issuing = (name: string, description: string, kind: 'user_token' | 'session') =>
    command(name, description).action(async (email: string, { org, json }: Options) => {
      const issued = await actions.admin((admin) => admin.issueCredential(org, readEmail(email), kind))
      print(json, { secret: issued.secret, expiresAt: issued.expiresAt.toISOString() }, () => [issued.secret])
    })
  issuing('token', 'a token for one hour, to be sent as a bearer; it is shown once', 'user_token')
  issuing('session', 'a session for 12 hours, as the value of the cookie parley_session; it is shown once', 'session')
  command('remove', 'take the role away, and end the tokens and sessions of the person in the organization').action(
    async (email: string, { org, json }: Options) => {
      if (!(await actions.admin((admin) => admin.removeUser(org, readEmail(email)))))
        throw new CommandError(`${email} is no user of ${org}`)
      print(json, { email, removed: true }, () => [`${email} is removed`])
    },
  )
  command('invite', 'make a link with which a person joins an organization; it is good for seven days')
    .option('--role <role>', 'viewer, member, admin or owner; without it member')
    .action(async (email: string, { org, json, role }: Options & { role?: string }) => {
      const url = await actions.admin((admin) => admin.inviteUser(org, readEmail(email), role ?? null))
      print(json, { email, url }, () => [url])
    })
  group
    .command('reset')
    .description('make a link with which a person sets a password; it is good for one hour')
    .argument('<email>')
    .option('--json', 'print as JSON', false)
    .action(async (email: string, { json }: Pick<Options, 'json'>) => {
      const url = await actions.admin((admin) => admin.resetUser(readEmail(email)))
      print(json, { email, url }, () => [url])
    })
  group
    .command('sign-out')
    .description('end all sessions and tokens of a person, in all organizations')
    .argument('<email>')
    .option('--json', 'print as JSON', false)
    .action(async (email: string, { json }: Pick<Options, 'json'>) => {
      const ended = await actions.admin((admin) => admin.signOutUser(readEmail(email)))
      print(json, { email, ended }, () => [`${ended} sessions and tokens of ${email} have ended`])
    })
}

type Options = { org: string; json: boolean }

const userJson = ({ id, email, organizationId, role }: UserRow) => ({ id, email, organizationId, role })
const lineOf = ({ id, email, organizationId, role }: UserRow) => [id, email, organizationId, role].join('  ')

function readEmail(text: string): string {
  if (text.length <= emailCharactersMax && /^[^\s@]+@[^\s@]+$/.test(text)) return text
  throw new UsageError(`${text} is no email address`)
}
