/** Agents and endpoints may be named by id or by name, phone numbers by id or by number. */
import type { platformClient } from './client.ts'
import { CommandError } from './command-error.ts'
import { oneLine } from './terminal.ts'

type Client = ReturnType<typeof platformClient>
type Named = { id: string; name: string }

/** The forms of Parley's ids. If a text has this form, it counts as an id, even if a thing has it for a name. */
const agentId = /^agent_\w{22}$/
const endpointId = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i

export async function agentNamed(client: Client, wanted: string): Promise<string> {
  return agentId.test(wanted) ? wanted : idIn('agent', (await client.listAgents()).body, wanted)
}

export async function endpointNamed(client: Client, wanted: string): Promise<string> {
  return endpointId.test(wanted) ? wanted : idIn('endpoint', (await client.listWebhooks()).body.data, wanted)
}

/** A number is named by its id or by itself. */
export async function numberNamed(client: Client, wanted: string): Promise<string> {
  if (!wanted.startsWith('+')) return wanted
  const { body } = await client.listPhoneNumbers()
  const found = body.filter(({ e164 }) => e164 === wanted)
  if (found.length > 1) throw new CommandError(`${wanted} is there more than once: name it by its id`)
  if (found[0] === undefined)
    throw new CommandError(`the organization has no number ${wanted}; \`parley numbers list\` shows those that it has`)
  return found[0].id
}

/** If several rows have the name, it is refused. */
function idIn(what: string, rows: readonly Named[], wanted: string): string {
  const named = rows.filter(({ name }) => name === wanted)
  const [only] = named
  if (only === undefined) throw new CommandError(`there is no ${what} ${oneLine(wanted)}`)
  if (named.length === 1) return only.id
  const ids = named.map(({ id }) => id).join(', ')
  throw new CommandError(`${named.length} ${what}s have the name ${oneLine(wanted)}; give the id of one: ${ids}`)
}
