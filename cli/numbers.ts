import type { Command } from 'commander'
import type { AvailablePhoneNumber, NewPhoneNumber, PhoneNumber } from '../generated/platform/types.ts'
import type { Actions } from './actions.ts'
import { table } from './choice.ts'
import { platformClient } from './client.ts'
import { CommandError, UsageError } from './command-error.ts'
import { agentNamed, numberNamed } from './named.ts'
import { numberImports } from './number-imports.ts'
import { wholeNumber } from './number-option.ts'
import { print } from './print.ts'
import { readObject } from './read-object.ts'
import { chargeDayOf, linesOfNumber, nextStepsOf } from './show-number.ts'
import { connectionNamed } from './sip-connections.ts'
import { oneLine } from './terminal.ts'

type Json = { json: boolean }
type Settings = {
  direction?: NonNullable<NewPhoneNumber['direction']>
  agent?: string
  label?: string
  /** The path of the JSON file with the template. */
  template?: string
}
type Trunk = { connection?: string | undefined; sipProvider?: string | undefined }

const directions = ['inbound', 'outbound', 'both']

export function numbers(program: Command, actions: Actions): void {
  const group = program.command('numbers').description('phone numbers that calls come from and go to')
  const client = async () => platformClient(await actions.connection())
  const command = (name: string, description: string) =>
    group.command(name).description(description).option('--json', 'print the answer as it came', false)
  command('list', 'the numbers of the organization, oldest first').action(async ({ json }: Json) => {
    const { body } = await (await client()).listPhoneNumbers()
    print(json, body, () => (body.length > 0 ? table([heading, ...body.map(rowOf)]) : [noNumbers]))
  })
  command('search', 'numbers that can be bought now')
    .option('--area <code>', 'three digits of an area of the United States, for example 212')
    .option('--locality <city>', 'city, for example "New York"')
    .option('--limit <count>', 'the most to show, 1 to 50', wholeNumber('--limit', 1, 50), 10)
    .action(async ({ json, area, locality, limit }: Search & Json) => {
      const query = { ...(area && { areaCode: area }), ...(locality && { locality }), limit }
      const { body } = await (await client()).searchPhoneNumbers({ query })
      print(json, body, () => (body.length > 0 ? [...table([offerHeading, ...body.map(offerOf)]), toBuy] : [noOffers]))
    })
  withSettings(command('buy', 'buy a number; the set-up price and the first month are taken from the credit at once'))
    .argument('<number>', 'as search prints it, for example +12125550100')
    .action(async (e164: string, { json, ...settings }: Settings & Json) => {
      const { body } = await (await client()).purchasePhoneNumber({
        body: { e164, ...(await fieldsOf(await client(), settings)) },
      })
      print(json, body, () => changedLines(body))
    })
  withTrunk(
    withSettings(command('import', 'add a number of yours that is reached over a SIP connection; it costs nothing')),
  )
    .argument('<number>', 'with + and its country code, for example +493012345678')
    .action(async (e164: string, { json, connection, sipProvider, ...settings }: Settings & Trunk & Json) => {
      if (connection === undefined) throw new CommandError(noConnection)
      const { id } = await connectionNamed(await client(), connection)
      const trunk = { sipConnectionInstallationId: id, ...providerOf(sipProvider) }
      const fields = await fieldsOf(await client(), settings)
      const { body } = await (await client()).importPhoneNumber({ body: { e164, ...trunk, ...fields } })
      print(json, body, () => changedLines(body))
    })
  withTrunk(
    withSettings(command('set', 'change what is named, and leave the rest; the word none removes what is named')),
  )
    .argument('<number>', 'id, pn_…, or the number')
    .action(async (numberOrId: string, { json, connection, sipProvider, ...settings }: Settings & Trunk & Json) => {
      const fields = {
        ...(await fieldsOf(await client(), settings)),
        ...(await trunkOf(await client(), { connection, sipProvider })),
      }
      if (Object.keys(fields).length === 0)
        throw new UsageError('name an option to change, for example --agent, --template or --direction')
      const path = { id: await numberNamed(await client(), numberOrId) }
      const { body } = await (await client()).updatePhoneNumber({ path, body: fields })
      print(json, body, () => changedLines(body))
    })
  command('show', 'the settings of a number, and whether it can take and place calls')
    .argument('<number>', 'id, pn_…, or the number')
    .action(async (numberOrId: string, { json }: Json) => {
      const path = { id: await numberNamed(await client(), numberOrId) }
      const { body } = await (await client()).getPhoneNumber({ path })
      print(json, body, () => linesOfNumber(body))
    })
  command('release', 'give a number back; the month that is paid is not refunded')
    .argument('<number>', 'id, pn_…, or the number')
    .action(async (numberOrId: string, { json }: Json) => {
      const { body } = await (await client()).deletePhoneNumber({
        path: { id: await numberNamed(await client(), numberOrId) },
      })
      print(json, body, () => [`${numberOrId} is given back`])
    })
  numberImports(group, actions)
}

