/**
 * The commands for SIP connections. Their passwords come on standard input, because other users on the machine can read
 * command lines.
 */
import type { Command } from 'commander'
import type {
  NewSipConnection,
  SipConnection,
  SipConnectionChange,
  SipConnectionCheck,
} from '../generated/platform/types.ts'
import type { Actions } from './actions.ts'
import { table } from './choice.ts'
import { platformClient } from './client.ts'
import { CommandError, UsageError } from './command-error.ts'
import { wholeNumber } from './number-option.ts'
import { print } from './print.ts'
import { readStdin } from './stdin.ts'
import { oneLine } from './terminal.ts'

type Json = { json: boolean }
type Ways = { userPhone?: string; identity?: string; register?: string }
type Outbound = { host?: string; port?: number; transport?: string; username?: string; passwordStdin?: true } & Ways
type Inbound = { allow?: string[]; inboundUsername?: string; inboundPasswordStdin?: true }
type Settings = { provider?: string } & Outbound & Inbound
/** A connection's outbound and inbound sides. False removes a side. */
type Sides = { outbound: boolean; inbound: boolean }
type Client = ReturnType<typeof platformClient>

export function sipConnections(program: Command, actions: Actions): void {
  const group = program.command('sip-connections').description('trunks and exchanges that calls go over (SIP)')
  const client = async () => platformClient(await actions.connection())
  const command = (name: string, description: string) =>
    group.command(name).description(description).option('--json', 'print the answer as it came', false)
  command('list', 'the connections of the organization, newest first').action(async ({ json }: Json) => {
    const { body } = await (await client()).listSipConnections()
    print(json, body, () => (body.length > 0 ? linesOf(body) : ['no connections']))
  })
  withSettings(command('add', 'connect a trunk: name --host, --allow or --inbound-username'))
    .argument('<name>', 'for people, once in an organization')
    .action(async (name: string, { json, ...settings }: Settings & Json) => {
      const body = { name, ...(await fieldsOf(settings, null)) } as NewSipConnection
      const { body: made } = await (await client()).createSipConnection({ body })
      print(json, made, () => linesOf([made]))
    })
  withSettings(command('set', 'change what is named, and leave the rest; the word none removes a value'))
    .argument('<connection>', 'id, sip_…, or the name')
    .option('--name <text>', 'another name')
    .option('--no-outbound', 'no calls go out over it any more')
    .option('--no-inbound', 'no calls come in over it any more')
    .action(async (nameOrId: string, { json, name, outbound, inbound, ...settings }: Sides & NamedSettings & Json) => {
      const stored = await connectionNamed(await client(), nameOrId)
      const body = {
        ...(name && { name }),
        ...(await fieldsOf(settings, stored)),
        ...(!outbound && { outbound: null }),
        ...(!inbound && { inbound: null }),
      }
      if (Object.keys(body).length === 0) throw new UsageError('name an option to change')
      const { body: changed } = await (await client()).updateSipConnection({ path: { id: stored.id }, body })
      print(json, changed, () => linesOf([changed]))
    })
  command('check', 'ask a trunk now whether it answers')
    .argument('<connection>', 'id, sip_…, or the name')
    .action(async (nameOrId: string, { json }: Json) => {
      const { id, name } = await connectionNamed(await client(), nameOrId)
      const { body } = await (await client()).checkSipConnection({ path: { id } })
      print(json, body, () => [`${oneLine(name)} ${wordsOfCheck(body)}`])
    })
  command('remove', 'disconnect a trunk that has no numbers any more')
    .argument('<connection>', 'id, sip_…, or the name')
    .action(async (nameOrId: string, { json }: Json) => {
      const { id } = await connectionNamed(await client(), nameOrId)
      await (await client()).deleteSipConnection({ path: { id } })
      print(json, { id, removed: true }, () => [`${oneLine(nameOrId)} is removed`])
    })
}

type NamedSettings = Settings & { name?: string }

function withSettings(command: Command): Command {
  return command
    .option('--provider <text>', 'the company behind it')
    .option('--host <host>', 'calls go out to this name or address')
    .option('--port <port>', 'its port, 5060 where it is left out', wholeNumber('--port', 1, 65_535))
    .option('--transport <name>', 'udp, tcp')
    .option('--username <text>', 'the login with which calls go out')
    .option('--password-stdin', 'read the password of that login from standard input')
    .option('--user-phone <yes|no>', 'whether addresses that are called have user=phone, no where it is left out')
    .option('--identity <place>', 'where the number of the caller is: from, preferred, asserted')
    .option('--register <yes|no>', 'whether the login is registered at the trunk, no where it is left out')
    .option('--allow <range...>', 'calls come in from these addresses, for example 203.0.113.0/28')
    .option('--inbound-username <text>', 'the login with which calls come in')
    .option('--inbound-password-stdin', 'read its password from standard input, from the second line if both are read')
}

