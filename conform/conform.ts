/** Checks a running server against its documents: the command `parley conform`. */
import { channelChecks } from './channel-checks.ts'
import type { Listen } from './channel-session.ts'
import { checkTarget } from './check-target.ts'
import { checks, operationChecks } from './checks.ts'
import { Conformance, type Keys } from './conformance.ts'
import { type Document, namesIn } from './contract.ts'
import { documentChecks } from './document-checks.ts'
import { Fixtures } from './fixtures.ts'
import { withPrefix } from './header-prefix.ts'
import { Http } from './http.ts'
import { type Limits, signalAfter, usualLimits } from './limits.ts'
import type { Probe } from './probe.ts'
import { NoAnswer, readSurfaces } from './read-surfaces.ts'
import { mootReason } from './repeat-checks.ts'
import { type Found, inapplicable, Results, type TargetReport } from './results.ts'
import { released } from './surfaces.ts'

export type ConformOptions = {
  url: string
  keys: Keys
  /** If true, the run also calls operations that spend money or replace settings. */
  spends: boolean
  /** If true, warnings count as failures. */
  strict: boolean
  /** A folder for all requests and answers. Null if they are not kept. */
  recordTo: string | null
  /** The names of the operations, channels and documents to check. Empty for all. */
  only: readonly string[]
  limits?: Limits
  /** Ends the run early. Its resources are still removed, and the report has the checks until then. */
  signal?: AbortSignal
}

export type Report = {
  targets: TargetReport[]
  /** The reason why the run ended before its last check. Null if it ended after its last check. */
  ended: string | null
  /** Resources of the run that the server keeps, with the reasons. */
  left: string[]
}

/** `only` has a name that is neither an operation nor a channel nor a document. */
export class UnknownName extends Error {}

/**
 * Makes the checks and resolves with the report. Throws UnknownName, or NoAnswer if no server answers at the URL. Any
 * other failure is in the report.
 */
export async function conform(options: ConformOptions): Promise<Report> {
  const limits = options.limits ?? usualLimits
  const { signal: late, clear } = signalAfter(limits.runMs, 'the run')
  const ended = AbortSignal.any([late, ...(options.signal === undefined ? [] : [options.signal])])
  const http = new Http(options.url, options.recordTo, { answerMs: limits.answerMs, ended })
  try {
    return await checkAll(http, limits, options)
  } finally {
    clear()
    await http.close()
  }
}

async function checkAll(http: Http, limits: Limits, options: ConformOptions): Promise<Report> {
  const results = new Results(options.strict)
  const fixtures: Fixtures[] = []
  let ended: string | null = null
  try {
    const isChosen = (name: string) => options.only.length === 0 || options.only.includes(name)
    const surfaces = await readSurfaces(http, results, isChosen)
    const run = new Conformance({ http, results, surfaces, limits, keys: options.keys, spends: options.spends })
    refuseUnknown(run, options.only)
    const { key, testKey } = options.keys
    const [live, simulated] = [new Fixtures(run, key), new Fixtures(run, testKey ?? key)]
    fixtures.push(live, simulated)
    await checkChosen(run, isChosen, { live, simulated })
  } catch (error) {
    if (error instanceof UnknownName || error instanceof NoAnswer) throw error
    ended = (error as Error).message
    results.end(ended)
  }
  return { targets: results.report(), ended, left: await removeAll(http, limits, fixtures) }
}

async function checkChosen(
  run: Conformance,
  isChosen: (name: string) => boolean,
  { live, simulated }: { live: Fixtures; simulated: Fixtures },
): Promise<void> {
  const operations = run.operations.filter(({ id }) => isChosen(id))
  const channels = run.channels.filter(({ id }) => isChosen(id))
  for (const { id, method, path } of operations) run.results.add('operation', id, `${method} ${path}`, checks.operation)
  for (const { id, address } of channels) run.results.add('channel', id, address, checks.channel)
  for (const [name, , text] of released) if (isChosen(name)) await checkDocument(run, name, text)
  for (const operation of operations)
    await checkOperation({ run, operation, fixtures: run.usesTestKey(operation) ? simulated : live })
  for (const channel of channels) await checkChannel({ run, fixtures: live, channel })
}

async function removeAll(http: Http, { removalMs }: Limits, fixtures: readonly Fixtures[]): Promise<string[]> {
  const { signal, clear } = signalAfter(removalMs, 'the removal')
  http.reopen(signal)
  const left: string[] = []
  for (const each of fixtures) left.push(...(await each.removeAll()))
  clear()
  return left
}

/**
 * If a document could not be read, the names in this release's document are known too. Its failure is in the report.
 */
function refuseUnknown(run: Conformance, only: readonly string[]): void {
  const names = new Set([...run.operations, ...run.channels].map(({ id }) => id))
  for (const [name, , text] of released) {
    names.add(name)
    if (!run.surfaces.has(name)) for (const each of namesIn(JSON.parse(text) as Document)) names.add(each)
  }
  const unknown = only.find((name) => !names.has(name))
  if (unknown !== undefined) throw new UnknownName(`there is no operation, channel or document ${unknown}`)
}

async function checkDocument(run: Conformance, name: string, text: string): Promise<void> {
  const surface = run.surfaces.get(name)
  if (surface === undefined) return
  const release = JSON.parse(withPrefix(text, run.headerPrefix)) as Document
  const made = documentChecks.map(({ number, inspect }) => ({ number, make: () => inspect(run, surface, release) }))
  await checkTarget(run, name, made)
}

async function checkChannel(given: Listen): Promise<void> {
  const made = channelChecks.map(({ number, listen }) => ({ number, make: () => listen(given) }))
  await checkTarget(given.run, given.channel.id, made)
}

async function checkOperation(given: Probe): Promise<void> {
  const { run, operation } = given
  let moot: Promise<string | null> | null = null
  const made = operationChecks.map(({ number, probe }) => ({
    number,
    make: async (): Promise<Found> => {
      moot ??= mootReason(given)
      const reason = await moot
      return reason !== null && !alwaysChecked.has(number) ? inapplicable(reason) : probe(given)
    },
  }))
  await checkTarget(run, operation.id, made)
}

/** A removed operation still asks for a key, and announces its removal. */
const alwaysChecked = new Set([22, 23, 61, 62])
