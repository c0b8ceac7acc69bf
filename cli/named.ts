/** Finds agents and endpoints by id or by name, and phone numbers by id or by number. */
import type { platformClient } from './client.ts'
import { CommandError } from './command-error.ts'
import { oneLine } from './terminal.ts'

type Client = ReturnType<typeof platformClient>
type Named = { id: string; name: string }

/** The forms of Parley's ids. If a text has such a form, it counts as an id, even if it is also a name. */
const agentId = /^agent_\w{22}$/
const endpointId = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i

export async function agentNamed(client: Client, nameOrId: string): Promise<string> {
  return agentId.test(nameOrId) ? nameOrId : idIn('agent', (await client.listAgents()).body, nameOrId)
}

export async function endpointNamed(client: Client, nameOrId: string): Promise<string> {
  return endpointId.test(nameOrId) ? nameOrId : idIn('endpoint', (await client.listWebhooks()).body.data, nameOrId)
}

/** Returns a phone number's id. `numberOrId` is the id or the number. */
export async function numberNamed(client: Client, numberOrId: string): Promise<string> {
  if (!numberOrId.startsWith('+')) return numberOrId
  const { body } = await client.listPhoneNumbers()
  const matches = body.filter(({ e164 }) => e164 === numberOrId)
  if (matches.length > 1) throw new CommandError(`${numberOrId} is there more than once: name it by its id`)
  if (matches[0] === undefined)
    throw new CommandError(
      `the organization has no number ${numberOrId}; \`parley numbers list\` shows those that it has`,
    )
  return matches[0].id
}

/** Returns the id of the row with this name. Throws CommandError if no row or several rows have it. */
function idIn(what: string, rows: readonly Named[], nameOrId: string): string {
  const named = rows.filter(({ name }) => name === nameOrId)
  const [only] = named
  if (only === undefined) throw new CommandError(`there is no ${what} ${oneLine(nameOrId)}`)
  if (named.length === 1) return only.id
  const ids = named.map(({ id }) => id).join(', ')
  throw new CommandError(`${named.length} ${what}s have the name ${oneLine(nameOrId)}; give the id of one: ${ids}`)
}
