import type { Command } from 'commander'
import type { Actions } from './actions.ts'
import { CommandError } from './command-error.ts'
import { print } from './print.ts'

const emailCharactersMax = 254

export function users(program: Command, actions: Actions): void {
  const group = program.command('users').description('people with a role in an organization')
  const command = (name: string, description: string) =>
    group
      .command(name)
      .description(description)
      .argument('<email>')
      .argument('<organization>', 'name or id of the organization')
      .option('--json', 'print as JSON', false)
  command('create', 'give a person a role in an organization, or another one')
    .option('--role <role>', 'member, or admin with the scope admin', 'member')
    .action(async (email: string, organization: string, { json, role }: Json & { role: string }) => {
      const user = await actions.admin((admin) => admin.createUser(organization, readEmail(email), role))
      const shown = { id: user.id, email: user.email, organization_id: user.organizationId, role: user.role }
      print(json, shown, () => [[user.id, user.email, user.organizationId, user.role].join('  ')])
    })
  const issuing = (name: string, description: string, kind: 'user_token' | 'session') =>
    command(name, description).action(async (email: string, organization: string, { json }: Json) => {
      const issued = await actions.admin((admin) => admin.issueCredential(organization, readEmail(email), kind))
      print(json, { secret: issued.secret, expires_at: issued.expiresAt.toISOString() }, () => [issued.secret])
    })
  issuing('token', 'a token for one hour, to be sent as a bearer; it is shown once', 'user_token')
  issuing('session', 'a session for 12 hours, as the value of the cookie parley_session; it is shown once', 'session')
  command('remove', 'take the role away, and end the tokens and sessions of the person in the organization').action(
    async (email: string, organization: string, { json }: Json) => {
      if (!(await actions.admin((admin) => admin.removeUser(organization, readEmail(email)))))
        throw new CommandError(`${email} is no user of ${organization}`)
      print(json, { email, removed: true }, () => [`${email} is removed`])
    },
  )
}

type Json = { json: boolean }

function readEmail(text: string): string {
  if (text.length <= emailCharactersMax && /^[^\s@]+@[^\s@]+$/.test(text)) return text
  throw new CommandError(`${text} is no email address`)
}
