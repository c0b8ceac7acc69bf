import type { Command } from 'commander'
import type { StreamWebhookEventsEvent } from '../generated/clients/typescript/platform.ts'
import type { Actions } from './actions.ts'
import { platformClient } from './client.ts'
import { CommandError, UsageError } from './command-error.ts'
import { followStream } from './follow-stream.ts'
import { Chaos, type ChaosFault, chaosFaults } from './listen-chaos.ts'
import { Forwarding, jsonOf, lineOf } from './listen-forwarding.ts'
import { addressOf, secretOption } from './local-receiver.ts'
import { wholeNumber } from './number-option.ts'
import { oneLine } from './terminal.ts'

const eventTypes = ['call.status', 'call.report', 'call.analysis', 'call.recording'] as const
type EventType = (typeof eventTypes)[number]

const about = `
The command opens a connection to Parley and waits there: no tunnel, no port of yours is open. It gets the events of the
organization and the world of your key (live or test) from now on, also those that no endpoint asks for, with the bytes
that endpoints get. The signature is made here, with a secret that is printed at the start; one that you give is not. What
fails is sent again only with --retries. After a cut of up to a minute it goes on where it was.

Faults of --chaos, which hit about half of the events (--seed repeats them):
  dup             the event comes twice
  reorder         the event comes after the next one
  late-recording  every call.recording, and every report after the first of its call, comes 3 to 10 s late
  500             the answer is lost once or twice, so the event comes again

call.pre_call is a question that needs an answer, so it reaches endpoints only.`

/** The maximum number of event ids remembered, more than the events that the server repeats. */
const seenMax = 10_000

type Options = {
  forwardTo?: string
  events?: EventType[]
  secret?: string
  retries: number
  chaos: ChaosFault[]
  seed?: number
  json: boolean
}

export function listen(program: Command, actions: Actions): void {
  program
    .command('listen')
    .description('receive webhook events on this machine, without an endpoint or a tunnel')
    .option('--forward-to <url>', 'POST each event to this address, signed', addressOf)
    .option('--events <types>', `only these: ${eventTypes.join(', ')}`, listOf('--events', eventTypes))
    .addOption(secretOption('one that the data folder keeps'))
    .option('--retries <count>', 'send again after a failure, 0 to 10 times', wholeNumber('--retries', 0, 10), 0)
    .option('--chaos <faults>', `make trouble: ${chaosFaults.join(', ')}`, listOf('--chaos', chaosFaults), [])
    .option('--seed <number>', 'of the trouble', wholeNumber('--seed', 0, 2 ** 32 - 1))
    .option('--json', 'print each event as a line of JSON, without its content', false)
    .addHelpText('after', about)
    .action((options: Options) => run(actions, options))
}

/** Forwards events until a failure or Ctrl-C. */
async function run(actions: Actions, { seed = Date.now() % 2 ** 32, ...options }: Options): Promise<void> {
  const { forwardTo, chaos, retries, json, events = eventTypes } = options
  const connection = await actions.connection()
  const client = platformClient(connection)
  const receiver =
    forwardTo === undefined ? null : { url: forwardTo, signer: await actions.webhookSigner(options.secret) }
  const forwarding = new Forwarding({
    receiver,
    chaos: new Chaos(chaos, seed),
    retries,
    show: (sent) => console.log(json ? jsonOf(sent) : lineOf(sent)),
  })
  const position = new ListenPosition()
  const take = async (event: StreamWebhookEventsEvent) => {
    if (event.event === 'error') throw new CommandError(`${event.data.code}: ${event.data.error}`)
    if (event.event === 'open' && position.isNew) {
      const secret = receiver?.signer.storedSecret ?? null
      const world = { test: event.data.test, server: connection.baseUrl, forwardTo: forwardTo ?? null, secret }
      console.log(json ? JSON.stringify({ ...world, chaos, seed }) : opening({ ...world, chaos, seed }))
    }
    const isNews = position.take(event)
    if (isNews && event.event === 'webhook' && events.includes(event.data.event)) await forwarding.take(event.data)
    return false
  }
  const open = async () => (await client.streamWebhookEvents({ query: position.query })).body
  await followStream(open, take, Number.POSITIVE_INFINITY)
}

type World = Pick<Options, 'chaos'> & {
  test: boolean
  server: string
  forwardTo: string | null
  secret: string | null
  seed: number
}

function opening({ test, server, forwardTo: to, secret, chaos, seed }: World): string {
  return [
    `listening to the ${test ? 'test' : 'live'} world of ${server}`,
    ...(to === null ? [] : [`to      ${to}`]),
    ...(secret === null ? [] : [`secret  ${secret}`]),
    ...(chaos.length === 0 ? [] : [`chaos   ${chaos.join(', ')} with --seed ${seed}`]),
  ].join('\n')
}

/** The position in the stream. When the stream is opened again, it repeats the last seconds' events. */
class ListenPosition {
  #cursor: string | null = null
  readonly #seen = new Set<string>()

  get isNew(): boolean {
    return this.#cursor === null
  }

  get query(): { cursor?: string } {
    return this.#cursor === null ? {} : { cursor: this.#cursor }
  }

  /** Moves the position. Returns false for a repeated event, and for an event that is neither `open` nor `webhook`. */
  take({ event, data }: StreamWebhookEventsEvent): boolean {
    if (event !== 'open' && event !== 'webhook') return false
    this.#cursor = data.cursor
    if (event === 'open') return true
    if (this.#seen.has(data.eventId)) return false
    this.#seen.add(data.eventId)
    const [oldest] = this.#seen
    if (this.#seen.size > seenMax && oldest !== undefined) this.#seen.delete(oldest)
    return true
  }
}

function listOf<Name extends string>(option: string, names: readonly Name[]): (text: string) => Name[] {
  return (text) => {
    const values = text.split(',').map((name) => name.trim())
    const unknown = values.find((name) => !names.includes(name as Name))
    if (unknown === undefined) return values as Name[]
    throw new UsageError(`${option} does not know ${oneLine(unknown)}: write some of ${names.join(', ')}`)
  }
}