/** Finds a connection by id or by name. Throws UsageError if there is no such connection. */
export async function connectionNamed(client: Client, nameOrId: string): Promise<SipConnection> {
  const { body } = await client.listSipConnections()
  const connection = body.find(({ id, name }) => id === nameOrId || name === nameOrId)
  if (connection === undefined)
    throw new UsageError(
      `the organization has no SIP connection ${oneLine(nameOrId)}; \`parley sip-connections list\` shows those that it has`,
    )
  return connection
}

/**
 * Makes the request's fields from the options. The server names each invalid field. `stored` is null for a new
 * connection.
 */
async function fieldsOf({ provider, ...sides }: Settings, stored: SipConnection | null): Promise<SipConnectionChange> {
  const passwords = await readPasswords(sides)
  const outbound = outboundOf(sides, passwords.outbound, stored)
  const inbound = inboundOf(sides, passwords.inbound)
  return {
    ...(provider && { provider: orNull(provider) }),
    ...(outbound && { outbound }),
    ...(inbound && { inbound }),
  }
}

type Side<Name extends 'outbound' | 'inbound'> = NonNullable<SipConnectionChange[Name]> | null

function outboundOf(
  { host: hostOption, port, transport, username, ...ways }: Outbound,
  password: string | undefined,
  stored: SipConnection | null,
): Side<'outbound'> {
  const given = [hostOption, port, transport, username, password, ways.userPhone, ways.identity, ways.register]
  if (given.every((value) => value === undefined)) return null
  const host = hostOption ?? stored?.outbound?.host
  if (host === undefined) throw new UsageError('name --host, to which calls go out')
  return {
    host,
    ...(port !== undefined && { port }),
    ...(transport && { transport: transport as 'udp' | 'tcp' }),
    ...(username && { username: orNull(username) }),
    ...(password !== undefined && { password }),
    ...(ways.userPhone !== undefined && { userPhone: isYes('--user-phone', ways.userPhone) }),
    ...(ways.identity !== undefined && { identity: ways.identity as 'from' | 'preferred' | 'asserted' }),
    ...(ways.register !== undefined && { register: isYes('--register', ways.register) }),
  }
}

function isYes(option: string, text: string): boolean {
  if (text === 'yes' || text === 'no') return text === 'yes'
  throw new UsageError(`${option} takes yes or no, not ${oneLine(text)}`)
}

function inboundOf({ allow, inboundUsername: username }: Inbound, password: string | undefined): Side<'inbound'> {
  if ([allow, username, password].every((value) => value === undefined)) return null
  return {
    ...(allow && { allowedAddresses: allow.filter((range) => range !== none) }),
    ...(username && { username: orNull(username) }),
    ...(password !== undefined && { password }),
  }
}

const none = 'none'
const orNull = (text: string) => (text === none ? null : text)

/** Reads one line for each password, outbound first. */
async function readPasswords({ passwordStdin, inboundPasswordStdin }: Outbound & Inbound) {
  if (!passwordStdin && !inboundPasswordStdin) return {}
  const lines = (await readStdin()).toString('utf8').split(/\r?\n/)
  const next = () => {
    const line = lines.shift()
    if (!line) throw new CommandError('standard input has no line with the password')
    return line
  }
  return { ...(passwordStdin && { outbound: next() }), ...(inboundPasswordStdin && { inbound: next() }) }
}

function wordsOfCheck({ ok, sipStatusCode, sipStatus, roundTripMs, error }: SipConnectionCheck): string {
  if (sipStatusCode === null) return `does not answer: ${error}`
  const answer = [sipStatusCode, sipStatus].filter((part) => part !== null).join(' ')
  return `${ok ? 'answers' : 'refuses'} with ${answer} after ${Math.round(roundTripMs ?? 0)} ms`
}

const heading = ['id', 'name', 'status', 'calls go out to', 'calls come in from', 'trunk sends calls to', 'numbers']

function linesOf(connections: readonly SipConnection[]): string[] {
  const isUnserved = connections.some(({ test, inbound }) => test !== true && inbound?.uri === null)
  return [...table([heading, ...connections.map(rowOf)]), ...(isUnserved ? [unserved] : [])]
}

const unserved =
  'No call comes in over them: this server has no port for SIP. Its operator sets PARLEY_SIP_PORT and PARLEY_SIP_PUBLIC_ADDRESS, and starts it again.'

function rowOf({ id, name, status, outbound, inbound, numbers }: SipConnection): string[] {
  const to = outbound && `${outbound.transport}:${outbound.host}:${outbound.port}`
  const login = inbound?.username ? [`login ${inbound.username}`] : []
  const from = [...(inbound?.allowedAddresses ?? []), ...login].join(' ')
  return [id, oneLine(name), status, to ?? '–', oneLine(from) || '–', inbound?.uri ?? '–', String(numbers)]
}
