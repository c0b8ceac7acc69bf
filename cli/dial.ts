/** `parley dial`: calls a phone, shows the running call, and ends when the call ends. */
import type { Command } from 'commander'
import type { PlatformClient } from '../generated/clients/typescript/platform.ts'
import type { Call, NewPhoneSession } from '../generated/platform/types.ts'
import type { Actions } from './actions.ts'
import { platformClient } from './client.ts'
import { CommandError, UsageError } from './command-error.ts'
import { settingsOfFirstCall } from './first-call.ts'
import { agentNamed } from './named.ts'
import { wholeNumber } from './number-option.ts'
import { tailCall } from './tail-call.ts'
import { sinceStart } from './terminal.ts'

type Options = {
  agent?: string
  from?: string
  prompt?: string
  language: string
  firstMessage?: string
  ring?: number
  amd?: string
  metadata?: Readonly<Record<string, string>>
  maxDuration?: number
  follow: boolean
  hangUp: boolean
  json: boolean
}

const detections = ['agent', 'carrier', 'disabled'] as const

export function dial(program: Command, actions: Actions): void {
  program
    .command('dial')
    .description('call a phone with an agent, and show the call until it is over')
    .argument(
      '<number>',
      'with + and its country code, such as +15005550006; of the simulated numbers, +1500555 and four digits, those choose who answers (docs/simulator.md)',
    )
    .option(
      '--agent <agent>',
      'the agent that talks: its name, or its id, agent_…; without one the options below say how it behaves',
    )
    .option(
      '--from <number>',
      'the number of yours that calls (`parley numbers list`); without it the oldest of the agent that can call, else of the organization',
    )
    .option('--prompt <text>', 'how the agent is to behave, instead of its own system prompt')
    .option('--language <tag>', 'the language of a call without an agent, such as en-US or de', 'en-US')
    .option('--first-message <text>', 'what the agent says first')
    .option(
      '--ring <seconds>',
      'for how long the phone may ring, 1 to 120; 60 without it',
      wholeNumber('--ring', 1, 120),
    )
    .option(
      '--amd <mode>',
      'whether a voicemail is noticed: by this server (agent), by the carrier (carrier), or not (disabled); agent without it',
    )
    .option('--metadata <key=value>', 'a field of the metadata of the call; may be repeated', withField)
    .option(
      '--max-duration <seconds>',
      'for how long the call may last, 30 to 14400; without it as long as the agent says, else 3600',
      wholeNumber('--max-duration', 30, 14_400),
    )
    .option('--no-follow', 'print the id of the call, and do not wait for its end')
    .option('--hang-up', 'Ctrl-C ends the call; without it the call goes on without this command', false)
    .option('--json', 'print the answer and each event of the call as a line of JSON', false)
    .action(async (to: string, options: Options) => {
      const client = platformClient(await actions.connection())
      const { body } = await client.createPhoneSession({ body: await requestOf(client, to, options) })
      const { sessionId, from } = body
      if (options.json) console.log(JSON.stringify(body))
      else console.log(options.follow ? `${from} calls ${to}: ${sessionId}` : sessionId)
      if (options.follow) await follow(client, sessionId, options)
    })
}

/** Makes the request from the options. The server checks everything and names each invalid field. */
async function requestOf(client: PlatformClient, to: string, options: Options): Promise<NewPhoneSession> {
  const { agent, from, prompt, language, firstMessage, metadata, maxDuration } = options
  return {
    to,
    ...(agent === undefined && prompt === undefined && settingsOfFirstCall(to)),
    ...(agent === undefined ? { intent: { language } } : { agentId: await agentNamed(client, agent) }),
    ...(from !== undefined && { from }),
    ...(prompt !== undefined && { systemPrompt: prompt }),
    ...(firstMessage !== undefined && { firstMessage }),
    ...(metadata !== undefined && { metadata: { ...metadata } }),
    ...(maxDuration !== undefined && { maxDurationSeconds: maxDuration }),
    ...telephonyOf(options),
  }
}

function telephonyOf({ ring, amd }: Options): Pick<NewPhoneSession, 'telephony'> {
  if (ring === undefined && amd === undefined) return {}
  const mode = detections.find((name) => name === amd)
  if (amd !== undefined && mode === undefined) throw new UsageError(`--amd takes ${detections.join(', ')}`)
  return {
    telephony: {
      ...(ring !== undefined && { ringingTimeout: ring }),
      ...(mode !== undefined && { amd: { mode } }),
    },
  }
}

function withField(field: string, before: Readonly<Record<string, string>> = {}): Record<string, string> {
  const at = field.indexOf('=')
  if (at < 1) throw new UsageError(`--metadata takes KEY=VALUE, not ${field}`)
  return { ...before, [field.slice(0, at)]: field.slice(at + 1) }
}

async function follow(client: PlatformClient, id: string, { hangUp, json }: Options): Promise<void> {
  process.once('SIGINT', () => void leave(client, id, hangUp))
  await tailCall(client, id, json)
  const { body } = await client.getCall({ path: { id } })
  if (!json) console.log(summaryOf(body))
  if (body.status !== 'completed') throw new CommandError(failureOf(body))
}

/** Handles Ctrl-C: hangs up the call, or leaves it running. A second Ctrl-C ends the command at once. */
async function leave(client: PlatformClient, id: string, hangUp: boolean): Promise<void> {
  if (hangUp) return void (await client.endCall({ path: { id } }).catch(() => process.exit(130)))
  console.error(`the call goes on; \`parley calls tail ${id}\` follows it, \`parley calls end ${id}\` ends it`)
  process.exit(130)
}

function summaryOf(call: Call): string {
  const { id, status, end_reason: reason, started_at: startedAt, ended_at: endedAt } = call
  const lasted = startedAt === null || endedAt === null ? 'not connected' : sinceStart(call, endedAt)
  return `${reason ?? status}, ${lasted}; \`parley calls show ${id}\` has the transcript, the latencies and the cost`
}

/** Describes how a failed call ended, for an error message. A voicemail does not count as connected. */
export function failureOf(call: Pick<Call, 'status' | 'end_reason' | 'started_at'>): string {
  const { status, end_reason: reason, started_at: startedAt } = call
  const why = reason === null || reason === status ? status : `${status}, ${reason}`
  const isConnected = startedAt !== null && status !== 'voicemail'
  const outcome = isConnected ? 'the call was connected, and broke off' : 'the call did not reach anybody'
  return `${outcome}: ${why}${nextSteps[reason ?? ''] ?? ''}`
}

/** A hint for the user, by end reason. */
const nextSteps: Readonly<Record<string, string>> = {
  busy: '; call again later',
  no_answer: '; call again later, or let it ring longer with --ring',
  declined: '; call again later or another number',
  invalid_number: '; nobody has this number: look whether it is right',
  voicemail: '; to talk to it all the same, call with --amd disabled',
  carrier_error: '; call again later, and if it fails again ask the operator for the log of the server',
}