type Search = { area?: string; locality?: string; limit: number }

function withSettings(command: Command): Command {
  return command
    .option('--agent <agent>', 'the agent that answers: its name, or its id, agent_…')
    .option('--direction <name>', `the calls that it is for: ${directions.join(', ')}`)
    .option('--label <text>', 'a name for people')
    .option(
      '--template <file>',
      'a file with a JSON object: settings of its calls that its agent leaves open, such as intent and systemPrompt; - for standard input',
    )
}

function withTrunk(command: Command): Command {
  return command
    .option('--connection <connection>', 'the SIP connection over which it is reached: id, sip_…, or name')
    .option('--sip-provider <text>', 'the company behind the connection')
}

async function trunkOf(client: Client, { connection, sipProvider }: Trunk) {
  return {
    ...(connection && { sipConnectionInstallationId: (await connectionNamed(client, connection)).id }),
    ...providerOf(sipProvider),
  }
}

const providerOf = (name: string | undefined) => (name ? { sipProviderName: name === 'none' ? null : name } : {})

type Client = ReturnType<typeof platformClient>

async function fieldsOf(
  client: Client,
  { direction, agent, label, template }: Settings,
): Promise<Omit<NewPhoneNumber, 'e164'>> {
  if (direction !== undefined && !directions.includes(direction))
    throw new UsageError(`--direction takes ${directions.join(', ')}`)
  return {
    ...(direction && { direction }),
    ...(agent && { agentId: agent === 'none' ? null : await agentNamed(client, agent) }),
    ...(label && { label: label === 'none' ? null : label }),
    ...(template && { dispatchMetadataTemplate: template === 'none' ? null : await readObject(template) }),
  }
}

const noNumbers =
  'no numbers; `parley numbers search` finds one to buy, and `parley numbers import` adds one of a SIP connection'
const noOffers = 'no numbers are for sale there; search with another --area or --locality, or with none'
const toBuy = '`parley numbers buy NUMBER --agent AGENT` buys one, and lets the agent answer it'
const noConnection =
  'name --connection, over which the number is reached: `parley sip-connections list` shows yours, and `parley sip-connections add` makes one'

/** Shows a number after a change, and the steps that are still missing. */
const changedLines = (number: PhoneNumber) => [...table([heading, rowOf(number)]), ...nextStepsOf(number)]

const heading = ['id', 'number', 'direction', 'status', 'answered by', 'next charge', 'label']

function rowOf({ id, e164, direction, setupStatus, agentId, ...number }: PhoneNumber): string[] {
  const answers = agentId ?? (setupStatus.agentReady ? 'template' : '–')
  const status = [setupStatus.status, ...setupStatus.issues].join(', ')
  return [id, e164, direction, status, answers, chargeDayOf(number), oneLine(number.label ?? '–')]
}

const offerHeading = ['number', 'to set up', 'a month', 'place', 'features']

function offerOf({ e164, upfrontCostUsd, monthlyCostUsd, region, features }: AvailablePhoneNumber): string[] {
  const place = [region.locality, region.state].filter((part) => part !== null).join(', ')
  return [e164, dollars(upfrontCostUsd), dollars(monthlyCostUsd), oneLine(place), oneLine(features.join(' '))]
}

const dollars = (usd: number | null) => (usd === null ? 'unknown' : `$${usd.toFixed(2)}`)
